//! A project with trains: two configured commands, and the program.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use claudex_testkit::{Output, Project as Folder, SESSION, has};
use serde_json::{Value, json};

/// `build` passes if a file `built` exists, `probe` if no file `burning` exists.
const CONFIGURATION: &str = r#"
[commands.build]
program   = "test"
arguments = ["-f", "built"]

[commands.probe]
program   = "test"
arguments = ["!", "-e", "burning"]
"#;

/// A project whose user has configured the commands.
pub(crate) struct Project {
    pub(crate) folder: Folder,
}

impl Project {
    pub(crate) fn new() -> Self {
        let folder = Folder::new(Path::new(env!("CARGO_BIN_EXE_release-train"))).unwrap();
        let project = Self { folder };
        project.configure(CONFIGURATION);
        project
    }

    pub(crate) fn configuration(&self) -> PathBuf {
        self.folder.home().join("config/claudex-loop/config.toml")
    }

    pub(crate) fn configure(&self, text: &str) {
        std::fs::write(self.configuration(), text).unwrap();
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.folder.person(arguments).unwrap()
    }

    pub(crate) fn agent(&self, arguments: &[&str]) -> Output {
        self.folder.agent(arguments).unwrap()
    }

    /// Runs the program successfully, and returns its output.
    #[track_caller]
    pub(crate) fn done(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert_eq!(output.code, Some(0), "{arguments:?}: {output:?}");
        output.out
    }

    /// Runs the program, which fails with this code and message.
    #[track_caller]
    pub(crate) fn refuses(&self, arguments: &[&str], code: i32, why: &str) {
        let output = self.run(arguments);
        assert_eq!(output.code, Some(code), "{arguments:?}: {output:?}");
        has(&output.err, why);
    }

    /// Runs a hook on an event of the session. Checks that it succeeds, with an empty stderr.
    #[track_caller]
    pub(crate) fn hook(&self, verb: &str, event: &Value) -> String {
        let command = self.folder.command(&["hook", verb]);
        feed(command, event.to_string().as_bytes())
    }

    pub(crate) fn event(&self, name: &str) -> Value {
        json!({"session_id": SESSION, "hook_event_name": name, "cwd": self.folder.root()})
    }

    /// Stops. Returns the decision, and the reason or the line for the user.
    #[track_caller]
    fn stop(&self) -> (String, String) {
        decision(&self.hook("stop", &self.event("Stop")))
    }

    /// Stops, and returns the reason of a block.
    #[track_caller]
    pub(crate) fn blocks(&self) -> String {
        let (decision, said) = self.stop();
        assert_ne!(decision, "approve", "{said}");
        said
    }

    /// Stops, and returns the line for the user of an approval.
    #[track_caller]
    pub(crate) fn approves(&self) -> String {
        let (decision, said) = self.stop();
        assert_eq!(decision, "approve", "{said}");
        said
    }

    /// Answers the question about a rollout of this version. Returns the output of the hook.
    pub(crate) fn answer(&self, version: &str, answer: &str) -> String {
        let question = format!("Roll {version} out to everyone?");
        let options = json!([
            {"label": "Roll out", "description": "Everyone gets it, now."},
            {"label": "Roll back", "description": "The canary goes back to the version before."},
        ]);
        let questions = json!([{"question": question, "header": "Rollout", "options": options, "multiSelect": false}]);
        let mut event = self.event("PostToolUse");
        event["tool_name"] = json!("AskUserQuestion");
        event["tool_response"] = json!({"questions": questions, "answers": {question: answer}});
        self.hook("answer", &event)
    }

    /// Starts a train, and returns its id.
    #[track_caller]
    pub(crate) fn start(&self, mode: &str, version: &str) -> String {
        self.done(&["start", mode, version]);
        self.status()["id"].as_str().unwrap().to_owned()
    }

    /// Returns the only train, as `status --json` shows it.
    pub(crate) fn status(&self) -> Value {
        let mut status: Value = serde_json::from_str(&self.done(&["status", "--json"])).unwrap();
        assert_eq!(status["problems"], json!([]));
        status["loops"][0].take()
    }

    pub(crate) fn phase(&self) -> String {
        self.status()["phase"].as_str().unwrap().to_owned()
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        self.folder.write(name, text).unwrap();
    }

    /// Returns a train that waits for a user's approval.
    #[track_caller]
    pub(crate) fn approving(version: &str) -> (Self, String) {
        let project = Self::new();
        let id = project.start("hotfix", version);
        project.write("built", "x\n");
        project.blocks();
        project.blocks();
        assert_eq!(project.phase(), "approving");
        (project, id)
    }
}

/// Runs a command on these bytes successfully, and returns its output.
#[track_caller]
pub(crate) fn feed(mut command: Command, input: &[u8]) -> String {
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A hook may close its stdin early.
    let _ = child.stdin.take().unwrap().write_all(input);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
    String::from_utf8(output.stdout).unwrap()
}

/// Returns the decision and its reason or note from the one JSON object of a stop.
pub(crate) fn decision(printed: &str) -> (String, String) {
    let answer: Value = serde_json::from_str(printed).unwrap();
    let text = |key: &str| answer.get(key).and_then(Value::as_str).map(str::to_owned);
    if let Some(reminder) = answer.pointer("/hookSpecificOutput/additionalContext") {
        return ("remind".to_owned(), reminder.as_str().unwrap().to_owned());
    }
    let message = text("reason").or_else(|| text("systemMessage"));
    (text("decision").unwrap(), message.unwrap_or_default())
}

/// Returns every file below a folder with its text.
pub(crate) fn files(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            let text = std::fs::read_to_string(&path).unwrap();
            found.push((path, text));
        }
    }
    found.sort();
    found
}
