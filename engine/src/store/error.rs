//! What can go wrong in the store, each with what to do now.

use std::io;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};

use super::document::DocumentError;
use super::id::InvalidId;
use super::value::MOST_COUNT;
use crate::files::{Distrust, UntrustedError};

/// Why an operation of the store failed.
#[derive(Debug, derive_more::Display, derive_more::Error, miette::Diagnostic)]
pub enum StoreError {
    /// Another process held a lock all the time.
    #[display("{path} is still held after {} ms", waited.as_millis(), path = crate::text::shown(path))]
    #[diagnostic(
        code(claudex::store::locked),
        help(
            "another process changes this project's loops; try again, or end that process if it hangs"
        )
    )]
    Busy {
        /// The lock file.
        path: Utf8PathBuf,
        /// The time that this process waited.
        waited: Duration,
    },
    /// The loop is not the one that was held.
    #[display("the loop was changed meanwhile: it is at {found}")]
    #[diagnostic(code(claudex::store::stale), help("read it again, and decide anew"))]
    Stale {
        /// The loop as it is.
        found: Snapshot,
    },
    /// The id does not have the form of the machine's ids.
    #[display("{_0}")]
    #[diagnostic(transparent)]
    Id(#[error(not(source))] InvalidId),
    /// The system refused.
    #[display("cannot {doing} {path}: {source}", path = crate::text::shown(path), source = crate::text::shown(source.to_string()))]
    #[diagnostic(
        code(claudex::store::io),
        help("check the folder's permissions and the free space")
    )]
    Io {
        /// What was tried, as a verb.
        doing: &'static str,
        /// With which file.
        path: Utf8PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// No such loop.
    #[display("there is no loop `{id}` in {folder}", folder = crate::text::shown(folder))]
    #[diagnostic(code(claudex::store::no_loop), help("list the loops"))]
    NoLoop {
        /// The id.
        id: String,
        /// Where it was looked for.
        folder: Utf8PathBuf,
    },
    /// A state file without a machine: made by hand or by an older tool.
    #[display(
        "{path} names no machine, so an older tool wrote it; a user takes it up with the command import and its path",
        path = crate::text::shown(path)
    )]
    #[diagnostic(
        code(claudex::store::no_machine),
        help("it can be read and edited as a document, but not driven")
    )]
    NoMachine {
        /// The state file.
        path: Utf8PathBuf,
    },
    /// A state file that names our machine and has no journal: it was not written by a start on this machine.
    #[display("{path} has no journal, so no start made it here", path = crate::text::shown(path))]
    #[diagnostic(
        code(claudex::store::no_journal),
        help(
            "it was copied or shipped with the repository: remove it, or start a loop of your own, which sets it aside; \
             a person takes it up with the command import and its path"
        )
    )]
    NoJournal {
        /// The state file.
        path: Utf8PathBuf,
    },
    /// No variable says where the user's own record of loops is.
    #[display("there is no folder for the record of the loops that were started here: {why}")]
    #[diagnostic(
        code(claudex::store::no_state_home),
        help("set HOME to your home folder, or XDG_STATE_HOME to an absolute path")
    )]
    NoStateHome {
        /// Which variables, and what is wrong with them.
        #[error(not(source))]
        why: String,
    },
    /// A loop that is in the archive.
    #[display("loop {id} is in the archive, {folder}", folder = crate::text::shown(folder))]
    #[diagnostic(
        code(claudex::store::archived),
        help("a user brings it back with the command resume and its id")
    )]
    Archived {
        /// The id.
        id: String,
        /// The archive.
        folder: Utf8PathBuf,
    },
    /// A loop whose journal does not have this user's seal, or lost lines: copied, shipped with a repository, or forged.
    #[display("loop {id} in {folder} is not yours: {why}", folder = crate::text::shown(folder))]
    #[diagnostic(
        code(claudex::store::not_ours),
        help(
            "nothing drives it; a user takes it over with the command adopt and its id, or starts a new loop from its \
             document with import"
        )
    )]
    NotOurs {
        /// The id.
        id: String,
        /// The state folder.
        folder: Utf8PathBuf,
        /// What is missing.
        #[error(not(source))]
        why: String,
    },
    /// This user's key cannot be read or written.
    #[display("cannot {doing} your key, {path}: {why}", path = crate::text::shown(path))]
    #[diagnostic(
        code(claudex::store::key),
        help(
            "make that file and its folder yours and readable; loops that it does not seal are taken over with adopt"
        )
    )]
    Key {
        /// What was tried, as a verb.
        doing: &'static str,
        /// The key's file.
        path: Utf8PathBuf,
        /// What was in the way.
        #[error(not(source))]
        why: String,
    },
    /// A document of the user's that is older than the loop, as after a checkout.
    #[display(
        "{path} is at revision {found}, and the loop is at {newest}: the file was put back, such as by a checkout",
        path = crate::text::shown(path)
    )]
    #[diagnostic(
        code(claudex::store::behind),
        help(
            "resume with the loop's id keeps the loop's state and writes the file again; import with the file takes the file's state"
        )
    )]
    Behind {
        /// The loop's id.
        id: String,
        /// The document.
        path: Utf8PathBuf,
        /// Its revision.
        found: u64,
        /// The loop's revision.
        newest: u64,
    },
    /// A review of the loop runs.
    #[display("a review of loop {id} is running")]
    #[diagnostic(
        code(claudex::store::running),
        help("wait for its end, or end that process")
    )]
    Running {
        /// The id.
        id: String,
    },
    /// The document belongs to another machine.
    #[display("{path} belongs to the machine `{}`, not to `{expected}`", found.escape_debug(), path = crate::text::shown(path))]
    #[diagnostic(
        code(claudex::store::other_machine),
        help("use the program of that machine")
    )]
    OtherMachine {
        /// The state file.
        path: Utf8PathBuf,
        /// The machine that it names.
        found: String,
        /// The machine that reads it.
        expected: &'static str,
    },
    /// A state file that is no document, and no journal to rebuild it from.
    #[display("{path} cannot be read ({error}), and there is no journal to rebuild it from", path = crate::text::shown(path))]
    #[diagnostic(code(claudex::store::unreadable), help("mend or remove it"))]
    Unreadable {
        /// The state file.
        path: Utf8PathBuf,
        /// What is wrong with it.
        #[error(source)]
        error: DocumentError,
    },
    /// A file that someone else may have put there.
    #[display("{path} is not trusted: {why}", path = crate::text::shown(path))]
    #[diagnostic(code(claudex::store::untrusted), help("{}", why.help()))]
    Untrusted {
        /// The file or folder.
        path: Utf8PathBuf,
        /// Why.
        #[error(not(source))]
        why: Distrust,
    },
    /// The change would make a document that cannot be read again.
    #[display("the change of {path} was not made: {error}", path = crate::text::shown(path))]
    #[diagnostic(code(claudex::store::unwritable), help("shorten the text"))]
    Unwritable {
        /// The state file.
        path: Utf8PathBuf,
        /// What would be wrong with it.
        #[error(source)]
        error: DocumentError,
    },
    /// The journal is as long as one may be.
    #[display("the journal {path} is full: it may have 64 MiB", path = crate::text::shown(path))]
    #[diagnostic(
        code(claudex::store::journal_full),
        help("a user archives the loop with the command rollback; its files are kept")
    )]
    JournalFull {
        /// The journal.
        path: Utf8PathBuf,
    },
    /// A field that only the machine or the store may write.
    #[display("the field `{field}` is written by {owner} only")]
    #[diagnostic(
        code(claudex::store::field_owned),
        help("use a transition of the machine instead")
    )]
    FieldOwned {
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
    FieldName {
        /// The text.
        field: String,
    },
    /// A number that could not be read again.
    #[display("expected a whole number of at most {MOST_COUNT} for `{field}`, found {count}")]
    #[diagnostic(
        code(claudex::store::count),
        help("give a smaller number; nothing was changed")
    )]
    Count {
        /// The field.
        field: String,
        /// The number.
        count: u64,
    },
    /// Another loop stands in the way.
    #[display("the loop `{id}` is already active in {folder}, in phase {phase}", folder = crate::text::shown(folder))]
    #[diagnostic(code(claudex::store::active), help("finish it or cancel it first"))]
    Active {
        /// The other loop.
        id: String,
        /// Where it is.
        phase: String,
        /// In which state folder.
        folder: Utf8PathBuf,
    },
    /// A file of the user's is where the loop's document would be.
    #[display("in the place of the loop's document there is another file, {path}", path = crate::text::shown(path))]
    #[diagnostic(
        code(claudex::store::file_taken),
        help("move it away, or a person takes it up as it is")
    )]
    FileTaken {
        /// The file.
        path: Utf8PathBuf,
    },
    /// The document and the state folder cannot be on two file systems: a file is replaced by a rename.
    #[display(
        "{path} is not on the file system of {folder}, so that it cannot be replaced in one step",
        path = crate::text::shown(path), folder = crate::text::shown(folder)
    )]
    #[diagnostic(
        code(claudex::store::other_file_system),
        help("let both be in one: nothing of the project's may be mounted between them")
    )]
    OtherFileSystem {
        /// The document.
        path: Utf8PathBuf,
        /// The state folder.
        folder: Utf8PathBuf,
    },
    /// A loop with this id is there already.
    #[display("there is a loop `{id}` already in {folder}", folder = crate::text::shown(folder))]
    #[diagnostic(code(claudex::store::exists), help("take another id"))]
    Exists {
        /// The id.
        id: String,
        /// In which state folder.
        folder: Utf8PathBuf,
    },
}

/// A phase and a revision.
#[derive(Debug, Clone, PartialEq, Eq, derive_more::Display)]
#[display("{phase}, revision {revision}")]
pub struct Snapshot {
    /// The phase's stored form.
    pub phase: String,
    /// The revision.
    pub revision: u64,
}

/// Why a loop was not started. Nothing is left behind.
#[derive(Debug, derive_more::Display, derive_more::Error, miette::Diagnostic)]
pub enum StartError {
    /// Another loop of the project is not at its end.
    #[display("the loop `{id}` is already active in {folder}, in phase {phase}", folder = crate::text::shown(folder))]
    #[diagnostic(code(claudex::store::active), help("finish it or cancel it first"))]
    Active {
        /// The other loop: its id, or the name of its state file without the extension.
        id: String,
        /// Where it is.
        phase: String,
        /// In which state folder.
        folder: Utf8PathBuf,
    },
    /// A loop in this mode is for others to start.
    #[display("a loop in mode {mode} is started by {by}, and this call comes from {actor}")]
    #[diagnostic(code(claudex::store::actor))]
    Actor {
        /// The mode.
        mode: &'static str,
        /// Who may start it.
        by: String,
        /// Who tried.
        actor: String,
    },
    /// The fields of the new loop name no phase.
    #[display("the new loop has no phase")]
    #[diagnostic(code(claudex::store::no_phase))]
    NoPhase,
    /// The store failed.
    #[display("{_0}")]
    #[diagnostic(transparent)]
    Store(#[error(not(source))] StoreError),
}

impl From<StoreError> for StartError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Active { id, phase, folder } => Self::Active { id, phase, folder },
            other => Self::Store(other),
        }
    }
}

/// Turns the system's error into ours: `.map_err(io_error("read", path))`.
pub(super) fn io_error(
    doing: &'static str,
    path: &Utf8Path,
) -> impl FnOnce(io::Error) -> StoreError {
    move |source| match UntrustedError::of(&source) {
        Some(UntrustedError { path, why }) => StoreError::Untrusted {
            path: path.clone(),
            why: *why,
        },
        None => StoreError::Io {
            doing,
            path: path.to_owned(),
            source,
        },
    }
}
