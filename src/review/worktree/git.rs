//! git as a reader of a repository that nobody vouches for: a few plumbing commands, each with a deadline, none of
//! which takes a lock or runs a program that the repository's own configuration names.
//!
//! What is switched off: hooks, fsmonitor, external diffs and textconv, filters that the repository's configuration
//! defines, fetching of missing objects, replacement objects, prompts. Each command is a plumbing one that does not look
//! into submodules, whose configuration would be another one. What the person's or the system's configuration defines
//! stays in force: there a filter such as the one for large files is the person's own choice. What remains: such a
//! filter may itself obey the repository's configuration, and git reads the repository's files, so a fault in its own
//! parsers is out of our reach.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use derive_more::{Display, Error};

use crate::process::environment::Environment;
use crate::process::limits::{Limits, Spelled};
use crate::process::{self, Call, Ended, How, StartError};
use crate::text;

/// How long one command of git may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// What holds for every command, as configuration.
const ALWAYS: [(&str, &str); 10] = [
    // Programs that a repository's configuration could name.
    ("core.fsmonitor", "false"),
    ("core.hooksPath", "/dev/null"),
    // A split index would be written beside the real one.
    ("core.splitIndex", "false"),
    ("core.untrackedCache", "false"),
    // A warning about line ends must not become a failure.
    ("core.safecrlf", "false"),
    // Names come as they are; only quotes, backslashes and control characters are still quoted.
    ("core.quotePath", "false"),
    // The scratch objects are thrown away: they need neither syncs nor compression.
    ("core.fsync", "none"),
    ("core.looseCompression", "0"),
    // What is larger is no text for a reviewer, and is not diffed line by line.
    ("core.bigFileThreshold", "8m"),
    ("diff.renameLimit", "400"),
];

/// The entry that proves that git takes configuration from the environment, which it does since 2.31.
const PROOF: &str = "core.hookspath\n/dev/null";

/// Why a work tree could not be read through git.
#[derive(Debug, Display, Error, miette::Diagnostic)]
#[non_exhaustive]
pub enum WorktreeError {
    /// There is no repository with a work tree.
    #[display("{root} is not the work tree of a git repository", root = crate::text::shown(root))]
    #[diagnostic(
        code(claudex::worktree::no_repository),
        help("run it in a git work tree; git init makes one")
    )]
    NoRepository {
        /// The folder.
        root: Utf8PathBuf,
    },
    /// No git.
    #[display("git is not installed, or not in an absolute folder of PATH")]
    #[diagnostic(code(claudex::worktree::no_git), help("install git 2.31 or newer"))]
    NoGit,
    /// A git that would not keep the repository's own programs from running.
    #[display("this git does not take configuration from its environment")]
    #[diagnostic(code(claudex::worktree::old_git), help("install git 2.31 or newer"))]
    OldGit,
    /// git said no.
    #[display("git {command} failed: {said}")]
    #[diagnostic(
        code(claudex::worktree::git),
        help("see what `git status` says in that folder")
    )]
    Refused {
        /// The command's name.
        command: String,
        /// What it said, on one plain line.
        said: String,
    },
    /// git took too long.
    #[display("git {command} was ended after {}", Spelled(*after))]
    #[diagnostic(
        code(claudex::worktree::slow),
        help("see whether `git status` is as slow there, and ignore large folders in .gitignore")
    )]
    TimedOut {
        /// The command's name.
        command: String,
        /// The limit.
        after: Duration,
    },
    /// More files than a person has changed.
    #[display("there are more changed or untracked files than are read ({most})")]
    #[diagnostic(
        code(claudex::worktree::too_many),
        help("name folders of generated files in .gitignore, or commit them")
    )]
    TooMany {
        /// The limit.
        most: usize,
    },
    /// git answered with something unexpected.
    #[display("git {command} answered with something that cannot be read: {said}")]
    #[diagnostic(
        code(claudex::worktree::answer),
        help("this is a fault of claudex-loop: please report it with this line")
    )]
    Answer {
        /// The command's name.
        command: String,
        /// The answer, on one plain line.
        said: String,
    },
    /// The system refused.
    #[display("{what}: {source}", source = crate::text::shown(source.to_string()))]
    #[diagnostic(code(claudex::worktree::io))]
    Io {
        /// What was being done.
        what: String,
        /// What the system says.
        source: std::io::Error,
    },
}

/// Names what was being done when the system refused.
pub(super) fn io(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> WorktreeError {
    let what = what.into();
    move |source| WorktreeError::Io { what, source }
}

/// git in one work tree.
#[derive(Debug, Clone)]
pub(crate) struct Git {
    root: Utf8PathBuf,
    /// `.git`, or what it points to.
    folder: Utf8PathBuf,
    environment: Environment,
    limits: Limits,
}

/// What a finished command left.
pub(crate) struct Answer {
    /// The exit status.
    pub(crate) status: i32,
    /// Its stdout, whole unless `cut`.
    pub(crate) stdout: Vec<u8>,
    /// Whether the end of stdout was dropped.
    pub(crate) cut: bool,
    /// The end of its stderr, made plain.
    pub(crate) stderr: String,
}

impl Git {
    /// git for the work tree whose top is `root`.
    ///
    /// # Errors
    /// There is no such work tree, no git, one that is too old, or one that refuses this repository.
    pub(crate) fn at(root: &Utf8Path) -> Result<Self, WorktreeError> {
        let missing = || WorktreeError::NoRepository {
            root: root.to_owned(),
        };
        if root.join(".git").symlink_metadata().is_err() {
            return Err(missing());
        }
        let mut environment = Environment::allowing(["XDG_CONFIG_HOME"]);
        for (name, value) in [
            ("LC_ALL", "C"),
            ("GIT_OPTIONAL_LOCKS", "0"),
            ("GIT_TERMINAL_PROMPT", "0"),
            ("GIT_NO_LAZY_FETCH", "1"),
            ("GIT_ALLOW_PROTOCOL", "none"),
            ("GIT_NO_REPLACE_OBJECTS", "1"),
        ] {
            environment = environment.setting(name, value);
        }
        let mut git = Self {
            root: root.to_owned(),
            folder: root.join(".git"),
            environment,
            limits: Limits {
                timeout: PATIENCE,
                idle: PATIENCE,
            },
        };
        git.configure(&BTreeSet::new());
        // Whether this repository is one that git trusts, and where it is. Naming it from then on keeps a `core.worktree`
        // of its configuration from showing us another folder.
        let place = git.lines(&["rev-parse", "--is-inside-work-tree", "--absolute-git-dir"], &[])?;
        let Some(folder) = place.strip_prefix("true\n") else {
            return Err(missing());
        };
        git.folder = Utf8PathBuf::from(folder);
        git.environment = git
            .environment
            .clone()
            .setting("GIT_DIR", folder)
            .setting("GIT_WORK_TREE", root.as_str());
        git.distrust()?;
        Ok(git)
    }

    /// `.git`, or what it points to.
    pub(crate) fn folder(&self) -> &Utf8Path {
        &self.folder
    }

    /// The top of the work tree.
    pub(crate) fn root(&self) -> &Utf8Path {
        &self.root
    }

    /// Another index and another folder for new objects.
    pub(crate) fn redirect(&mut self, index: &Utf8Path, objects: &Utf8Path) {
        self.environment = self
            .environment
            .clone()
            .setting("GIT_INDEX_FILE", index.as_str())
            .setting("GIT_OBJECT_DIRECTORY", objects.as_str());
    }

    /// The same without the attributes that files of the work tree give: a line in them would hide a text from whoever reads the
    /// diff, by calling it binary. A git before 2.41 takes them all the same.
    pub(crate) fn without_attributes(&self) -> Result<Self, WorktreeError> {
        let empty = self.lines(&["mktree"], &[])?;
        let mut git = self.clone();
        git.environment = git.environment.setting("GIT_ATTR_SOURCE", empty);
        Ok(git)
    }

    /// Looks which filters the repository's own configuration defines, and empties those. To be done before anything
    /// that reads files of the work tree, each time: a configuration can change.
    pub(crate) fn distrust(&mut self) -> Result<(), WorktreeError> {
        let listed = self.call(&["config", "--list", "-z", "--show-scope", "--includes"], &[])?;
        let mut proven = false;
        let mut filters = BTreeSet::new();
        let mut parts = listed.split(|byte| *byte == 0);
        while let (Some(scope), Some(entry)) = (parts.next(), parts.next()) {
            proven |= scope == b"command" && entry == PROOF.as_bytes();
            if scope != b"local" && scope != b"worktree" {
                continue;
            }
            let key = entry.split(|byte| *byte == b'\n').next().unwrap_or_default();
            if let Some(name) = filter_name(key) {
                let name = std::str::from_utf8(name).map_err(|_| WorktreeError::Refused {
                    command: "config".to_owned(),
                    said: "the repository's configuration names a filter that is not UTF-8".to_owned(),
                })?;
                filters.insert(name.to_owned());
            }
        }
        if !proven {
            return Err(WorktreeError::OldGit);
        }
        self.configure(&filters);
        Ok(())
    }

    /// Puts our configuration, which outweighs every file's, into the environment.
    fn configure(&mut self, filters: &BTreeSet<String>) {
        let mut entries: Vec<(String, &str)> = ALWAYS
            .iter()
            .map(|(key, value)| ((*key).to_owned(), *value))
            .collect();
        for filter in filters {
            entries.extend(
                [
                    ("clean", ""),
                    ("smudge", ""),
                    ("process", ""),
                    ("required", "false"),
                ]
                .map(|(key, value)| (format!("filter.{filter}.{key}"), value)),
            );
        }
        let mut environment = self.environment.clone();
        environment = environment.setting("GIT_CONFIG_COUNT", entries.len().to_string());
        for (at, (key, value)) in entries.into_iter().enumerate() {
            environment = environment
                .setting(format!("GIT_CONFIG_KEY_{at}"), key)
                .setting(format!("GIT_CONFIG_VALUE_{at}"), value);
        }
        self.environment = environment;
    }

    /// Runs a command to its end, whatever its exit status.
    pub(crate) fn ask(&self, arguments: &[&str], stdin: &[u8]) -> Result<Answer, WorktreeError> {
        let command = || (*arguments.first().unwrap_or(&"")).to_owned();
        let arguments: Vec<String> = arguments.iter().map(|&argument| argument.to_owned()).collect();
        let call = Call {
            program: "git",
            arguments: &arguments,
            directory: &self.root,
            stdin,
            environment: &self.environment,
            limits: self.limits,
        };
        let Ended {
            how,
            stdout,
            dropped,
            stderr_tail,
            ..
        } = process::supervise(&call, &mut |_| ControlFlow::Continue(()));
        let refused = |said: String| WorktreeError::Refused {
            command: command(),
            said,
        };
        match how {
            How::Exited(status) => Ok(Answer {
                status,
                stdout,
                cut: dropped > 0,
                stderr: stderr_tail,
            }),
            How::Signalled(signal) => Err(refused(format!("it was killed by signal {signal}"))),
            How::TimedOut { after } | How::Idle { after } => Err(WorktreeError::TimedOut {
                command: command(),
                after,
            }),
            How::CouldNotStart(StartError::NotInstalled { .. }) => Err(WorktreeError::NoGit),
            How::CouldNotStart(error) => Err(refused(error.to_string())),
            How::StatusLost(error) => Err(refused(format!("its exit status is lost: {error}"))),
            How::Stopped => Err(refused("it was stopped".to_owned())),
        }
    }

    /// Runs a command that has to succeed, and gives its whole output.
    pub(crate) fn call(&self, arguments: &[&str], stdin: &[u8]) -> Result<Vec<u8>, WorktreeError> {
        let answer = self.ask(arguments, stdin)?;
        if answer.status != 0 {
            return Err(WorktreeError::Refused {
                command: (*arguments.first().unwrap_or(&"")).to_owned(),
                said: said(&answer.stderr),
            });
        }
        if answer.cut {
            return Err(WorktreeError::TooMany {
                most: super::MOST_FILES,
            });
        }
        Ok(answer.stdout)
    }

    /// The same as text, without the last line end.
    pub(crate) fn lines(&self, arguments: &[&str], stdin: &[u8]) -> Result<String, WorktreeError> {
        let command = || (*arguments.first().unwrap_or(&"")).to_owned();
        let mut text =
            String::from_utf8(self.call(arguments, stdin)?).map_err(|_| WorktreeError::Answer {
                command: command(),
                said: "it is not UTF-8".to_owned(),
            })?;
        if text.ends_with('\n') {
            text.pop();
        }
        Ok(text)
    }

    /// The same for a question that may have no answer, which git tells by exit status 1.
    pub(crate) fn maybe(&self, arguments: &[&str]) -> Result<Option<String>, WorktreeError> {
        let answer = self.ask(arguments, &[])?;
        match answer.status {
            0 => Ok(String::from_utf8(answer.stdout)
                .ok()
                .map(|text| text.trim_end_matches('\n').to_owned())),
            1 => Ok(None),
            _ => Err(WorktreeError::Refused {
                command: (*arguments.first().unwrap_or(&"")).to_owned(),
                said: said(&answer.stderr),
            }),
        }
    }
}

/// The first line in which git says what is wrong, plain and short.
pub(super) fn said(stderr: &str) -> String {
    let lines = || stderr.lines().filter(|line| !line.trim().is_empty());
    let telling = ["fatal: ", "error: "];
    let line = lines()
        .find(|line| telling.iter().any(|start| line.starts_with(start)))
        .or_else(|| lines().next_back())
        .unwrap_or("it said nothing");
    let line = telling
        .iter()
        .find_map(|start| line.strip_prefix(start))
        .unwrap_or(line);
    text::one_line(line, 300)
}

/// The name in `filter.<name>.<key>`.
fn filter_name(key: &[u8]) -> Option<&[u8]> {
    let rest = key.strip_prefix(b"filter.")?;
    let dot = rest.iter().rposition(|byte| *byte == b'.')?;
    Some(&rest[..dot])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filters_name_may_hold_anything() {
        assert_eq!(filter_name(b"filter.a.b =c.clean"), Some(&b"a.b =c"[..]));
        assert_eq!(filter_name(b"filter.lfs.required"), Some(&b"lfs"[..]));
        assert_eq!(filter_name(b"diff.a.textconv"), None);
        assert_eq!(filter_name(b"filter.x"), None);
    }

    #[test]
    fn what_git_says_is_its_first_complaint() {
        assert_eq!(
            said("warning: a\nerror: patch failed: x:1\nerror: y\n"),
            "patch failed: x:1"
        );
        assert_eq!(said("fatal: detected dubious\n\u{1b}[31m"), "detected dubious");
        assert_eq!(said("odd\n\n"), "odd");
        assert_eq!(said(""), "it said nothing");
    }
}
