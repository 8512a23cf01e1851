//! Says where the state file of a loop is: in the state folder, or, as a file of the user's own, where the machine says
//! ([`StateSpec::file`](super::StateSpec)). Of such a file nothing else is kept beside it, git may track it, and no move of a loop
//! moves it.

use std::io;

use camino::{Utf8Path, Utf8PathBuf};

use super::document::MAX_BYTES;
use super::error::{StoreError, io_error};
use super::id::LoopId;
use super::repair::{Repair, keep};
use super::storage::Staged;
use super::store::{StateFile, Store};
use super::tracked::GitTracking;
use crate::files::{Folder, if_there};

/// Stands for the id in the path of a file of the user's.
const ID: &str = "{id}";

impl Store {
    /// Returns the state file of a loop.
    pub fn path_of(&self, id: &LoopId) -> Utf8PathBuf {
        match self.spec().file {
            Some(file) => self.root().join(file.replace(ID, id.as_str())),
            None => self.folder().join(self.name_of(id)),
        }
    }

    /// Returns the id of the loop whose state file, one of the user's own, would be at this path.
    pub fn id_in<'p>(&self, path: &'p Utf8Path) -> Option<&'p str> {
        let (before, after) = self.spec().file?.split_once(ID)?;
        let path = path.strip_prefix(self.root()).ok()?.as_str();
        path.strip_prefix(before)?.strip_suffix(after)
    }

    /// Returns the name of the state file of a loop, where that is in the state folder.
    pub(super) fn name_of(&self, id: &LoopId) -> String {
        format!("{id}.{}", self.spec().extension)
    }

    /// Opens the folder of a loop's state file, and gives the file's name in it. `here` is the state folder.
    pub(super) fn state_file(&self, here: &Folder, id: &LoopId) -> io::Result<(Folder, String)> {
        match self.spec().file {
            Some(_) => self.folder_of(&self.path_of(id)),
            None => Ok((here.clone(), self.name_of(id))),
        }
    }

    /// Returns whether something stands in the place of a loop's state file.
    pub(super) fn has_state_file(&self, here: &Folder, id: &LoopId) -> bool {
        self.state_file(here, id)
            .is_ok_and(|(folder, name)| folder.has(&name))
    }

    /// Refuses the state file of a loop that is none of ours.
    pub(super) fn check_state_of(&self, here: &Folder, id: &LoopId) -> Result<(), StoreError> {
        let (path, file) = (self.path_of(id), self.state_file(here, id));
        let file = if_there(file.and_then(|(folder, name)| folder.file(&name)));
        match file.map_err(io_error("open", &path))? {
            Some(_) => self.check_tracked(&self.tracking(), &path),
            None => Ok(()),
        }
    }

    /// Refuses a state file that git tracks. One of the user's own may be tracked: without a journal it drives nothing.
    pub(super) fn check_tracked(
        &self,
        tracking: &GitTracking,
        state: &Utf8Path,
    ) -> Result<(), StoreError> {
        match self.spec().file {
            Some(_) => Ok(()),
            None => tracking.untracked(state),
        }
    }

    /// Refuses a loop in whose document's place there is a file of the user's that says that it is another loop's.
    pub(super) fn check_is_of(&self, here: &Folder, id: &LoopId) -> Result<(), StoreError> {
        match self.standing(here, id)? {
            Some(bytes) if self.named_in(&bytes).as_ref() != Some(id) => Err(self.taken(id)),
            _ => Ok(()),
        }
    }

    /// Makes way for the document of a new loop where that is one file for all loops: the document of one that is over is kept in
    /// the quarantine, and its loop swept. Returns its bytes, and what to tell.
    ///
    /// # Errors
    /// What stands there is anything else.
    pub(super) fn make_way(
        &self,
        here: &Folder,
        id: &LoopId,
    ) -> Result<Option<(Vec<u8>, Repair)>, StoreError> {
        let Some(bytes) = self.standing(here, id)? else {
            return Ok(None);
        };
        let other = self.named_in(&bytes).filter(|other| other != id);
        let other = other.ok_or_else(|| self.taken(id))?;
        let swept = self.swept_store(other.as_str());
        let mut listed = self.listed_of(|_| vec![other.clone()]);
        listed.extend(swept.listed_of(|_| vec![other.clone()]));
        let is_over = listed.iter().any(|one| one.ours && one.terminal);
        if !is_over || !self.move_away(here, &other, "another one begins")? {
            return Err(self.taken(id));
        }
        let path = self.path_of(id);
        let repair = Repair::SetAside {
            quarantined: keep(here, path.file_name().unwrap_or_default(), &bytes)?,
            reason: format!("it is of the loop {other}, which is over"),
            path,
        };
        self.log(&repair.to_string());
        Ok(Some((bytes, repair)))
    }

    /// Puts the document back that stood in the place of a loop that did not come to be.
    pub(super) fn put_back(
        &self,
        here: &Folder,
        id: &LoopId,
        bytes: &[u8],
    ) -> Result<(), StoreError> {
        let storage = self.storage(here, id)?;
        let put = storage.stage(bytes, true).and_then(Staged::publish);
        put.map_err(io_error("write", &self.path_of(id)))
    }

    fn taken(&self, id: &LoopId) -> StoreError {
        let path = self.path_of(id);
        StoreError::FileTaken { path }
    }

    /// Reads the file of the user's that stands in the place of a loop's document.
    fn standing(&self, here: &Folder, id: &LoopId) -> Result<Option<Vec<u8>>, StoreError> {
        if self.spec().file.is_none() {
            return Ok(None);
        }
        let file = self.state_file(here, id);
        let read = file.and_then(|(folder, name)| folder.read(&name, MAX_BYTES as u64));
        if_there(read).map_err(io_error("read", &self.path_of(id)))
    }

    /// Returns which loop a document says that it is of.
    fn named_in(&self, bytes: &[u8]) -> Option<LoopId> {
        let document = self.spec().parse(bytes).ok()?;
        let named = document.get(self.spec().fields.id)?;
        LoopId::parse(&named.to_plain(), self.spec().ids).ok()
    }
}

impl StateFile {
    /// Reads it. One in the state folder is read there and not by its path: the folder is held open, and may be under its lock.
    pub(super) fn read(&self, store: &Store, here: &Folder) -> io::Result<Vec<u8>> {
        let most = MAX_BYTES as u64;
        match store.spec().file {
            Some(_) => {
                let (folder, name) = store.folder_of(&self.path)?;
                folder.read(&name, most)
            }
            None => here.read(&self.name, most),
        }
    }
}
