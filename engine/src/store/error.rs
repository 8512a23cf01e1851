//! The errors of the store, each with the next step.

use std::io::{self, ErrorKind};

use camino::{Utf8Path, Utf8PathBuf};
use thiserror::Error;

use super::id::LoopId;
use super::state_folder::{ARCHIVE, Store};
use crate::files::{UNTRUSTED_HELP, UntrustedError};
use crate::text::printable;

/// The reason why the store refused or failed. Nothing was changed.
#[derive(Debug, Error)]
pub enum StoreError {
    /// A file cannot be read or written, or its content is wrong.
    #[error("cannot {doing} {}: {}", printable(.path), printable(.source.to_string()))]
    Io {
        /// The attempt, as a verb.
        doing: &'static str,
        /// The file or folder.
        path: Utf8PathBuf,
        /// The system's error, or the problem of the content.
        source: io::Error,
    },
    /// Another process works here for longer than this one may wait: a sentence.
    #[error("{0}")]
    Busy(String),
    /// A loop that this user did not start here, or that this user's own files contradict.
    #[error("{} {why}", printable(.path))]
    NotOurs {
        /// The loop.
        id: String,
        /// The document.
        path: Utf8PathBuf,
        /// The finding.
        why: WhyNotOurs,
    },
    /// The loop was changed since it was read.
    #[error("the loop moved on meanwhile: it is at {phase}, revision {revision}")]
    Stale {
        /// The phase.
        phase: String,
        /// The revision, or 0 if the loop is gone.
        revision: u64,
    },
    /// Another loop is in the way.
    #[error("{}", describe_active(.id, .phase.as_deref(), &printable(.folder)))]
    Active {
        /// The other loop.
        id: String,
        /// The phase, or `None` if it only has the id that a new loop is to have.
        phase: Option<String>,
        /// The state folder.
        folder: Utf8PathBuf,
    },
    /// No such loop.
    #[error("loop `{id}` {} {}", if *.archived { "is in the archive," } else { "does not exist in" }, printable(.folder))]
    NotFound {
        /// The id.
        id: String,
        /// The state folder.
        folder: Utf8PathBuf,
        /// Whether it is in the archive.
        archived: bool,
    },
    /// The document belongs to another machine: a sentence.
    #[error("{0}")]
    OtherMachine(String),
    /// The journal has reached its largest size.
    #[error("the journal {} is full: it may have 64 MiB", printable(.path))]
    Full {
        /// The journal.
        path: Utf8PathBuf,
    },
}

/// The thing that was found instead of a loop of this user.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum WhyNotOurs {
    /// A journal that is without this user's seal, lost lines, or is in a copy of a state folder.
    #[error("is not yours: {0}")]
    Journal(String),
    /// A document of the machine without a journal.
    #[error("has no journal here")]
    NoJournal,
    /// A document that names no machine: made by hand, or by an older tool.
    #[error("names no machine, so an older tool wrote it")]
    NoMachine,
    /// The user's document at a revision that no crash leaves, as after a checkout or a pull.
    #[error(
        "is at revision {found}, and the loop is at {newest}: the file was replaced, such as by a checkout or a pull"
    )]
    Replaced {
        /// The revision.
        found: u64,
        /// The loop's revision.
        newest: u64,
    },
    /// The user's document is missing with its folder, as on another branch.
    #[error("is missing with its folder: it was removed, or is on another branch")]
    NoFolder,
}

crate::impl_diagnostic!(StoreError, |error| error.help_text().map(str::to_owned));

impl StoreError {
    fn help_text(&self) -> Option<&'static str> {
        Some(match self {
            Self::Io { source, .. } => match (UntrustedError::from_io(source), source.kind()) {
                (Some(_), _) | (_, ErrorKind::NotADirectory) => UNTRUSTED_HELP,
                (_, ErrorKind::InvalidData | ErrorKind::FileTooLarge) => "fix or remove it",
                // The message says what to do.
                (_, ErrorKind::InvalidInput) => return None,
                _ => "check the folder's permissions and the free space",
            },
            Self::Busy(_) => "try again when that process has ended, or end it if it hangs",
            Self::NotOurs { why, .. } => match why {
                WhyNotOurs::Journal(_) => {
                    "nothing drives it; a user takes it over with the command adopt and its id, or starts a new loop from its document with import"
                }
                WhyNotOurs::NoJournal => {
                    "it was copied or shipped with the repository: remove it, or a user starts a loop from it with the command import and its path"
                }
                WhyNotOurs::NoMachine => "it can be read and edited as a document, but not driven",
                WhyNotOurs::NoFolder => {
                    "go back to that branch; or resume with the loop's id writes the file again"
                }
                WhyNotOurs::Replaced { .. } => {
                    "resume with the loop's id keeps the loop's state and writes the file again; import with the file takes the file's state"
                }
            },
            Self::Stale { .. } => "look at its status, then try again",
            Self::Active { phase: Some(_), .. } => "finish it or cancel it first",
            Self::Active { phase: None, .. } => "take another id",
            Self::NotFound { archived: true, .. } => {
                "a user brings it back with the command resume and its id"
            }
            Self::NotFound { .. } => "list the loops",
            Self::OtherMachine(_) => "use the program of that machine",
            Self::Full { .. } => "move the loop to the archive with the command archive and its id",
        })
    }

    /// Makes an error of input that is refused: `kind` is [`ErrorKind::InvalidInput`].
    pub fn input(doing: &'static str, path: Utf8PathBuf, why: String) -> Self {
        let source = io::Error::new(ErrorKind::InvalidInput, why);
        Self::Io {
            doing,
            path,
            source,
        }
    }
}

impl Store {
    pub(super) fn no_loop(&self, id: &LoopId) -> StoreError {
        let archived = self.archived_store(id).open_folder().is_ok();
        StoreError::NotFound {
            id: id.to_string(),
            folder: self.folder.join(if archived { ARCHIVE } else { "" }),
            archived,
        }
    }

    pub(super) fn not_ours(&self, id: &LoopId, why: WhyNotOurs) -> StoreError {
        StoreError::NotOurs {
            id: id.to_string(),
            path: self.path_of(id),
            why,
        }
    }

    pub(super) fn foreign_journal(&self, id: &LoopId, why: impl Into<String>) -> StoreError {
        self.not_ours(id, WhyNotOurs::Journal(why.into()))
    }

    /// Makes the error of another loop in the way, or, without a phase, of an id that is taken.
    pub(super) fn conflict_with(&self, id: &LoopId, phase: Option<String>) -> StoreError {
        StoreError::Active {
            id: id.to_string(),
            phase,
            folder: self.folder.clone(),
        }
    }
}

fn describe_active(id: &str, phase: Option<&str>, folder: &str) -> String {
    match phase {
        Some(phase) => format!("the loop `{id}` is already active in {folder}, in phase {phase}"),
        None => format!("loop `{id}` already exists in {folder}"),
    }
}

/// The conversion of a result of the system to one of the store.
pub trait OrIo<T> {
    /// Returns the value, or the store's error about the attempt to `doing` with `path`.
    ///
    /// # Errors
    /// Returns an error if there is no value.
    fn or_io(self, doing: &'static str, path: impl AsRef<Utf8Path>) -> Result<T, StoreError>;
}

impl<T> OrIo<T> for io::Result<T> {
    fn or_io(self, doing: &'static str, path: impl AsRef<Utf8Path>) -> Result<T, StoreError> {
        self.map_err(|source| StoreError::Io {
            doing,
            path: path.as_ref().to_owned(),
            source,
        })
    }
}
