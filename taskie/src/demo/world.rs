//! The demo's folder, and who acts in it: a person in a terminal, the agent, and the client that calls the hooks.

use std::ffi::OsStr;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use camino::Utf8Path;
use claudex_loop::git;
use claudex_loop::program::exit::{Exit, Failure};
use serde_json::{Value, json};

use super::PLAN;

/// The id of the one session of the client.
const SESSION: &str = "demo";
/// How long git may take.
const GIT_TIMEOUT: Duration = Duration::from_secs(60);
/// The configuration of the agent's commits.
const AUTHOR: [&str; 6] = [
    "-c",
    "user.name=The demo’s agent",
    "-c",
    "user.email=agent@example.org",
    "-c",
    "commit.gpgSign=false",
];

/// Holds where everything lies. The person's home is the demo's own: nothing outside of its folder is read or written.
pub(super) struct World {
    pub(super) project: PathBuf,
    pub(super) home: PathBuf,
    program: PathBuf,
    /// The number of prompts: each has an id of its own.
    prompts: u32,
}

/// Holds what the Stop hook decided.
pub(super) enum Stopped {
    /// The agent has to do this first.
    Blocked(String),
    /// The turn ended.
    Ended,
}

/// Fails a step of the demo.
pub(super) fn failed(what: &str, why: impl std::fmt::Display) -> Failure {
    let help =
        "nothing outside of the demo’s folder was changed; what is there shows how far it came";
    Failure::plain(
        Exit::Internal,
        "claudex::taskie::demo",
        format!("the demo’s step failed: {what}: {why}"),
        help,
    )
}

impl World {
    /// Makes the folder, which must not be there yet, with a project under git and a person's configuration.
    pub(super) fn make(folder: &Path) -> Result<Self, Failure> {
        fs::create_dir(folder).map_err(|error| {
            let help = "name a folder that is not there yet:\n    taskie demo FOLDER";
            let what = format!("{} cannot be made: {error}", folder.display());
            Failure::plain(Exit::Refused, "claudex::taskie::demo", what, help)
        })?;
        let folder = folder
            .canonicalize()
            .map_err(|error| failed("find its folder", error))?;
        let program =
            std::env::current_exe().map_err(|error| failed("find this program", error))?;
        let (project, home) = (folder.join("words"), folder.join("home"));
        let world = Self {
            project,
            home,
            program,
            prompts: 0,
        };
        world.configure(super::CONFIG)?;
        world.write("README.md", "# words\n")?;
        world.git(&["init", "--quiet", "--initial-branch=main"])?;
        world.commit("Begin")?;
        Ok(world)
    }

    /// Writes the person's configuration.
    pub(super) fn configure(&self, text: &str) -> Result<(), Failure> {
        self.put(&self.home.join(".config/claudex-loop/config.toml"), text)
    }

    fn command(&self, program: impl AsRef<OsStr>, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command
            .args(arguments)
            .current_dir(&self.project)
            .env_clear();
        command.envs(std::env::vars_os().filter(|(name, _)| name == "PATH"));
        command.env("HOME", &self.home).env("LC_ALL", "C");
        command.stdin(Stdio::null());
        command
    }

    /// Calls the program as the person in a terminal.
    pub(super) fn person(&self, arguments: &[&str]) -> Result<String, Failure> {
        said(
            &format!("taskie {}", arguments.join(" ")),
            self.command(&self.program, arguments).output(),
        )
    }

    /// Calls it as the agent.
    pub(super) fn agent(&self, arguments: &[&str]) -> Result<String, Failure> {
        let mut command = self.command(&self.program, arguments);
        command
            .env("CLAUDECODE", "1")
            .env("CLAUDE_CODE_SESSION_ID", SESSION);
        said(&format!("taskie {}", arguments.join(" ")), command.output())
    }

    /// Types a slash command, as the person does in the client, which has its line run.
    pub(super) fn slash(&mut self, command: &str, words: &str) -> Result<String, Failure> {
        self.prompts += 1;
        self.hook(
            "prompt",
            &json!({
                "session_id": SESSION, "hook_event_name": "UserPromptSubmit", "cwd": self.project,
                "prompt": format!("/taskie:{command} {words}"), "prompt_id": self.prompts.to_string(),
            }),
        )?;
        self.agent(&[command, "--from-prompt"])
    }

    /// Ends the agent's turn: the client asks the Stop hook.
    pub(super) fn stop(&self) -> Result<Stopped, Failure> {
        let said = self.hook("stop", &json!({
            "session_id": SESSION, "hook_event_name": "Stop", "cwd": self.project, "stop_hook_active": false,
        }))?;
        let said: Value =
            serde_json::from_str(&said).map_err(|error| failed("read the Stop hook", error))?;
        let reminder = &said["hookSpecificOutput"]["additionalContext"];
        Ok(match said["reason"].as_str().or(reminder.as_str()) {
            Some(reason) => Stopped::Blocked(reason.to_owned()),
            None => Stopped::Ended,
        })
    }

    fn hook(&self, name: &str, input: &Value) -> Result<String, Failure> {
        let mut command = self.command(&self.program, &["hook", name]);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let ran = command.spawn().and_then(|mut child| {
            if let Some(mut stdin) = child.stdin.take() {
                stdin.write_all(input.to_string().as_bytes())?;
            }
            child.wait_with_output()
        });
        said(&format!("taskie hook {name}"), ran)
    }

    /// Runs a test of the project, and returns whether it passes.
    pub(super) fn passes(&self, test: &str) -> Result<bool, Failure> {
        let ran = self
            .command("sh", &[test])
            .output()
            .map_err(|error| failed(test, error))?;
        Ok(ran.status.success())
    }

    fn git(&self, arguments: &[&str]) -> Result<String, Failure> {
        let project = Utf8Path::from_path(&self.project)
            .ok_or_else(|| failed("name its folder", "the path is not UTF-8"))?;
        let arguments = [&AUTHOR, arguments].concat();
        git::call(project, &arguments, GIT_TIMEOUT).map_err(|error| failed("call git", error))
    }

    /// Commits what the project has, and returns the commit.
    pub(super) fn commit(&self, message: &str) -> Result<String, Failure> {
        self.git(&["add", "--", ".", ":!.taskie"])?;
        self.git(&["commit", "--quiet", "--message", message])?;
        self.git(&["rev-parse", "--short", "HEAD"])
    }

    /// Writes a file of the project.
    pub(super) fn write(&self, name: &str, text: &str) -> Result<(), Failure> {
        self.put(&self.project.join(name), text)
    }

    /// Writes a file of the plan.
    pub(super) fn write_plan(&self, name: &str, text: &str) -> Result<(), Failure> {
        self.put(&self.plan().join(name), text)
    }

    fn put(&self, path: &Path, text: &str) -> Result<(), Failure> {
        let written = path
            .parent()
            .map_or(Ok(()), fs::create_dir_all)
            .and_then(|()| fs::write(path, text));
        written.map_err(|error| failed(&format!("write {}", path.display()), error))
    }

    /// Reads a file of the plan.
    pub(super) fn read_plan(&self, name: &str) -> Result<String, Failure> {
        let path = self.plan().join(name);
        fs::read_to_string(&path)
            .map_err(|error| failed(&format!("read {}", path.display()), error))
    }

    fn plan(&self) -> PathBuf {
        self.project.join(".taskie/plans").join(PLAN)
    }
}

/// Returns what a command printed, where it ended well.
fn said(what: &str, ran: std::io::Result<Output>) -> Result<String, Failure> {
    let ran = ran.map_err(|error| failed(what, error))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    match ran.status.success() {
        true => Ok(text(&ran.stdout)),
        false => Err(failed(
            what,
            format!("{}\n{}{}", ran.status, text(&ran.stdout), text(&ran.stderr)),
        )),
    }
}
