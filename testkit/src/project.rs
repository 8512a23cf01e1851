//! A project with a user's home, and the program as users, agents and the client call it.

use std::ffi::OsStr;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{fmt, fs};

use anyhow::{Result, ensure};
use serde_json::{Value as Json, json};

/// The session that stops come from.
pub const SESSION: &str = "kit-session";
/// The variable with which a debug build kills itself before its Nth change of a file.
const KILL_AT: &str = "CLAUDEX_KILL_AT";

/// The result of a call of the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// The exit code, or `None` if a signal ended it.
    pub code: Option<i32>,
    /// The standard output.
    pub out: String,
    /// The standard error.
    pub err: String,
}

/// The exit code and the beginning of all that was printed, on one line.
impl fmt::Display for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = format!("{} {}", self.out, self.err);
        let words: Vec<&str> = all.split_whitespace().collect();
        let short: String = words.join(" ").chars().take(300).collect();
        write!(f, "exit code {:?}: {short}", self.code)
    }
}

impl Output {
    /// Returns a hook's answer: nothing, or one JSON object. Other exit codes than 0 are wrong.
    pub(crate) fn answer(&self) -> Result<Json> {
        let answer = match self.out.trim() {
            "" => Json::Null,
            text => serde_json::from_str(text).unwrap_or(Json::Bool(false)),
        };
        let is_clean = self.code == Some(0) && !self.err.contains("panicked");
        ensure!(
            is_clean && (answer.is_null() || answer.is_object()),
            "a hook ends with exit code 0 and prints one JSON object or nothing: {self}"
        );
        Ok(answer)
    }

    /// Returns whether a Stop hook's answer has the agent continue: a block, or a reminder.
    pub(crate) fn holds(&self) -> Result<bool> {
        let answer = self.answer()?;
        let reminder = &answer["hookSpecificOutput"]["additionalContext"];
        Ok(answer["decision"] == "block" || reminder.is_string())
    }
}

/// A project in a temporary folder whose path has a space and letters outside ASCII.
#[derive(Debug)]
pub struct Project {
    folder: tempfile::TempDir,
    program: PathBuf,
    /// The number of the change of a file before which each call kills itself; 0 for none.
    pub(crate) kill_at: AtomicUsize,
}

impl Project {
    /// Creates a project with an empty repository, for a program.
    pub fn new(program: &Path) -> io::Result<Self> {
        let project = Self {
            folder: tempfile::Builder::new().prefix("kit é ").tempdir()?,
            program: program.to_owned(),
            kill_at: AtomicUsize::new(0),
        };
        fs::create_dir_all(project.home().join("config/claudex-loop"))?;
        let user = "[user]\nname = kit\nemail = kit@example.org\n";
        fs::write(project.home().join(".gitconfig"), user)?;
        fs::create_dir(project.root())?;
        // Without the samples of hooks, which each copy of the project would have.
        let mut init = project.tool("git");
        init.args(["init", "--quiet", "--template="]);
        run(init)?;
        Ok(project)
    }

    /// Returns the folder that the loop belongs to.
    pub fn root(&self) -> PathBuf {
        self.folder.path().join("now/project")
    }

    /// Returns the user's home.
    pub fn home(&self) -> PathBuf {
        self.folder.path().join("now/home")
    }

    /// Writes a file of the project, and the folders above it.
    pub fn write(&self, name: &str, text: &str) -> io::Result<()> {
        put(&self.root().join(name), text)
    }

    /// Returns a program of the system in the project's folder, with the kit's environment.
    pub fn tool(&self, program: impl AsRef<OsStr>) -> Command {
        let home = self.home();
        let mut command = Command::new(program);
        command
            .current_dir(self.root())
            .env_clear()
            .stdin(Stdio::null())
            .envs(std::env::var_os("PATH").map(|path| ("PATH", path)))
            .env("XDG_CONFIG_HOME", home.join("config"))
            .env("XDG_STATE_HOME", home.join("state"))
            .env("HOME", home)
            .envs([
                ("LANG", "C.UTF-8"),
                ("TZ", "UTC"),
                ("GIT_CONFIG_NOSYSTEM", "1"),
            ]);
        command
    }

    /// Returns the program itself, called by the user in the project's folder.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.tool(&self.program);
        command.args(arguments);
        let kill_at = self.kill_at.load(Ordering::Relaxed);
        if kill_at > 0 {
            command.env(KILL_AT, kill_at.to_string());
        }
        command
    }

    /// Runs the program as the user.
    pub fn person(&self, arguments: &[&str]) -> io::Result<Output> {
        feed(self.command(arguments), b"")
    }

    /// Runs the program as the agent of the session.
    pub fn agent(&self, arguments: &[&str]) -> io::Result<Output> {
        self.agent_of(SESSION, arguments)
    }

    /// Runs the program as the agent of a session.
    pub fn agent_of(&self, session: &str, arguments: &[&str]) -> io::Result<Output> {
        let mut command = self.command(arguments);
        as_agent(&mut command).env("CLAUDE_CODE_SESSION_ID", session);
        feed(command, b"")
    }

    /// Runs a hook on these bytes.
    pub fn hook(&self, name: &str, input: &[u8]) -> io::Result<Output> {
        feed(self.command(&["hook", name]), input)
    }

    /// Runs the Stop hook for the session's agent.
    pub fn stop(&self) -> io::Result<Output> {
        self.hook("stop", self.event().to_string().as_bytes())
    }

    pub(crate) fn event(&self) -> Json {
        json!({"session_id": SESSION, "hook_event_name": "Stop", "cwd": self.root(), "stop_hook_active": false})
    }

    /// Copies the project and the home as they are now, under a number.
    pub fn keep(&self, copy: usize) -> io::Result<()> {
        self.copy("now", &format!("kept-{copy}"))
    }

    /// Makes both as they were in the copy.
    pub fn restore(&self, copy: usize) -> io::Result<()> {
        self.copy(&format!("kept-{copy}"), "now")
    }

    /// Replaces a folder by another one with everything below it, links and times as they are.
    fn copy(&self, from: &str, to: &str) -> io::Result<()> {
        let [from, to] = [from, to].map(|name| self.folder.path().join(name));
        if to.exists() {
            fs::remove_dir_all(&to)?;
        }
        let mut copy = Command::new("cp");
        copy.arg("-a").args([from, to]);
        run(copy)
    }
}

/// Makes a command one of the session's agent.
pub fn as_agent(command: &mut Command) -> &mut Command {
    command
        .env("CLAUDECODE", "1")
        .env("CLAUDE_CODE_SESSION_ID", SESSION)
}

pub(crate) fn feed(mut command: Command, input: &[u8]) -> io::Result<Output> {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    // A hook that has read enough may close its stdin before the end.
    let _ = child.stdin.take().map(|mut stdin| stdin.write_all(input));
    let output = child.wait_with_output()?;
    Ok(Output {
        code: output.status.code(),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    })
}

pub(crate) fn put(path: &Path, text: &str) -> io::Result<()> {
    fs::create_dir_all(path.with_file_name(""))?;
    fs::write(path, text)
}

fn run(command: Command) -> io::Result<()> {
    let output = feed(command, b"")?;
    match output.code {
        Some(0) => Ok(()),
        _ => Err(io::Error::other(output.to_string())),
    }
}

/// Checks that a text contains a part. Panics with the text if it does not.
#[track_caller]
pub fn has(text: &str, part: &str) {
    assert!(text.contains(part), "not there: {part}\n{text}");
}
