//! A project that a loop runs in, with a person's home beside it, and the program as people, agents and the client call it.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value as Json, json};

/// The session that stops come from.
pub const SESSION: &str = "kit-session";

/// What a call of the program came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// The exit code; none where a signal ended it.
    pub code: Option<i32>,
    /// What it printed.
    pub out: String,
    /// What it printed as errors.
    pub err: String,
}

impl Output {
    /// Returns all that was printed, on one line of so many characters.
    pub(crate) fn short(&self) -> String {
        let all = format!("{} {}", self.out.trim(), self.err.trim());
        let words = all.split_whitespace().collect::<Vec<_>>().join(" ");
        let short: String = words.chars().take(300).collect();
        format!("exit code {:?}: {short}", self.code)
    }
}

/// A project in a temporary folder whose path has a space and letters outside ASCII.
#[derive(Debug)]
pub struct Project {
    kept: tempfile::TempDir,
    program: PathBuf,
}

/// Every file below some folder with its bytes; a folder has none.
pub(crate) type Files = BTreeMap<PathBuf, Option<Vec<u8>>>;

impl Project {
    /// Makes one with an empty repository in it, for a program.
    ///
    /// # Errors
    /// The system refuses.
    pub fn new(program: &Path) -> io::Result<Self> {
        let kept = tempfile::Builder::new().prefix("kit é ").tempdir()?;
        let project = Self {
            kept,
            program: program.to_owned(),
        };
        fs::create_dir_all(project.home().join("config/claudex-loop"))?;
        fs::create_dir(project.root())?;
        // Without the samples of hooks, which each copy of the project would have.
        let git = project
            .tool("git")
            .args(["init", "--quiet", "--template="])
            .output();
        if !git.is_ok_and(|output| output.status.success()) {
            fs::create_dir(project.root().join(".git"))?;
        }
        Ok(project)
    }

    /// Returns the folder that the loop belongs to.
    pub fn root(&self) -> PathBuf {
        self.kept.path().join("project")
    }

    /// Returns the person's home.
    pub fn home(&self) -> PathBuf {
        self.kept.path().join("home")
    }

    /// Writes a file of the project, and the folders above it.
    ///
    /// # Errors
    /// The system refuses.
    pub fn write(&self, name: &str, text: &str) -> io::Result<()> {
        put(&self.root().join(name), text)
    }

    /// Returns a program of the system in the project's folder, with the environment that the kit gives.
    pub fn tool(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(self.root())
            .env_clear()
            .stdin(Stdio::null());
        for name in ["PATH", "LLVM_PROFILE_FILE"] {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        command
            .env("HOME", self.home())
            .env("XDG_CONFIG_HOME", self.home().join("config"))
            .env("XDG_STATE_HOME", self.home().join("state"))
            .env("LANG", "C.UTF-8")
            .env("TZ", "UTC")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_AUTHOR_NAME", "kit")
            .env("GIT_AUTHOR_EMAIL", "kit@example.org")
            .env("GIT_COMMITTER_NAME", "kit")
            .env("GIT_COMMITTER_EMAIL", "kit@example.org");
        command
    }

    /// Returns the program itself, called by a person in the project's folder.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.tool(&self.program.to_string_lossy());
        command.args(arguments);
        command
    }

    /// Runs the program as a person.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn person(&self, arguments: &[&str]) -> io::Result<Output> {
        output(&mut self.command(arguments))
    }

    /// Runs the program as the agent of the session.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn agent(&self, arguments: &[&str]) -> io::Result<Output> {
        self.agent_of(SESSION, arguments)
    }

    /// Runs the program as the agent of a session.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn agent_of(&self, session: &str, arguments: &[&str]) -> io::Result<Output> {
        output(as_agent_of(&mut self.command(arguments), session))
    }

    /// Runs a hook on these bytes.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn hook(&self, name: &str, input: &[u8]) -> io::Result<Output> {
        feed(self.command(&["hook", name]), input)
    }

    /// Runs the Stop hook for the session's agent.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn stop(&self) -> io::Result<Output> {
        self.hook("stop", self.event(SESSION).to_string().as_bytes())
    }

    pub(crate) fn event(&self, session: &str) -> Json {
        json!({"session_id": session, "hook_event_name": "Stop", "cwd": self.root(), "stop_hook_active": false})
    }

    pub(crate) fn program(&self) -> &Path {
        &self.program
    }

    /// Returns where the kit lies with everything of this project.
    pub(crate) fn top(&self) -> &Path {
        self.kept.path()
    }

    /// Keeps the project and the home as they are now.
    pub(crate) fn keep(&self) -> io::Result<()> {
        keep(&[&self.root(), &self.home()])
    }

    /// Makes both as they were when they were kept.
    pub(crate) fn restore(&self) -> io::Result<()> {
        restore(&[&self.root(), &self.home()])
    }
}

/// Keeps folders that lie side by side as they are now.
pub(crate) fn keep(folders: &[&Path]) -> io::Result<()> {
    let Some(kept) = folders.first().map(|folder| folder.with_file_name("kept")) else {
        return Ok(());
    };
    remove(&kept)?;
    fs::create_dir(&kept)?;
    copy(folders, &kept)
}

/// Makes them as they were when they were kept.
pub(crate) fn restore(folders: &[&Path]) -> io::Result<()> {
    folders.iter().try_for_each(|folder| remove(folder))?;
    let kept = folders.iter().map(|folder| {
        let name = folder.file_name().unwrap_or_default();
        folder.with_file_name("kept").join(name)
    });
    let kept: Vec<PathBuf> = kept.collect();
    match folders.first().and_then(|folder| folder.parent()) {
        Some(into) => copy(&kept, into),
        None => Ok(()),
    }
}

/// Has a command run as that of the session's agent.
pub fn as_agent(command: &mut Command) -> &mut Command {
    as_agent_of(command, SESSION)
}

fn as_agent_of<'c>(command: &'c mut Command, session: &str) -> &'c mut Command {
    command
        .env("CLAUDECODE", "1")
        .env("CLAUDE_CODE_SESSION_ID", session)
}

pub(crate) fn output(command: &mut Command) -> io::Result<Output> {
    command.output().map(said)
}

/// Runs a command with this on its stdin.
pub(crate) fn feed(mut command: Command, input: &[u8]) -> io::Result<Output> {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    // A hook that has read enough may close its stdin before the end.
    let _ = child.stdin.take().map(|mut stdin| stdin.write_all(input));
    child.wait_with_output().map(said)
}

fn said(output: std::process::Output) -> Output {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Output {
        code: output.status.code(),
        out: text(&output.stdout),
        err: text(&output.stderr),
    }
}

/// Writes a file, and the folders above it.
pub(crate) fn put(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, text)
}

/// Copies folders with everything below them, links and times as they are, into another one.
fn copy(from: &[impl AsRef<OsStr>], into: &Path) -> io::Result<()> {
    done(Command::new("cp").arg("-a").args(from).arg(into))
}

/// Removes a folder whatever is in it.
pub(crate) fn remove(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            done(Command::new("chmod").args(["-R", "u+rwX"]).arg(folder))?;
            done(Command::new("rm").arg("-rf").arg(folder))
        }
        _ => Ok(()),
    }
}

pub(crate) fn done(command: &mut Command) -> io::Result<()> {
    let output = command.output()?;
    match output.status.success() {
        true => Ok(()),
        false => Err(io::Error::other(format!(
            "{command:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        ))),
    }
}

/// Reads every file below a folder; what cannot be read has no bytes.
pub(crate) fn files(folder: &Path) -> Files {
    let mut found = Files::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let kind = entry.file_type();
            if kind.as_ref().is_ok_and(std::fs::FileType::is_dir) {
                open.push(path.clone());
            }
            let is_file = kind.is_ok_and(|kind| kind.is_file());
            let bytes = if is_file { fs::read(&path).ok() } else { None };
            found.insert(path, bytes);
        }
    }
    found
}
