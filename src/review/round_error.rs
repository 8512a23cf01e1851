//! The errors of a round that could not begin or be recorded. A reviewer that fails is an outcome, not an error.

use std::io;

use camino::Utf8PathBuf;
use miette::Diagnostic;
use thiserror::Error;

use crate::message::MessageError;
use crate::review::changes::ChangesError;
use crate::store::StoreError;

/// The reason for which a round could not begin or be recorded.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RoundError {
    /// There are no changes to review, or they cannot be read.
    #[error("{0}")]
    Changes(#[from] ChangesError),
    /// The prompt's template does not render.
    #[error("{0}")]
    Prompt(#[from] MessageError),
    /// The commands that verify the work could not be run before the reviewer.
    #[error("{0}")]
    Verify(String),
    /// The file under review is a link that leads out of the project.
    #[error("{path} leads out of {root}: a reviewer would be shown a file that is not the project's", path = crate::text::shown(.path), root = crate::text::shown(.root))]
    Outside {
        /// The file.
        path: Utf8PathBuf,
        /// The project's root.
        root: Utf8PathBuf,
    },
    /// The file under review does not exist.
    #[error("{path} does not exist, so there is nothing to review", path = crate::text::shown(.path))]
    NoSubject {
        /// The file.
        path: Utf8PathBuf,
    },
    /// The file under review is not UTF-8 text.
    #[error("{path} is not UTF-8 text", path = crate::text::shown(.path))]
    NotText {
        /// The file.
        path: Utf8PathBuf,
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

claudex_loop_engine::impl_diagnostic!(RoundError, "claudex::round", |error| {
    let help = match error {
        RoundError::Changes(error) => return help_of(error),
        RoundError::Prompt(error) => return help_of(error),
        RoundError::Store(error) => return help_of(error),
        RoundError::Io { .. } => return None,
        RoundError::Verify(_) => "fix that, then run the review again",
        RoundError::Outside { .. } => "put the file itself there, then run the review again",
        RoundError::NoSubject { .. } => "write it, then run the review again",
        RoundError::NotText { .. } => "save it as UTF-8, then run the review again",
        RoundError::CutOff | RoundError::Interrupted => "run the same command again",
    };
    Some(help.to_owned())
});

fn help_of(error: &dyn Diagnostic) -> Option<String> {
    error.help().map(|help| help.to_string())
}

/// Adds the attempt to an error of the system.
pub(super) fn io_error(what: impl Into<String>) -> impl FnOnce(io::Error) -> RoundError {
    let what = what.into();
    move |source| RoundError::Io { what, source }
}
