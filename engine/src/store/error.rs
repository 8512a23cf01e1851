//! The errors of the store, each with what to do now.

use std::fmt;
use std::io;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use thiserror::Error;

use super::document::DocumentError;
use super::lock::RUN;
use crate::files::UntrustedError;
use crate::text::shown;

/// The reason why the store refused or failed. Nothing was changed.
#[derive(Debug, Error)]
pub enum StoreError {
    /// A file cannot be read or written, or its content is not what it should be.
    #[error("{}", io_message(.doing, .path, .source))]
    Io {
        /// The attempt, as a verb.
        doing: &'static str,
        /// The file or folder.
        path: Utf8PathBuf,
        /// The system's error, or what is wrong with the content.
        source: io::Error,
    },
    /// Another process held a lock for longer than this one may wait.
    #[error("{}", busy_message(.path, *.waited))]
    Busy {
        /// The lock file.
        path: Utf8PathBuf,
        /// The time that this process waited.
        waited: Duration,
    },
    /// A loop that this user did not start here, or that this user's own files contradict. Nothing drives it.
    #[error("{}", .why.message(.id, &shown(.path)))]
    NotOurs {
        /// The loop.
        id: String,
        /// The state folder, or the document.
        path: Utf8PathBuf,
        /// The finding.
        why: WhyNotOurs,
    },
    /// The loop was changed since it was read.
    #[error("the loop was changed meanwhile: it is at {found}")]
    Stale {
        /// The phase and revision of the stored loop.
        found: Snapshot,
    },
    /// Another loop is in the way.
    #[error("{}", active_message(.id, .phase.as_deref(), .folder))]
    Active {
        /// The other loop.
        id: String,
        /// Its phase, or `None` if it only has the id that a new loop is to have.
        phase: Option<String>,
        /// Its state folder.
        folder: Utf8PathBuf,
    },
    /// There is no such loop.
    #[error("{}", not_found_message(.id, .folder, *.archived))]
    NotFound {
        /// The id.
        id: String,
        /// The state folder.
        folder: Utf8PathBuf,
        /// Whether it is in the archive.
        archived: bool,
    },
    /// The document belongs to another machine.
    #[error("{} belongs to the machine `{}`, not to `{expected}`", shown(.path), .found.escape_debug())]
    OtherMachine {
        /// The document.
        path: Utf8PathBuf,
        /// The machine that it names.
        found: String,
        /// The machine that reads it.
        expected: &'static str,
    },
    /// The journal has reached its largest size.
    #[error("the journal {} is full: it may have 64 MiB", shown(.path))]
    Full {
        /// The journal.
        path: Utf8PathBuf,
    },
}

crate::impl_diagnostic!(StoreError, "claudex::store", |error| {
    Some(match error {
        StoreError::Io { source, .. } => io_help(source).to_string(),
        StoreError::Busy { path, .. } => busy_help(path).to_string(),
        StoreError::NotOurs { why, .. } => why.help().to_string(),
        StoreError::Stale { .. } => "read it again, and decide again".to_owned(),
        StoreError::Active { phase, .. } => active_help(phase.as_deref()).to_string(),
        StoreError::NotFound { archived, .. } => not_found_help(*archived).to_string(),
        StoreError::OtherMachine { .. } => "use the program of that machine".to_owned(),
        StoreError::Full { .. } => {
            "archive the loop with the command rollback; its files are kept".to_owned()
        }
    })
});

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
#[derive(Debug, Error)]
pub enum StartError {
    /// A mode that others start.
    #[error("a loop in mode {mode} is started by {by}, and this call comes from {actor}")]
    Actor {
        /// The mode.
        mode: &'static str,
        /// The actors who may start it.
        by: String,
        /// The actor who tried.
        actor: String,
    },
    /// An error of the store.
    #[error(transparent)]
    Store(#[from] StoreError),
}

crate::impl_diagnostic!(StartError, "claudex::start", |error| match error {
    StartError::Actor { .. } => None,
    StartError::Store(error) => error.help().map(|help| help.to_string()),
});

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

fn io_message(doing: &str, path: &Utf8Path, source: &io::Error) -> String {
    match UntrustedError::of(source) {
        Some(error) => format!("{} is not trusted: {}", shown(&error.path), error.why),
        None => {
            let why = shown(source.to_string());
            format!("cannot {doing} {}: {why}", shown(path))
        }
    }
}

fn io_help(source: &io::Error) -> &'static str {
    match (UntrustedError::of(source), source.kind()) {
        (Some(error), _) => error.why.help(),
        (_, io::ErrorKind::InvalidData | io::ErrorKind::FileTooLarge) => "fix or remove it",
        (_, io::ErrorKind::InvalidInput) => {
            "give another value, or use a command of the machine; nothing was changed"
        }
        _ => "check the folder's permissions and the free space",
    }
}

/// Returns the loop whose review holds a lock, if it is the lock of a review.
fn running_review(lock: &Utf8Path) -> Option<&str> {
    let folder = lock.parent().filter(|_| lock.file_name() == Some(RUN));
    folder.and_then(Utf8Path::file_name)
}

fn busy_message(path: &Utf8Path, waited: Duration) -> String {
    match running_review(path) {
        Some(id) => format!("a review of loop {} is running", shown(id)),
        None => format!(
            "{} is still held after {} ms",
            shown(path),
            waited.as_millis()
        ),
    }
}

fn busy_help(path: &Utf8Path) -> &'static str {
    match running_review(path) {
        Some(_) => "wait for its end, or end that process",
        None => {
            "another process changes this project's loops; try again, or end that process if it hangs"
        }
    }
}

fn active_message(id: &str, phase: Option<&str>, folder: &Utf8Path) -> String {
    let folder = shown(folder);
    match phase {
        Some(phase) => format!("the loop `{id}` is already active in {folder}, in phase {phase}"),
        None => format!("there is a loop `{id}` already in {folder}"),
    }
}

fn active_help(phase: Option<&str>) -> &'static str {
    match phase {
        Some(_) => "finish it or cancel it first",
        None => "take another id",
    }
}

fn not_found_message(id: &str, folder: &Utf8Path, archived: bool) -> String {
    let folder = shown(folder);
    if archived {
        format!("loop {id} is in the archive, {folder}")
    } else {
        format!("there is no loop `{id}` in {folder}")
    }
}

fn not_found_help(archived: bool) -> &'static str {
    if archived {
        "a user brings it back with the command resume and its id"
    } else {
        "list the loops"
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
