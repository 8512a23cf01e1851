//! A project with a home of its own, and a program as a person, an agent and a client's hooks call it. It knows of no machine: each
//! program's tests have a type around it, which derefs to it.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

/// The session that stops come from.
pub(crate) const SESSION: &str = "session-1";

/// What a call of the program came to.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Said {
    fn of(output: &Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Self {
            code: output.status.code(),
            out: text(&output.stdout),
            err: text(&output.stderr),
        }
    }

    #[track_caller]
    pub(crate) fn done(self) -> String {
        assert_eq!(self.code, Some(0), "{self:?}");
        self.out
    }

    #[track_caller]
    pub(crate) fn refused(self) -> String {
        assert_ne!(self.code, Some(0), "{self:?}");
        self.err
    }
}

pub(crate) struct World {
    kept: TempDir,
    program: &'static str,
    pub(crate) root: PathBuf,
}

impl World {
    /// Makes a project's folder, a repository, for calls of this program.
    pub(crate) fn new(program: &'static str, folder: &str) -> Self {
        let kept = tempfile::tempdir().unwrap();
        let root = kept.path().join(folder);
        std::fs::create_dir_all(&root).unwrap();
        let world = Self { kept, program, root };
        world.git(&["init", "--quiet", "--initial-branch=main"]);
        world
    }

    /// Returns the home, in which the project lies.
    pub(crate) fn home(&self) -> &Path {
        self.kept.path()
    }

    /// Returns a call of any program.
    pub(crate) fn tool(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command
            .args(arguments)
            .current_dir(&self.root)
            .env_clear()
            .stdin(Stdio::null());
        command
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", self.home())
            .env("TMPDIR", self.home())
            .env("XDG_CONFIG_HOME", self.home().join("config"))
            .env("XDG_STATE_HOME", self.home().join("state"))
            .env("GIT_CONFIG_NOSYSTEM", "1");
        for name in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{name}_NAME"), "a person");
            command.env(format!("GIT_{name}_EMAIL"), "person@example.org");
        }
        command
    }

    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        Said::of(&self.tool("git", arguments).output().unwrap()).done()
    }

    /// Calls the program as a person in a terminal.
    pub(crate) fn person(&self, arguments: &[&str]) -> Said {
        Said::of(&self.tool(self.program, arguments).output().unwrap())
    }

    /// Calls it as the agent of the session.
    pub(crate) fn agent(&self, arguments: &[&str]) -> Said {
        let mut command = self.tool(self.program, arguments);
        command
            .env("CLAUDECODE", "1")
            .env("CLAUDE_CODE_SESSION_ID", SESSION);
        Said::of(&command.output().unwrap())
    }

    /// Calls a hook with this input, and returns what it prints.
    pub(crate) fn hook(&self, name: &str, input: &Value) -> String {
        let mut command = self.tool(self.program, &["hook", name]);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(input.to_string().as_bytes()).unwrap();
        drop(stdin);
        Said::of(&child.wait_with_output().unwrap()).done()
    }

    /// Stops: the decision, and the reason or the line for the person.
    pub(crate) fn stop(&self) -> (String, String) {
        let input = json!({ "session_id": SESSION, "hook_event_name": "Stop", "cwd": self.root, "stop_hook_active": false });
        let decision: Value = serde_json::from_str(&self.hook("stop", &input)).unwrap();
        let text = |key: &str| decision[key].as_str().unwrap_or_default().to_owned();
        (text("decision"), text("reason") + &text("systemMessage"))
    }
}
