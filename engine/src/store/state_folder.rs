//! The loops of one machine in one project: their state folder, its locks, and access to files.

use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf, absolute_utf8};

use super::error::{OrIo as _, StoreError};
use super::id::LoopId;
use super::journal::{Journal, Memory};
use super::seal::Sealer;
use super::spec::StateSpec;
use super::state_home::StateHome;
use crate::files::{Folder, Lock, MAX_BYTES, folder_of, make_all};
use crate::text::printable;

/// The lock for every change of a loop, which is held for milliseconds.
pub(super) const LOCK: &str = ".lock";
/// The lock for starts and for restoring from the archive.
pub(super) const START_LOCK: &str = ".start.lock";
/// The file that keeps the state folder out of git.
const IGNORE: &str = ".gitignore";
pub(super) const ARCHIVE: &str = "archive";
/// The longest wait for a lock, within the time that a client gives a hook.
pub(super) const LOCK_TIMEOUT: Duration = Duration::from_secs(5);

/// The loops of one machine in one project. Making one creates nothing.
///
/// # Errors
///
/// Each method returns an error if the loop is missing, not this user's, was changed meanwhile, or
/// cannot be read or written. See [`StoreError`]. Nothing was changed then.
#[derive(Debug, Clone)]
pub struct Store {
    pub(super) spec: &'static StateSpec,
    pub(super) folder: Utf8PathBuf,
    pub(super) root: Utf8PathBuf,
    pub(super) home: StateHome,
    /// The state folder, also if this is the folder of an archived loop below it.
    pub(super) top: Utf8PathBuf,
    memory: Option<Arc<Memory>>,
    /// The sealer of the journals, once the key was read.
    pub(super) sealer: Arc<Mutex<Option<Arc<Sealer>>>>,
    pub(super) is_read_only: bool,
}

impl Store {
    /// Makes the store in the state folder `folder` of the project at `root`. The key is in `home`.
    /// Both paths are canonical, as far as they are not below each other.
    pub fn at(
        folder: Utf8PathBuf,
        root: Utf8PathBuf,
        spec: &'static StateSpec,
        home: StateHome,
    ) -> Self {
        // One spelling: the folder is compared with the path that the state home keeps.
        let absolute = |path: Utf8PathBuf| absolute_utf8(&path).unwrap_or(path);
        let folder: Utf8PathBuf = absolute(folder).components().collect();
        let root: Utf8PathBuf = absolute(root).components().collect();
        Self {
            spec,
            top: folder.clone(),
            folder,
            root,
            home,
            memory: None,
            sealer: Arc::default(),
            is_read_only: false,
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
    pub(super) fn journals(&self) -> &dyn Journal {
        match &self.memory {
            Some(memory) => &**memory,
            None => self,
        }
    }

    /// Returns the store on the folder of an archived loop.
    #[must_use]
    pub fn archived_store(&self, id: &LoopId) -> Self {
        Self {
            folder: self.folder.join(ARCHIVE).join(id.as_str()),
            ..self.clone()
        }
    }

    /// Returns why the state folder is not used: its relative path leads out of the project, or it
    /// is there and cannot be trusted or opened.
    pub fn refusal(&self) -> Option<StoreError> {
        let doing = "use the state folder";
        if self.folder.as_str().split('/').any(|part| part == "..") {
            let variable = self.spec.folder_env.unwrap_or("its path");
            let why = format!(
                "it is not in the project; write {variable} as an absolute path, such as ~/loops"
            );
            return Some(StoreError::input(doing, self.folder.clone(), why));
        }
        self.folder.symlink_metadata().ok()?;
        self.open_folder().or_io(doing, &self.folder).err()
    }

    /// Makes it read-only: opening a loop writes neither its document nor an edit by hand.
    #[must_use]
    pub fn read_only(mut self) -> Self {
        self.is_read_only = true;
        self
    }

    /// Returns whether a loop has a journal: without one nobody can take it over.
    pub fn has_journal(&self, id: &LoopId) -> bool {
        !matches!(self.journals().tail(id), Ok(None))
    }

    /// Returns the state folder.
    pub fn folder(&self) -> &Utf8Path {
        &self.folder
    }

    /// Returns the project's root.
    pub fn root(&self) -> &Utf8Path {
        &self.root
    }

    /// Returns the machine's description of its documents.
    pub fn spec(&self) -> &'static StateSpec {
        self.spec
    }

    /// Returns whether a loop of this root is this store's. In a shared folder, not every one is.
    pub fn is_for(&self, root: Option<&str>) -> bool {
        root.is_none_or(|root| !self.is_shared() || self.root.starts_with(root))
    }

    /// Returns whether projects share the folder, because it is outside of the root.
    pub(super) fn is_shared(&self) -> bool {
        !self.top.starts_with(&self.root)
    }

    /// Returns the folder below which no symlink is followed: the root, or the shared folder.
    fn base(&self) -> &Utf8Path {
        if self.is_shared() {
            &self.top
        } else {
            &self.root
        }
    }

    /// Opens the state folder. No symlink is followed below the root; others are the user's choice.
    pub fn open_folder(&self) -> io::Result<Folder> {
        self.open_below_base(&self.folder)
    }

    pub(super) fn open_below_base(&self, path: &Utf8Path) -> io::Result<Folder> {
        let base = self.base();
        Folder::open(base)?.subfolder(path.strip_prefix(base).unwrap_or(path))
    }

    /// Opens the folder of a file. No symlink is followed below the root and the state folder.
    pub fn folder_of(&self, path: &Utf8Path) -> io::Result<(Folder, String)> {
        folder_of(&[&self.root, &self.top], path)
    }

    /// Reads a file of the project or of a loop. See [`Store::folder_of`].
    pub fn read(&self, path: &Utf8Path) -> io::Result<Vec<u8>> {
        let (folder, name) = self.folder_of(path)?;
        folder.read(&name, MAX_BYTES)
    }

    /// Replaces a file of the project or of a loop. See [`Folder::replace`].
    pub fn replace(&self, path: &Utf8Path, bytes: &[u8]) -> io::Result<()> {
        let (folder, name) = self.folder_of(path)?;
        folder.replace(&name, bytes)
    }

    /// Makes the state folder, which ignores itself.
    pub(super) fn make(&self) -> Result<(), StoreError> {
        self.refusal().map_or(Ok(()), Err)?;
        let make = || {
            let here = make_all(self.base(), &self.folder)?;
            let has_rules = here.metadata(IGNORE)?.is_some_and(|found| found.size > 0);
            // The project itself is not to be ignored.
            if !has_rules && self.folder != self.root {
                here.replace(IGNORE, b"*\n")?;
            }
            Ok(())
        };
        make().or_io("create the state folder", &self.folder)
    }

    /// Takes one of the locks of the state folder. Returns it with the folder.
    pub(super) fn lock(&self, name: &'static str) -> Result<(Folder, Lock), StoreError> {
        let folder = self.open_folder().or_io("open", &self.folder)?;
        let path = self.folder.join(name);
        let lock = Lock::take(&folder, name, LOCK_TIMEOUT).or_io("lock", &path)?;
        let busy = || format!("{} is still held after {LOCK_TIMEOUT:?}", printable(path));
        Ok((folder, lock.ok_or_else(|| StoreError::Busy(busy()))?))
    }
}
