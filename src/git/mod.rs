//! Reads a repository that is not trusted, by a few plumbing commands, each with a deadline and a
//! cap on output. None takes a lock or runs a program that the repository configures.
//!
//! Off are hooks, fsmonitor, external diffs, textconv, the repository's filters, submodules,
//! fetching, replacement objects and prompts. The user's and the system's configuration applies.
//! Two gaps remain: a filter of the user may obey the repository, and git itself parses its files.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use thiserror::Error;

use crate::process::environment::Environment;
use crate::process::limits::Limits;
use crate::process::{self, Call, ProcessEnd};
use crate::text;

/// The most changed and untracked files of one work tree that are read.
pub const MAX_FILES: usize = 20_000;
const COMMAND_TIMEOUT: Duration = Duration::from_secs(60);

/// The configuration of every command, which outweighs that of every file.
const CONFIG: [&str; 10] = [
    // Programs that a repository's configuration could name.
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    // A split index would be written next to the real one.
    "core.splitIndex=false",
    "core.untrackedCache=false",
    // A warning about line ends must not become a failure.
    "core.safecrlf=false",
    // Names come as they are; only quotes, backslashes and control characters are still quoted.
    "core.quotePath=false",
    // The scratch objects are thrown away: they need neither syncs nor compression.
    "core.fsync=none",
    "core.looseCompression=0",
    // A larger file is no text for a reviewer, and is not diffed line by line.
    "core.bigFileThreshold=8m",
    "diff.renameLimit=400",
];

/// The environment of every command. A git before 2.45 needs `GIT_ALLOW_PROTOCOL`.
const ENVIRONMENT: [(&str, &str); 6] = [
    ("LC_ALL", "C"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("GIT_NO_REPLACE_OBJECTS", "1"),
];

/// The flag that a signal may set: from then on all commands fail.
pub static INTERRUPTED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// Returns `Break` once [`INTERRUPTED`] is set.
pub fn check_interrupted() -> ControlFlow<()> {
    if INTERRUPTED.load(Ordering::Relaxed) {
        ControlFlow::Break(())
    } else {
        ControlFlow::Continue(())
    }
}

type Result<T> = std::result::Result<T, WorktreeError>;

/// git in one work tree.
#[derive(Debug, Clone)]
pub(crate) struct Git {
    pub(crate) root: Utf8PathBuf,
    config: Vec<String>,
    environment: Environment,
    /// The time at which all commands have to be done.
    deadline: Option<Instant>,
}

/// Runs a git command, its words separated by spaces, in a work tree and returns its output.
///
/// # Errors
/// Returns an error if git is missing, fails or takes longer than `timeout`.
pub fn call(root: &Utf8Path, command: &str, timeout: Duration) -> Result<String> {
    let deadline = Instant::now() + timeout;
    Git::hardened(root, Some(deadline)).lines(command, &[])
}

impl Git {
    /// Makes one for the work tree whose top is `root`.
    pub(crate) fn at(root: &Utf8Path, deadline: Option<Instant>) -> Result<Self> {
        let missing = || {
            let root = text::printable(root);
            let message = format!("{root} is not the work tree of a git repository");
            WorktreeError::unusable(message, "run it in a git work tree; git init makes one")
        };
        if root.join(".git").symlink_metadata().is_err() {
            return Err(missing());
        }
        let mut git = Self::hardened(root, deadline);
        // Set in the environment, which `core.worktree` of the repository cannot override.
        let answer = git.lines("rev-parse --is-inside-work-tree --absolute-git-dir", &[])?;
        let Some(folder) = answer.strip_prefix("true\n") else {
            return Err(missing());
        };
        git.set("GIT_DIR", folder);
        git.set("GIT_WORK_TREE", root.as_str());
        git.disable_filters()?;
        Ok(git)
    }

    /// Makes one in `root` that fetches nothing and runs filters only: [`Self::disable_filters`].
    fn hardened(root: &Utf8Path, deadline: Option<Instant>) -> Self {
        let mut git = Self {
            root: root.to_owned(),
            config: CONFIG.map(str::to_owned).into(),
            environment: Environment::allowing(["XDG_CONFIG_HOME"]),
            deadline,
        };
        for (name, value) in ENVIRONMENT {
            git.set(name, value);
        }
        // A broken `.git` must not send git to the repository around it.
        let around = root.parent().map_or("/", Utf8Path::as_str);
        git.set("GIT_CEILING_DIRECTORIES", around);
        git
    }

    /// Sets a variable of every command.
    pub(crate) fn set(&mut self, name: impl Into<String>, value: impl Into<String>) {
        self.environment = self.environment.clone().setting(name, value);
    }

    /// Returns one that ignores the attributes of the work tree, which could call a text binary and
    /// so hide it from the reviewer. A git before 2.41 obeys them.
    pub(crate) fn without_attributes(&self) -> Result<Self> {
        let empty = self.lines("mktree", &[])?;
        let mut git = self.clone();
        git.set("GIT_ATTR_SOURCE", empty);
        Ok(git)
    }

    /// Switches off the filters that the repository's own configuration defines.
    fn disable_filters(&mut self) -> Result<()> {
        let listed = self.call("config --list -z --show-scope --includes", &[], &[])?;
        let settings = String::from_utf8_lossy(&listed);
        let mut parts = settings.split('\0');
        let mut filters = BTreeSet::new();
        while let (Some(scope), Some(entry)) = (parts.next(), parts.next()) {
            if matches!(scope, "local" | "worktree") {
                filters.extend(filter_name(entry));
            }
        }
        for name in filters {
            // Git takes the first `=` for the end of the key.
            if name.contains(['=', char::REPLACEMENT_CHARACTER]) {
                let why = "the configuration names a filter that is not UTF-8, or has an =";
                return Err(WorktreeError::refusal("config", why));
            }
            let off = ["clean=", "smudge=", "process=", "required=false"];
            let settings = off.map(|setting| format!("filter.{name}.{setting}"));
            self.config.extend(settings);
        }
        Ok(())
    }

    /// Runs a command of words separated by spaces, with more arguments, and returns its output.
    pub(crate) fn call(&self, command: &str, more: &[&str], stdin: &[u8]) -> Result<Vec<u8>> {
        let until = |at: Instant| at.saturating_duration_since(Instant::now());
        let time_left = self.deadline.map_or(COMMAND_TIMEOUT, until);
        let timeout = time_left.min(COMMAND_TIMEOUT);
        let name = command.split(' ').next().unwrap_or(command);
        let config = self.config.iter().flat_map(|setting| ["-c", setting]);
        let words = config.chain(command.split(' ')).chain(more.iter().copied());
        let arguments: Vec<String> = words.map(str::to_owned).collect();
        let call = Call {
            program: "git",
            arguments: &arguments,
            directory: &self.root,
            stdin,
            environment: &self.environment,
            limits: Limits {
                timeout,
                idle: timeout,
            },
        };
        if check_interrupted().is_break() {
            return Err(WorktreeError::refusal(name, "interrupted"));
        }
        let ended = process::supervise(&call, &mut |_| check_interrupted());
        Err(match ended.how {
            ProcessEnd::Exited(0) if ended.truncated() => WorktreeError::TooMany,
            ProcessEnd::Exited(0) => return Ok(ended.stdout),
            ProcessEnd::Exited(_) => WorktreeError::refusal(name, complaint(&ended.stderr_tail())),
            ProcessEnd::NotInstalled { .. } => {
                WorktreeError::unusable(ended.how.to_string(), "install git 2.31 or newer")
            }
            ProcessEnd::TimedOut { .. } | ProcessEnd::Idle { .. } => WorktreeError::unusable(
                format!("git {name} was {}", ended.how),
                "see whether `git status` is as slow there, and ignore large folders in .gitignore",
            ),
            other => WorktreeError::refusal(name, other.to_string()),
        })
    }

    /// Runs a command, and returns its output as text without the last line end.
    pub(crate) fn lines(&self, command: &str, more: &[&str]) -> Result<String> {
        let text = String::from_utf8(self.call(command, more, &[])?)
            .map_err(|_| WorktreeError::refusal(command, "its answer is not UTF-8"))?;
        Ok(text.trim_end_matches('\n').to_owned())
    }

    /// Runs a command that fails if there is no answer.
    pub(crate) fn maybe(&self, command: &str, more: &[&str]) -> Result<Option<String>> {
        match self.lines(command, more) {
            Err(WorktreeError::Refused { .. }) => Ok(None),
            answer => answer.map(Some),
        }
    }
}

/// The reason why a work tree could not be read through git.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum WorktreeError {
    /// git refused.
    #[error("git {command} failed: {complaint}")]
    Refused {
        /// The command's name.
        command: String,
        /// The message of git, on one line.
        complaint: String,
    },
    /// The repository, git or a revision is missing, git took too long, or the system refused.
    #[error("{message}")]
    Unusable {
        /// The problem.
        message: String,
        /// The next step of the user, or an empty string.
        help: &'static str,
    },
    /// Too many changed files.
    #[error("there are more changed or untracked files than are read ({MAX_FILES})")]
    TooMany,
}

claudex_loop_engine::impl_diagnostic!(WorktreeError, |error| {
    let help = match error {
        WorktreeError::Refused { .. } => "see what `git status` prints in that folder",
        WorktreeError::Unusable { help, .. } => help,
        WorktreeError::TooMany => "name folders of generated files in .gitignore, or commit them",
    };
    Some(help.to_owned()).filter(|help| !help.is_empty())
});

impl WorktreeError {
    pub(crate) fn unusable(message: impl Into<String>, help: &'static str) -> Self {
        let message = message.into();
        Self::Unusable { message, help }
    }

    /// Makes an error of a command that git refused.
    pub(crate) fn refusal(command: &str, complaint: impl Into<String>) -> Self {
        Self::Refused {
            command: command.to_owned(),
            complaint: complaint.into(),
        }
    }
}

/// Adds the attempt to an error of the system.
pub(crate) fn io(attempt: &str) -> impl FnOnce(std::io::Error) -> WorktreeError {
    move |error| {
        let message = format!("{attempt}: {}", text::printable(error.to_string()));
        WorktreeError::unusable(message, "")
    }
}

/// Returns the line of stderr with git's error, plain and short.
fn complaint(stderr: &str) -> String {
    let mut lines = stderr.lines().filter(|line| !line.trim().is_empty());
    let last = lines.clone().next_back().unwrap_or("git printed no reason");
    let stated = lines.find(|line| line.starts_with("fatal: ") || line.starts_with("error: "));
    let reason = stated.and_then(|line| Some(line.split_once(": ")?.1));
    text::one_line(reason.unwrap_or(last), 300)
}

/// Returns the name in `filter.<name>.<key>`, before the line with the value.
fn filter_name(entry: &str) -> Option<&str> {
    let key = entry.lines().next()?.strip_prefix("filter.")?;
    Some(key.rsplit_once('.')?.0)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    /// Collects the files of production code below a folder that start a process.
    fn collect_starters(folder: &Path, found: &mut Vec<String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            if path.is_dir() && name != "tests" {
                collect_starters(&path, found);
            }
            if !name.ends_with(".rs") || ["tests.rs", "testing.rs"].contains(&name) {
                continue;
            }
            let source = fs::read_to_string(&path).unwrap();
            let text = source.split("#[cfg(test)]\nmod ").next().unwrap();
            assert!(!text.contains("Command::new(\"git\")"), "{name}");
            let calls = text.contains("Command::new(");
            if text.contains("process::Command") || text.contains("std::process") && calls {
                found.push(path.to_str().unwrap().to_owned());
            }
        }
    }

    /// A bare `git` would be the one of the repository, and would follow its configuration.
    #[test]
    fn processes_start_in_known_places_only() {
        let top = env!("CARGO_MANIFEST_DIR");
        let mut found = Vec::new();
        for folder in ["src", "taskie/src", "stages/src", "lint/src", "codegen/src"] {
            let folder = Path::new(top).join(folder);
            if folder.exists() {
                collect_starters(&folder, &mut found);
            }
        }
        let prefix = format!("{top}/");
        let mut found: Vec<&str> = found
            .iter()
            .flat_map(|at| at.strip_prefix(&prefix))
            .collect();
        found.sort_unstable();
        let known = ["src/process/group.rs", "src/process/mod.rs"];
        assert_eq!(found, known);
    }

    #[test]
    fn filter_name_may_have_any_characters() {
        assert_eq!(filter_name("filter.a.b =c.clean\nx"), Some("a.b =c"));
        assert_eq!(filter_name("filter.lfs.required"), Some("lfs"));
        assert_eq!(filter_name("diff.a.textconv\nx"), None);
        assert_eq!(filter_name("filter.x\ny"), None);
    }
}
