//! A yard to run trains in: a project in an awkward path, a configuration with the two commands, and the program.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

/// The session that most stops here come from.
pub(crate) const SESSION: &str = "session-1";

/// `build` passes where a file `built` is, `probe` where no file `burning` is.
const CONFIGURATION: &str = r#"
[commands.build]
program   = "test"
arguments = ["-f", "built"]

[commands.probe]
program   = "test"
arguments = ["!", "-e", "burning"]
"#;

/// A project with its own configuration folder.
pub(crate) struct Yard {
    _folder: tempfile::TempDir,
    pub(crate) path: PathBuf,
    pub(crate) configuration: PathBuf,
}

/// What a call of the program came to.
pub(crate) struct Said {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Yard {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a train's \"yard\" é");
        let configuration = folder.path().join("configuration");
        std::fs::create_dir_all(path.join(".git")).unwrap();
        std::fs::create_dir_all(configuration.join("claudex-loop")).unwrap();
        std::fs::write(
            configuration.join("claudex-loop/config.toml"),
            CONFIGURATION,
        )
        .unwrap();
        Self {
            _folder: folder,
            path,
            configuration,
        }
    }

    /// Replaces the configuration.
    pub(crate) fn configure(&self, text: &str) {
        std::fs::write(self.configuration.join("claudex-loop/config.toml"), text).unwrap();
    }

    /// The program in the yard, called by a person in a terminal.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_release-train"));
        command.args(arguments);
        self.place(&mut command);
        command
    }

    /// Has a command run here, with nothing of the surroundings that the tests run in.
    pub(crate) fn place(&self, command: &mut Command) {
        command
            .current_dir(&self.path)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", &self.configuration)
            .env("XDG_CONFIG_HOME", &self.configuration);
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Said {
        said(&self.command(arguments).output().unwrap())
    }

    /// The same, called by the agent of a session.
    pub(crate) fn agent(&self, arguments: &[&str]) -> Said {
        let mut command = self.command(arguments);
        command
            .env("CLAUDECODE", "1")
            .env("CLAUDE_CODE_SESSION_ID", SESSION);
        said(&command.output().unwrap())
    }

    /// A call that must succeed; what it printed.
    pub(crate) fn done(&self, arguments: &[&str]) -> String {
        let said = self.run(arguments);
        assert_eq!(
            said.code,
            Some(0),
            "{arguments:?}: {}{}",
            said.out,
            said.err
        );
        said.out
    }

    /// A hook with these bytes on its stdin. It must end well, whatever they are, and say nothing on stderr.
    pub(crate) fn hook(&self, verb: &str, input: &[u8]) -> String {
        feed(self.command(&["hook", verb]), input)
    }

    /// A stop of a session's agent: the decision, and the reason or the line for the person.
    pub(crate) fn stop_of(&self, session: &str) -> (String, String) {
        let input = json!({
            "session_id": session, "hook_event_name": "Stop", "cwd": self.path, "stop_hook_active": false,
            "background_tasks": []
        });
        decision(&self.hook("stop", input.to_string().as_bytes()))
    }

    pub(crate) fn stop(&self) -> (String, String) {
        self.stop_of(SESSION)
    }

    /// A stop that must have the agent go on; its words.
    pub(crate) fn blocks(&self) -> String {
        let (decision, said) = self.stop();
        assert_ne!(decision, "approve", "{said}");
        said
    }

    /// A stop that must let the turn end; the line for the person.
    pub(crate) fn approves(&self) -> String {
        let (decision, said) = self.stop();
        assert_eq!(decision, "approve", "{said}");
        said
    }

    /// The event of a dialog that a person answered.
    pub(crate) fn dialog(&self, question: &str, answer: &str) -> Value {
        let options = json!([
            {"label": "Roll out", "description": "Everyone gets it, now."},
            {"label": "Roll back", "description": "The canary goes back to the version before."},
        ]);
        json!({
            "session_id": SESSION, "hook_event_name": "PostToolUse", "tool_name": "AskUserQuestion", "cwd": self.path,
            "tool_input": {}, "tool_response": {
                "questions": [{"question": question, "header": "Rollout", "options": options, "multiSelect": false}],
                "answers": {question: answer}
            }
        })
    }

    /// What the agent is told after an event of the dialog, or nothing.
    pub(crate) fn answered(&self, event: &Value) -> Option<String> {
        let told = self.hook("answer", event.to_string().as_bytes());
        if told.is_empty() {
            return None;
        }
        let told: Value = serde_json::from_str(&told).unwrap();
        let context = &told["hookSpecificOutput"]["additionalContext"];
        Some(context.as_str().unwrap().to_owned())
    }

    /// Starts a train; its id.
    pub(crate) fn start(&self, mode: &str, version: &str) -> String {
        self.done(&["start", mode, version]);
        self.status()["id"].as_str().unwrap().to_owned()
    }

    /// The one train of the yard, as `status --json` has it.
    pub(crate) fn status(&self) -> Value {
        let mut shown: Value = serde_json::from_str(&self.done(&["status", "--json"])).unwrap();
        assert_eq!(shown["problems"], json!([]));
        shown["loops"][0].take()
    }

    pub(crate) fn phase(&self) -> String {
        self.status()["phase"].as_str().unwrap().to_owned()
    }

    pub(crate) fn write(&self, name: &str) {
        let path = self.path.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "x\n").unwrap();
    }

    /// A train that waits for a person's approval.
    pub(crate) fn approving(version: &str) -> (Self, String) {
        let yard = Self::new();
        let id = yard.start("hotfix", version);
        yard.write("built");
        yard.blocks();
        yard.blocks();
        assert_eq!(yard.phase(), "approving");
        (yard, id)
    }

    /// The state file of a train.
    pub(crate) fn state(&self, id: &str) -> PathBuf {
        self.path.join(".release-train").join(format!("{id}.state"))
    }

    pub(crate) fn folder(&self) -> PathBuf {
        self.path.join(".release-train")
    }

    pub(crate) fn journal(&self, id: &str) -> PathBuf {
        self.folder().join(id).join("journal.jsonl")
    }

    /// Returns the program's folder in the user's state home.
    pub(crate) fn state_home(&self) -> PathBuf {
        self.configuration.join(".local/state/release-train")
    }
}

/// Runs a command on these bytes; what it printed.
pub(crate) fn feed(mut command: Command, input: &[u8]) -> String {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A hook that has read enough may close its stdin before the end.
    let _ = child.stdin.take().unwrap().write_all(input);
    let output = child.wait_with_output().unwrap();
    let said = said(&output);
    assert_eq!(
        (said.code, said.err.as_str()),
        (Some(0), ""),
        "{}",
        said.out
    );
    said.out
}

/// The decision and its reason or note, out of the one JSON object that a stop prints.
pub(crate) fn decision(printed: &str) -> (String, String) {
    let answer: Value = serde_json::from_str(printed).unwrap();
    let text = |key: &str| answer.get(key).and_then(Value::as_str).map(str::to_owned);
    if let Some(reminder) = answer.pointer("/hookSpecificOutput/additionalContext") {
        return ("remind".to_owned(), reminder.as_str().unwrap().to_owned());
    }
    let said = text("reason").or_else(|| text("systemMessage"));
    (text("decision").unwrap(), said.unwrap_or_default())
}

fn said(output: &Output) -> Said {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    Said {
        code: output.status.code(),
        out: text(&output.stdout),
        err: text(&output.stderr),
    }
}

/// Every file below a folder with its bytes.
pub(crate) fn snapshot(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = Vec::new();
    let Ok(entries) = std::fs::read_dir(folder) else {
        return files;
    };
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(snapshot(&path));
        } else {
            let bytes = std::fs::read(&path).unwrap();
            files.push((path, bytes));
        }
    }
    files.sort();
    files
}
