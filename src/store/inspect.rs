//! Reading what stands on disk for a loop. Nothing here writes.

use std::io::{self, ErrorKind};

use camino::{Utf8Path, Utf8PathBuf};

use super::document::{Document, DocumentError};
use super::entry::ChangeEntry;
use super::error::{StoreError, io_error};
use super::id::LoopId;
use super::journal::{Loaded, Possible};
use super::ownership::Ownership;
use super::recover::{Judged, written};
use super::storage::Storage;
use super::store::{StateFile, Store};
use super::tracked::GitTracking;
use super::validation::possible;
use super::value::Value;
use crate::files::Folder;

impl State {
    /// Returns the document, where it can be read.
    pub(super) fn document(&self) -> Option<&dyn Document> {
        match self {
            Self::Read(document, _) => Some(&**document),
            Self::Missing | Self::TooLarge | Self::Unreadable(..) => None,
        }
    }

    /// Returns the file's bytes, where there are not too many.
    pub(super) fn bytes(&self) -> Option<&[u8]> {
        match self {
            Self::Read(_, bytes) | Self::Unreadable(_, bytes) => Some(bytes),
            Self::Missing | Self::TooLarge => None,
        }
    }

    /// Returns why what stands there is no document.
    pub(super) fn error(&self) -> Option<DocumentError> {
        match self {
            Self::TooLarge => Some(DocumentError::TooLarge),
            Self::Unreadable(error, _) => Some(error.clone()),
            Self::Missing | Self::Read(..) => None,
        }
    }
}

/// Holds what stands on disk for a loop.
pub(super) struct Found {
    pub(super) state: State,
    pub(super) journal: Option<Loaded>,
    pub(super) owned: Ownership,
}

/// Tells what the state file holds.
pub(super) enum State {
    Missing,
    TooLarge,
    Unreadable(DocumentError, Vec<u8>),
    Read(Box<dyn Document>, Vec<u8>),
}

/// Reads loops of one state folder.
pub(super) struct Reader<'a> {
    pub(super) store: &'a Store,
    pub(super) here: &'a Folder,
    pub(super) tracking: &'a GitTracking,
}

impl Reader<'_> {
    /// Reads a loop's files, by what the user's record says of it; by `owned` where that says what it is to say.
    pub(super) fn inspect(
        &self,
        id: &LoopId,
        owned: Option<Ownership>,
    ) -> Result<Found, StoreError> {
        self.read(id, owned, |storage, possible| {
            Loaded::read(storage, possible)
        })
    }

    /// Does the same, with no more of the journal than the newest two changes where those tell enough.
    pub(super) fn inspect_newest(
        &self,
        id: &LoopId,
        owned: Option<Ownership>,
    ) -> Result<Found, StoreError> {
        let spec = self.store.spec();
        // Whether a loop of another version goes on is asked of its whole history.
        let is_ours = |change: &ChangeEntry| {
            change
                .graph_hash(spec)
                .is_none_or(|hash| hash == spec.graph_hash)
        };
        self.read(id, owned, |storage, possible| {
            let newest = Loaded::newest(storage, possible)?;
            match newest.filter(|loaded| loaded.changes().next().is_some_and(is_ours)) {
                Some(newest) => Ok(Some(newest)),
                None => Loaded::read(storage, possible),
            }
        })
    }

    /// Says what the loop is, by the newest of its journal where that agrees with the document, else by the whole of it.
    pub(super) fn look(
        &self,
        id: &LoopId,
        owned: Option<Ownership>,
    ) -> Result<(Found, Judged), StoreError> {
        let found = self.inspect_newest(id, owned.clone())?;
        match self.judge(id, &found) {
            Ok(judged) if judged.fix.is_none() => Ok((found, judged)),
            _ => self.look_whole(id, owned),
        }
    }

    /// Says what the loop is, by the whole of its journal.
    pub(super) fn look_whole(
        &self,
        id: &LoopId,
        owned: Option<Ownership>,
    ) -> Result<(Found, Judged), StoreError> {
        let found = self.inspect(id, owned)?;
        let judged = self.judge(id, &found)?;
        Ok((found, judged))
    }

    fn read(
        &self,
        id: &LoopId,
        owned: Option<Ownership>,
        load: impl FnOnce(&dyn Storage, Possible<'_>) -> Result<Option<Loaded>, StoreError>,
    ) -> Result<Found, StoreError> {
        let &Self {
            store,
            here,
            tracking,
        } = self;
        let storage = store.storage(here, id)?;
        let bytes = Bytes::of(storage.document());
        let bytes = bytes.map_err(io_error("read", &storage.document_path()))?;
        let state = |bytes| state_of(store, &storage.document_path(), bytes, tracking);
        // What nobody started here is read no further: not its journal.
        let owned = match owned {
            Some(owned) => Some(owned),
            None => store.ownership(id)?,
        };
        let Some(owned) = owned else {
            return Err(store.why_not_ours(id, &state(bytes)?));
        };
        let journal = load(&*storage, &possible(store, Some(&owned)))?;
        if journal.is_some() {
            tracking.untracked(&storage.journal_path())?;
        }
        // A document that is as the last change wrote it needs no parser.
        let last = journal.as_ref().and_then(|loaded| loaded.changes().next());
        let as_written = last.map(|last| written(store.spec(), &last.fields));
        let state = match (bytes, as_written) {
            (Bytes::All(bytes), Some(document)) if document.to_bytes() == bytes => {
                store.check_tracked(tracking, &storage.document_path())?;
                State::Read(document, bytes)
            }
            (bytes, _) => state(bytes)?,
        };
        Ok(Found {
            state,
            journal,
            owned,
        })
    }
}

/// Reads a state file, unless git tracks it.
pub(super) fn read_state(
    store: &Store,
    here: &Folder,
    tracking: &GitTracking,
    file: &StateFile,
) -> Result<State, StoreError> {
    let bytes = Bytes::of(file.read(store, here)).map_err(io_error("read", &file.path))?;
    state_of(store, &file.path, bytes, tracking)
}

fn state_of(
    store: &Store,
    path: &Utf8Path,
    bytes: Bytes,
    tracking: &GitTracking,
) -> Result<State, StoreError> {
    let state = match bytes {
        Bytes::None => return Ok(State::Missing),
        Bytes::TooMany => State::TooLarge,
        Bytes::All(bytes) => match store.spec().parse(&bytes) {
            Ok(document) => State::Read(document, bytes),
            Err(error) => State::Unreadable(error, bytes),
        },
    };
    store.check_tracked(tracking, path)?;
    Ok(state)
}

/// What stands in the place of a document, before anyone looks into it.
enum Bytes {
    None,
    TooMany,
    All(Vec<u8>),
}

impl Bytes {
    fn of(read: io::Result<Vec<u8>>) -> io::Result<Self> {
        match read {
            Ok(bytes) => Ok(Self::All(bytes)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Self::None),
            Err(error) if error.kind() == ErrorKind::FileTooLarge => Ok(Self::TooMany),
            Err(error) => Err(error),
        }
    }
}

impl Store {
    /// Says why a loop without a record is not driven: it is no loop of this machine, or nobody started it here.
    pub(super) fn why_not_ours(&self, id: &LoopId, state: &State) -> StoreError {
        let path = self.path_of(id);
        let machine = state
            .document()
            .map(|document| document.get(self.spec().fields.machine));
        match machine {
            Some(None) => StoreError::NoMachine { path },
            Some(Some(machine)) if machine.to_plain() != self.spec().machine => {
                other_machine(self, path, &machine)
            }
            _ if !self.has_journal(id) => StoreError::NoJournal { path },
            _ => self.not_started_here(id),
        }
    }

    /// Returns the phase that stands in a state file, and what is wrong with the file.
    pub(super) fn phase_in(
        &self,
        here: &Folder,
        file: &StateFile,
    ) -> (Option<String>, Option<String>) {
        match read_state(self, here, &self.tracking(), file) {
            Ok(state) => (
                text_in(&state, self.spec().fields.phase),
                state.error().map(|error| error.to_string()),
            ),
            Err(error) => (None, Some(error.to_string())),
        }
    }
}

/// Returns a field as it stands in a state file.
pub(super) fn text_in(state: &State, field: &str) -> Option<String> {
    let value = state.document()?.get(field)?;
    Some(value.to_plain().into_owned())
}

/// Makes the error of a document that another machine wrote.
pub(super) fn other_machine(store: &Store, path: Utf8PathBuf, found: &Value) -> StoreError {
    StoreError::OtherMachine {
        path,
        found: found.to_plain().into_owned(),
        expected: store.spec().machine,
    }
}
