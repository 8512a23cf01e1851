//! What any caller does with a loop without moving it: open it, note something, read its journal.

use std::sync::Arc;

use serde::Serialize;

use super::entry::Entry;
use super::error::{StoreError, io_error};
use super::id::LoopId;
use super::journal::{self, Damage, Known, Loaded};
use super::repair::{Look, Opened, repair};
use super::store::Store;
use super::validation;
use crate::files::if_there;

impl Store {
    /// Opens a loop under the project's lock, putting right what a crash or an edit by hand left (see [`Repair`](super::Repair)).
    /// One that another version of the machine wrote goes on by the names of its fields.
    ///
    /// # Errors
    /// When there is no such loop, it is not ours or not trusted, or it cannot be read and has no journal.
    pub fn open(&self, id: &LoopId) -> Result<Opened, StoreError> {
        self.locked_on(id, |held| repair(self, held, id, Look::Newest))
    }

    /// Writes a note into the loop's journal. A note changes no field and has no revision.
    ///
    /// # Errors
    /// As [`Store::open`], and when `data` is no JSON or the journal cannot be written.
    pub fn note(&self, id: &LoopId, note: &str, data: &impl Serialize) -> Result<(), StoreError> {
        self.locked_on(id, |held| {
            repair(self, held, id, Look::Newest)?;
            let storage = self.storage(held.folder(), id)?;
            journal::append(
                &*storage,
                &Entry::Note(journal::note(&*storage, note, data)?),
            )
            .map(drop)
        })
    }

    /// Returns the loop's journal, oldest line first, without a lock. A line that is not whole is left out.
    ///
    /// # Errors
    /// When there is none, it is not trusted, or it cannot be read.
    pub fn journal(&self, id: &LoopId) -> Result<Vec<Entry>, StoreError> {
        self.journal_on(id, &mut None, None)
            .map(Arc::unwrap_or_clone)
    }

    /// Returns the same for who has read some of it: only what was appended since is read. `since` is a change from which on it is wanted; there
    /// may be more then.
    pub(crate) fn journal_on(
        &self,
        id: &LoopId,
        known: &mut Option<Known>,
        since: Option<u64>,
    ) -> Result<Arc<Vec<Entry>>, StoreError> {
        if since.is_none() && known.as_ref().is_some_and(|known| !known.loaded.is_whole()) {
            *known = None;
        }
        if let Some(known) = known
            && known
                .storage
                .stamp()
                .is_ok_and(|stamp| stamp == known.loaded.stamp)
        {
            return Ok(Arc::clone(&known.loaded.entries));
        }
        let none = || self.no_loop(id);
        let here = if_there(self.open_folder()).map_err(io_error("open", self.folder()))?;
        let storage = self.storage(&here.ok_or_else(none)?, id)?;
        let owned = self.ownership(id).unwrap_or_default();
        let possible = validation::possible(self, owned.as_ref());
        let mut loaded = known.take().map(|known| known.loaded);
        let goes_on = (loaded.as_mut())
            .is_some_and(|read| read.read_on(&*storage, &possible).unwrap_or(false));
        if !goes_on {
            loaded = match since {
                Some(revision) => Loaded::since(&*storage, revision, &possible)?,
                None => None,
            };
            if loaded.is_none() {
                loaded = Loaded::read(&*storage, &possible)?;
            }
        }
        self.tracking().untracked(&storage.journal_path())?;
        let loaded = loaded.ok_or_else(none)?;
        let entries = Arc::clone(&loaded.entries);
        *known = Some(Known { storage, loaded });
        Ok(entries)
    }

    /// Reads the whole of the loop's journal, without a lock, and returns how many lines it has. A last line that is not whole, as a
    /// crash leaves one, does not count.
    ///
    /// # Errors
    /// [`StoreError::JournalForged`] where a line is none that a change can have made, and as [`Store::journal`].
    pub fn verify(&self, id: &LoopId) -> Result<usize, StoreError> {
        let mut loaded = None;
        let lines = self.journal_on(id, &mut loaded, None)?.len();
        match loaded.and_then(|known| known.loaded.damage) {
            Some(Damage::Lines(lines)) => Err(StoreError::JournalForged {
                path: self.journal_path(id),
                lines,
            }),
            Some(Damage::Torn) | None => Ok(lines),
        }
    }

    /// Notes what was tried: `note` is one of the three kinds, `data` its texts. The same as since the last change is not noted
    /// twice, no journal gets more than [`crate::store::MOST_ATTEMPTS`], and that of a loop that is over stays as it is. Where it cannot be written, the folder's log says so: an
    /// attempt that failed must not fail otherwise for it.
    pub fn note_attempt(&self, id: &LoopId, note: &str, data: &[(&str, &str)]) {
        let noted = self.locked(|lock| -> Result<(), StoreError> {
            let found = repair(self, lock, id, Look::Newest)?.record;
            if self.spec().is_terminal(found.phase()) {
                return Ok(());
            }
            self.append_attempt(lock, id, note, data)
        });
        if let Err(StoreError::NotStartedHere { .. } | StoreError::NoJournal { .. }) = noted {
            return;
        }
        if let Err(error) = noted {
            self.log(&format!(
                "{id} {note} {data:?}: could not be noted: {error}"
            ));
        }
    }
}
