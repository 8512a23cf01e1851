//! Moves loops to `archive/<id>/` and back. The archive of a loop is complete and never pruned.

use std::cmp::Reverse;
use std::io;
use std::time::{Duration, SystemTime};

use camino::Utf8Path;

use super::error::{OrIo as _, StoreError};
use super::id::LoopId;
use super::list::ListedLoop;
use super::state_folder::{ARCHIVE, LOCK, Store};
use crate::files::Folder;

/// The archive's folder with an empty file for each unfinished loop, so that no other is opened.
const UNFINISHED: &str = ".unfinished";

impl Store {
    /// Archives a loop, whether it can be opened or not.
    pub fn archive(&self, id: &LoopId) -> Result<(), StoreError> {
        let phase = match self.newest(id) {
            Ok((newest, _)) => newest.change.to,
            Err(missing @ StoreError::NotFound { .. }) => return Err(missing),
            Err(_) => None,
        };
        if self.is_running(id) {
            return Err(StoreError::Busy(format!(
                "a review or a command of loop {id} is running"
            )));
        }
        let (here, _lock) = self.lock(LOCK)?;
        if !self.spec.is_terminal(phase.as_deref()) {
            here.make_subfolder(Utf8Path::new(ARCHIVE).join(UNFINISHED))
                .and_then(|unfinished| unfinished.file_or_new(id.as_str()))
                .or_io("write to", self.folder.join(ARCHIVE))?;
        }
        let mut names = self.file_names(id);
        names.retain(|name| here.has(name));
        if let Some(last) = names.last() {
            let path = self.archived_store(id).folder;
            let to = make_archive(&here, id, last).or_io("move to", &path)?;
            for name in &names {
                here.rename(name, &to, name).or_io("move to", &path)?;
            }
        }
        self.log(&format!("{id}: archived; to continue it: resume {id}"));
        Ok(())
    }

    /// Brings an archived loop back.
    pub fn unarchive(&self, id: &LoopId) -> Result<(), StoreError> {
        let listed = self.listed_in_archive(id).ok_or_else(|| self.no_loop(id))?;
        let _starts = self.journals().lock_starts()?;
        self.refuse_active(id, listed.session.as_deref(), None)?;
        let (here, _lock) = self.lock(LOCK)?;
        let path = self.archived_store(id).folder;
        let archive = here.subfolder(ARCHIVE).or_io("open", &path)?;
        let from = archive.subfolder(id.as_str()).or_io("open", &path)?;
        // The document comes last, because it makes the loop visible.
        let mut names = self.file_names(id);
        names.retain(|name| from.has(name));
        for name in names.iter().rev() {
            if here.has(name) {
                return Err(self.conflict_with(id, None));
            }
            from.rename(name, &here, name)
                .or_io("move", path.join(name))?;
        }
        let _ = archive.remove_folder(id.as_str());
        let _ = archive
            .subfolder(UNFINISHED)
            .and_then(|unfinished| unfinished.remove(id.as_str()));
        Ok(())
    }

    /// Returns whether a loop is in the archive.
    pub fn has_archived(&self, id: &LoopId) -> bool {
        self.listed_in_archive(id).is_some()
    }

    fn listed_in_archive(&self, id: &LoopId) -> Option<ListedLoop> {
        self.archived_store(id).list_each([id.clone()]).next()
    }

    /// Returns the archived loops that are not over, newest first.
    pub fn archived(&self) -> Vec<ListedLoop> {
        let names = self.names_in(&self.folder.join(ARCHIVE).join(UNFINISHED));
        let ids = names
            .iter()
            .flat_map(|name| LoopId::parse(name, self.spec.ids));
        let listed = ids.filter_map(|id| self.listed_in_archive(&id));
        let mut unfinished: Vec<_> = listed.filter(|one| !one.terminal).collect();
        unfinished.sort_by_key(|one| Reverse((one.modified, one.id.clone())));
        unfinished
    }

    /// Returns the number of loops in the archive, those that are over included.
    pub fn archived_count(&self) -> usize {
        let names = self.names_in(&self.folder.join(ARCHIVE));
        names.iter().filter(|name| *name != UNFINISHED).count()
    }

    /// Archives the unfinished loops that are this user's or have no journal, if they were untouched
    /// for this long and no review of them is running.
    /// Loops with a `file` stay, because it is not in the state folder.
    pub fn archive_stale(&self, now: SystemTime, older: Duration) -> Vec<LoopId> {
        let is_stale = |one: &ListedLoop| {
            let age = now.duration_since(one.modified);
            let is_old = age.is_ok_and(|age| age > older);
            let is_foreign = one.problem.is_some() && self.has_journal(&one.id);
            let may_move = self.spec.file.is_none() && !is_foreign;
            may_move && !one.terminal && is_old && !self.is_running(&one.id)
        };
        self.archive_each(self.list().filter(is_stale))
    }

    pub(super) fn archive_finished(&self, newest: usize) {
        let is_finished = |one: &ListedLoop| one.problem.is_none() && one.terminal;
        self.archive_each(self.list().filter(is_finished).skip(newest));
    }

    fn archive_each(&self, loops: impl Iterator<Item = ListedLoop>) -> Vec<LoopId> {
        let mut archived = Vec::new();
        for ListedLoop { id, .. } in loops {
            match self.archive(&id) {
                Ok(()) => archived.push(id),
                Err(error) => self.log(&format!("{id}: not archived: {error}")),
            }
        }
        archived
    }
}

/// Makes a folder in the archive: the id, or `ID-2` and so on if `piece` was archived there before.
fn make_archive(here: &Folder, id: &LoopId, piece: &str) -> io::Result<Folder> {
    let mut name = id.to_string();
    let mut number = 1;
    loop {
        let folder = here.make_subfolder(Utf8Path::new(ARCHIVE).join(&name))?;
        if !folder.has(piece) {
            return Ok(folder);
        }
        number += 1;
        name = format!("{id}-{number}");
    }
}
