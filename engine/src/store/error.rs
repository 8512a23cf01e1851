//! The errors of the store, each with what to do now.

use std::fmt;
use std::io;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use miette::Diagnostic;

use super::document::DocumentError;
use super::lock::RUN;
use crate::files::UntrustedError;
use crate::text::shown;

/// The reason why the store refused or failed. Nothing was changed.
#[derive(Debug)]
pub enum StoreError {
    /// A file cannot be read or written, or its content is not what it should be.
    Io {
        /// The attempt, as a verb.
        doing: &'static str,
        /// The file or folder.
        path: Utf8PathBuf,
        /// The system's error, or what is wrong with the content.
        source: io::Error,
    },
    /// Another process held a lock for longer than this one may wait.
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
        /// The finding.
        why: WhyNotOurs,
    },
    /// The loop was changed since it was read.
    Stale {
        /// The phase and revision of the stored loop.
        found: Snapshot,
    },
    /// Another loop is in the way.
    Active {
        /// The other loop.
        id: String,
        /// Its phase, or `None` if it only has the id that a new loop is to have.
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
    /// The journal has reached its largest size.
    Full {
        /// The journal.
        path: Utf8PathBuf,
    },
}

/// The thing that was found instead of a loop of this user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WhyNotOurs {
    /// A journal that is without this user's seal, lost lines, or is in a copy of a state folder.
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
    /// A file of the user's at the document's path.
    OtherFile,
}

/// A phase and a revision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// The phase's stored form.
    pub phase: String,
    /// The revision.
    pub revision: u64,
}

/// The reason why a loop was not started. Nothing is left behind.
#[derive(Debug)]
pub enum StartError {
    /// A mode that others start.
    Actor {
        /// The mode.
        mode: &'static str,
        /// The actors who may start it.
        by: String,
        /// The actor who tried.
        actor: String,
    },
    /// An error of the store.
    Store(StoreError),
}

impl StoreError {
    /// Returns the file or folder that is not trusted, if that is the error.
    pub fn untrusted(&self) -> Option<&UntrustedError> {
        match self {
            Self::Io { source, .. } => UntrustedError::of(source),
            _ => None,
        }
    }

    /// Makes an error of a document that cannot be read or written.
    pub(super) fn document(doing: &'static str, path: Utf8PathBuf, error: DocumentError) -> Self {
        io_error(doing, &path)(io::Error::new(io::ErrorKind::InvalidData, error))
    }

    /// Makes an error of input that is refused: `kind` is [`io::ErrorKind::InvalidInput`].
    pub fn input(doing: &'static str, path: Utf8PathBuf, why: String) -> Self {
        io_error(doing, &path)(io::Error::new(io::ErrorKind::InvalidInput, why))
    }
}

impl fmt::Display for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, revision {}", self.phase, self.revision)
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let message = match self {
            Self::Io {
                doing,
                path,
                source,
            } => match UntrustedError::of(source) {
                Some(error) => format!("{} is not trusted: {}", shown(&error.path), error.why),
                None => format!(
                    "cannot {doing} {}: {}",
                    shown(path),
                    shown(source.to_string())
                ),
            },
            Self::Busy { path, .. } if path.file_name() == Some(RUN) => {
                let id = path.parent().and_then(Utf8Path::file_name);
                format!("a review of loop {} is running", shown(id.unwrap_or("")))
            }
            Self::Busy { path, waited } => {
                let waited = waited.as_millis();
                format!("{} is still held after {waited} ms", shown(path))
            }
            Self::NotOurs { id, path, why } => why.message(id, &shown(path)),
            Self::Stale { found } => format!("the loop was changed meanwhile: it is at {found}"),
            Self::Active { id, phase, folder } => match (shown(folder), phase) {
                (folder, Some(phase)) => {
                    format!("the loop `{id}` is already active in {folder}, in phase {phase}")
                }
                (folder, None) => format!("there is a loop `{id}` already in {folder}"),
            },
            Self::NotFound {
                id,
                folder,
                archived,
            } => match (shown(folder), archived) {
                (folder, true) => format!("loop {id} is in the archive, {folder}"),
                (folder, false) => format!("there is no loop `{id}` in {folder}"),
            },
            Self::OtherMachine {
                path,
                found,
                expected,
            } => {
                let (path, found) = (shown(path), found.escape_debug());
                format!("{path} belongs to the machine `{found}`, not to `{expected}`")
            }
            Self::Full { path } => {
                format!("the journal {} is full: it may have 64 MiB", shown(path))
            }
        };
        f.write_str(&message)
    }
}

impl WhyNotOurs {
    fn message(&self, id: &str, path: &str) -> String {
        match self {
            Self::Journal(why) => format!("loop {id} in {path} is not yours: {why}"),
            Self::NoJournal => format!("{path} has no journal, so no start made it here"),
            Self::NoMachine => format!(
                "{path} names no machine, so an older tool wrote it; a user takes it up with the command import and its path"
            ),
            Self::PutBack { found, newest } => format!(
                "{path} is at revision {found}, and the loop is at {newest}: the file was put back, such as by a checkout"
            ),
            Self::OtherFile => {
                format!("in the place of the loop's document there is another file, {path}")
            }
        }
    }

    fn help(&self) -> &'static str {
        match self {
            Self::Journal(_) => {
                "nothing drives it; a user takes it over with the command adopt and its id, or starts a new loop from its document with import"
            }
            Self::NoJournal => {
                "it was copied or shipped with the repository: remove it, or start a loop from it with the command import and its path"
            }
            Self::NoMachine => "it can be read and edited as a document, but not driven",
            Self::PutBack { .. } => {
                "resume with the loop's id keeps the loop's state and writes the file again; import with the file takes the file's state"
            }
            Self::OtherFile => "move it away, or a user takes it up as it is with import",
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

impl Diagnostic for StoreError {
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
                (_, io::ErrorKind::InvalidData) => "fix or remove it",
                (_, io::ErrorKind::InvalidInput) => {
                    "give another value, or use a command of the machine; nothing was changed"
                }
                _ => "check the folder's permissions and the free space",
            },
            Self::Busy { path, .. } if path.file_name() == Some(RUN) => {
                "wait for its end, or end that process"
            }
            Self::Busy { .. } => {
                "another process changes this project's loops; try again, or end that process if it hangs"
            }
            Self::NotOurs { why, .. } => why.help(),
            Self::Stale { .. } => "read it again, and decide again",
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

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Actor { mode, by, actor } => write!(
                f,
                "a loop in mode {mode} is started by {by}, and this call comes from {actor}"
            ),
            Self::Store(error) => error.fmt(f),
        }
    }
}

impl Diagnostic for StartError {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        match self {
            Self::Actor { .. } => Some(Box::new("claudex::store::actor")),
            Self::Store(error) => error.code(),
        }
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        match self {
            Self::Actor { .. } => None,
            Self::Store(error) => error.help(),
        }
    }
}

impl std::error::Error for StartError {}

impl From<StoreError> for StartError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
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
