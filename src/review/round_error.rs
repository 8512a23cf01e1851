//! The errors of a round that could not begin or be recorded. A reviewer that fails is an outcome, not an error.

use std::io;

use camino::Utf8PathBuf;
use derive_more::{Display, Error, From};

use crate::message::MessageError;
use crate::review::changes::ChangesError;
use crate::store::StoreError;

/// The reason for which a round could not begin or be recorded.
#[derive(Debug, Display, Error, From, miette::Diagnostic)]
#[non_exhaustive]
pub enum RoundError {
    /// There are no changes to review, or they cannot be read.
    #[display("{_0}")]
    #[diagnostic(transparent)]
    #[from]
    Changes(ChangesError),
    /// The prompt's template does not render.
    #[display("{_0}")]
    #[diagnostic(transparent)]
    #[from]
    Prompt(MessageError),
    /// The commands that verify the work could not be run before the reviewer.
    #[display("{_0}")]
    #[diagnostic(
        code(claudex::round::verify),
        help("fix that, then run the review again")
    )]
    Verify(#[error(not(source))] String),
    /// The file under review is a link that leads out of the project.
    #[display("{path} leads out of {root}: a reviewer would be shown a file that is not the project's", path = crate::text::shown(path), root = crate::text::shown(root))]
    #[diagnostic(
        code(claudex::round::outside),
        help("put the file itself there, then run the review again")
    )]
    Outside {
        /// The file.
        path: Utf8PathBuf,
        /// The project's root.
        root: Utf8PathBuf,
    },
    /// The file under review does not exist.
    #[display("{path} does not exist, so there is nothing to review", path = crate::text::shown(path))]
    #[diagnostic(
        code(claudex::round::subject),
        help("write it, then run the review again")
    )]
    NoSubject {
        /// The file.
        path: Utf8PathBuf,
    },
    /// The file under review is not UTF-8 text.
    #[display("{path} is not UTF-8 text", path = crate::text::shown(path))]
    #[diagnostic(
        code(claudex::round::text),
        help("save it as UTF-8, then run the review again")
    )]
    NotText {
        /// The file.
        path: Utf8PathBuf,
    },
    /// The run that was followed left no outcome.
    #[display("the review that was running was cut off before it ended")]
    #[diagnostic(code(claudex::round::cut_off), help("run the same command again"))]
    CutOff,
    /// The listener cancelled the run.
    #[display("the review was interrupted")]
    #[diagnostic(code(claudex::round::interrupted), help("run the same command again"))]
    Interrupted,
    /// The system refused.
    #[display("{what}: {source}", source = crate::text::shown(source.to_string()))]
    #[diagnostic(code(claudex::round::io))]
    Io {
        /// The attempt.
        what: String,
        /// The system's error.
        source: io::Error,
    },
    /// The journal could not be written.
    #[display("{_0}")]
    #[diagnostic(transparent)]
    #[from]
    Store(StoreError),
}

/// Adds the attempt to an error of the system.
pub(super) fn io_error(what: impl Into<String>) -> impl FnOnce(io::Error) -> RoundError {
    let what = what.into();
    move |source| RoundError::Io { what, source }
}
