//! The loops of one machine in one project: in a state folder, or in memory.

use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use camino::Utf8PathBuf;

use super::budget::{Budget, HOOK_LOCK_TIMEOUT};
use super::error::{OrIo as _, StoreError};
use super::id::LoopId;
use super::journal::{Journal, Memory};
use super::loop_folder::{ARCHIVE, LOCK, LOCK_TIMEOUT, LoopFolder};
use super::spec::StateSpec;
use super::state_home::{Mark, StateHome};
use crate::files::if_there;

/// The loops of one machine in one project. Making one creates nothing.
///
/// # Errors
///
/// Each method returns an error if there is no such loop, it is not this user's, another process changed it meanwhile, or it
/// cannot be read or written. See [`StoreError`]. Nothing was changed then.
#[derive(Debug, Clone)]
pub struct Store {
    files: LoopFolder,
    memory: Option<Arc<Memory>>,
    pub(super) only_looks: bool,
}

/// Paths and files are those of the state folder.
impl Deref for Store {
    type Target = LoopFolder;

    fn deref(&self) -> &LoopFolder {
        &self.files
    }
}

impl Store {
    /// Makes the store in the state folder `folder` of the project at `root`. Its loops are this user's if they have the seal of
    /// the key in `home`. Both paths are canonical, as far as they are not below each other.
    pub fn at(
        folder: Utf8PathBuf,
        root: Utf8PathBuf,
        spec: &'static StateSpec,
        home: StateHome,
    ) -> Self {
        // One spelling: the folder is compared with the path that the state home keeps.
        let folder: Utf8PathBuf = folder.components().collect();
        let root: Utf8PathBuf = root.components().collect();
        let is_inside = folder.starts_with(&root);
        let files = LoopFolder {
            spec,
            base: if is_inside { &root } else { &folder }.clone(),
            folder,
            root,
            home,
            lock_timeout: LOCK_TIMEOUT,
            budget: Budget::default(),
            above: None,
        };
        Self {
            files,
            memory: None,
            only_looks: false,
        }
    }

    /// Makes a store in memory. Its loops end with the process.
    pub fn in_memory(spec: &'static StateSpec) -> Self {
        let nowhere = Utf8PathBuf::from("/nowhere");
        let home = StateHome::at(nowhere.join("home"));
        Self {
            memory: Some(Arc::default()),
            ..Self::at(nowhere.join(spec.folder), nowhere, spec, home)
        }
    }

    pub(super) fn is_in_memory(&self) -> bool {
        self.memory.is_some()
    }

    /// Returns the journals of the folder or of the process.
    pub(crate) fn journal_of(&self) -> &dyn Journal {
        match &self.memory {
            Some(memory) => &**memory,
            None => &self.files,
        }
    }

    /// Returns the store on the folder of an archived loop.
    #[must_use]
    pub fn archived_store(&self, id: &str) -> Self {
        let mut store = self.clone();
        store.files.folder = self.folder.join(ARCHIVE).join(id);
        store.files.above = Some(self.folder.clone());
        store
    }

    /// Returns why the state folder is not used, if it is there and cannot be trusted or opened.
    pub fn refusal(&self) -> Option<StoreError> {
        if_there(self.open_folder())
            .or_io("open", &self.folder)
            .err()
    }

    /// Sets the time to wait for the project's lock (10 s by default).
    #[must_use]
    pub fn with_deadline(mut self, deadline: Duration) -> Self {
        self.files.lock_timeout = deadline;
        self
    }

    /// Turns it into a store for a look: opening a loop writes nothing, neither its document nor an edit by hand.
    #[must_use]
    pub fn to_look(mut self) -> Self {
        self.only_looks = true;
        self
    }

    /// Limits the waits to the budget of a hook's call, which also ends a list.
    #[must_use]
    pub fn with_budget(mut self, budget: &Budget) -> Self {
        self.files.budget = budget.clone();
        self.files.lock_timeout = self.files.lock_timeout.min(HOOK_LOCK_TIMEOUT);
        self
    }

    /// Returns whether a loop has a journal: without one nobody can take it over.
    pub fn has_journal(&self, id: &LoopId) -> bool {
        !matches!(self.journal_of().tail(id), Ok(None))
    }

    pub(super) fn no_loop(&self, id: &LoopId) -> StoreError {
        let archived = self.archived_store(id.as_str()).open_folder().is_ok();
        let below = if archived { ARCHIVE } else { "" };
        StoreError::NotFound {
            id: id.to_string(),
            folder: self.folder.join(below),
            archived,
        }
    }

    /// Returns whether the user paused a loop, so that no stop drives it.
    pub fn is_paused(&self, id: &LoopId) -> bool {
        let here = self.open_folder().ok();
        let sealing = here.and_then(|here| self.sealing(&here, id).ok()?);
        sealing.is_some_and(|sealing| sealing.mark(id).paused)
    }

    /// Pauses a loop, or lets it go on. Returns whether that changed anything.
    pub fn pause(&self, id: &LoopId, paused: bool) -> Result<bool, StoreError> {
        let (here, _lock) = self.lock(LOCK)?;
        let sealing = self.sealing(&here, id)?;
        let sealing =
            sealing.ok_or_else(|| self.foreign_journal(id, "you started no loop here"))?;
        let mark = sealing.mark(id);
        if mark.paused == paused {
            return Ok(false);
        }
        sealing
            .set_mark(id, &Mark { paused, ..mark })
            .or_io("write", self.journal_path(id))?;
        Ok(true)
    }
}
