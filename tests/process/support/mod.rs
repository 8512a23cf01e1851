//! The project of a test: a git repository in a path with a space and a letter outside of ASCII,
//! and the real binary in an environment without anything from this machine.
//!
//! A reviewer `fake-ITEM` is configured when a command names it: plugin/tests/fake-reviewer.sh
//! answers with that item, or with one of `fake-ITEM.ITEM` in each round.
//!
//! [`Stop::read`] checks the promises for every answer of the Stop hook. No test sleeps for a fixed
//! time: [`wait_for`] waits for a condition.

mod files;
mod processes;
mod ran;
#[path = "../../support/seal.rs"]
mod seal;
mod sealing;
mod stop;
mod terminal;
#[path = "../../support/text.rs"]
mod text;

pub(crate) use claudex_testkit::has;
pub(crate) use files::{age, copy_into, executable, tree, write, yaml};
pub(crate) use processes::{
    Background, WAIT_TIMEOUT, descendants, is_alive, signal, wait_for, within_a_minute,
};
pub(crate) use ran::{Line, Ran, feed, id_of, is_id};
pub(crate) use stop::{Stop, check_length};
pub(crate) use text::{begins, ends, lacks};

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

/// A project, and the user's home.
pub(crate) struct Project {
    kept: Arc<tempfile::TempDir>,
    pub(crate) home: PathBuf,
    pub(crate) root: PathBuf,
    variables: Vec<(String, String)>,
}

impl Project {
    /// Creates an empty git repository.
    pub(crate) fn new() -> Self {
        let project = Self::without_git();
        project.git(&["init", "--quiet", "--template="]);
        project
    }

    /// Creates an empty folder.
    pub(crate) fn without_git() -> Self {
        Self::with_folder("my plän's (1)")
    }

    /// Creates an empty folder of this name.
    pub(crate) fn with_folder(name: &str) -> Self {
        let kept = tempfile::tempdir().unwrap();
        let top = kept.path().canonicalize().unwrap();
        let home = top.join("home");
        let root = top.join(name);
        std::fs::create_dir(&home).unwrap();
        std::fs::create_dir(&root).unwrap();
        Self {
            kept: Arc::new(kept),
            home,
            root,
            variables: Vec::new(),
        }
    }

    /// Returns a copy of the project and the home as they are now.
    pub(crate) fn copy(&self) -> tempfile::TempDir {
        let copy = tempfile::tempdir().unwrap();
        copy_into(&[&self.root, &self.home], copy.path());
        copy
    }

    /// Restores the project and the home from the copy.
    pub(crate) fn restore(&self, copy: &tempfile::TempDir) {
        for folder in [&self.root, &self.home] {
            std::fs::remove_dir_all(folder).unwrap();
            let name = folder.file_name().unwrap();
            copy_into(&[&copy.path().join(name)], folder.parent().unwrap());
        }
    }

    /// Keeps the files after the project is dropped.
    pub(crate) fn keep(&self) -> Arc<tempfile::TempDir> {
        Arc::clone(&self.kept)
    }

    /// Returns a project with a plan and a loop in round 1, and its id. `flags` precede the topic.
    pub(crate) fn reviewing(flags: &[&str]) -> (Self, String) {
        let project = Self::new();
        let id = project.start(flags);
        project.plan("# Plan\n\nMove the queue.\n");
        project.fire().blocked();
        assert_eq!(project.field(&id, "phase"), "reviewing");
        (project, id)
    }

    /// Installs another plugin for the user. Its Stop hook runs this command on our state folder.
    pub(crate) fn rival(&self, name: &str, command: &str) {
        let config = self.home.join(".claude");
        let root = self.home.join("a plugin");
        write(&root.join("hooks/stop.sh"), "ls .claude/claudex/*.state");
        let hook = json!({"type": "command", "command": command});
        let hooks = json!({"hooks": {"Stop": [{"hooks": [hook]}]}});
        write(&root.join("hooks/hooks.json"), hooks.to_string());
        let plugins = json!({"plugins": {name: [{"installPath": root}]}});
        write(
            &config.join("plugins/installed_plugins.json"),
            plugins.to_string(),
        );
        let settings = json!({"enabledPlugins": {name: true}});
        write(&config.join("settings.json"), settings.to_string());
    }

    /// Returns the project with a variable in every command's environment.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Returns the path to the user's configuration.
    pub(crate) fn user_file(&self) -> PathBuf {
        self.home.join("config/claudex-loop/config.toml")
    }

    /// Returns the path to the project's configuration.
    pub(crate) fn project_file(&self) -> PathBuf {
        self.root.join(".claude/claudex.toml")
    }

    /// Sets the user's configuration, and removes the reviewer from the environment.
    pub(crate) fn configured(self, toml: impl AsRef<[u8]>) -> Self {
        write(&self.user_file(), toml);
        self.with("CLAUDEX_REVIEWER", "")
    }

    /// Adds a reviewer of kind `command` to the user's configuration, unless the name exists.
    pub(crate) fn add_reviewer(&self, name: &str, program: &str, arguments: &[&str]) {
        static ADDING: Mutex<()> = Mutex::new(());
        let _one_at_a_time = ADDING.lock();
        let table = format!("[reviewers.{}]", json!(name));
        let file = self.user_file();
        let mut text = std::fs::read_to_string(&file).unwrap_or_default();
        if text.contains(&table) {
            return;
        }
        // A JSON string is also a TOML string.
        let program = json!(program);
        let arguments = json!(arguments);
        text += &format!(
            "\n{table}\nkind = \"command\"\nprogram = {program}\narguments = {arguments}\n"
        );
        // Another command may be reading it.
        let new = file.with_extension("new");
        write(&new, text);
        std::fs::rename(new, file).unwrap();
    }

    /// Adds the fake reviewers that a command names.
    fn add_fakes(&self, command: &Command) {
        let program = concat!(env!("CARGO_MANIFEST_DIR"), "/plugin/tests/fake-reviewer.sh");
        let variables = self.variables.iter().map(|(_, value)| value.as_str());
        for name in command
            .get_args()
            .filter_map(|argument| argument.to_str())
            .chain(variables)
        {
            if let Some(script) = name.strip_prefix("fake-") {
                self.add_reviewer(name, program, &script.split('.').collect::<Vec<_>>());
            }
        }
    }

    /// Runs git successfully, and returns its output.
    #[track_caller]
    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=t", "-c", "user.email=t@example.org"]);
        git.args(arguments).current_dir(&self.root);
        Ran::new(self.clean(git).output().unwrap()).exits(0).out
    }

    /// Sets the environment of the project for a command. Only PATH is from this machine.
    fn clean(&self, mut command: Command) -> Command {
        self.add_fakes(&command);
        command.env_clear();
        if let Some(value) = std::env::var_os("LLVM_PROFILE_FILE") {
            command.env("LLVM_PROFILE_FILE", value);
        }
        command
            .env("PATH", path_without_clients())
            .env("HOME", &self.home)
            .env("XDG_STATE_HOME", self.home.join("state"))
            .env("XDG_CONFIG_HOME", self.home.join("config"))
            // `auto` depends on the machine: a test that uses it sets the variable to nothing.
            .env("CLAUDEX_REVIEWER", "lint")
            .env("TMPDIR", &self.home)
            .env("LANG", "C.UTF-8")
            .env("TZ", "UTC")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null());
        command
    }

    /// Returns the binary's command, in the project's folder.
    pub(crate) fn command(&self, line: impl Line) -> Command {
        let mut command = Command::new(program());
        command.args(line.words()).current_dir(&self.root);
        self.clean(command)
    }

    /// Returns a system program's command, in the project's folder, with the binary in its PATH.
    pub(crate) fn shell(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(&self.root);
        let mut command = self.clean(command);
        let bin = self::program();
        let path = path_without_clients();
        command.env(
            "PATH",
            format!("{}:{path}", bin.parent().unwrap().display()),
        );
        command
    }

    /// Returns the binary's command on a full disk, also for root: no file can grow.
    pub(crate) fn on_a_full_disk(&self, arguments: &[&str]) -> Command {
        // With 25 (SIGXFSZ) ignored, a long write fails as on a full disk.
        let limited = "trap '' 25; ulimit -f 0; exec claudex-loop \"$@\"";
        self.shell("sh", &[&["-c", limited, "sh"], arguments].concat())
    }

    pub(crate) fn run(&self, line: impl Line) -> Ran {
        Ran::new(self.command(line).output().unwrap())
    }

    /// Runs it. Fails if the exit code differs, or no output stream has the text.
    #[track_caller]
    pub(crate) fn answers(&self, line: impl Line, code: i32, text: &str) {
        self.run(line).exits(code).says(text);
    }

    /// Runs it in another folder.
    pub(crate) fn run_in(&self, folder: &Path, line: impl Line) -> Ran {
        let mut command = self.command(line);
        Ran::new(command.current_dir(folder).output().unwrap())
    }

    /// Runs it, and returns the JSON output.
    #[track_caller]
    pub(crate) fn json(&self, line: impl Line) -> Value {
        let ran = self.run(line);
        serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
    }

    /// Starts it without waiting for it.
    pub(crate) fn spawn(&self, line: impl Line) -> Background {
        let mut command = self.command(line);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        Background::new(command.spawn().unwrap())
    }

    /// Runs a hook on an event. `cwd` is by default the project.
    pub(crate) fn hook(&self, name: &str, mut event: Value) -> Ran {
        if event.is_object() && event.get("cwd").is_none() {
            event["cwd"] = self.root.to_str().unwrap().into();
        }
        self.run_with_stdin(&["hook", name], event.to_string().as_bytes())
    }

    /// Runs a command as an agent of a session does.
    pub(crate) fn run_in_session(&self, session: &str, line: impl Line) -> Ran {
        let mut command = self.command(line);
        command
            .env("CLAUDECODE", "1")
            .env("CLAUDE_CODE_SESSION_ID", session);
        Ran::new(command.output().unwrap())
    }

    /// Runs it as an agent of a session, with the checks of [`answers`](Self::answers).
    #[track_caller]
    pub(crate) fn answers_in(&self, session: &str, line: impl Line, code: i32, text: &str) {
        self.run_in_session(session, line).exits(code).says(text);
    }

    pub(crate) fn run_with_stdin(&self, line: impl Line, stdin: &[u8]) -> Ran {
        feed(self.command(line), stdin)
    }

    /// Starts a plan loop from a terminal, and returns its id.
    #[track_caller]
    pub(crate) fn start(&self, flags: &[&str]) -> String {
        let arguments = [&["start", "plan"], flags, &["Move the queue"]].concat();
        let ran = self.run(&arguments).exits(0);
        check_length(&ran.out);
        id_of(&ran)
    }

    /// Stops session `s1`.
    #[track_caller]
    pub(crate) fn fire(&self) -> Stop {
        self.fire_as("s1")
    }

    #[track_caller]
    pub(crate) fn fire_as(&self, session: &str) -> Stop {
        self.fire_with(json!({ "session_id": session }))
    }

    /// Stops with more input of the client. Adds `cwd` and the event's name if they are missing.
    #[track_caller]
    pub(crate) fn fire_with(&self, input: Value) -> Stop {
        self.fire_from(&self.root, input)
    }

    #[track_caller]
    pub(crate) fn fire_from(&self, folder: &Path, mut input: Value) -> Stop {
        for (name, value) in [
            ("cwd", folder.to_str().unwrap()),
            ("hook_event_name", "Stop"),
        ] {
            if input.get(name).is_none() {
                input[name] = value.into();
            }
        }
        let mut command = self.command(&["hook", "stop"]);
        command.current_dir(folder);
        Stop::read(&feed(command, input.to_string().as_bytes()))
    }

    /// Calls the client's prompt hook as if the user had typed a line.
    pub(crate) fn type_line(&self, session: &str, line: &str) {
        static TYPED: AtomicUsize = AtomicUsize::new(0);
        let id = format!("prompt-{}", TYPED.fetch_add(1, Ordering::Relaxed));
        let event = json!({"hook_event_name": "UserPromptSubmit", "session_id": session, "prompt_id": id, "prompt": line});
        let ran = self.hook("prompt", event).exits(0);
        assert_eq!(
            (ran.out.as_str(), ran.err.as_str()),
            ("", ""),
            "what it prints reaches the model"
        );
    }

    /// Types a slash command, and runs the program with `--from-prompt` as the agent does.
    pub(crate) fn slash(&self, session: &str, line: &str, verb: &str) -> Ran {
        self.type_line(session, line);
        self.run_in_session(session, &format!("{verb} --from-prompt"))
    }

    /// Runs a review with a reviewer of this name.
    pub(crate) fn review(&self, id: &str, reviewer: &str) -> Ran {
        self.run(&["review", id, "--reviewer", reviewer])
    }

    /// Runs a review. Fails if the exit code differs, or no output stream has the text.
    #[track_caller]
    pub(crate) fn reviews(&self, id: &str, reviewer: &str, code: i32, text: &str) {
        self.review(id, reviewer).exits(code).says(text);
    }

    /// Archives a loop as one without a sign of life for hours.
    #[track_caller]
    pub(crate) fn sweep(&self, id: &str) {
        age(&self.state_path(id), Duration::from_hours(24));
        self.answers("sweep", 0, &format!("Loop {id} was moved"));
    }

    #[track_caller]
    pub(crate) fn mark_done(&self, id: &str, rejecting: Option<&str>) {
        let flag: &[&str] = if rejecting.is_some() {
            &["--rejecting"]
        } else {
            &[]
        };
        let why: Vec<&str> = rejecting.into_iter().collect();
        self.run(&[&["mark-done", id], flag, &why].concat())
            .exits(0);
    }

    /// Writes PLAN.md.
    pub(crate) fn plan(&self, text: impl AsRef<[u8]>) {
        std::fs::write(self.root.join("PLAN.md"), text).unwrap();
    }

    pub(crate) fn folder(&self) -> PathBuf {
        self.root.join(".claude/claudex")
    }

    pub(crate) fn state_path(&self, id: &str) -> PathBuf {
        self.folder().join(format!("{id}.state"))
    }

    pub(crate) fn state(&self, id: &str) -> String {
        std::fs::read_to_string(self.state_path(id)).unwrap()
    }

    /// Returns a field of the state file, read as YAML.
    #[track_caller]
    pub(crate) fn field(&self, id: &str, field: &str) -> String {
        match yaml(&self.state(id)).get(field) {
            Some(serde_yaml::Value::String(text)) => text.clone(),
            Some(serde_yaml::Value::Number(number)) => number.to_string(),
            Some(serde_yaml::Value::Bool(flag)) => flag.to_string(),
            other => panic!("{field} is {other:?}"),
        }
    }

    pub(crate) fn prompt(&self, id: &str) -> String {
        std::fs::read_to_string(self.folder().join(format!("{id}-prompt.txt"))).unwrap()
    }

    pub(crate) fn runner(&self, id: &str) -> PathBuf {
        self.folder().join(format!("{id}-runner.sh"))
    }

    pub(crate) fn journal(&self, id: &str) -> Vec<Value> {
        let path = self.folder().join(id).join("journal.jsonl");
        std::fs::read_to_string(path)
            .unwrap()
            .lines()
            .map(|line| serde_json::from_str(line.split('\t').next().unwrap()).unwrap())
            .collect()
    }

    /// Returns the names of the changes in the journal, in order.
    pub(crate) fn changes(&self, id: &str) -> Vec<String> {
        self.journal(id)
            .iter()
            .filter_map(|entry| Some(entry.get("what")?.as_str()?.to_owned()))
            .collect()
    }

    /// Returns the number of runs that began.
    pub(crate) fn runs(&self, id: &str) -> usize {
        let journal = self.journal(id);
        journal
            .iter()
            .filter(|entry| entry["note"] == "run-began")
            .count()
    }

    pub(crate) fn findings(&self, id: &str, round: u32) -> PathBuf {
        self.folder()
            .join(id)
            .join(format!("findings-round-{round}.md"))
    }

    /// Returns the loop's documents that were replaced after an edit by hand, with their bytes.
    pub(crate) fn replaced(&self, id: &str) -> Vec<(PathBuf, Vec<u8>)> {
        let entries = std::fs::read_dir(self.folder().join(id)).unwrap();
        let paths = entries.map(|entry| entry.unwrap().path());
        let is_replaced = |path: &PathBuf| {
            let name = path.file_name().unwrap().to_str().unwrap();
            name.starts_with("replaced-")
        };
        paths
            .filter(is_replaced)
            .map(|path| (path.clone(), std::fs::read(path).unwrap()))
            .collect()
    }

    /// Changes the state file as a user with an editor does.
    pub(crate) fn edit(&self, id: &str, from: &str, to: &str) {
        let text = self.state(id);
        assert!(text.contains(from), "{text}");
        std::fs::write(self.state_path(id), text.replacen(from, to, 1)).unwrap();
    }

    /// Starts a review in the background and waits until its reviewer runs.
    pub(crate) fn background_review(&self, id: &str, flags: &str) -> Background {
        let before = self.runs(id);
        let background = self.spawn(&format!("review {id} {flags}"));
        let pid = background.id();
        // Before the run is noted, the children are git's, which reads the work tree.
        wait_for("a reviewer that runs", || {
            self.runs(id) > before && !descendants(pid).is_empty()
        });
        background
    }
}

/// Returns the folders of this machine's PATH without a client, so that `auto` finds only those of
/// the test. The tests also need a shell, git and similar tools from it.
pub(crate) fn path_without_clients() -> String {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let holds_a_client = |folder: &PathBuf| {
        ["codex", "claude"]
            .iter()
            .any(|client| folder.join(client).exists())
    };
    let mut folders: Vec<PathBuf> = std::env::split_paths(&path)
        .filter(|folder| !holds_a_client(folder))
        .collect();
    folders.extend(["/usr/bin", "/bin"].map(PathBuf::from));
    let joined = std::env::join_paths(folders).expect("they came out of a PATH");
    joined.into_string().expect("PATH is UTF-8")
}

/// Returns one of our examples: a plan without `lint` findings is long.
pub(crate) fn thorough_plan() -> String {
    std::fs::read_to_string(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/plans/thorough.md"),
    )
    .unwrap()
}

/// Returns the path of the program under test: our own binary, or one built elsewhere.
pub(crate) fn program() -> PathBuf {
    match std::env::var_os("CLAUDEX_LOOP_UNDER_TEST") {
        Some(program) => program.into(),
        None => assert_cmd::cargo::cargo_bin!("claudex-loop").to_owned(),
    }
}
