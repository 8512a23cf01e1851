//! Moving loops out of the state folder: the stale ones to `swept/<id>/`, and back, and all of them to
//! `rolled-back/<stamp>/`.
//!
//! The state file goes first and comes back last. A crash in between leaves a journal without a state file, which an
//! open rebuilds and the next sweep moves.

use std::time::{Duration, SystemTime};

use camino::Utf8PathBuf;

use super::error::{StoreError, io_error};
use super::id::LoopId;
use super::index::Present;
use super::inspect::Reader;
use super::list::Listed;
use super::lock::{LockGuard, RunLock};
use super::record::Record;
use super::recover::Judged;
use super::repair::{Look, QUARANTINE, repair};
use super::storage::JOURNAL;
use super::store::{SIDECARS, Store};
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
    pub fn sweep(
        &self,
        now: SystemTime,
        older: Duration,
        dry_run: bool,
    ) -> Result<Swept, StoreError> {
        if !self.is_there()? {
            return Ok(Swept::default());
        }
        self.locked(|lock| {
            let here = lock.folder();
            let mut swept = self.sweep_held(here, &self.everything(here), now, older, dry_run);
            // A move takes what a crash left along.
            let mut folders: Vec<Folder> = Vec::new();
            for aside in [SWEPT, QUARANTINE, ROLLED_BACK] {
                if let Ok(aside) = here.below(aside) {
                    with_folders_below(aside, ASIDE_DEPTH, &mut folders);
                }
            }
            let leftovers = folders
                .iter()
                .flat_map(|folder| leftovers_in(folder, now, dry_run));
            swept.leftovers.extend(leftovers);
            Ok(swept)
        })
    }

    /// Sweeps these loops, what was made by hand, and what is too old among the swept ones.
    pub(super) fn sweep_held(
        &self,
        here: &Folder,
        present: &Present,
        now: SystemTime,
        older: Duration,
        dry_run: bool,
    ) -> Swept {
        let mut swept = Swept::default();
        for id in self.stale(here, &present.ids, |modified| {
            is_older(now, modified, older)
        }) {
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
        for file in self.foreign_of(here, &present.foreign) {
            let name = file.path.file_name().unwrap_or_default();
            let untrusted = file.phase.is_none() && self.check_state(here, name).is_err();
            if file.terminal || untrusted || !is_older(now, file.modified, older) {
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
        let loops = present
            .ids
            .iter()
            .filter_map(|id| here.below(id.as_str()).ok());
        swept.leftovers = leftovers(here, &present.temporary, now, dry_run);
        swept
            .leftovers
            .extend(loops.flat_map(|folder| leftovers_in(&folder, now, dry_run)));
        if !dry_run {
            self.scratch().sweep();
        }
        if let Ok(folder) = here.below(SWEPT) {
            for (name, _) in
                entries(&folder).filter(|(_, found)| is_older(now, found.modified(), KEPT))
            {
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
        swept
    }

    /// Returns those of these loops that a sweep may move: stale, not terminal, trusted, and not under review. A loop's folder that
    /// has a journal and lost its state file counts by the journal's age.
    fn stale(
        &self,
        here: &Folder,
        ids: &[LoopId],
        is_stale: impl Fn(SystemTime) -> bool,
    ) -> Vec<LoopId> {
        let trusted = |id: &LoopId| {
            self.check_state_of(here, id).is_ok() && if_there(here.below(id.as_str())).is_ok()
        };
        let listed = self.listed_of(|_| ids.to_vec());
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
        let lost = ids.iter().filter(|id| {
            let journal = here
                .below(id.as_str())
                .and_then(|folder| folder.look(JOURNAL));
            let modified = journal.ok().flatten().map(|found| found.modified());
            !self.has_state_file(here, id)
                && modified.is_some_and(&is_stale)
                && self.is_owned(id)
                && !self.is_running(id)
        });
        stale.extend(lost.cloned());
        stale
    }

    /// Puts every one of these loops away that is not terminal and has lost its state file: a start or a sweep that crashed left it, or
    /// someone removed the file. The next open would make it active again, beside the one that is to be active now. One
    /// that is under review is opened instead, and so is in the way.
    pub(super) fn put_lost_away(&self, lock: &LockGuard, ids: &[LoopId]) -> Result<(), StoreError> {
        let here = lock.folder();
        for lost in self.lost(here, ids) {
            let id = &lost.id;
            if self.is_for(lost.root().as_deref())
                && !self.move_away(here, id, "its state file was gone")?
            {
                repair(self, lock, id, Look::Newest)?;
            }
        }
        Ok(())
    }

    /// Returns those of these loops that are not terminal and have lost their state files. What cannot be opened cannot become active.
    pub(super) fn lost(&self, here: &Folder, ids: &[LoopId]) -> Vec<Record> {
        let is_lost = |id: &LoopId| {
            let has_journal =
                |folder: Folder| folder.look(JOURNAL).is_ok_and(|found| found.is_some());
            !self.has_state_file(here, id) && here.below(id.as_str()).is_ok_and(has_journal)
        };
        let reader = Reader {
            store: self,
            here,
            tracking: &self.tracking(),
        };
        let lost = ids.iter().filter(|id| is_lost(id));
        let judged = lost.filter_map(|id| reader.look(id, None).ok());
        judged
            .map(|(_, Judged { record, .. })| record)
            .filter(|record| !record.is_terminal())
            .collect()
    }

    /// Takes the lock of a loop's reviews where the loop has a folder; `None` if a review of it runs.
    pub(super) fn hold_run(
        &self,
        here: &Folder,
        id: &LoopId,
    ) -> Result<Option<Option<RunLock>>, StoreError> {
        let folder =
            if_there(here.below(id.as_str())).map_err(io_error("open", &self.loop_folder(id)))?;
        match folder {
            Some(folder) => Ok(RunLock::try_take(&folder)?.map(Some)),
            None => Ok(Some(None)),
        }
    }

    /// Moves a loop whole, for the reason `why`; `false` if a review of it has begun in the meantime.
    pub(super) fn move_away(
        &self,
        here: &Folder,
        id: &LoopId,
        why: &str,
    ) -> Result<bool, StoreError> {
        let Some(_held) = self.hold_run(here, id)? else {
            return Ok(false);
        };
        for name in self.pieces(id) {
            move_into(here, &[SWEPT, id.as_str()], here, &name)?;
        }
        self.log(&format!(
            "{id}: swept, {why}; to bring it back: resume {id}"
        ));
        Ok(true)
    }

    /// Returns the names of the files and the folder of a loop, the state file first, unless that is the user's own.
    pub(super) fn pieces(&self, id: &LoopId) -> Vec<String> {
        let ours = self.spec().file.is_none().then(|| self.name_of(id));
        let mut pieces: Vec<String> = ours.into_iter().collect();
        pieces.extend(SIDECARS.iter().map(|suffix| format!("{id}{suffix}")));
        pieces.push(id.to_string());
        pieces
    }

    /// Returns what stands in the folder, and all of its loops: each of which there is a folder or a state file.
    fn everything(&self, here: &Folder) -> Present {
        let (stems, temporary) = self.stems_and_temporary(here);
        let foreign = self
            .by_id(&stems)
            .1
            .into_iter()
            .map(str::to_owned)
            .collect();
        let mut ids = self.loop_folders(here);
        ids.extend(self.ids(here));
        ids.sort();
        ids.dedup();
        Present {
            foreign,
            temporary,
            ids,
        }
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

    /// Returns whether a loop was swept, and can be brought back.
    pub fn has_swept(&self, id: &LoopId) -> bool {
        self.listed_as_swept(id.as_str()).is_some()
    }

    /// Returns the store on the folder that a swept loop was moved to.
    pub fn swept_store(&self, id: &str) -> Self {
        self.below(self.swept_folder().join(id))
    }

    fn listed_as_swept(&self, id: &str) -> Option<Listed> {
        self.swept_store(id)
            .list()
            .into_iter()
            .find(|one| one.id.as_str() == id)
    }

    /// Returns loops that were swept and can be brought back, newest first.
    pub fn swept(&self) -> Vec<Listed> {
        let Ok(swept) = self.open_folder().and_then(|here| here.below(SWEPT)) else {
            return Vec::new();
        };
        let mut listed: Vec<Listed> = entries(&swept)
            .take_while(|_| !self.budget().is_over())
            .filter_map(|(name, _)| self.listed_as_swept(&name))
            .collect();
        listed.sort_by(|a, b| (b.modified, &b.id).cmp(&(a.modified, &a.id)));
        listed
    }
}

/// Moves what stands under a name in `from` into the folder `target` below `here`, which is made; nothing there is fine.
pub(super) fn move_into(
    here: &Folder,
    target: &[&str],
    from: &Folder,
    name: &str,
) -> Result<(), StoreError> {
    if !from.has(name) {
        return Ok(());
    }
    let target: Utf8PathBuf = target.iter().collect();
    here.make(&target)
        .and_then(|to| from.rename(name, &to, name))
        .map_err(io_error("move", &from.path().join(name)))
}

/// Returns whether something that was last changed then is older than this.
fn is_older(now: SystemTime, modified: SystemTime, age: Duration) -> bool {
    now.duration_since(modified).is_ok_and(|since| since > age)
}

/// Removes the temporary files of ours that a crash left in a folder, and returns them; a dry run leaves them there.
fn leftovers_in(folder: &Folder, now: SystemTime, dry_run: bool) -> Vec<Utf8PathBuf> {
    let names = folder.names(|name| name.starts_with(TEMPORARY));
    leftovers(folder, &names.unwrap_or_default(), now, dry_run)
}

fn leftovers(
    folder: &Folder,
    names: &[String],
    now: SystemTime,
    dry_run: bool,
) -> Vec<Utf8PathBuf> {
    let is_old = |found: Found| found.is_file() && is_older(now, found.modified(), LEFTOVER);
    let is_left = |name: &&String| {
        folder.look(name).ok().flatten().is_some_and(is_old)
            && (dry_run || folder.remove(name).is_ok())
    };
    let left = names.iter().filter(is_left);
    left.map(|name| folder.path().join(name)).collect()
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
