//! The reasons for which git could not be called, or gave no answer that counts.

use std::time::Duration;

use camino::Utf8PathBuf;
use derive_more::{Display, Error};

use super::MAX_FILES;
use crate::process::limits::Spelled;
use crate::text;

/// The reason for which a work tree could not be read through git.
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
    /// git is not installed.
    #[display("git is not installed, or not in an absolute folder of PATH outside of the project")]
    #[diagnostic(code(claudex::worktree::no_git), help("install git 2.31 or newer"))]
    NoGit,
    /// git refused.
    #[display("git {command} failed: {said}")]
    #[diagnostic(
        code(claudex::worktree::git),
        help("see what `git status` says in that folder")
    )]
    Refused {
        /// The command's name.
        command: String,
        /// The message of git, on one line.
        said: String,
    },
    /// The revision that the changes are compared with is not there.
    #[display("the repository has no commit ‘{commit}’ to compare with")]
    #[diagnostic(
        code(claudex::worktree::no_commit),
        help("fetch it, or name another one that shares history with the branch")
    )]
    NoCommit {
        /// The name that was given, on one line.
        commit: String,
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
    /// There are too many changed files.
    #[display("there are more changed or untracked files than are read ({MAX_FILES})")]
    #[diagnostic(
        code(claudex::worktree::too_many),
        help("name folders of generated files in .gitignore, or commit them")
    )]
    TooMany,
    /// The system refused.
    #[display("{what}: {source}", source = crate::text::shown(source.to_string()))]
    #[diagnostic(code(claudex::worktree::io))]
    Io {
        /// The attempt.
        what: String,
        /// The system's error.
        source: std::io::Error,
    },
}

impl WorktreeError {
    /// Makes an error of an answer that has an unexpected form.
    pub(crate) fn unreadable(command: &str, answer: &[u8]) -> Self {
        let answer = text::one_line(&String::from_utf8_lossy(answer), 100);
        Self::refused(command, format!("it answered {answer}"))
    }

    /// Makes an error of a command that git refused.
    pub(super) fn refused(command: &str, said: impl Into<String>) -> Self {
        Self::Refused {
            command: command.to_owned(),
            said: said.into(),
        }
    }
}

/// Adds the attempt to an error of the system.
pub(crate) fn io(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> WorktreeError {
    let what = what.into();
    move |source| WorktreeError::Io { what, source }
}
