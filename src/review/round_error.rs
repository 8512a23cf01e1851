//! The errors of a round that could not begin or be recorded. A reviewer that fails is an outcome, not an error.

use std::io;

use miette::Diagnostic;
use thiserror::Error;

use crate::message::MessageError;
use crate::review::worktree::WorktreeError;
use crate::store::StoreError;

/// The reason for which a round could not begin or be recorded.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RoundError {
    /// No changes to review.
    #[error("there is nothing to review: no {title}")]
    Nothing {
        /// The title of the changes.
        title: String,
    },
    /// The work tree cannot be read.
    #[error("{0}")]
    Worktree(#[from] WorktreeError),
    /// The round cannot begin before the user has done something.
    #[error("{message}")]
    Refused {
        /// The problem.
        message: String,
        /// The next step.
        help: String,
    },
    /// The run that was followed left no outcome.
    #[error("the review that was running was cut off before it ended")]
    CutOff,
    /// The listener cancelled the run.
    #[error("the review was interrupted")]
    Interrupted,
    /// The system refused.
    #[error("{what}: {source}", source = crate::text::shown(.source.to_string()))]
    Io {
        /// The attempt.
        what: String,
        /// The system's error.
        source: io::Error,
    },
    /// The journal could not be written.
    #[error("{0}")]
    Store(#[from] StoreError),
}

claudex_loop_engine::impl_diagnostic!(RoundError, |error| match error {
    RoundError::Nothing { .. } => {
        Some("change something first; files that git ignores are never part of a review".to_owned())
    }
    RoundError::Worktree(error) => help_of(error),
    RoundError::Store(error) => help_of(error),
    RoundError::Refused { help, .. } => Some(help.clone()),
    RoundError::CutOff | RoundError::Interrupted => Some("run the same command again".to_owned()),
    RoundError::Io { .. } => None,
});

impl From<MessageError> for RoundError {
    fn from(error: MessageError) -> Self {
        Self::Refused {
            message: error.to_string(),
            help: help_of(&error).unwrap_or_default(),
        }
    }
}

fn help_of(error: &dyn Diagnostic) -> Option<String> {
    error.help().map(|help| help.to_string())
}

/// Adds the attempt to an error of the system.
pub(super) fn io_error(what: impl Into<String>) -> impl FnOnce(io::Error) -> RoundError {
    let what = what.into();
    move |source| RoundError::Io { what, source }
}
