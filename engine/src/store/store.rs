//! One state folder: its paths, and what is read or written without changing a loop's phase.

use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;

use super::budget::{Budget, HOOK_LOCK_TIMEOUT};
use super::error::{StoreError, io_error};
use super::id::{LoopId, iso};
use super::journal::Journal;
use super::lock::RunLock;
use super::loop_folder::{ARCHIVE, LOCK, LoopFolder};
use super::memory::Memory;
use super::project::{self, Mark};
use super::seal::Sealing;
use super::spec::StateSpec;
use super::state_home::StateHome;
use crate::files::kill_point::kill_point;
use crate::files::{Folder, MAX_BYTES, if_there};
use crate::text::one_line;

/// The name of the log in the state folder.
const LOG: &str = "log";
/// The most bytes of the log. A longer one is cut to the end that is read of it.
const MAX_LOG_BYTES: u64 = 4 * READ_LOG_BYTES;
/// The bytes that are read of the log's end.
const READ_LOG_BYTES: u64 = 256 * 1024;
/// The most characters of a line of the log.
const MAX_LOG_LINE_CHARS: usize = 4000;

/// The loops of one machine in one project. Making one creates nothing.
#[derive(Debug, Clone)]
pub struct Store {
    files: LoopFolder,
    memory: Option<Arc<Memory>>,
    only_looks: bool,
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
        Self {
            files: LoopFolder::new(&folder, root, spec, home),
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

    pub(super) fn files(&self) -> &LoopFolder {
        &self.files
    }

    pub(super) fn is_in_memory(&self) -> bool {
        self.memory.is_some()
    }

    /// Returns where the journals are.
    pub(super) fn journal_of(&self) -> &dyn Journal {
        match &self.memory {
            Some(memory) => &**memory,
            None => &self.files,
        }
    }

    /// Returns the store on the folder of an archived loop.
    #[must_use]
    pub fn archived_store(&self, id: &str) -> Self {
        Self {
            files: self.files.archived(id),
            ..self.clone()
        }
    }

    /// Opens the state folder, from the project's root down, without following a symlink. One outside of the root is the user's
    /// own choice, and is opened as it is named.
    ///
    /// # Errors
    /// Returns an error if it is not there, or it or a folder above it is not trusted (see [`crate::files::UntrustedError`]).
    pub fn open_folder(&self) -> io::Result<Folder> {
        self.files.open()
    }

    /// Opens the folder of a loop's own files in the same way.
    ///
    /// # Errors
    /// See [`Store::open_folder`].
    pub fn open_loop_folder(&self, id: &LoopId) -> io::Result<Folder> {
        self.files.open_loop(id)
    }

    /// Opens the folder of a file of the project's or of a loop's, and returns it with the file's name. No symlink is followed
    /// below the root and below the state folder.
    ///
    /// # Errors
    /// Returns an error if the folder is not there or not trusted, or the path names no file.
    pub fn folder_of(&self, path: &Utf8Path) -> io::Result<(Folder, String)> {
        crate::files::folder_of(&[&self.files.root, &self.files.base], path)
    }

    /// Reads a file of the project's or of a loop's. See [`Store::folder_of`].
    ///
    /// # Errors
    /// Returns an error if it is not there, is not trusted, is larger than 64 MiB, or the system refuses.
    pub fn read(&self, path: &Utf8Path) -> io::Result<Vec<u8>> {
        let (folder, name) = self.folder_of(path)?;
        folder.read(&name, MAX_BYTES)
    }

    /// Replaces a file of the project's or of a loop's. See [`Folder::replace`].
    ///
    /// # Errors
    /// Returns an error if its folder is not trusted, or the system refuses.
    pub fn replace(&self, path: &Utf8Path, bytes: &[u8]) -> io::Result<()> {
        let (folder, name) = self.folder_of(path)?;
        folder.replace(&name, bytes)
    }

    /// Replaces a file beside the loop's document ([`Store::sidecar`]). It is written again in each round, so it is not synced.
    ///
    /// # Errors
    /// Returns an error if the folder is not trusted, or the system refuses.
    pub fn write_beside(&self, id: &LoopId, suffix: &str, bytes: &[u8]) -> Result<(), StoreError> {
        let name = format!("{id}{suffix}");
        let folder = self.open_folder();
        let written = folder.and_then(|folder| folder.prepare(bytes)?.rename(&name));
        written.map_err(io_error("write", &self.folder().join(&name)))
    }

    /// Returns why the state folder is not used, if it is there and cannot be trusted or opened.
    pub fn refusal(&self) -> Option<StoreError> {
        let opened = if_there(self.open_folder());
        opened.map_err(io_error("open", self.folder())).err()
    }

    /// Returns whether this user had loops in this folder, and the folder is gone: removed, moved, or on another branch.
    pub fn has_vanished(&self) -> bool {
        project::has_vanished(&self.files.home, &self.files.folder)
    }

    /// Notes that `by` named this folder, which vanished. Returns whether it did so for the first time.
    pub fn note_vanished(&self, by: &str) -> bool {
        project::note_vanished(&self.files.home, &self.files.folder, by)
    }

    /// Returns the length of a loop's journal. As long as it is the same, so is the journal.
    pub fn journal_length(&self, id: &LoopId) -> Option<u64> {
        self.journal_of().length(id)
    }

    /// Returns the same store with another time to wait for the project's lock (10 s by default).
    #[must_use]
    pub fn with_deadline(mut self, deadline: Duration) -> Self {
        self.files.lock_timeout = deadline;
        self
    }

    /// Returns the same store for a look: opening a loop writes nothing, neither its document nor an edit by hand.
    #[must_use]
    pub fn to_look(mut self) -> Self {
        self.only_looks = true;
        self
    }

    pub(super) fn only_looks(&self) -> bool {
        self.only_looks
    }

    /// Returns the same store for a call of a hook: its waits take from this budget, and a list ends with it.
    #[must_use]
    pub fn within(mut self, budget: &Budget) -> Self {
        self.files.budget = budget.clone();
        self.files.lock_timeout = self.files.lock_timeout.min(HOOK_LOCK_TIMEOUT);
        self
    }

    /// Returns the budget of the call.
    pub fn budget(&self) -> &Budget {
        &self.files.budget
    }

    /// Returns the state folder.
    pub fn folder(&self) -> &Utf8Path {
        &self.files.folder
    }

    /// Returns the project's root.
    pub fn root(&self) -> &Utf8Path {
        &self.files.root
    }

    /// Returns the machine's description of its documents.
    pub fn spec(&self) -> &'static StateSpec {
        self.files.spec
    }

    /// Returns whether a loop of this root is this store's: of a folder outside the root, which projects share, only the loops
    /// whose root is this one or lies above it; of any other folder, every loop.
    pub fn is_for(&self, root: Option<&str>) -> bool {
        let shared = !self.folder().starts_with(self.root());
        root.is_none_or(|root| !shared || self.root().starts_with(root))
    }

    /// Returns the document of a loop.
    pub fn path_of(&self, id: &LoopId) -> Utf8PathBuf {
        self.files.document_path(id)
    }

    /// Returns the folder of a loop's own files.
    pub fn loop_folder(&self, id: &LoopId) -> Utf8PathBuf {
        self.folder().join(id.as_str())
    }

    /// Returns a file beside the document: the id and `suffix`, such as `-runner.sh`.
    pub fn sidecar(&self, id: &LoopId, suffix: &str) -> Utf8PathBuf {
        self.folder().join(format!("{id}{suffix}"))
    }

    /// Returns the journal of a loop.
    pub fn journal_path(&self, id: &LoopId) -> Utf8PathBuf {
        self.files.journal_path(id)
    }

    /// Returns whether a loop has a journal: without one nobody can take it over.
    pub fn has_journal(&self, id: &LoopId) -> bool {
        match self.is_in_memory() {
            true => self.journal_of().tail(id).is_ok_and(|tail| tail.is_some()),
            false => self.files.has_journal(id),
        }
    }

    /// Makes the error of a loop that is not there.
    pub(super) fn no_loop(&self, id: &LoopId) -> StoreError {
        let archived = self.archived_store(id.as_str()).open_folder().is_ok();
        let folder = match archived {
            true => self.folder().join(ARCHIVE),
            false => self.folder().to_owned(),
        };
        StoreError::NotFound {
            id: id.to_string(),
            folder,
            archived,
        }
    }

    /// Returns whether the user paused a loop, so that no stop drives it.
    pub fn is_paused(&self, id: &LoopId) -> bool {
        let sealing = self.files.sealing().ok().flatten();
        sealing.is_some_and(|sealing| sealing.project.mark(&self.files.home, id).paused)
    }

    /// Pauses a loop, or lets it go on. Returns whether that changed anything.
    ///
    /// # Errors
    /// Returns an error if the loop is not this user's, or the user's state home cannot be written.
    pub fn pause(&self, id: &LoopId, paused: bool) -> Result<bool, StoreError> {
        let Some(Sealing { project, .. }) = self.files.sealing()? else {
            return Err(self.files.not_ours(id, "you started no loop here"));
        };
        let _lock = self.files.lock(LOCK)?;
        let mark = project.mark(&self.files.home, id);
        if mark.paused == paused {
            return Ok(false);
        }
        let kept = project.set_mark(&self.files.home, id, &Mark { paused, ..mark });
        kept.map_err(io_error("write", &self.journal_path(id)))?;
        Ok(true)
    }

    /// Sets the time at which a loop was last touched to now, so that it does not count as stale. It is the time of the document,
    /// or of the journal if the document is a file of the user's.
    ///
    /// # Errors
    /// Returns an error if the file is not there, is not trusted, or the system refuses.
    pub fn touch(&self, id: &LoopId) -> Result<(), StoreError> {
        let (path, opened) = match self.spec().file {
            Some(_) => (self.journal_path(id), self.open_loop_folder(id)),
            None => (self.path_of(id), self.open_folder()),
        };
        let name = path.file_name().unwrap_or_default();
        kill_point();
        opened
            .and_then(|folder| folder.file(name))
            .and_then(|file| file.set_modified(SystemTime::now()))
            .map_err(io_error("touch", &path))
    }

    /// Returns whether a review of the loop is running.
    pub fn is_running(&self, id: &LoopId) -> bool {
        self.open_loop_folder(id)
            .is_ok_and(|folder| RunLock::is_held(&folder))
    }

    /// Removes files beside the document, named by their suffixes (`-runner.sh`, `.lock`).
    ///
    /// # Errors
    /// Returns an error if one is there and cannot be removed.
    pub fn clear(&self, id: &LoopId, suffixes: &[&str]) -> Result<(), StoreError> {
        let here = self.open_folder();
        let here = here.map_err(io_error("open", self.folder()))?;
        for suffix in suffixes {
            let removed = if_there(here.remove(&format!("{id}{suffix}")));
            removed.map_err(io_error("remove", &self.sidecar(id, suffix)))?;
        }
        Ok(())
    }

    /// Appends a line to the folder's `log`, with the time before it, if the folder exists. Failing to fails nothing: a log
    /// must not stop a loop.
    pub fn log(&self, line: &str) {
        let text = one_line(line, MAX_LOG_LINE_CHARS);
        let line = format!("{} {text}\n", iso(Timestamp::now()));
        let _ = self.open_folder().and_then(|here| {
            let mut file = here.file_to_append(LOG)?;
            if file.metadata()?.len() < MAX_LOG_BYTES {
                return file.write_all(line.as_bytes());
            }
            // Nothing is lost that a loop needs, should another process write a line meanwhile.
            let kept = self.last_logged();
            let whole = kept.split_once('\n').map_or("", |(_, whole)| whole);
            here.prepare([whole, &line].concat().as_bytes())?
                .rename(LOG)
        });
    }

    /// Returns the end of the folder's log, which is empty if it cannot be read.
    pub fn last_logged(&self) -> String {
        let end = || -> io::Result<Vec<u8>> {
            let mut file = self.open_folder()?.file(LOG)?;
            let length = file.metadata()?.len();
            file.seek(SeekFrom::Start(length.saturating_sub(READ_LOG_BYTES)))?;
            let mut bytes = Vec::new();
            file.take(READ_LOG_BYTES).read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        String::from_utf8_lossy(&end().unwrap_or_default()).into_owned()
    }
}
