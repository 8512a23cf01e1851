//! Moves loops out of the state folder and back: `archive/<id>/` has everything of a loop, and is never pruned.

use std::cmp::Reverse;
use std::time::{Duration, SystemTime};

use super::entry::Record;
use super::error::StoreError;
use super::id::LoopId;
use super::list::Listed;
use super::loop_folder::{ARCHIVE, lock_run};
use super::store::Store;

impl Store {
    /// Archives a loop, whether it can be opened or not.
    pub fn archive(&self, id: &LoopId) -> Result<(), StoreError> {
        if !self.has_journal(id) && self.read_document(id).is_err() {
            return Err(self.no_loop(id));
        }
        let folder = self.open_loop_folder(id).ok();
        let running = folder.as_ref().map(lock_run).transpose()?;
        if running.is_some_and(|lock| lock.is_none()) {
            return Err(StoreError::Busy(format!(
                "a review of loop {id} is running"
            )));
        }
        self.journal_of().archive(id)?;
        self.log(&format!("{id}: archived; to go on with it: resume {id}"));
        Ok(())
    }

    /// Brings an archived loop back.
    pub fn unarchive(&self, id: &LoopId) -> Result<Record, StoreError> {
        let Some(listed) = self.listed_in_archive(id) else {
            return Err(StoreError::NotFound {
                id: id.to_string(),
                folder: self.folder().join(ARCHIVE),
                archived: false,
            });
        };
        let _alone = self.journal_of().alone()?;
        self.refuse_active(id, listed.session.as_deref(), None)?;
        self.journal_of().unarchive(id)?;
        self.render_again(id)?;
        self.open(id)
    }

    /// Returns whether a loop is in the archive.
    pub fn has_archived(&self, id: &LoopId) -> bool {
        self.listed_in_archive(id).is_some()
    }

    fn listed_in_archive(&self, id: &LoopId) -> Option<Listed> {
        let mut listed = self.archived_store(id.as_str()).list().into_iter();
        listed.find(|one| one.id == *id)
    }

    /// Returns the archived loops that are not over, newest first.
    pub fn archived(&self) -> Vec<Listed> {
        let archive = self.open_folder().and_then(|here| here.subfolder(ARCHIVE));
        let names = archive.and_then(|archive| archive.names());
        let ids = names
            .unwrap_or_default()
            .into_iter()
            .filter_map(|name| LoopId::parse(&name, self.spec().ids).ok());
        let in_time = ids.take_while(|_| !self.budget().is_over());
        let listed = in_time.filter_map(|id| self.listed_in_archive(&id));
        let mut archived: Vec<Listed> = listed.filter(|one| !one.terminal).collect();
        archived.sort_by_key(|one| Reverse((one.modified, one.id.clone())));
        archived
    }

    /// Archives the loops that are not over and that nobody touched for this long. One whose review runs is not stale, and the
    /// journal of another user is left as it is. Returns the loops that were archived.
    pub fn archive_stale(&self, now: SystemTime, older: Duration) -> Vec<LoopId> {
        let is_stale = |one: &Listed| {
            let age = now.duration_since(one.modified);
            let is_old = age.is_ok_and(|age| age > older);
            let may_move = one.ours || !self.has_journal(&one.id);
            may_move && !one.terminal && is_old && !self.is_running(&one.id)
        };
        self.archive_each(self.list().into_iter().filter(is_stale))
    }

    pub(super) fn archive_finished(&self, newest: usize) {
        let listed = self.list().into_iter();
        let finished = listed.filter(|one| one.ours && one.terminal);
        self.archive_each(finished.skip(newest));
    }

    fn archive_each(&self, loops: impl Iterator<Item = Listed>) -> Vec<LoopId> {
        let is_archived = |id: &LoopId| match self.archive(id) {
            Ok(()) => true,
            Err(error) => {
                self.log(&format!("{id}: not archived: {error}"));
                false
            }
        };
        loops.map(|one| one.id).filter(is_archived).collect()
    }

    /// Archives every loop of this project, and every state file that was made by hand. Returns their names.
    pub fn archive_all(&self) -> Result<Vec<String>, StoreError> {
        let loops = self.list().into_iter();
        loops
            .filter(|one| self.is_for(one.root.as_deref()))
            .chain(self.list_foreign())
            .map(|one| self.archive(&one.id).map(|()| one.id.to_string()))
            .collect()
    }
}
