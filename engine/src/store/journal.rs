//! Journals behind one trait, and those in memory. Each loop has lines of JSON, of which the last change is the loop's state.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::entry::{ChangeEntry, revision_in};
use super::error::{Snapshot, StoreError};
use super::id::LoopId;

/// The end of a journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tail {
    /// The newest change, as JSON.
    pub(super) change: Vec<u8>,
    /// The loop's document, if there is one that is not too large.
    pub(super) document: Option<Vec<u8>>,
}

/// The journal to which a line is appended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum After {
    /// Any journal of this user. For notes.
    Any,
    /// One whose newest change has this revision, or none if that is 0.
    Revision(u64),
    /// One that is not this user's. The line begins the journal again.
    Foreign,
}

impl After {
    /// Refuses a line that may not follow the newest change.
    pub(super) fn check(self, newest: Option<&[u8]>) -> Result<(), StoreError> {
        let revision = newest.and_then(revision_in).unwrap_or_default();
        let may_follow = match self {
            Self::Any => true,
            Self::Revision(after) => after == revision,
            Self::Foreign => revision == 0,
        };
        if may_follow {
            return Ok(());
        }
        let newest = newest.and_then(|json| serde_json::from_slice::<ChangeEntry>(json).ok());
        let phase = newest
            .and_then(|newest| newest.change.to)
            .unwrap_or_default();
        let found = Snapshot { phase, revision };
        Err(StoreError::Stale { found })
    }
}

/// Keeps the journals and the documents of loops.
///
/// A line is complete in itself and never changes. A line that was appended survives a power loss. The document does not
/// have to: it is rendered again from the last change.
pub(crate) trait Journal: Debug + Send + Sync {
    /// Appends a line, one entry as JSON, and replaces the document after it. A note has no document.
    fn append(
        &self,
        id: &LoopId,
        after: After,
        json: &[u8],
        document: Option<&[u8]>,
    ) -> Result<(), StoreError>;

    /// Returns the end of a journal, or `None` if there is no such loop.
    fn tail(&self, id: &LoopId) -> Result<Option<Tail>, StoreError>;

    /// Replaces the document if the newest change still has this revision.
    fn restore(&self, id: &LoopId, revision: u64, document: &[u8]) -> Result<(), StoreError>;

    /// Returns the lines of a journal as JSON, oldest first: all of them, or at least those since a revision.
    fn entries(&self, id: &LoopId, since: Option<u64>) -> Result<Vec<Vec<u8>>, StoreError>;

    /// Returns whether a loop has a journal.
    fn exists(&self, id: &LoopId) -> bool;

    /// Returns the loops that have a journal, by id.
    fn list(&self) -> Result<Vec<LoopId>, StoreError>;

    /// Returns a guard. As long as it lives, no other process starts or restores a loop here.
    fn alone(&self) -> Result<Box<dyn Debug + '_>, StoreError>;

    /// Moves a loop out of the way, with everything of it.
    fn archive(&self, id: &LoopId) -> Result<(), StoreError>;

    /// Moves a loop back.
    fn unarchive(&self, id: &LoopId) -> Result<(), StoreError>;
}

/// Journals of one process.
#[derive(Debug, Default)]
pub(super) struct Memory {
    loops: Mutex<BTreeMap<LoopId, Kept>>,
    archived: Mutex<BTreeMap<LoopId, Kept>>,
    starting: Mutex<()>,
}

#[derive(Debug, Default)]
struct Kept {
    lines: Vec<Vec<u8>>,
    document: Vec<u8>,
}

impl Kept {
    fn newest(&self) -> Option<&Vec<u8>> {
        let mut lines = self.lines.iter().rev();
        lines.find(|line| revision_in(line).is_some())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Journal for Memory {
    fn append(
        &self,
        id: &LoopId,
        after: After,
        json: &[u8],
        document: Option<&[u8]>,
    ) -> Result<(), StoreError> {
        let mut loops = lock(&self.loops);
        let kept = loops.entry(id.clone()).or_default();
        after.check(kept.newest().map(Vec::as_slice))?;
        kept.lines.push(json.to_vec());
        if let Some(document) = document {
            kept.document = document.to_vec();
        }
        Ok(())
    }

    fn tail(&self, id: &LoopId) -> Result<Option<Tail>, StoreError> {
        let loops = lock(&self.loops);
        let kept = loops.get(id);
        Ok(kept.and_then(|kept| {
            Some(Tail {
                change: kept.newest()?.clone(),
                document: Some(kept.document.clone()),
            })
        }))
    }

    fn restore(&self, id: &LoopId, _: u64, document: &[u8]) -> Result<(), StoreError> {
        if let Some(kept) = lock(&self.loops).get_mut(id) {
            kept.document = document.to_vec();
        }
        Ok(())
    }

    fn exists(&self, id: &LoopId) -> bool {
        lock(&self.loops).contains_key(id)
    }

    fn entries(&self, id: &LoopId, _: Option<u64>) -> Result<Vec<Vec<u8>>, StoreError> {
        let loops = lock(&self.loops);
        let lines = loops.get(id).map(|kept| kept.lines.clone());
        Ok(lines.unwrap_or_default())
    }

    fn list(&self) -> Result<Vec<LoopId>, StoreError> {
        Ok(lock(&self.loops).keys().cloned().collect())
    }

    fn alone(&self) -> Result<Box<dyn Debug + '_>, StoreError> {
        Ok(Box::new(lock(&self.starting)))
    }

    fn archive(&self, id: &LoopId) -> Result<(), StoreError> {
        let kept = lock(&self.loops).remove_entry(id);
        lock(&self.archived).extend(kept);
        Ok(())
    }

    fn unarchive(&self, id: &LoopId) -> Result<(), StoreError> {
        let kept = lock(&self.archived).remove_entry(id);
        lock(&self.loops).extend(kept);
        Ok(())
    }
}
