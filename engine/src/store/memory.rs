//! The journals and the documents of a store in memory.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::entry::{ChangeEntry, Entry};
use super::error::StoreError;
use super::file_journal::{Tail, check_order};
use super::id::LoopId;

/// The loops of one process.
#[derive(Debug, Default)]
pub(super) struct Memory {
    loops: Mutex<BTreeMap<LoopId, Kept>>,
    starting: Mutex<()>,
}

#[derive(Debug, Default)]
struct Kept {
    entries: Vec<Entry>,
    document: Vec<u8>,
}

impl Kept {
    fn newest(&self) -> Option<&ChangeEntry> {
        self.entries.iter().rev().find_map(Entry::change)
    }
}

impl Memory {
    pub(super) fn append(
        &self,
        id: &LoopId,
        after: Option<u64>,
        entry: Entry,
        document: Option<&[u8]>,
    ) -> Result<(), StoreError> {
        let mut loops = lock(&self.loops);
        let kept = loops.entry(id.clone()).or_default();
        check_order(after, kept.newest())?;
        kept.entries.push(entry);
        if let Some(document) = document {
            kept.document = document.to_vec();
        }
        Ok(())
    }

    pub(super) fn tail(&self, id: &LoopId) -> Option<Tail> {
        let loops = lock(&self.loops);
        let kept = loops.get(id)?;
        Some((kept.newest()?.clone(), Some(kept.document.clone())))
    }

    pub(super) fn entries(&self, id: &LoopId) -> Vec<Entry> {
        let loops = lock(&self.loops);
        loops
            .get(id)
            .map_or_else(Vec::new, |kept| kept.entries.clone())
    }

    pub(super) fn ids(&self) -> BTreeSet<LoopId> {
        lock(&self.loops).keys().cloned().collect()
    }

    pub(super) fn alone(&self) -> MutexGuard<'_, ()> {
        lock(&self.starting)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
