//! Reading what stands on disk for a loop. Nothing here writes.

use std::io::ErrorKind;

use super::chain::possible;
use super::document::{self, Document, DocumentError};
use super::error::{StoreError, io_error};
use super::id::LoopId;
use super::journal::Loaded;
use super::ownership::Ownership;
use super::recover::hash_of;
use super::store::Store;
use super::trust::Trust;
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
    pub(super) trust: &'a Trust,
    pub(super) versions: &'a Versions,
}

impl Reader<'_> {
    /// Reads a loop's files, by what the user's record says of it; by `owned` where that says what it is to say.
    pub(super) fn look(&self, id: &LoopId, owned: Option<Ownership>) -> Result<Found, StoreError> {
        self.read(id, owned, |folder, owned| {
            Loaded::read(folder, &possible(self.store, Some(owned), self.versions))
        })
    }

    /// Reads what [`Reader::judge`] needs alone: of a loop of our own version that is no more of the journal than the newest
    /// two changes.
    pub(super) fn glance(&self, id: &LoopId) -> Result<Found, StoreError> {
        let spec = self.store.spec();
        self.read(id, None, |folder, owned| {
            let possible = possible(self.store, Some(owned), self.versions);
            let newest = Loaded::newest(folder, &possible)?;
            // Whether a loop of another version goes on is asked of its whole history.
            match newest.as_ref().and_then(|loaded| loaded.changes().next()) {
                Some(last) if hash_of(spec, last).is_some_and(|hash| hash != spec.graph_hash) => {
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
            store, here, trust, ..
        } = self;
        let state = read_state(store, here, trust, &store.name_of(id))?;
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
            trust.untracked(&store.journal_path(id))?;
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
    trust: &Trust,
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
    trust.untracked(&path)?;
    Ok(state)
}
