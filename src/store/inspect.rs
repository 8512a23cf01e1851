//! Reading what stands on disk for a loop. Nothing here writes.

use std::io::ErrorKind;

use camino::Utf8PathBuf;

use super::document::{self, Document, DocumentError};
use super::error::{StoreError, io_error};
use super::id::LoopId;
use super::journal::Loaded;
use super::ownership::Ownership;
use super::store::Store;
use super::tracked::GitTracking;
use super::validation::possible;
use super::value::Value;
use super::versions::Versions;
use crate::files::{Folder, if_there};

/// Holds what stands on disk for a loop.
pub(super) struct Found {
    pub(super) state: State,
    pub(super) journal: Option<Loaded>,
    pub(super) owned: Ownership,
}

/// Tells what the state file holds.
pub(super) enum State {
    Missing,
    Unreadable(DocumentError),
    Read(Box<dyn Document>, Vec<u8>),
}

/// Reads loops of one state folder.
pub(super) struct Reader<'a> {
    pub(super) store: &'a Store,
    pub(super) here: &'a Folder,
    pub(super) tracking: &'a GitTracking,
    pub(super) versions: &'a Versions,
}

impl Reader<'_> {
    /// Reads a loop's files, by what the user's record says of it; by `owned` where that says what it is to say.
    pub(super) fn inspect(&self, id: &LoopId, owned: Option<Ownership>) -> Result<Found, StoreError> {
        self.read(id, owned, |folder, owned| {
            Loaded::read(folder, &possible(self.store, Some(owned), self.versions))
        })
    }

    /// Reads what [`Reader::judge`] needs alone: of a loop of our own version that is no more of the journal than the newest
    /// two changes.
    pub(super) fn inspect_newest(&self, id: &LoopId) -> Result<Found, StoreError> {
        let spec = self.store.spec();
        self.read(id, None, |folder, owned| {
            let possible = possible(self.store, Some(owned), self.versions);
            let newest = Loaded::newest(folder, &possible)?;
            // Whether a loop of another version goes on is asked of its whole history.
            match newest.as_ref().and_then(|loaded| loaded.changes().next()) {
                Some(last) if last.graph_hash(spec).is_some_and(|hash| hash != spec.graph_hash) => {
                    Loaded::read(folder, &possible)
                }
                _ => Ok(newest),
            }
        })
    }

    fn read(
        &self,
        id: &LoopId,
        owned: Option<Ownership>,
        load: impl FnOnce(&Folder, &Ownership) -> Result<Option<Loaded>, StoreError>,
    ) -> Result<Found, StoreError> {
        let &Self {
            store,
            here,
            tracking,
            ..
        } = self;
        let state = read_state(store, here, tracking, &store.name_of(id))?;
        // What nobody started here is read no further: not its folder, not its journal.
        let owned = match owned {
            Some(owned) => owned,
            None => store
                .ownership(id)?
                .ok_or_else(|| store.why_not_ours(id, &state))?,
        };
        let folder = if_there(here.below(id.as_str())).map_err(io_error("open", &store.loop_folder(id)))?;
        let journal = match folder {
            Some(folder) => load(&folder, &owned)?,
            None => None,
        };
        if journal.is_some() {
            tracking.untracked(&store.journal_path(id))?;
        }
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
    name: &str,
) -> Result<State, StoreError> {
    let path = store.folder().join(name);
    let state = match here.read(name, document::MAX_BYTES as u64) {
        Ok(bytes) => match store.spec().form.parse(&bytes) {
            Ok(document) => State::Read(document, bytes),
            Err(error) => State::Unreadable(error),
        },
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(State::Missing),
        Err(error) if error.kind() == ErrorKind::FileTooLarge => {
            let found = here.look(name).map_err(io_error("look at", &path))?;
            let bytes = found.map_or(0, |found| found.size());
            State::Unreadable(DocumentError::TooLarge {
                bytes: usize::try_from(bytes).unwrap_or(usize::MAX),
            })
        }
        Err(error) => return Err(io_error("read", &path)(error)),
    };
    tracking.untracked(&path)?;
    Ok(state)
}

impl Store {
    /// Says why a loop without a record is not driven: it is no loop of this machine, or nobody started it here.
    pub(super) fn why_not_ours(&self, id: &LoopId, state: &State) -> StoreError {
        let path = self.path_of(id);
        let machine = match state {
            State::Read(document, _) => Some(document.get(self.spec().fields.machine)),
            State::Missing | State::Unreadable(..) => None,
        };
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
    pub(super) fn phase_in(&self, here: &Folder, name: &str) -> (Option<String>, Option<String>) {
        match read_state(self, here, &self.tracking(), name) {
            Ok(State::Read(document, _)) => (
                document
                    .get(self.spec().fields.phase)
                    .map(|phase| phase.to_plain().into_owned()),
                None,
            ),
            Ok(State::Unreadable(error)) => (None, Some(error.to_string())),
            Ok(State::Missing) => (None, None),
            Err(error) => (None, Some(error.to_string())),
        }
    }
}

/// Returns a field as it stands in a state file.
pub(super) fn text_in(state: &State, field: &str) -> Option<String> {
    match state {
        State::Read(document, _) => document.get(field).map(|value| value.to_plain().into_owned()),
        State::Missing | State::Unreadable(..) => None,
    }
}

/// Makes the error of a document that another machine wrote.
pub(super) fn other_machine(store: &Store, path: Utf8PathBuf, found: &Value) -> StoreError {
    StoreError::OtherMachine {
        path,
        found: found.to_plain().into_owned(),
        expected: store.spec().machine,
    }
}
