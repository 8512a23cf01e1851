//! The trait of journals, and those in memory. The last change of a journal is the loop's state.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::entry::{ChangeEntry, Entry};
use super::error::StoreError;
use super::id::LoopId;

/// The newest change of a loop, and its document if there is one.
pub(crate) type Tail = (ChangeEntry, Option<Vec<u8>>);

/// Keeps the journals and the documents of loops.
///
/// An entry is complete in itself and never changes. One that was appended survives a power loss.
/// The document does not have to: it is rendered again from the last change.
pub(crate) trait Journal: Debug + Send + Sync {
    /// Appends an entry, then replaces the document. A change follows revision `after`; 0 begins a
    /// journal, also in place of a foreign one. A note follows any revision, without a document.
    fn append(
        &self,
        id: &LoopId,
        after: Option<u64>,
        entry: Entry,
        document: Option<&[u8]>,
    ) -> Result<(), StoreError>;

    /// Returns the newest change and the document, or `None` if there is no such loop.
    fn tail(&self, id: &LoopId) -> Result<Option<Tail>, StoreError>;

    /// Replaces the document if the newest change still has this revision.
    fn restore(&self, id: &LoopId, revision: u64, document: &[u8]) -> Result<(), StoreError>;

    /// Returns the entries of a journal, oldest first: at least those since a revision.
    fn entries(&self, id: &LoopId, since: u64) -> Result<Vec<Entry>, StoreError>;

    /// Returns the ids of loops: all that have a journal, or a document in the state folder.
    fn list(&self) -> BTreeSet<LoopId>;

    /// Locks starts and restores: no other process does either here until the guard is dropped.
    fn lock_starts(&self) -> Result<Box<dyn Debug + '_>, StoreError>;
}

/// Refuses an entry that is to follow another revision than that of the newest change.
pub(super) fn check_order(
    after: Option<u64>,
    newest: Option<&ChangeEntry>,
) -> Result<(), StoreError> {
    let found = newest.map_or(0, |newest| newest.revision);
    if after.is_none_or(|after| after == found) {
        return Ok(());
    }
    Err(newest.cloned().unwrap_or_default().stale())
}

/// Journals of one process.
#[derive(Debug, Default)]
pub(super) struct Memory {
    loops: Mutex<BTreeMap<LoopId, StoredJournal>>,
    starting: Mutex<()>,
}

#[derive(Debug, Default)]
struct StoredJournal {
    entries: Vec<Entry>,
    document: Vec<u8>,
}

impl StoredJournal {
    fn newest(&self) -> Option<&ChangeEntry> {
        self.entries.iter().rev().find_map(Entry::change)
    }
}

pub(crate) fn lock_mutex<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Journal for Memory {
    fn append(
        &self,
        id: &LoopId,
        after: Option<u64>,
        entry: Entry,
        document: Option<&[u8]>,
    ) -> Result<(), StoreError> {
        let mut loops = lock_mutex(&self.loops);
        let journal = loops.entry(id.clone()).or_default();
        check_order(after, journal.newest())?;
        journal.entries.push(entry);
        if let Some(document) = document {
            journal.document = document.to_vec();
        }
        Ok(())
    }

    fn tail(&self, id: &LoopId) -> Result<Option<Tail>, StoreError> {
        let loops = lock_mutex(&self.loops);
        let Some(journal) = loops.get(id) else {
            return Ok(None);
        };
        let newest = journal.newest().cloned();
        Ok(newest.map(|newest| (newest, Some(journal.document.clone()))))
    }

    fn restore(&self, _: &LoopId, _: u64, _: &[u8]) -> Result<(), StoreError> {
        // Nobody else changes a document in memory.
        Ok(())
    }

    fn entries(&self, id: &LoopId, _: u64) -> Result<Vec<Entry>, StoreError> {
        let loops = lock_mutex(&self.loops);
        let entries = loops.get(id).map(|journal| journal.entries.clone());
        Ok(entries.unwrap_or_default())
    }

    fn list(&self) -> BTreeSet<LoopId> {
        lock_mutex(&self.loops).keys().cloned().collect()
    }

    fn lock_starts(&self) -> Result<Box<dyn Debug + '_>, StoreError> {
        Ok(Box::new(lock_mutex(&self.starting)))
    }
}
