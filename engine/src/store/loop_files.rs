//! The files of one loop: its document, the files beside it, and its folder.

use std::io;
use std::time::{Duration, SystemTime};

use camino::Utf8PathBuf;

use super::document::MAX_DOCUMENT_BYTES;
use super::error::{OrIo as _, StoreError};
use super::id::LoopId;
use super::state_folder::Store;
use crate::files::kill_point::kill_point;
use crate::files::{Folder, Lock, optional};

/// The journal, in a loop's folder.
pub(super) const JOURNAL: &str = "journal.jsonl";
/// The lock of a running review, in a loop's folder.
const RUN_LOCK: &str = "run.lock";
/// The time to wait for the lock of a review: a process that asks about it also holds it briefly.
const RUN_LOCK_TIMEOUT: Duration = Duration::from_millis(20);
/// The ending of the file with a process id, for shell helpers.
pub(super) const PROCESS_ID: &str = ".lock";
/// Endings of the files beside a document, each after the id.
const SIDECARS: [&str; 3] = [PROCESS_ID, "-runner.sh", "-prompt.txt"];
/// The replaced documents of a loop that are kept.
const MAX_REPLACED: u32 = 5;

/// Takes the lock of a review in a loop's folder. Returns `None` if another process holds it.
pub fn lock_run(folder: &Folder) -> Result<Option<Lock>, StoreError> {
    Lock::take(folder, RUN_LOCK, RUN_LOCK_TIMEOUT).or_io("lock", folder.path().join(RUN_LOCK))
}

impl Store {
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

    /// Returns the name of a document in the state folder without its extension.
    pub(super) fn document_stem<'n>(&self, name: &'n str) -> Option<&'n str> {
        let stem = name.strip_suffix(self.spec.extension)?.strip_suffix('.')?;
        (self.spec.file.is_none() && !stem.is_empty()).then_some(stem)
    }

    /// Returns the names of the files and the folder of a loop, first its document in the folder.
    pub(super) fn file_names(&self, id: &LoopId) -> Vec<String> {
        let document = self.spec.file.is_none().then(|| self.document_name(id));
        let sidecars = SIDECARS.iter().map(|suffix| format!("{id}{suffix}"));
        let files = document.into_iter().chain(sidecars);
        files.chain([id.to_string()]).collect()
    }

    /// Opens the folder that has a loop's document, and returns it with the document's name.
    pub(super) fn document_place(
        &self,
        here: &Folder,
        id: &LoopId,
    ) -> io::Result<(Folder, String)> {
        match self.spec.file {
            Some(_) => self.folder_of(&self.path_of(id)),
            None => Ok((here.clone(), self.document_name(id))),
        }
    }

    /// Returns the time when a loop was last changed or touched: that of its document, or, if that
    /// is the user's file, the later one of journal and document. `here` is the state folder.
    pub(super) fn modified(&self, here: &Folder, id: &LoopId) -> Option<SystemTime> {
        let time = |(folder, name): (Folder, String)| Some(folder.metadata(&name).ok()??.modified);
        let document = self.document_place(here, id).ok().and_then(time);
        let journal = || time((here.subfolder(id.as_str()).ok()?, JOURNAL.to_owned()));
        match self.spec.file {
            Some(_) => {
                // Without a journal it is only a file of the user.
                let journal = journal()?;
                Some(document.map_or(journal, |document| document.max(journal)))
            }
            None => document.or_else(journal),
        }
    }

    /// Opens the folder for the files of a loop. See [`Store::open_folder`].
    pub fn open_loop_folder(&self, id: &LoopId) -> io::Result<Folder> {
        self.open_folder()?.subfolder(id.as_str())
    }

    /// Reads a loop's document, unless it is too large to be one.
    pub(super) fn read_document(&self, id: &LoopId) -> io::Result<Vec<u8>> {
        let (folder, name) = self.folder_of(&self.path_of(id))?;
        folder.read(&name, MAX_DOCUMENT_BYTES as u64)
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

    /// Returns whether a review or a command of the loop is running.
    pub fn is_running(&self, id: &LoopId) -> bool {
        self.open_loop_folder(id)
            .is_ok_and(|folder| Lock::is_held(&folder, RUN_LOCK))
    }
}
