//! The errors of the store, each with what to do now.

use std::fmt;
use std::io;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use derive_more::{Display, Error};

use super::document::DocumentError;
use super::lock::RUN;
use crate::files::UntrustedError;
use crate::text::shown;

/// Why the store did not do what it was asked for. Nothing was changed.
#[derive(Debug)]
pub enum StoreError {
    /// A file cannot be read or written, or its content is not what it should be.
    Io {
        /// What was tried, as a verb.
        doing: &'static str,
        /// With which file.
        path: Utf8PathBuf,
        /// What the system said, or what is wrong with the content.
        source: io::Error,
    },
    /// Another process held a lock all the time.
    Busy {
        /// The lock file.
        path: Utf8PathBuf,
        /// The time that this process waited.
        waited: Duration,
    },
    /// A loop that this user did not start here, or that this user's own files contradict. Nothing drives it.
    NotOurs {
        /// The loop.
        id: String,
        /// The state folder, or the document.
        path: Utf8PathBuf,
        /// What was found.
        why: WhyNotOurs,
    },
    /// The loop is not the one that was held.
    Stale {
        /// The loop as it is.
        found: Snapshot,
    },
    /// Another loop is in the way.
    Active {
        /// The other loop.
        id: String,
        /// Its phase. `None`: it has the id that a new loop is to have.
        phase: Option<String>,
        /// Its state folder.
        folder: Utf8PathBuf,
    },
    /// There is no such loop.
    NotFound {
        /// The id.
        id: String,
        /// The state folder.
        folder: Utf8PathBuf,
        /// Whether it is in the archive.
        archived: bool,
    },
    /// The document belongs to another machine.
    OtherMachine {
        /// The document.
        path: Utf8PathBuf,
        /// The machine that it names.
        found: String,
        /// The machine that reads it.
        expected: &'static str,
    },
    /// The journal has as many bytes as it may have.
    Full {
        /// The journal.
        path: Utf8PathBuf,
    },
}

/// What was found in the place of a loop of this user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WhyNotOurs {
    /// A journal without this user's seal, or that lost lines, or in a copy of a state folder.
    Journal(String),
    /// A document of the machine without a journal.
    NoJournal,
    /// A document that names no machine: made by hand, or by an older tool.
    NoMachine,
    /// A document of the user's that is older than a crash can leave it, as after a checkout.
    PutBack {
        /// Its revision.
        found: u64,
        /// The loop's revision.
        newest: u64,
    },
    /// A file of the user's in the place of the document.
    OtherFile,
}

/// A phase and a revision.
#[derive(Debug, Clone, PartialEq, Eq, Display)]
#[display("{phase}, revision {revision}")]
pub struct Snapshot {
    /// The phase's stored form.
    pub phase: String,
    /// The revision.
    pub revision: u64,
}

impl StoreError {
    /// Returns why a file or folder is not trusted, if that is the error.
    pub fn untrusted(&self) -> Option<&UntrustedError> {
        match self {
            Self::Io { source, .. } => UntrustedError::of(source),
            _ => None,
        }
    }

    /// Makes an error of a document that cannot be read or written.
    pub(super) fn document(doing: &'static str, path: Utf8PathBuf, error: DocumentError) -> Self {
        let source = io::Error::new(io::ErrorKind::InvalidData, error);
        Self::Io {
            doing,
            path,
            source,
        }
    }

    /// Makes an error of input that nothing is written of.
    pub(super) fn input(doing: &'static str, path: Utf8PathBuf, why: String) -> Self {
        let source = io::Error::new(io::ErrorKind::InvalidInput, why);
        Self::Io {
            doing,
            path,
            source,
        }
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { source, .. } if let Some(error) = UntrustedError::of(source) => {
                write!(f, "{} is not trusted: {}", shown(&error.path), error.why)
            }
            Self::Io {
                doing,
                path,
                source,
            } => {
                let source = shown(source.to_string());
                write!(f, "cannot {doing} {}: {source}", shown(path))
            }
            Self::Busy { path, .. } if path.file_name() == Some(RUN) => {
                let id = path.parent().and_then(Utf8Path::file_name);
                write!(f, "a review of loop {} is running", shown(id.unwrap_or("")))
            }
            Self::Busy { path, waited } => {
                let waited = waited.as_millis();
                write!(f, "{} is still held after {waited} ms", shown(path))
            }
            Self::NotOurs { id, path, why } => {
                let path = shown(path);
                match why {
                    WhyNotOurs::Journal(why) => {
                        write!(f, "loop {id} in {path} is not yours: {why}")
                    }
                    WhyNotOurs::NoJournal => {
                        write!(f, "{path} has no journal, so no start made it here")
                    }
                    WhyNotOurs::NoMachine => write!(
                        f,
                        "{path} names no machine, so an older tool wrote it; a user takes it up with the command import and its path"
                    ),
                    WhyNotOurs::PutBack { found, newest } => write!(
                        f,
                        "{path} is at revision {found}, and the loop is at {newest}: the file was put back, such as by a checkout"
                    ),
                    WhyNotOurs::OtherFile => write!(
                        f,
                        "in the place of the loop's document there is another file, {path}"
                    ),
                }
            }
            Self::Stale { found } => {
                write!(f, "the loop was changed meanwhile: it is at {found}")
            }
            Self::Active {
                id,
                phase: Some(phase),
                folder,
            } => write!(
                f,
                "the loop `{id}` is already active in {}, in phase {phase}",
                shown(folder)
            ),
            Self::Active { id, folder, .. } => {
                write!(f, "there is a loop `{id}` already in {}", shown(folder))
            }
            Self::NotFound {
                id,
                folder,
                archived: true,
            } => write!(f, "loop {id} is in the archive, {}", shown(folder)),
            Self::NotFound { id, folder, .. } => {
                write!(f, "there is no loop `{id}` in {}", shown(folder))
            }
            Self::OtherMachine {
                path,
                found,
                expected,
            } => write!(
                f,
                "{} belongs to the machine `{}`, not to `{expected}`",
                shown(path),
                found.escape_debug()
            ),
            Self::Full { path } => {
                write!(f, "the journal {} is full: it may have 64 MiB", shown(path))
            }
        }
    }
}

impl std::error::Error for StoreError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}

impl miette::Diagnostic for StoreError {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new(match self {
            Self::Io { .. } => "claudex::store::io",
            Self::Busy { .. } => "claudex::store::busy",
            Self::NotOurs { .. } => "claudex::store::not_ours",
            Self::Stale { .. } => "claudex::store::stale",
            Self::Active { .. } => "claudex::store::active",
            Self::NotFound { .. } => "claudex::store::not_found",
            Self::OtherMachine { .. } => "claudex::store::other_machine",
            Self::Full { .. } => "claudex::store::full",
        }))
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new(match self {
            Self::Io { source, .. } => match (UntrustedError::of(source), source.kind()) {
                (Some(error), _) => error.why.help(),
                (_, io::ErrorKind::InvalidData) => "mend or remove it",
                (_, io::ErrorKind::InvalidInput) => "give another value; nothing was changed",
                (_, io::ErrorKind::CrossesDevices) => {
                    "let both be in one: nothing of the project's may be mounted between them"
                }
                _ => "check the folder's permissions and the free space",
            },
            Self::Busy { path, .. } if path.file_name() == Some(RUN) => {
                "wait for its end, or end that process"
            }
            Self::Busy { .. } => {
                "another process changes this project's loops; try again, or end that process if it hangs"
            }
            Self::NotOurs { why, .. } => match why {
                WhyNotOurs::Journal(_) => {
                    "nothing drives it; a user takes it over with the command adopt and its id, or starts a new loop from its document with import"
                }
                WhyNotOurs::NoJournal => {
                    "it was copied or shipped with the repository: remove it, or start a loop from it with the command import and its path"
                }
                WhyNotOurs::NoMachine => "it can be read and edited as a document, but not driven",
                WhyNotOurs::PutBack { .. } => {
                    "resume with the loop's id keeps the loop's state and writes the file again; import with the file takes the file's state"
                }
                WhyNotOurs::OtherFile => "move it away, or a user takes it up as it is with import",
            },
            Self::Stale { .. } => "read it again, and decide anew",
            Self::Active { phase: None, .. } => "take another id",
            Self::Active { .. } => "finish it or cancel it first",
            Self::NotFound { archived: true, .. } => {
                "a user brings it back with the command resume and its id"
            }
            Self::NotFound { .. } => "list the loops",
            Self::OtherMachine { .. } => "use the program of that machine",
            Self::Full { .. } => {
                "a user archives the loop with the command rollback; its files are kept"
            }
        }))
    }
}

/// Why a field was not set outside of the machine's transitions. Nothing was changed.
#[derive(Debug, Display, Error, derive_more::From, miette::Diagnostic)]
pub enum SetError {
    /// A field that only the machine or the store writes.
    #[display("the field `{field}` is written by {owner} only")]
    #[diagnostic(
        code(claudex::store::field_owned),
        help("use a transition of the machine instead")
    )]
    #[from(skip)]
    Owned {
        /// The field.
        field: String,
        /// Who writes it.
        #[error(not(source))]
        owner: &'static str,
    },
    /// A text that cannot name a field.
    #[display("`{}` cannot name a field", field.escape_debug())]
    #[diagnostic(
        code(claudex::store::field_name),
        help("a name is a letter, then letters, digits, `_` or `-`")
    )]
    #[from(skip)]
    Name {
        /// The text.
        field: String,
    },
    /// The store failed.
    #[display("{_0}")]
    #[diagnostic(transparent)]
    Store(#[error(not(source))] StoreError),
}

/// Why a loop was not started. Nothing is left behind.
#[derive(Debug, Display, Error, derive_more::From, miette::Diagnostic)]
pub enum StartError {
    /// A loop in this mode is for others to start.
    #[display("a loop in mode {mode} is started by {by}, and this call comes from {actor}")]
    #[diagnostic(code(claudex::store::actor))]
    #[from(skip)]
    Actor {
        /// The mode.
        mode: &'static str,
        /// Who may start it.
        by: String,
        /// Who tried.
        actor: String,
    },
    /// The store failed.
    #[display("{_0}")]
    #[diagnostic(transparent)]
    Store(#[error(not(source))] StoreError),
}

/// Turns the system's error into ours: `.map_err(io_error("read", path))`.
pub(super) fn io_error(
    doing: &'static str,
    path: &Utf8Path,
) -> impl FnOnce(io::Error) -> StoreError {
    move |source| StoreError::Io {
        doing,
        path: path.to_owned(),
        source,
    }
}
