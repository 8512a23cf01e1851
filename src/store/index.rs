//! The index of loops that are not over: what a stop opens, however many finished ones lie beside them.
//!
//! One file per state folder and version of the machine, `<program>/active/<sha256 of folder, machine and version>` in the
//! user's state home: one line of JSON, and one with its digest. It is written under the folder's lock. It may name a loop that is over, and must not forget one that is not: a loop is added, synced, before it can be
//! seen, and is taken out, unsynced, after its last change. One that is missing, cut off or edited is made anew from the folder;
//! one that is older than the folder is found by the names that it counts. They are not counted where the folder's lock is marked with
//! the digest of this index: then none has come since but from who wrote it.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::error::{StoreError, io_error};
use super::id::LoopId;
use super::list::Listed;
use super::lock::LockGuard;
use super::store::Store;
use crate::digest::sha256;
use crate::files::{Folder, private};

/// Names the folder of the indexes, in the user's own.
const FOLDER: &str = "active";
/// Limits the index that is read, in bytes: some ten thousand loops that are not over.
const LARGEST: u64 = 256 * 1024;

/// Holds what the index says.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Index {
    /// The loops that are not over, and those of which that cannot be told.
    pub(super) active: BTreeSet<LoopId>,
    /// The one that was over last.
    pub(super) last: Option<LoopId>,
    /// The others.
    others: Names,
}

/// Holds what stands in a folder, and which of its loops have to be looked at.
pub(super) struct Present {
    /// The state files that bear no id, without their extensions.
    pub(super) foreign: Vec<String>,
    /// The names of temporary files of ours.
    pub(super) temporary: Vec<String>,
    /// The loops that are not over, those of which that cannot be told, and maybe some that are.
    pub(super) ids: Vec<LoopId>,
}

/// Tells sets of names apart without holding them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Names {
    count: u64,
    sum: u64,
}

impl Names {
    fn add(&mut self, id: &str) {
        let mut hasher = DefaultHasher::new();
        id.hash(&mut hasher);
        self.count += 1;
        self.sum = self.sum.wrapping_add(hasher.finish());
    }
}

impl Index {
    /// Makes the index of a folder in which these loops, newest first, are all.
    fn of(listed: &[Listed]) -> Self {
        let mut index = Self::default();
        for one in listed {
            if one.terminal {
                index.last.get_or_insert_with(|| one.id.clone());
                index.others.add(one.id.as_str());
            } else {
                index.active.insert(one.id.clone());
            }
        }
        index
    }

    /// Returns whether it speaks of the folder in which these state files stand.
    pub(super) fn fits(&self, ids: &[&str]) -> bool {
        let mut others = Names::default();
        for id in ids.iter().filter(|id| !self.active.contains(**id)) {
            others.add(id);
        }
        others == self.others
    }
}

impl Store {
    /// Reads the index; `None` where there is none that holds.
    pub(super) fn index(&self) -> Option<Index> {
        let folder = private::existing(self.home().folder()?, FOLDER).ok()?;
        let bytes = folder.read(&self.index_name(), LARGEST).ok()?;
        let (line, seal) = std::str::from_utf8(&bytes).ok()?.split_once('\n')?;
        (seal == self.seal(line)).then(|| serde_json::from_str(line).ok())?
    }

    /// Returns what a change of the whole folder has to look at. Reads the folder's names only where its lock is not marked.
    pub(super) fn present(&self, lock: &LockGuard) -> Present {
        let known = self.index();
        if let Some(index) = &known
            && lock.mark().is_some_and(|mark| mark == self.mark_of(index))
        {
            return Present {
                foreign: Vec::new(),
                temporary: Vec::new(),
                ids: index.active.iter().cloned().collect(),
            };
        }
        let (stems, temporary) = self.stems_and_temporary(lock.folder());
        let (ids, foreign) = self.by_id(&stems);
        let known = known.filter(|index| index.fits(&ids));
        let index = known.unwrap_or_else(|| self.index_anew(lock));
        if foreign.is_empty() && temporary.is_empty() {
            lock.set_mark(&self.mark_of(&index));
        }
        Present {
            foreign: foreign.into_iter().map(str::to_owned).collect(),
            temporary,
            ids: index.active.into_iter().collect(),
        }
    }

    /// Returns what marks the lock of a folder whose names this index knows.
    fn mark_of(&self, index: &Index) -> String {
        self.seal(&serde_json::to_string(index).unwrap_or_default())
    }

    /// Parts names into those that are ids and the others.
    pub(super) fn by_id<'n>(&self, stems: &'n [String]) -> (Vec<&'n str>, Vec<&'n str>) {
        let stems = stems.iter().map(String::as_str);
        stems.partition(|stem| LoopId::fits(stem, self.spec().ids))
    }

    /// Makes the index anew of all loops of the folder, and keeps it.
    pub(super) fn index_anew(&self, lock: &LockGuard) -> Index {
        let here = lock.folder();
        let listed = self.list();
        let mut index = Index::of(&listed);
        let lost = self.lost(here, &self.loop_folders(here));
        // Where nothing is this user's, nothing is kept of it. What was not looked at for want of time is not known.
        let is_kept = !lost.is_empty() || listed.iter().any(|one| one.owned);
        index.active.extend(lost.into_iter().map(|lost| lost.id));
        if is_kept && !self.budget().is_over() {
            let _ = self.keep_index(lock, "", &index, true);
        }
        index
    }

    /// Makes the index anew where nobody holds the folder's lock; where somebody does, a later call will.
    pub(super) fn try_index_anew(&self) {
        let now = self.clone().with_deadline(Duration::ZERO);
        let _ = now.locked(|lock| Ok::<_, StoreError>(self.index_anew(lock)));
    }

    /// Makes the index anew where it forgot one of the folder's loops, and returns those.
    pub fn remember(&self) -> Vec<LoopId> {
        let Some(index) = self.index() else {
            return Vec::new();
        };
        let listed = self.list().into_iter();
        let is_forgotten = |one: &Listed| !one.terminal && !index.active.contains(&one.id);
        let forgotten: Vec<LoopId> = listed.filter(is_forgotten).map(|one| one.id).collect();
        if !forgotten.is_empty() {
            self.try_index_anew();
        }
        forgotten
    }

    /// Adds a loop that is about to be seen. Survives a power loss.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(super) fn index_active(&self, lock: &LockGuard, id: &LoopId) -> Result<(), StoreError> {
        let mut index = self.index().unwrap_or_else(|| self.index_anew(lock));
        let mark = self.mark_of(&index);
        if !index.active.insert(id.clone()) || self.budget().is_over() {
            return Ok(());
        }
        let kept = self.keep_index(lock, &mark, &index, true);
        kept.map_err(io_error("write", self.home().checked()?))
    }

    /// Takes a loop out that is over.
    pub(super) fn index_over(&self, lock: &LockGuard, id: &LoopId) {
        let Some(mut index) = self.index() else {
            return;
        };
        let mark = self.mark_of(&index);
        if index.active.remove(id) {
            index.others.add(id.as_str());
            index.last = Some(id.clone());
            let _ = self.keep_index(lock, &mark, &index, false);
        }
    }

    /// Takes a loop out that did not come to be, and the index with it where it was for that loop alone.
    pub(super) fn index_forget(&self, lock: &LockGuard, id: &LoopId) {
        let Some(mut index) = self.index() else {
            return;
        };
        let mark = self.mark_of(&index);
        if index.active.remove(id) {
            let _ = match index == Index::default() {
                true => self
                    .indexes()
                    .and_then(|folder| folder.remove(&self.index_name())),
                false => self.keep_index(lock, &mark, &index, false),
            };
        }
    }

    fn indexes(&self) -> std::io::Result<Folder> {
        let home = self.home().folder().ok_or(std::io::ErrorKind::NotFound)?;
        private::make(home, FOLDER)
    }

    /// Writes the index, and passes on to it the mark of the one before it, which had this one.
    fn keep_index(
        &self,
        lock: &LockGuard,
        before: &str,
        index: &Index,
        durable: bool,
    ) -> std::io::Result<()> {
        let folder = self.indexes()?;
        let line = serde_json::to_string(index)?;
        let bytes = format!("{line}\n{}", self.seal(&line));
        match durable {
            true => folder.replace(&self.index_name(), bytes.as_bytes())?,
            false => folder
                .prepare(&self.index_name(), bytes.as_bytes())?
                .swap()?,
        }
        if lock.mark().is_some_and(|mark| mark == before) {
            lock.set_mark(&self.mark_of(index));
        }
        Ok(())
    }

    fn index_name(&self) -> String {
        self.seal("")
    }

    /// Returns the digest of a line, for this folder and this version of the machine alone.
    fn seal(&self, line: &str) -> String {
        let spec = self.spec();
        let parts = [self.folder().as_str(), spec.machine, spec.graph_hash, line];
        sha256(parts.map(|part| format!("{part}\0")).concat())
    }
}
