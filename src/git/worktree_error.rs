//! The reasons for which git could not be called, or gave no answer that counts.

use camino::Utf8PathBuf;
use thiserror::Error;

use super::MAX_FILES;

/// The reason for which a work tree could not be read through git.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum WorktreeError {
    /// No repository with a work tree.
    #[error("{root} is not the work tree of a git repository", root = crate::text::shown(.root))]
    NoRepository {
        /// The folder.
        root: Utf8PathBuf,
    },
    /// git refused.
    #[error("git {command} failed: {said}")]
    Refused {
        /// The command's name.
        command: String,
        /// The message of git, on one line.
        said: String,
    },
    /// git or a revision is missing, git took too long, or the system refused.
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
        WorktreeError::NoRepository { .. } => "run it in a git work tree; git init makes one",
        WorktreeError::Refused { .. } => "see what `git status` prints in that folder",
        WorktreeError::Unusable { help: "", .. } => return None,
        WorktreeError::Unusable { help, .. } => help,
        WorktreeError::TooMany => "name folders of generated files in .gitignore, or commit them",
    };
    Some(help.to_owned())
});

impl WorktreeError {
    /// Makes an error with its help.
    pub(crate) fn unusable(message: impl Into<String>, help: &'static str) -> Self {
        let message = message.into();
        Self::Unusable { message, help }
    }

    /// Makes an error of a command that git refused.
    pub(crate) fn refusal(command: &str, said: impl Into<String>) -> Self {
        Self::Refused {
            command: command.to_owned(),
            said: said.into(),
        }
    }
}

/// Adds the attempt to an error of the system.
pub(crate) fn io(attempt: &str) -> impl FnOnce(std::io::Error) -> WorktreeError {
    move |error| {
        let message = format!("{attempt}: {}", crate::text::shown(error.to_string()));
        WorktreeError::unusable(message, "")
    }
}
