//! Moving loops out of the state folder: the stale ones to `swept/<id>/`, and back, and all of them to
//! `rolled-back/<stamp>/`.
//!
//! The state file goes first and comes back last. A crash in between leaves a journal without a state file, which an
//! open rebuilds and the next sweep moves.

use std::time::{Duration, SystemTime};

use camino::Utf8PathBuf;

use super::error::{StoreError, io_error};
use super::id::LoopId;
use super::inspect::Reader;
use super::list::Listed;
use super::lock::{LockGuard, RunLock};
use super::recover::Judged;
use super::repair::{Look, Older, QUARANTINE, repair};
use super::storage::JOURNAL;
use super::store::{SIDECARS, Store};
use super::versions::{self, Versions};
use crate::files::{Folder, Found, TEMPORARY, if_there};

/// Names the folder of loops that were swept.
pub(super) const SWEPT: &str = "swept";
/// Names the folder of what was rolled back.
pub(super) const ROLLED_BACK: &str = "rolled-back";

/// How long a swept loop is kept.
const KEPT: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// The age from which a temporary file of ours is a crash's, not someone's who is writing.
const LEFTOVER: Duration = Duration::from_secs(60 * 60);

/// Limits how deep folders of loops lie in what was moved aside: `rolled-back/<stamp>/swept/<id>/<id>/`.
const ASIDE_DEPTH: usize = 4;

/// What a sweep did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Swept {
    /// Loops that were moved to `swept/`.
    pub moved: Vec<LoopId>,
    /// Loops that a dry run would move.
    pub would_move: Vec<LoopId>,
    /// State files made by hand, whose names are no ids, that were moved to `swept/`, or would be.
    pub foreign: Vec<Utf8PathBuf>,
    /// Temporary files of ours that a crash left and that were removed, or would be.
    pub leftovers: Vec<Utf8PathBuf>,
    /// Folders of loops swept more than 30 days ago that were removed, or would be.
    pub expired: Vec<Utf8PathBuf>,
}

impl Store {
    /// Moves every loop away that is not terminal, whose state file is older than `older`, and of which no review
    /// runs. A file that is not trusted stays. With `dry_run` nothing is changed. A loop that cannot be moved is told in
    /// the folder's log and left for the next sweep.
    ///
    /// # Errors
    /// When the project's lock cannot be taken.
    pub fn sweep(&self, now: SystemTime, older: Duration, dry_run: bool) -> Result<Swept, StoreError> {
        if !self.is_there()? {
            return Ok(Swept::default());
        }
        self.locked(|lock| self.sweep_held(lock, now, older, dry_run))
    }

    pub(super) fn sweep_held(
        &self,
        lock: &LockGuard,
        now: SystemTime,
        older: Duration,
        dry_run: bool,
    ) -> Result<Swept, StoreError> {
        let here = lock.folder();
        let mut swept = Swept::default();
        let is_older =
            |modified: SystemTime, limit| now.duration_since(modified).is_ok_and(|age| age > limit);
        for id in self.stale(here, |modified| is_older(modified, older)) {
            if dry_run {
                swept.would_move.push(id);
            } else {
                match self.move_away(here, &id, "not touched for long") {
                    Ok(true) => swept.moved.push(id),
                    Ok(false) => {}
                    Err(error) => self.log(&format!("{id}: not swept: {error}")),
                }
            }
        }
        for file in self.list_foreign() {
            let name = file.path.file_name().unwrap_or_default();
            let untrusted = file.phase.is_none() && self.check_state(here, name).is_err();
            if file.terminal || untrusted || !is_older(file.modified, older) {
                continue;
            }
            let target = [SWEPT, file.path.file_stem().unwrap_or_default()];
            match if dry_run {
                Ok(())
            } else {
                move_into(here, &target, here, name)
            } {
                Ok(()) => swept.foreign.push(file.path),
                Err(error) => self.log(&format!("{name}: not swept: {error}")),
            }
        }
        let is_leftover = |name: &str, found: &Found| {
            name.starts_with(TEMPORARY) && found.is_file() && is_older(found.modified(), LEFTOVER)
        };
        let mut folders: Vec<Folder> = self
            .open_folder()
            .into_iter()
            .chain(versions::open(self))
            .collect();
        let loops = self.loop_folders(here);
        folders.extend(loops.iter().filter_map(|id| here.below(id.as_str()).ok()));
        // A move takes what a crash left along.
        for aside in [SWEPT, QUARANTINE, ROLLED_BACK] {
            if let Ok(aside) = here.below(aside) {
                with_folders_below(aside, ASIDE_DEPTH, &mut folders);
            }
        }
        for folder in folders {
            for (name, _) in entries(&folder).filter(|(name, found)| is_leftover(name, found)) {
                if dry_run || folder.remove(&name).is_ok() {
                    swept.leftovers.push(folder.path().join(name));
                }
            }
        }
        if !dry_run {
            self.scratch().sweep();
        }
        if let Ok(folder) = here.below(SWEPT) {
            for (name, _) in entries(&folder).filter(|(_, found)| is_older(found.modified(), KEPT)) {
                if dry_run || folder.remove_tree(&name).is_ok() {
                    if let Ok(id) = LoopId::parse(&name, self.spec().ids)
                        && !dry_run
                    {
                        self.disown(&id);
                    }
                    swept.expired.push(folder.path().join(name));
                }
            }
        }
        Ok(swept)
    }

    /// Returns loops that a sweep may move: stale, not terminal, trusted, and not under review. A loop's folder that has a
    /// journal and lost its state file counts by the journal's age.
    fn stale(&self, here: &Folder, is_stale: impl Fn(SystemTime) -> bool) -> Vec<LoopId> {
        let trusted = |id: &LoopId| {
            self.check_state(here, &self.name_of(id)).is_ok() && if_there(here.below(id.as_str())).is_ok()
        };
        let listed = self.list();
        let mut stale: Vec<LoopId> = listed
            .iter()
            .filter(|one| {
                !one.terminal
                    && !one.left_alone
                    && is_stale(one.modified)
                    && trusted(&one.id)
                    && !self.is_running(&one.id)
            })
            .map(|one| one.id.clone())
            .collect();
        stale.extend(self.loop_folders(here).into_iter().filter(|id| {
            let journal = here.below(id.as_str()).and_then(|folder| folder.look(JOURNAL));
            let modified = journal.ok().flatten().map(|found| found.modified());
            !listed.iter().any(|one| one.id == *id)
                && modified.is_some_and(&is_stale)
                && self.is_owned(id)
                && !self.is_running(id)
        }));
        stale
    }

    /// Puts every loop away that is not terminal and has lost its state file: a start or a sweep that crashed left it, or
    /// someone removed the file. The next open would make it active again, beside the one that is to be active now. One
    /// that is under review is opened instead, and so is in the way.
    pub(super) fn put_lost_away(&self, lock: &LockGuard) -> Result<(), StoreError> {
        let here = lock.folder();
        let is_lost = |id: &LoopId| {
            let has_journal = |folder: Folder| folder.look(JOURNAL).is_ok_and(|found| found.is_some());
            !here.has(&self.name_of(id)) && here.below(id.as_str()).is_ok_and(has_journal)
        };
        for id in self.loop_folders(here).into_iter().filter(is_lost) {
            let reader = Reader {
                store: self,
                here,
                tracking: &self.tracking(),
                versions: &Versions::default(),
            };
            // What cannot be opened cannot become active.
            let Ok((_, Judged { record, .. })) = reader.look(&id, None) else {
                continue;
            };
            if !record.is_terminal()
                && self.is_for(record.root().as_deref())
                && !self.move_away(here, &id, "its state file was gone")?
            {
                repair(self, lock, &id, Look::Newest, Older::Leave)?;
            }
        }
        Ok(())
    }

    /// Takes the lock of a loop's reviews where the loop has a folder; `None` if a review of it runs.
    pub(super) fn hold_run(&self, here: &Folder, id: &LoopId) -> Result<Option<Option<RunLock>>, StoreError> {
        let folder = if_there(here.below(id.as_str())).map_err(io_error("open", &self.loop_folder(id)))?;
        match folder {
            Some(folder) => Ok(RunLock::try_take(&folder)?.map(Some)),
            None => Ok(Some(None)),
        }
    }

    /// Moves a loop whole, for the reason `why`; `false` if a review of it has begun in the meantime.
    pub(super) fn move_away(&self, here: &Folder, id: &LoopId, why: &str) -> Result<bool, StoreError> {
        self.end_orphans(id);
        let Some(_held) = self.hold_run(here, id)? else {
            return Ok(false);
        };
        for name in self.pieces(id) {
            move_into(here, &[SWEPT, id.as_str()], here, &name)?;
        }
        self.log(&format!("{id}: swept, {why}; to bring it back: resume {id}"));
        Ok(true)
    }

    /// Returns the names of the files and the folder of a loop, the state file first.
    pub(super) fn pieces(&self, id: &LoopId) -> Vec<String> {
        let mut pieces = vec![self.name_of(id)];
        pieces.extend(SIDECARS.iter().map(|suffix| format!("{id}{suffix}")));
        pieces.push(id.to_string());
        pieces
    }

    /// Returns folders that are named like loops.
    pub(super) fn loop_folders(&self, here: &Folder) -> Vec<LoopId> {
        entries(here)
            .filter(|(_, found)| found.is_folder())
            .filter_map(|(name, _)| LoopId::parse(&name, self.spec().ids).ok())
            .collect()
    }

    /// Returns whether the state folder is there.
    pub(super) fn is_there(&self) -> Result<bool, StoreError> {
        let folder = if_there(self.open_folder()).map_err(io_error("open", self.folder()))?;
        Ok(folder.is_some())
    }

    pub(super) fn swept_folder(&self) -> Utf8PathBuf {
        self.folder().join(SWEPT)
    }

    /// Returns the store on the folder that a swept loop was moved to.
    pub fn swept_store(&self, id: &str) -> Self {
        self.below(self.swept_folder().join(id))
    }

    /// Returns loops that were swept and can be brought back, newest first.
    pub fn swept(&self) -> Vec<Listed> {
        let Ok(swept) = self.open_folder().and_then(|here| here.below(SWEPT)) else {
            return Vec::new();
        };
        let mut listed: Vec<Listed> = entries(&swept)
            .take_while(|_| !self.budget().is_over())
            .filter_map(|(name, _)| {
                self.swept_store(&name)
                    .list()
                    .into_iter()
                    .find(|one| one.id.as_str() == name)
            })
            .collect();
        listed.sort_by(|a, b| (b.modified, &b.id).cmp(&(a.modified, &a.id)));
        listed
    }
}

/// Moves what stands under a name in `from` into the folder `target` below `here`, which is made; nothing there is fine.
pub(super) fn move_into(here: &Folder, target: &[&str], from: &Folder, name: &str) -> Result<(), StoreError> {
    if !from.has(name) {
        return Ok(());
    }
    let target: Utf8PathBuf = target.iter().collect();
    here.make(&target)
        .and_then(|to| from.rename(name, &to, name))
        .map_err(io_error("move", &from.path().join(name)))
}

/// Adds a folder and those below it.
fn with_folders_below(folder: Folder, depth: usize, all: &mut Vec<Folder>) {
    if depth > 0 {
        for (name, _) in entries(&folder).filter(|(_, found)| found.is_folder()) {
            if let Ok(below) = folder.below(&name) {
                with_folders_below(below, depth - 1, all);
            }
        }
    }
    all.push(folder);
}

/// Lists what stands in a folder; nothing for a folder that cannot be read.
pub(super) fn entries(folder: &Folder) -> impl Iterator<Item = (String, Found)> + use<> {
    folder.list().unwrap_or_default().into_iter()
}
