//! An example's program as people and agents meet it, in a project of its own: it is called, and its hook answers.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

/// A project below one folder with a person's home.
pub(crate) struct Project {
    program: &'static str,
    folder: tempfile::TempDir,
}

impl Project {
    pub(crate) fn new(program: &'static str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("project/.git")).unwrap();
        Self { program, folder }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("project").join(name)
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.program);
        command
            .args(arguments)
            .current_dir(self.path(""))
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.folder.path().join("home"));
        command
    }

    /// Runs the program as a person; the exit code, and all that it printed.
    pub(crate) fn run(&self, arguments: &[&str]) -> (Option<i32>, String) {
        let output = self.command(arguments).output().unwrap();
        let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        (output.status.code(), text)
    }

    /// A stop of a session's agent: what is decided, and why.
    pub(crate) fn stop_of(&self, session: &str) -> (String, String) {
        let input = json!({"session_id": session, "hook_event_name": "Stop", "cwd": self.path("")});
        let mut child = self
            .command(&["hook", "stop"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        child
            .stdin
            .take()
            .unwrap()
            .write_all(input.to_string().as_bytes())
            .unwrap();
        let answer: Value =
            serde_json::from_slice(&child.wait_with_output().unwrap().stdout).unwrap();
        let text = |key: &str| answer[key].as_str().unwrap_or_default().to_owned();
        match answer["hookSpecificOutput"]["additionalContext"].as_str() {
            Some(reminder) => ("remind".to_owned(), reminder.to_owned()),
            None => (text("decision"), text("reason") + &text("systemMessage")),
        }
    }

    pub(crate) fn stop(&self) -> (String, String) {
        self.stop_of("s")
    }

    /// Says whether a file of the quarantine in this folder has these bytes.
    pub(crate) fn is_kept(&self, folder: &str, text: &str) -> bool {
        let kept = std::fs::read_dir(self.path(folder).join("quarantine"));
        kept.is_ok_and(|mut kept| {
            kept.any(|file| std::fs::read_to_string(file.unwrap().path()).unwrap() == text)
        })
    }
}
