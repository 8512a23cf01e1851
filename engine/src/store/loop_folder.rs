//! A state folder: its files, locks and archive. Only this type knows their paths.
//!
//! ```text
//! .gitignore                 `*`: the folder ignores itself
//! .lock                      held for every change of a loop
//! .start.lock                held while a loop is started, archived or restored
//! project                    see `project`
//! <id>.state                 the document, unless the machine says that it is a file of the user's elsewhere
//! <id>/journal.jsonl         one line of JSON with its seal for each change and each note
//! <id>/replaced-N            documents that were edited by hand and replaced, the newest five
//! archive/<id>/              an archived loop, with all of the above
//! ```

use std::io;
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};

use super::budget::Budget;
use super::document::MAX_BYTES;
use super::error::{StoreError, io_error};
use super::id::LoopId;
use super::spec::StateSpec;
use super::state_home::StateHome;
use crate::files::{Folder, Found, Lock, Made, Prepared, folder_of, make_all};

/// The lock for every change of a loop, which is held for milliseconds.
pub(super) const LOCK: &str = ".lock";
/// The lock for starts, archiving and restoring.
pub(super) const START_LOCK: &str = ".start.lock";
/// The file that keeps the state folder out of git.
pub(super) const IGNORE: &str = ".gitignore";
/// The name of the journal in a loop's folder.
pub(super) const JOURNAL: &str = "journal.jsonl";
/// The name of the folder of archived loops.
pub(super) const ARCHIVE: &str = "archive";
/// Endings of the files beside a document, each after the id.
pub(super) const SIDECARS: [&str; 3] = [".lock", "-runner.sh", "-prompt.txt"];
/// The default time to wait for a lock.
const LOCK_TIMEOUT: Duration = Duration::from_secs(10);
/// The number of replaced documents that are kept.
const MAX_REPLACED: u32 = 5;
/// The placeholder for the id in the path of a document of the user's.
const ID: &str = "{id}";

/// The state folder of one machine in one project. Making one creates nothing.
#[derive(Debug, Clone)]
pub(super) struct LoopFolder {
    pub(super) spec: &'static StateSpec,
    pub(super) folder: Utf8PathBuf,
    pub(super) root: Utf8PathBuf,
    /// Below it no symlink is followed: the root, or a state folder outside of it.
    pub(super) base: Utf8PathBuf,
    pub(super) home: StateHome,
    pub(super) lock_timeout: Duration,
    pub(super) budget: Budget,
    /// The state folder, if this is the folder of an archived loop below it.
    pub(super) above: Option<Utf8PathBuf>,
}

impl LoopFolder {
    /// Makes the paths of a state folder. Both arguments are canonical, as far as they are not below each other.
    pub(super) fn new(
        folder: &Utf8Path,
        root: Utf8PathBuf,
        spec: &'static StateSpec,
        home: StateHome,
    ) -> Self {
        // One spelling: the folder is compared with the path that the state home keeps.
        let folder: Utf8PathBuf = folder.components().collect();
        let is_inside = folder.starts_with(&root);
        let base = if is_inside { &root } else { &folder }.clone();
        Self {
            spec,
            folder,
            root,
            base,
            home,
            lock_timeout: LOCK_TIMEOUT,
            budget: Budget::endless(),
            above: None,
        }
    }

    /// Returns the paths of an archived loop.
    pub(super) fn archived(&self, id: &str) -> Self {
        Self {
            folder: self.folder.join(ARCHIVE).join(id),
            above: Some(self.folder.clone()),
            ..self.clone()
        }
    }

    /// Opens the state folder, from the base down, without following a symlink.
    pub(super) fn open(&self) -> io::Result<Folder> {
        self.open_below_base(&self.folder)
    }

    pub(super) fn open_below_base(&self, path: &Utf8Path) -> io::Result<Folder> {
        let below = path.strip_prefix(&self.base).unwrap_or(path);
        Folder::open(&self.base)?.below(below)
    }

    /// Opens the folder of a loop.
    pub(super) fn open_loop(&self, id: &LoopId) -> io::Result<Folder> {
        self.open()?.below(id.as_str())
    }

    /// Makes the state folder, which ignores itself. Returns it with the folders that were made for it, innermost last.
    pub(super) fn make(&self) -> Result<(Folder, Vec<Made>), StoreError> {
        let made = make_all(&self.base, &self.folder);
        let (here, made) = made.map_err(io_error("create", &self.folder))?;
        let found = here.look(IGNORE);
        let has_text = |found: Found| found.is_file() && found.size() > 0;
        if !found.is_ok_and(|found| found.is_some_and(has_text)) {
            let written = here.replace(IGNORE, b"*\n");
            written.map_err(io_error("write", &self.folder.join(IGNORE)))?;
        }
        Ok((here, made))
    }

    /// Returns the path of a loop's document.
    pub(super) fn document_path(&self, id: &LoopId) -> Utf8PathBuf {
        match self.spec.file {
            Some(file) => self.root.join(file.replace(ID, id.as_str())),
            None => self.folder.join(self.document_name(id)),
        }
    }

    /// Returns the name of a loop's document in the state folder.
    pub(super) fn document_name(&self, id: &LoopId) -> String {
        format!("{id}.{}", self.spec.extension)
    }

    /// Returns the path of a loop's journal.
    pub(super) fn journal_path(&self, id: &LoopId) -> Utf8PathBuf {
        self.folder.join(id.as_str()).join(JOURNAL)
    }

    /// Opens the folder of a loop's document. Returns it with the document's name.
    pub(super) fn open_document_folder(&self, id: &LoopId) -> io::Result<(Folder, String)> {
        match self.spec.file {
            Some(_) => folder_of(&[&self.root, &self.base], &self.document_path(id)),
            None => Ok((self.open()?, self.document_name(id))),
        }
    }

    /// Reads a loop's document, unless it is too large to be one.
    pub(super) fn read_document(&self, id: &LoopId) -> io::Result<Vec<u8>> {
        let (folder, name) = self.open_document_folder(id)?;
        folder.read(&name, MAX_BYTES as u64)
    }

    /// Writes the new document of a loop to a temporary file beside it. Returns it with the document's name. Not synced.
    pub(super) fn prepare_document(
        &self,
        id: &LoopId,
        bytes: &[u8],
    ) -> io::Result<(Prepared, String)> {
        let is_users = self.spec.file.is_some();
        if is_users && let Some(parent) = self.document_path(id).parent() {
            make_all(&self.root, parent)?;
        }
        let (folder, name) = self.open_document_folder(id)?;
        let old = folder.look(&name)?;
        if old.is_some_and(|old| old.is_folder()) {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        let content = folder.prepare(bytes)?;
        if is_users {
            // A file of the user's keeps its permissions.
            content.set_mode(old.map_or(0o644, |old| old.mode()))?;
        }
        Ok((content, name))
    }

    /// Keeps bytes of a document that is replaced. Returns their path.
    pub(super) fn keep_replaced(
        &self,
        id: &LoopId,
        bytes: &[u8],
    ) -> Result<Utf8PathBuf, StoreError> {
        let keep = || {
            let (folder, name) = self.next_replaced(id)?;
            folder.replace(&name, bytes)?;
            Ok(folder.path().join(name))
        };
        keep().map_err(io_error("write", &self.folder.join(id.as_str())))
    }

    /// Returns the folder of a loop and the name in it of the next document that is kept there. Removes the oldest one.
    fn next_replaced(&self, id: &LoopId) -> io::Result<(Folder, String)> {
        let folder = self.open_loop(id)?;
        let number = |name: String| name.strip_prefix("replaced-")?.parse::<u32>().ok();
        let numbers: Vec<u32> = folder.names()?.into_iter().filter_map(number).collect();
        let next = numbers.iter().max().map_or(1, |last| last + 1);
        for old in numbers.iter().filter(|old| **old + MAX_REPLACED <= next) {
            let _ = folder.remove(&format!("replaced-{old}"));
        }
        Ok((folder, format!("replaced-{next}")))
    }

    /// Takes one of the locks of the state folder. Returns it with the folder.
    pub(super) fn lock(&self, name: &'static str) -> Result<(Folder, Lock), StoreError> {
        let folder = self.open().map_err(io_error("open", &self.folder))?;
        let path = self.folder.join(name);
        let begun = Instant::now();
        let take = |timeout| Lock::take(&folder, name, timeout);
        let lock = self.budget.wait(self.lock_timeout, take);
        let lock = lock.map_err(io_error("lock", &path))?;
        let waited = begun.elapsed();
        let lock = lock.ok_or(StoreError::Busy { path, waited })?;
        Ok((folder, lock))
    }

    /// Moves those of these files and folders that are there to the archive.
    pub(super) fn archive_pieces(&self, name: &str, pieces: &[String]) -> Result<(), StoreError> {
        let (here, _lock) = self.lock(LOCK)?;
        let found: Vec<&String> = pieces.iter().filter(|piece| here.has(piece)).collect();
        let Some(last) = found.last() else {
            return Ok(());
        };
        let to = make_archive(&here, name, last);
        let moved = to.and_then(|to| {
            let mut found = found.iter();
            found.try_for_each(|piece| here.rename(piece, &to, piece))
        });
        moved.map_err(io_error("move to", &self.folder.join(ARCHIVE).join(name)))
    }

    /// Moves a loop back from the archive.
    pub(super) fn restore_loop(&self, id: &LoopId) -> Result<(), StoreError> {
        let (here, _lock) = self.lock(LOCK)?;
        let path = self.folder.join(ARCHIVE).join(id.as_str());
        let archive = here.below(ARCHIVE).map_err(io_error("open", &path))?;
        let from = archive.below(id.as_str());
        let from = from.map_err(io_error("open", &path))?;
        // The document comes last: until then nobody sees the loop.
        for name in self.pieces(id).iter().rev().filter(|name| from.has(name)) {
            if here.has(name) {
                return Err(self.exists(id));
            }
            let moved = from.rename(name, &here, name);
            moved.map_err(io_error("move", &path.join(name)))?;
        }
        let _ = archive.remove_folder(id.as_str());
        Ok(())
    }

    /// Makes the error of an id that a loop has or had here.
    pub(super) fn exists(&self, id: &LoopId) -> StoreError {
        StoreError::Active {
            id: id.to_string(),
            phase: None,
            folder: self.folder.clone(),
        }
    }

    /// Returns the names of the files and the folder of a loop, the document first unless it is the user's.
    pub(super) fn pieces(&self, id: &LoopId) -> Vec<String> {
        let ours = self.spec.file.is_none().then(|| self.document_name(id));
        let mut pieces: Vec<String> = ours.into_iter().collect();
        pieces.extend(SIDECARS.iter().map(|suffix| format!("{id}{suffix}")));
        pieces.push(id.to_string());
        pieces
    }
}

/// Makes a folder in the archive: `name`, or `name-2` and so on if `piece` was archived there before.
fn make_archive(here: &Folder, name: &str, piece: &str) -> io::Result<Folder> {
    let mut target = name.to_owned();
    let mut number = 1;
    loop {
        let folder = here.make(Utf8Path::new(ARCHIVE).join(&target))?;
        if !folder.has(piece) {
            return Ok(folder);
        }
        number += 1;
        target = format!("{name}-{number}");
    }
}
