//! git as a reader of a repository that nobody vouches for: a few plumbing commands, each with a deadline and a cap on its
//! output, none of which takes a lock or runs a program that the repository's own configuration names. Nothing else in the
//! program starts git.
//!
//! Its program is looked up once for a repository, in absolute folders of PATH outside of it. What is switched off: hooks, fsmonitor, external diffs and textconv, filters that the repository's configuration
//! defines, fetching of missing objects, replacement objects, prompts. Each command is a plumbing one that does not look
//! into submodules, whose configuration would be another one. What the person's or the system's configuration defines
//! stays in force: there a filter such as the one for large files is the person's own choice. What remains: such a
//! filter may itself obey the repository's configuration, and git reads the repository's files, so a fault in its own
//! parsers is out of our reach.

mod error;

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};

pub use self::error::WorktreeError;
pub(crate) use self::error::io;
use crate::process::environment::{Environment, find_installed};
use crate::process::limits::Limits;
use crate::process::{self, Call, ProcessEnd, ProcessOutput, StartError};
use crate::text;

/// The name of the program.
const PROGRAM: &str = "git";
/// The most changed and untracked files of one work tree that are read.
pub const MOST_FILES: usize = 20_000;
/// The time that one command of git may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// The configuration of every command.
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

/// git in one work tree.
#[derive(Debug, Clone)]
pub(crate) struct Git {
    program: String,
    root: Utf8PathBuf,
    /// `.git`, or what it points to.
    folder: Utf8PathBuf,
    environment: Environment,
    patience: Duration,
    /// The time at which all of its commands have to be done.
    until: Option<Instant>,
}

/// Runs a git command in a work tree and returns its output. It fails if it takes longer than `timeout`.
///
/// # Errors
/// Returns an error if git is missing, fails or is too slow.
pub fn call(
    root: &Utf8Path,
    arguments: &[&str],
    timeout: Duration,
) -> Result<String, WorktreeError> {
    Git::hardened(root, timeout)?.lines(arguments, &[])
}

/// The output of a finished command.
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
    /// Makes one for the work tree whose top is `root`. Commands that are not done by `until` fail.
    ///
    /// # Errors
    /// There is no such work tree, no git, one that is too old, one that refuses this repository, or no time left.
    pub(crate) fn at(root: &Utf8Path, until: Option<Instant>) -> Result<Self, WorktreeError> {
        let missing = || WorktreeError::NoRepository {
            root: root.to_owned(),
        };
        if root.join(".git").symlink_metadata().is_err() {
            return Err(missing());
        }
        let mut git = Self::hardened(root, PATIENCE)?;
        git.until = until;
        // Whether this repository is one that git trusts, and where it is. Naming it from then on keeps a `core.worktree`
        // of its configuration from showing us another folder.
        let place = git.lines(
            &["rev-parse", "--is-inside-work-tree", "--absolute-git-dir"],
            &[],
        )?;
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

    /// Makes one in `root`, which neither obeys nor fetches anything. Filters of the repository's own are still in force: see
    /// [`Self::distrust`].
    fn hardened(root: &Utf8Path, patience: Duration) -> Result<Self, WorktreeError> {
        let program = find_installed(PROGRAM, root)
            .and_then(|program| program.into_os_string().into_string().ok())
            .ok_or(WorktreeError::NoGit)?;
        let mut environment = Environment::allowing(["XDG_CONFIG_HOME"]);
        for (name, value) in [
            ("LC_ALL", "C"),
            ("GIT_OPTIONAL_LOCKS", "0"),
            ("GIT_TERMINAL_PROMPT", "0"),
            // A git that does not know the first one (before 2.45) still finds no protocol to fetch with.
            ("GIT_NO_LAZY_FETCH", "1"),
            ("GIT_ALLOW_PROTOCOL", "none"),
            ("GIT_NO_REPLACE_OBJECTS", "1"),
            // A `.git` that is none must not send git to the repository around it.
            (
                "GIT_CEILING_DIRECTORIES",
                root.parent().map_or("/", Utf8Path::as_str),
            ),
        ] {
            environment = environment.setting(name, value);
        }
        let mut git = Self {
            program,
            root: root.to_owned(),
            folder: root.join(".git"),
            environment,
            patience,
            until: None,
        };
        git.configure(&BTreeSet::new());
        Ok(git)
    }

    /// `.git`, or what it points to.
    pub(crate) fn folder(&self) -> &Utf8Path {
        &self.folder
    }

    /// Returns the top of the work tree.
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

    /// Empties the filters that the repository's own configuration defines, before anything reads files of the work tree.
    fn distrust(&mut self) -> Result<(), WorktreeError> {
        let listed = self.call(
            &["config", "--list", "-z", "--show-scope", "--includes"],
            &[],
        )?;
        let mut proven = false;
        let mut filters = BTreeSet::new();
        let mut parts = listed.split(|byte| *byte == 0);
        while let (Some(scope), Some(entry)) = (parts.next(), parts.next()) {
            proven |= scope == b"command" && entry == PROOF.as_bytes();
            if scope != b"local" && scope != b"worktree" {
                continue;
            }
            let key = entry
                .split(|byte| *byte == b'\n')
                .next()
                .unwrap_or_default();
            if let Some(name) = filter_name(key) {
                let name = std::str::from_utf8(name).map_err(|_| WorktreeError::Refused {
                    command: "config".to_owned(),
                    said: "the repository's configuration names a filter that is not UTF-8"
                        .to_owned(),
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
        let arguments: Vec<String> = arguments
            .iter()
            .map(|&argument| argument.to_owned())
            .collect();
        let left = self
            .until
            .map(|until| until.saturating_duration_since(Instant::now()));
        let patience = left.map_or(self.patience, |left| left.min(self.patience));
        if patience.is_zero() {
            return Err(WorktreeError::TimedOut {
                command: command(),
                after: patience,
            });
        }
        let call = Call {
            program: &self.program,
            arguments: &arguments,
            directory: &self.root,
            stdin,
            environment: &self.environment,
            limits: Limits {
                timeout: patience,
                idle: patience,
            },
        };
        let ProcessOutput {
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
            ProcessEnd::Exited(status) => Ok(Answer {
                status,
                stdout,
                cut: dropped > 0,
                stderr: stderr_tail,
            }),
            ProcessEnd::Signalled(signal) => {
                Err(refused(format!("it was killed by signal {signal}")))
            }
            ProcessEnd::TimedOut { after } | ProcessEnd::Idle { after } => {
                Err(WorktreeError::TimedOut {
                    command: command(),
                    after,
                })
            }
            ProcessEnd::CouldNotStart(StartError::NotInstalled { .. }) => Err(WorktreeError::NoGit),
            ProcessEnd::CouldNotStart(error) => Err(refused(error.to_string())),
            ProcessEnd::StatusLost(error) => {
                Err(refused(format!("its exit status is lost: {error}")))
            }
            ProcessEnd::Stopped => Err(refused("it was stopped".to_owned())),
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
            return Err(WorktreeError::TooMany { most: MOST_FILES });
        }
        Ok(answer.stdout)
    }

    /// Returns the output as text, without the last line end.
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

/// Returns the first line in which git says what is wrong, plain and short.
pub(crate) fn said(stderr: &str) -> String {
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

/// Returns the name in `filter.<name>.<key>`.
fn filter_name(key: &[u8]) -> Option<&[u8]> {
    let rest = key.strip_prefix(b"filter.")?;
    let dot = rest.iter().rposition(|byte| *byte == b'.')?;
    Some(&rest[..dot])
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
            let text = fs::read_to_string(&path).unwrap();
            let text = text.split("#[cfg(test)]\nmod ").next().unwrap();
            assert!(!text.contains("Command::new(\"git\")"), "{name}");
            let calls = text.contains("Command::new(");
            if text.contains("process::Command") || text.contains("std::process") && calls {
                found.push(path.to_str().unwrap().to_owned());
            }
        }
    }

    /// A bare `git` would be the one of the repository, and would do what its configuration says.
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
        // The demos start their own program.
        let known = [
            "src/process/group.rs",
            "src/process/mod.rs",
            "stages/src/demo.rs",
            "taskie/src/demo.rs",
        ];
        assert_eq!(found, known);
    }

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
        assert_eq!(
            said("fatal: detected dubious\n\u{1b}[31m"),
            "detected dubious"
        );
        assert_eq!(said("odd\n\n"), "odd");
        assert_eq!(said(""), "it said nothing");
    }
}
