//! Moving loops out of the state folder: the stale ones to `swept/<id>/`, and back, and all of them to
//! `rolled-back/<stamp>/`.
//!
//! The state file goes first and comes back last. A crash in between leaves a journal without a state file, which an
//! open rebuilds and the next sweep moves.

use std::time::{Duration, SystemTime};

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;

use super::error::{StoreError, io_error};
use super::heal::{self, Older};
use super::id::{LoopId, compact};
use super::journal::Change;
use super::lock::{Held, RunLock};
use super::record::Record;
use super::store::{Listed, SIDECARS, Store};
use super::trust::Trust;
use super::versions::Versions;
use crate::files::{TEMPORARY, scratch};

/// How long a swept loop is kept.
const KEPT: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// The age from which a temporary file of ours is a crash's, not someone's who is writing.
const STRAY: Duration = Duration::from_secs(60 * 60);

/// How deep folders of loops lie in what was moved aside: `rolled-back/<stamp>/swept/<id>/<id>/`.
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
        if !self.folder().exists() {
            return Ok(Swept::default());
        }
        self.locked(|lock| self.sweep_held(lock, now, older, dry_run))
    }

    pub(super) fn sweep_held(
        &self,
        _: &Held,
        now: SystemTime,
        older: Duration,
        dry_run: bool,
    ) -> Result<Swept, StoreError> {
        let mut swept = Swept::default();
        let is_older =
            |modified: SystemTime, limit| now.duration_since(modified).is_ok_and(|age| age > limit);
        for id in self.stale(|modified| is_older(modified, older)) {
            if dry_run {
                swept.would_move.push(id);
            } else {
                match self.move_away(&id, "not touched for long") {
                    Ok(true) => swept.moved.push(id),
                    Ok(false) => {}
                    Err(error) => self.log(&format!("{id}: not swept: {error}")),
                }
            }
        }
        for file in self.list_foreign() {
            let untrusted = file.phase.is_none() && Trust::new().file(&file.path).is_err();
            if file.terminal || untrusted || !is_older(file.modified, older) {
                continue;
            }
            let name = file.path.file_name().unwrap_or_default();
            let target = self
                .swept_folder()
                .join(file.path.file_stem().unwrap_or_default());
            match if dry_run {
                Ok(())
            } else {
                move_into(&target, &self.folder().join(name))
            } {
                Ok(()) => swept.foreign.push(file.path),
                Err(error) => self.log(&format!("{name}: not swept: {error}")),
            }
        }
        let stray = |path: &Utf8Path, modified| {
            path.file_name().is_some_and(|name| name.starts_with(TEMPORARY)) && is_older(modified, STRAY)
        };
        let mut folders = vec![self.folder().to_owned(), self.machines_folder()];
        folders.extend(self.loop_folders().iter().map(|id| self.loop_folder(id)));
        // A move takes what a crash left along.
        for aside in [
            self.swept_folder(),
            self.folder().join("quarantine"),
            self.folder().join("rolled-back"),
        ] {
            with_folders_below(aside, ASIDE_DEPTH, &mut folders);
        }
        for folder in folders {
            swept.strays.extend(
                entries(&folder)
                    .filter(|(path, modified)| stray(path, *modified))
                    .map(|(path, _)| path),
            );
        }
        let expired = |(path, modified): (Utf8PathBuf, SystemTime)| is_older(modified, KEPT).then_some(path);
        if Trust::folder(&self.swept_folder()).is_ok() {
            swept
                .expired
                .extend(entries(&self.swept_folder()).filter_map(expired));
        }
        if !dry_run {
            scratch::sweep(&self.scratch_folder());
            swept.strays.retain(|path| std::fs::remove_file(path).is_ok());
            swept.expired.retain(|path| std::fs::remove_dir_all(path).is_ok());
        }
        Ok(swept)
    }

    /// Loops that a sweep may move: stale, not terminal, trusted, and not under review. A loop's folder that has a
    /// journal and lost its state file counts by the journal's age.
    fn stale(&self, is_stale: impl Fn(SystemTime) -> bool) -> Vec<LoopId> {
        let trust = Trust::new();
        let trusted = |id: &LoopId| {
            trust.file(&self.path_of(id)).is_ok() && Trust::folder(&self.loop_folder(id)).is_ok()
        };
        let listed = self.list();
        let mut stale: Vec<LoopId> = listed
            .iter()
            .filter(|one| {
                !one.terminal && is_stale(one.modified) && trusted(&one.id) && !self.is_running(&one.id)
            })
            .map(|one| one.id.clone())
            .collect();
        stale.extend(self.loop_folders().into_iter().filter(|id| {
            let modified = std::fs::symlink_metadata(self.journal_path(id)).and_then(|meta| meta.modified());
            !listed.iter().any(|one| one.id == *id) && modified.is_ok_and(&is_stale) && !self.is_running(id)
        }));
        stale
    }

    /// Puts every loop away that is not terminal and has lost its state file: a start or a sweep that crashed left it, or
    /// someone removed the file. The next open would make it active again, beside the one that is to be active now. One
    /// that is under review is opened instead, and so is in the way.
    pub(super) fn put_lost_away(&self, lock: &Held) -> Result<(), StoreError> {
        let is_lost = |id: &LoopId| {
            let path = self.path_of(id);
            !path.exists() && !path.is_symlink() && self.journal_path(id).is_file()
        };
        for id in self.loop_folders().into_iter().filter(is_lost) {
            let judged = heal::look(self, &Trust::new(), &id)
                .and_then(|found| heal::judge(self, &id, &found, &Versions::default()));
            // What cannot be opened cannot become active.
            let Ok(heal::Judged { record, .. }) = judged else {
                continue;
            };
            if !record.is_terminal()
                && self.is_for(record.root().as_deref())
                && !self.move_away(&id, "its state file was gone")?
            {
                heal::heal(self, lock, &id, Older::Leave)?;
            }
        }
        Ok(())
    }

    /// Moves a loop whole, for the reason `why`; `false` if a review of it has begun in the meantime.
    pub(super) fn move_away(&self, id: &LoopId, why: &str) -> Result<bool, StoreError> {
        self.end_orphans(id);
        let has_folder = self.loop_folder(id).is_dir();
        let held = if has_folder {
            RunLock::try_take(&self.run_lock_path(id))?
        } else {
            None
        };
        if has_folder && held.is_none() {
            return Ok(false);
        }
        let target = self.swept_folder().join(id.as_str());
        for path in self.pieces(id) {
            move_into(&target, &path)?;
        }
        self.log(&format!("{id}: swept, {why}; to bring it back: resume {id}"));
        Ok(true)
    }

    /// The files and the folder of a loop, the state file first.
    fn pieces(&self, id: &LoopId) -> Vec<Utf8PathBuf> {
        let mut pieces = vec![self.path_of(id)];
        pieces.extend(SIDECARS.iter().map(|suffix| self.sidecar(id, suffix)));
        pieces.push(self.loop_folder(id));
        pieces
    }

    /// Folders that are named like loops.
    fn loop_folders(&self) -> Vec<LoopId> {
        entries(self.folder())
            .filter(|(path, _)| path.is_dir() && !path.is_symlink())
            .filter_map(|(path, _)| LoopId::parse(path.file_name()?, self.spec().ids).ok())
            .collect()
    }

    fn swept_folder(&self) -> Utf8PathBuf {
        self.folder().join("swept")
    }

    /// A store on the folder that a swept loop was moved to.
    fn swept_store(&self, id: &str) -> Self {
        self.below(self.swept_folder().join(id))
    }

    /// Loops that were swept and can be brought back, newest first.
    pub fn swept(&self) -> Vec<Listed> {
        let mut listed: Vec<Listed> = entries(&self.swept_folder())
            .filter_map(|(path, _)| {
                let name = path.file_name()?.to_owned();
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
        if !swept.folder().is_dir() {
            return Err(StoreError::NoLoop {
                id: id.to_string(),
                folder: self.swept_folder(),
            });
        }
        self.locked(|lock| {
            self.refuse_active(lock)?;
            Trust::folder(swept.folder())?;
            // An open may have made the state of a move that was cut off anew: the old one must not come back over it.
            let exists = || StoreError::Exists {
                id: id.to_string(),
                folder: self.folder().to_owned(),
            };
            if self.path_of(id).exists() {
                return Err(exists());
            }
            // A journal here means that a move in either direction was cut off by a crash: it is finished.
            let cut_off = self.journal_path(id).exists();
            if !cut_off {
                let found = heal::look(&swept, &Trust::new(), id)?;
                heal::judge(&swept, id, &found, &Versions::default())?;
            }
            for path in swept.pieces(id).iter().rev().filter(|path| path.exists()) {
                let target = self.folder().join(path.file_name().unwrap_or_default());
                if target.exists() && !cut_off {
                    return Err(exists());
                }
                std::fs::rename(path, &target).map_err(io_error("bring back", path))?;
            }
            let _ = std::fs::remove_dir(swept.folder());
            let found = heal::heal(self, lock, id, Older::Migrate)?.record;
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
        self.locked(|_| {
            let has_folder = self.loop_folder(id).is_dir();
            let held = if has_folder {
                RunLock::try_take(&self.run_lock_path(id))?
            } else {
                None
            };
            if has_folder && held.is_none() {
                return Ok(None);
            }
            let target = self.rolled_back_folder(now);
            for path in self.pieces(id) {
                move_into(&target, &path)?;
            }
            self.log(&format!("{id}: given up, moved to {target}"));
            Ok(Some(target))
        })
    }

    /// Where [`Store::roll_back_all`] at this time moves everything.
    pub fn rolled_back_folder(&self, now: Timestamp) -> Utf8PathBuf {
        self.folder().join("rolled-back").join(compact(now))
    }

    /// Moves everything of every loop, the swept ones included, to `rolled-back/<stamp>/`. The log and what was
    /// quarantined stay. Returns the loops that were moved; where there is nothing, nothing is created.
    ///
    /// # Errors
    /// When the lock cannot be taken or something cannot be moved; what was moved before that stays moved.
    pub fn roll_back_all(&self, now: Timestamp) -> Result<Vec<LoopId>, StoreError> {
        if !self.folder().exists() {
            return Ok(Vec::new());
        }
        for id in self.loop_folders() {
            self.end_orphans(&id);
        }
        self.locked(|_| {
            let target = self.rolled_back_folder(now);
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
                    move_into(&target.join("swept"), &self.swept_folder().join(one.id.as_str()))?;
                }
                ids.push(one.id);
            }
            let parse = |stem: &str| LoopId::parse(stem, self.spec().ids).ok();
            for (path, _) in entries(self.folder()) {
                let name = path.file_name().unwrap_or_default();
                let is_state = path.extension() == Some(self.spec().extension);
                let id = SIDECARS
                    .iter()
                    .find_map(|suffix| parse(name.strip_suffix(suffix)?))
                    .or_else(|| parse(if is_state { path.file_stem()? } else { name }));
                let is_swept = path == self.swept_folder();
                if id.is_none() && !is_state && !is_swept
                    || is_swept && swept_of_others
                    || id.as_ref().is_some_and(|id| others.contains(id))
                {
                    continue;
                }
                move_into(&target, &path)?;
                ids.extend(id);
            }
            ids.sort();
            ids.dedup();
            Ok(ids)
        })
    }
}

/// Moves `path` into the folder `target`, which is made; nothing at `path` is fine.
fn move_into(target: &Utf8Path, path: &Utf8Path) -> Result<(), StoreError> {
    if !path.exists() && !path.is_symlink() {
        return Ok(());
    }
    if let Some(above) = target.parent() {
        Trust::folder(above)?;
    }
    Trust::folder(target)?;
    std::fs::create_dir_all(target).map_err(io_error("create", target))?;
    let to = target.join(path.file_name().unwrap_or_default());
    std::fs::rename(path, &to).map_err(io_error("move", path))
}

/// Adds a folder and those below it, none of which is a link.
fn with_folders_below(folder: Utf8PathBuf, depth: usize, all: &mut Vec<Utf8PathBuf>) {
    if Trust::folder(&folder).is_err() {
        return;
    }
    if depth > 0 {
        for (path, _) in entries(&folder).filter(|(path, _)| path.is_dir() && !path.is_symlink()) {
            with_folders_below(path, depth - 1, all);
        }
    }
    all.push(folder);
}

/// What stands in a folder, and when each was modified; nothing for a folder that cannot be read.
fn entries(folder: &Utf8Path) -> impl Iterator<Item = (Utf8PathBuf, SystemTime)> + use<> {
    folder.read_dir_utf8().into_iter().flatten().filter_map(|entry| {
        let path = entry.ok()?.into_path();
        let modified = std::fs::symlink_metadata(&path)
            .and_then(|meta| meta.modified())
            .ok()?;
        Some((path, modified))
    })
}
