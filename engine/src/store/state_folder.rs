//! The loops of one machine in one project. Only this type knows the paths of their files.

use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;

use super::document;
use super::error::{OrIo as _, StoreError, WhyNotOurs};
use super::id::{LoopId, to_seconds};
use super::journal::{Journal, Memory};
use super::seal::Sealer;
use super::spec::StateSpec;
use super::state_home::{Mark, StateHome};
use crate::files::kill_point::kill_point;
use crate::files::{Folder, Lock, MAX_BYTES, folder_of, make_all, optional};
use crate::text::{one_line, shown};

/// The lock for every change of a loop, which is held for milliseconds.
pub(super) const LOCK: &str = ".lock";
/// The lock for starts, archiving and restoring.
pub(super) const START_LOCK: &str = ".start.lock";
/// The lock of a running review, in a loop's folder.
const RUN_LOCK: &str = "run.lock";
/// The file that keeps the state folder out of git.
const IGNORE: &str = ".gitignore";
pub(super) const JOURNAL: &str = "journal.jsonl";
pub(super) const ARCHIVE: &str = "archive";
/// Endings of the files beside a document, each after the id.
pub(super) const SIDECARS: [&str; 3] = [".lock", "-runner.sh", "-prompt.txt"];
/// The longest wait for a lock, within the time that a client gives a hook.
pub(super) const LOCK_TIMEOUT: Duration = Duration::from_secs(5);
/// The time to wait for the lock of a review: a process that asks about it also holds it briefly.
const RUN_LOCK_TIMEOUT: Duration = Duration::from_millis(20);
const MAX_REPLACED: u32 = 5;
/// The name of the log: one line for each event.
const LOG: &str = "log";
/// The bytes that are read of the log's end. A log of four times as many is cut to them.
const READ_LOG_BYTES: u64 = 256 * 1024;
const MAX_LOG_LINE_CHARS: usize = 4000;

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

/// Takes the lock of a review in a loop's folder. Returns `None` if another process holds it.
pub fn lock_run(folder: &Folder) -> Result<Option<Lock>, StoreError> {
    Lock::take(folder, RUN_LOCK, RUN_LOCK_TIMEOUT).or_io("lock", folder.path().join(RUN_LOCK))
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
        let folder: Utf8PathBuf = folder.components().collect();
        let root: Utf8PathBuf = root.components().collect();
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

    pub(super) fn no_loop(&self, id: &LoopId) -> StoreError {
        let archived = self.archived_store(id).open_folder().is_ok();
        let below = if archived { ARCHIVE } else { "" };
        StoreError::NotFound {
            id: id.to_string(),
            folder: self.folder.join(below),
            archived,
        }
    }

    /// Returns whether the user paused a loop, so that no stop drives it.
    pub fn is_paused(&self, id: &LoopId) -> bool {
        let sealer = self.sealer(id);
        sealer.is_ok_and(|sealer| sealer.mark(id).paused)
    }

    /// Pauses or resumes a loop. Returns whether that changed anything.
    pub fn pause(&self, id: &LoopId, paused: bool) -> Result<bool, StoreError> {
        let _lock = self.lock(LOCK)?;
        let sealer = self.sealer(id)?;
        let mark = sealer.mark(id);
        if mark.paused == paused {
            return Ok(false);
        }
        sealer
            .set_mark(id, &Mark { paused, ..mark })
            .or_io("write", self.journal_path(id))?;
        Ok(true)
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

    /// Returns the document of a loop.
    pub fn path_of(&self, id: &LoopId) -> Utf8PathBuf {
        match self.spec.file {
            Some(file) => self.root.join(file.replace("{id}", id.as_str())),
            None => self.folder.join(self.document_name(id)),
        }
    }

    /// Returns the folder for the files of a loop.
    pub fn loop_folder(&self, id: &LoopId) -> Utf8PathBuf {
        self.folder.join(id.as_str())
    }

    /// Returns a file beside the document: the id and `suffix`, such as `-runner.sh`.
    pub fn sidecar(&self, id: &LoopId, suffix: &str) -> Utf8PathBuf {
        self.folder.join(format!("{id}{suffix}"))
    }

    /// Returns the journal of a loop.
    pub fn journal_path(&self, id: &LoopId) -> Utf8PathBuf {
        self.loop_folder(id).join(JOURNAL)
    }

    pub(super) fn document_name(&self, id: &LoopId) -> String {
        format!("{id}.{}", self.spec.extension)
    }

    /// Opens the state folder. No symlink is followed below the root; others are the user's choice.
    pub fn open_folder(&self) -> io::Result<Folder> {
        self.open_below_base(&self.folder)
    }

    pub(super) fn open_below_base(&self, path: &Utf8Path) -> io::Result<Folder> {
        let base = self.base();
        Folder::open(base)?.subfolder(path.strip_prefix(base).unwrap_or(path))
    }

    /// Opens the folder for the files of a loop in the same way.
    pub fn open_loop_folder(&self, id: &LoopId) -> io::Result<Folder> {
        self.open_folder()?.subfolder(id.as_str())
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

    /// Replaces a file beside the loop's document ([`Store::sidecar`]). Not synced.
    pub fn write_beside(&self, id: &LoopId, suffix: &str, bytes: &[u8]) -> Result<(), StoreError> {
        let name = format!("{id}{suffix}");
        self.open_folder()
            .and_then(|folder| folder.prepare(bytes)?.rename(&name))
            .or_io("write", self.sidecar(id, suffix))
    }

    /// Removes the files beside the document.
    pub fn clear(&self, id: &LoopId) -> Result<(), StoreError> {
        let here = self.open_folder().or_io("open", &self.folder)?;
        for suffix in SIDECARS {
            optional(here.remove(&format!("{id}{suffix}")))
                .or_io("remove", self.sidecar(id, suffix))?;
        }
        Ok(())
    }

    /// Sets the modification time of a loop to now: of its document, or of its journal.
    pub fn touch(&self, id: &LoopId) -> Result<(), StoreError> {
        let path = match self.spec.file {
            Some(_) => self.journal_path(id),
            None => self.path_of(id),
        };
        kill_point();
        self.folder_of(&path)
            .and_then(|(folder, name)| folder.file(&name)?.set_modified(SystemTime::now()))
            .or_io("touch", &path)
    }

    /// Returns whether a review of the loop is running.
    pub fn is_running(&self, id: &LoopId) -> bool {
        self.open_loop_folder(id)
            .is_ok_and(|folder| Lock::is_held(&folder, RUN_LOCK))
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

    /// Reads a loop's document, unless it is too large to be one.
    pub(super) fn read_document(&self, id: &LoopId) -> io::Result<Vec<u8>> {
        let (folder, name) = self.folder_of(&self.path_of(id))?;
        folder.read(&name, document::MAX_BYTES as u64)
    }

    /// Keeps bytes of a document that is replaced, and removes the oldest ones. Returns their path.
    pub(super) fn keep_replaced(
        &self,
        id: &LoopId,
        bytes: &[u8],
    ) -> Result<Utf8PathBuf, StoreError> {
        let keep = || {
            let folder = self.open_loop_folder(id)?;
            let number = |name: String| name.strip_prefix("replaced-")?.parse::<u32>().ok();
            let numbers: Vec<u32> = folder.names()?.into_iter().filter_map(number).collect();
            let next = numbers.iter().max().map_or(1, |last| last + 1);
            for old in numbers.iter().filter(|old| **old + MAX_REPLACED <= next) {
                let _ = folder.remove(&format!("replaced-{old}"));
            }
            let name = format!("replaced-{next}");
            folder.replace(&name, bytes)?;
            Ok(folder.path().join(name))
        };
        keep().or_io("write", self.loop_folder(id))
    }

    /// Takes one of the locks of the state folder. Returns it with the folder.
    pub(super) fn lock(&self, name: &'static str) -> Result<(Folder, Lock), StoreError> {
        let folder = self.open_folder().or_io("open", &self.folder)?;
        let path = self.folder.join(name);
        let lock = Lock::take(&folder, name, LOCK_TIMEOUT).or_io("lock", &path)?;
        let busy = || format!("{} is still held after {LOCK_TIMEOUT:?}", shown(path));
        let lock = lock.ok_or_else(|| StoreError::Busy(busy()))?;
        Ok((folder, lock))
    }

    /// Appends a line with the time to the folder's log, if the folder exists. Ignores failures.
    pub fn log(&self, line: &str) {
        let text = one_line(line, MAX_LOG_LINE_CHARS);
        let line = format!("{} {text}\n", to_seconds(Timestamp::now()));
        let _ = self.open_folder().and_then(|here| {
            let mut file = here.file_to_append(LOG)?;
            if file.metadata()?.len() < 4 * READ_LOG_BYTES {
                return file.write_all(line.as_bytes());
            }
            // Nothing is lost that a loop needs, should another process write a line meanwhile.
            let bytes = (self.last_logged() + &line).into_bytes();
            here.prepare(&bytes)?.rename(LOG)
        });
    }

    /// Returns the end of the folder's log, which is empty if it cannot be read.
    pub fn last_logged(&self) -> String {
        let read = || -> io::Result<Vec<u8>> {
            let mut file = self.open_folder()?.file(LOG)?;
            let length = file.metadata()?.len();
            file.seek(SeekFrom::Start(length.saturating_sub(READ_LOG_BYTES)))?;
            let mut bytes = Vec::new();
            file.take(READ_LOG_BYTES).read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        String::from_utf8_lossy(&read().unwrap_or_default()).into_owned()
    }

    pub(super) fn not_ours(&self, id: &LoopId, why: WhyNotOurs) -> StoreError {
        StoreError::NotOurs {
            id: id.to_string(),
            path: self.path_of(id),
            why,
        }
    }

    pub(super) fn foreign_journal(&self, id: &LoopId, why: impl Into<String>) -> StoreError {
        StoreError::NotOurs {
            id: id.to_string(),
            path: self.folder.clone(),
            why: WhyNotOurs::Journal(why.into()),
        }
    }

    /// Makes the error of another loop in the way, or, without a phase, of an id that is taken.
    pub(super) fn conflict_with(&self, id: &LoopId, phase: Option<String>) -> StoreError {
        StoreError::Active {
            id: id.to_string(),
            phase,
            folder: self.folder.clone(),
        }
    }
}
