//! Moving loops out of the state folder: the stale ones to `swept/<id>/`, and back, and all of them to
//! `rolled-back/<stamp>/`.
//!
//! The state file goes first and comes back last. A crash in between leaves a journal without a state file, which an
//! open rebuilds and the next sweep moves.

use std::time::{Duration, SystemTime};

use camino::Utf8PathBuf;
use jiff::Timestamp;

use super::error::{StoreError, io_error};
use super::id::{LoopId, compact};
use super::inspect::Reader;
use super::journal::{self, Change};
use super::lock::{Held, RunLock};
use super::record::Record;
use super::recover::Judged;
use super::repair::{Older, QUARANTINE, heal};
use super::store::{Listed, SIDECARS, Store};
use super::versions::Versions;
use crate::files::{Folder, Found, TEMPORARY, if_there};

/// Names the folder of loops that were swept.
pub(super) const SWEPT: &str = "swept";
/// Names the folder of what was rolled back.
const ROLLED_BACK: &str = "rolled-back";

/// How long a swept loop is kept.
const KEPT: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// The age from which a temporary file of ours is a crash's, not someone's who is writing.
const STRAY: Duration = Duration::from_secs(60 * 60);

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
    pub strays: Vec<Utf8PathBuf>,
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
        lock: &Held,
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
        let is_stray = |name: &str, found: &Found| {
            name.starts_with(TEMPORARY) && found.is_file() && is_older(found.modified(), STRAY)
        };
        let mut folders: Vec<Folder> = self
            .open_folder()
            .into_iter()
            .chain(self.open_machines(false))
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
            for (name, _) in entries(&folder).filter(|(name, found)| is_stray(name, found)) {
                if dry_run || folder.remove(&name).is_ok() {
                    swept.strays.push(folder.path().join(name));
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

    /// Loops that a sweep may move: stale, not terminal, trusted, and not under review. A loop's folder that has a
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
            let journal = here
                .below(id.as_str())
                .and_then(|folder| folder.look(journal::FILE));
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
    pub(super) fn put_lost_away(&self, lock: &Held) -> Result<(), StoreError> {
        let here = lock.folder();
        let is_lost = |id: &LoopId| {
            let has_journal = |folder: Folder| folder.look(journal::FILE).is_ok_and(|found| found.is_some());
            !here.has(&self.name_of(id)) && here.below(id.as_str()).is_ok_and(has_journal)
        };
        for id in self.loop_folders(here).into_iter().filter(is_lost) {
            let reader = Reader {
                store: self,
                here,
                trust: &self.trust(),
                versions: &Versions::default(),
            };
            let judged = reader.look(&id, None).and_then(|found| reader.judge(&id, &found));
            // What cannot be opened cannot become active.
            let Ok(Judged { record, .. }) = judged else {
                continue;
            };
            if !record.is_terminal()
                && self.is_for(record.root().as_deref())
                && !self.move_away(here, &id, "its state file was gone")?
            {
                heal(self, lock, &id, Older::Leave)?;
            }
        }
        Ok(())
    }

    /// Takes the lock of a loop's reviews where the loop has a folder; `None` if a review of it runs.
    fn hold_run(&self, here: &Folder, id: &LoopId) -> Result<Option<Option<RunLock>>, StoreError> {
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
    fn pieces(&self, id: &LoopId) -> Vec<String> {
        let mut pieces = vec![self.name_of(id)];
        pieces.extend(SIDECARS.iter().map(|suffix| format!("{id}{suffix}")));
        pieces.push(id.to_string());
        pieces
    }

    /// Folders that are named like loops.
    fn loop_folders(&self, here: &Folder) -> Vec<LoopId> {
        entries(here)
            .filter(|(_, found)| found.is_folder())
            .filter_map(|(name, _)| LoopId::parse(&name, self.spec().ids).ok())
            .collect()
    }

    /// Returns whether the state folder is there.
    fn is_there(&self) -> Result<bool, StoreError> {
        let folder = if_there(self.open_folder()).map_err(io_error("open", self.folder()))?;
        Ok(folder.is_some())
    }

    fn swept_folder(&self) -> Utf8PathBuf {
        self.folder().join(SWEPT)
    }

    /// Returns the store on the folder that a swept loop was moved to.
    pub fn swept_store(&self, id: &str) -> Self {
        self.below(self.swept_folder().join(id))
    }

    /// Loops that were swept and can be brought back, newest first.
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

    /// Brings a swept loop back, as a person's doing, and journals that.
    ///
    /// # Errors
    /// [`StoreError::Active`] while another loop is not terminal, [`StoreError::NoLoop`] when it was not swept,
    /// [`StoreError::Exists`] when it is here, and what keeps it from being opened; then it stays where it is.
    pub fn bring_back(&self, id: &LoopId) -> Result<Record, StoreError> {
        let swept = self.swept_store(id.as_str());
        if !swept.is_there()? {
            return Err(StoreError::NoLoop {
                id: id.to_string(),
                folder: self.swept_folder(),
            });
        }
        self.locked(|lock| {
            self.refuse_active(lock)?;
            let here = lock.folder();
            let from = here.below(SWEPT).and_then(|folder| folder.below(id.as_str()));
            let from = from.map_err(io_error("open", swept.folder()))?;
            // An open may have made the state of a move that was cut off anew: the old one must not come back over it.
            let exists = || StoreError::Exists {
                id: id.to_string(),
                folder: self.folder().to_owned(),
            };
            if here.has(&self.name_of(id)) {
                return Err(exists());
            }
            // A journal here means that a move in either direction was cut off by a crash: it is finished.
            let cut_off = here
                .below(id.as_str())
                .is_ok_and(|folder| folder.has(journal::FILE));
            if !cut_off {
                let reader = Reader {
                    store: &swept,
                    here: &from,
                    trust: &self.trust(),
                    versions: &Versions::default(),
                };
                reader.judge(id, &reader.look(id, None)?)?;
            }
            for name in swept.pieces(id).iter().rev().filter(|name| from.has(name)) {
                if here.has(name) && !cut_off {
                    return Err(exists());
                }
                from.rename(name, here, name)
                    .map_err(io_error("bring back", &swept.folder().join(name)))?;
            }
            let _ = here
                .below(SWEPT)
                .and_then(|folder| folder.remove_folder(id.as_str()));
            let found = heal(self, lock, id, Older::Migrate)?.record;
            self.apply(lock, found, Change::bare("bring-back", "person"))
        })
    }

    /// Gives one loop up that cannot be opened: moves everything of it to `rolled-back/<stamp>/`, as
    /// [`Store::roll_back_all`] does with all. None if a review of it runs, else the folder.
    ///
    /// # Errors
    /// When there is no such loop, the lock cannot be taken, or something cannot be moved.
    pub fn give_up(&self, id: &LoopId, now: Timestamp) -> Result<Option<Utf8PathBuf>, StoreError> {
        self.some_loop(id)?;
        self.end_orphans(id);
        self.locked(|lock| {
            let here = lock.folder();
            let Some(_held) = self.hold_run(here, id)? else {
                return Ok(None);
            };
            let target = compact(now);
            for name in self.pieces(id) {
                move_into(here, &[ROLLED_BACK, &target], here, &name)?;
            }
            let target = self.rolled_back_folder(now);
            self.disown(id);
            self.log(&format!("{id}: given up, moved to {target}"));
            Ok(Some(target))
        })
    }

    /// Where [`Store::roll_back_all`] at this time moves everything.
    pub fn rolled_back_folder(&self, now: Timestamp) -> Utf8PathBuf {
        self.folder().join(ROLLED_BACK).join(compact(now))
    }

    /// Moves everything of every loop, the swept ones included, to `rolled-back/<stamp>/`. The log and what was
    /// quarantined stay. Returns the loops that were moved; where there is nothing, nothing is created.
    ///
    /// # Errors
    /// When the lock cannot be taken or something cannot be moved; what was moved before that stays moved.
    pub fn roll_back_all(&self, now: Timestamp) -> Result<Vec<LoopId>, StoreError> {
        if !self.is_there()? {
            return Ok(Vec::new());
        }
        if let Ok(here) = self.open_folder() {
            for id in self.loop_folders(&here) {
                self.end_orphans(&id);
            }
        }
        self.locked(|lock| {
            let here = lock.folder();
            let stamp = compact(now);
            // A folder outside the root holds other projects' loops too: those are theirs to move.
            let (swept, loops) = (self.swept(), self.list());
            let others: Vec<LoopId> = (swept.iter().chain(&loops))
                .filter(|one| !self.is_for(one.root.as_deref()))
                .map(|one| one.id.clone())
                .collect();
            let swept_of_others = swept.iter().any(|one| others.contains(&one.id));
            let mut ids = Vec::new();
            for one in swept.into_iter().filter(|one| !others.contains(&one.id)) {
                if swept_of_others {
                    let from = here
                        .below(SWEPT)
                        .map_err(io_error("open", &self.swept_folder()))?;
                    move_into(here, &[ROLLED_BACK, &stamp, SWEPT], &from, one.id.as_str())?;
                }
                ids.push(one.id);
            }
            let parse = |stem: &str| LoopId::parse(stem, self.spec().ids).ok();
            for (name, _) in entries(here) {
                let stem = name.strip_suffix(&format!(".{}", self.spec().extension));
                let id = SIDECARS
                    .iter()
                    .find_map(|suffix| parse(name.strip_suffix(suffix)?))
                    .or_else(|| parse(stem.unwrap_or(&name)));
                let is_swept = name == SWEPT;
                if id.is_none() && stem.is_none() && !is_swept
                    || is_swept && swept_of_others
                    || id.as_ref().is_some_and(|id| others.contains(id))
                {
                    continue;
                }
                move_into(here, &[ROLLED_BACK, &stamp], here, &name)?;
                ids.extend(id);
            }
            ids.sort();
            ids.dedup();
            for id in &ids {
                self.disown(id);
            }
            Ok(ids)
        })
    }
}

/// Moves what stands under a name in `from` into the folder `target` below `here`, which is made; nothing there is fine.
fn move_into(here: &Folder, target: &[&str], from: &Folder, name: &str) -> Result<(), StoreError> {
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
fn entries(folder: &Folder) -> impl Iterator<Item = (String, Found)> + use<> {
    folder.list().unwrap_or_default().into_iter()
}
