//! The reasons why a round cannot begin or be recorded.

use std::io;

use miette::Diagnostic;
use thiserror::Error;

use super::worktree::WorktreeError;
use crate::message::MessageError;
use crate::store::StoreError;
use crate::text;

/// The reason why a round could not begin or be recorded.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RoundError {
    /// No changes to review.
    #[error("there is nothing to review: no {title}")]
    Nothing {
        /// The title of the changes.
        title: String,
    },
    /// The user has to do something before the round can begin.
    #[error("{message}")]
    Refused {
        /// The problem.
        message: String,
        /// The next step.
        help: String,
    },
    /// The template of the prompt does not render.
    #[error(transparent)]
    Message(#[from] MessageError),
    /// The work tree cannot be read.
    #[error(transparent)]
    Worktree(#[from] WorktreeError),
    /// The listener cancelled the run, or stopped following it.
    #[error("{0}")]
    Interrupted(&'static str),
    /// The process of the followed review ended too early.
    #[error("the review that was running was cut off before it ended")]
    CutOff,
    /// The store refused.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The system refused.
    #[error("{attempt}: {}", text::printable(.source.to_string()))]
    Io {
        /// The attempt.
        attempt: String,
        /// The system's error.
        source: io::Error,
    },
}

claudex_loop_engine::impl_diagnostic!(RoundError, |error| {
    let help = match error {
        RoundError::Nothing { .. } => {
            "change something first; files that git ignores are never part of a review, and those of a submodule are reviewed in its folder"
        }
        RoundError::Refused { help, .. } => help,
        RoundError::Message(error) => return help_of(error),
        RoundError::Worktree(error) => return help_of(error),
        RoundError::Store(error) => return help_of(error),
        RoundError::Interrupted(_) | RoundError::CutOff => "run the same command again",
        RoundError::Io { .. } => return None,
    };
    Some(help.to_owned())
});

fn help_of(error: &dyn Diagnostic) -> Option<String> {
    error.help().map(|help| help.to_string())
}

impl RoundError {
    pub(crate) const INTERRUPTED: Self = Self::Interrupted("the review was interrupted");

    /// Returns whether the user has to do something first.
    pub fn is_refusal(&self) -> bool {
        !matches!(
            self,
            Self::Interrupted(_) | Self::CutOff | Self::Store(_) | Self::Io { .. }
        )
    }
}

/// Adds the attempt to an error of the system.
pub(super) fn io_error(attempt: impl Into<String>) -> impl FnOnce(io::Error) -> RoundError {
    let attempt = attempt.into();
    move |source| RoundError::Io { attempt, source }
}
