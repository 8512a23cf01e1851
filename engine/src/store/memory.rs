//! Journals in memory, for programs without files and for tests.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::entry::{revision_in, snapshot};
use super::error::StoreError;
use super::id::LoopId;
use super::journal::{After, Journal, Tail};

/// Journals of one process.
#[derive(Debug, Default)]
pub(super) struct Memory {
    loops: Mutex<BTreeMap<LoopId, Kept>>,
    starting: Mutex<()>,
}

#[derive(Debug, Default)]
struct Kept {
    lines: Vec<Vec<u8>>,
    document: Vec<u8>,
    is_archived: bool,
}

impl Kept {
    fn newest(&self) -> Option<&Vec<u8>> {
        let mut lines = self.lines.iter().rev();
        lines.find(|line| revision_in(line).is_some())
    }
}

impl Memory {
    /// Reads or changes a loop that is not archived.
    fn visit<R>(&self, id: &LoopId, visit: impl FnOnce(&mut Kept) -> R) -> Option<R> {
        let mut loops = lock(&self.loops);
        let kept = loops.get_mut(id).filter(|kept| !kept.is_archived);
        kept.map(visit)
    }

    fn set_archived(&self, id: &LoopId, is_archived: bool) {
        if let Some(kept) = lock(&self.loops).get_mut(id) {
            kept.is_archived = is_archived;
        }
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
        let newest = kept.newest().map(Vec::as_slice);
        let revision = newest.and_then(revision_in).unwrap_or_default();
        if !after.allows(revision) {
            let found = snapshot(newest);
            return Err(StoreError::Stale { found });
        }
        kept.lines.push(json.to_vec());
        if let Some(document) = document {
            kept.document = document.to_vec();
        }
        Ok(())
    }

    fn tail(&self, id: &LoopId) -> Result<Option<Tail>, StoreError> {
        let tail = self.visit(id, |kept| {
            Some(Tail {
                change: kept.newest()?.clone(),
                document: Some(kept.document.clone()),
            })
        });
        Ok(tail.flatten())
    }

    fn restore(&self, id: &LoopId, _: u64, document: &[u8]) -> Result<(), StoreError> {
        self.visit(id, |kept| kept.document = document.to_vec());
        Ok(())
    }

    fn length(&self, id: &LoopId) -> Option<u64> {
        self.visit(id, |kept| kept.lines.len() as u64)
    }

    fn entries(&self, id: &LoopId, _: Option<u64>) -> Result<Vec<Vec<u8>>, StoreError> {
        let lines = self.visit(id, |kept| kept.lines.clone());
        Ok(lines.unwrap_or_default())
    }

    fn list(&self) -> Result<Vec<LoopId>, StoreError> {
        let loops = lock(&self.loops);
        let present = loops.iter().filter(|(_, kept)| !kept.is_archived);
        Ok(present.map(|(id, _)| id.clone()).collect())
    }

    fn alone(&self) -> Result<Box<dyn Debug + '_>, StoreError> {
        Ok(Box::new(lock(&self.starting)))
    }

    fn archive(&self, id: &LoopId) -> Result<(), StoreError> {
        self.set_archived(id, true);
        Ok(())
    }

    fn unarchive(&self, id: &LoopId) -> Result<(), StoreError> {
        self.set_archived(id, false);
        Ok(())
    }
}
