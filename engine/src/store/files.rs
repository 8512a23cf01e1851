//! Journals and documents as files of a state folder. Only this type knows their paths.
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

use std::fs::File;
use std::io::{self, Read as _, Seek as _};
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};

use super::budget::Budget;
use super::document::MAX_BYTES;
use super::entry::{revision_in, snapshot};
use super::error::{StoreError, WhyNotOurs, io_error};
use super::id::LoopId;
use super::journal::{Journal, Line, Tail};
use super::project::{Mark, Project};
use super::seal::{Key, Last, Sealing};
use super::spec::StateSpec;
use super::state_home::StateHome;
use crate::files::kill_point;
use crate::files::{Folder, Lock, Made, Prepared, folder_of, if_there, make_all};

/// The lock for every change of a loop, which is held for milliseconds.
const LOCK: &str = ".lock";
/// The lock for starts, archiving and restoring.
const START_LOCK: &str = ".start.lock";
/// The name of the journal in a loop's folder.
pub(super) const JOURNAL: &str = "journal.jsonl";
/// The name of the folder of archived loops.
pub(super) const ARCHIVE: &str = "archive";
/// Endings of the files beside a document, each after the id.
pub(super) const SIDECARS: [&str; 3] = [".lock", "-runner.sh", "-prompt.txt"];
/// How long a lock is waited for by default.
const LOCK_TIMEOUT: Duration = Duration::from_secs(10);
/// The most bytes of a journal.
const MAX_JOURNAL: u64 = 64 * 1024 * 1024;
/// The most bytes of a journal without a line that a start has left.
const MAX_FIRST_LINE: u64 = 1024 * 1024;
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
    above: Option<Utf8PathBuf>,
}

impl LoopFolder {
    /// Names a state folder. Both paths are canonical, as far as they are not below each other.
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

    /// Names the folder of an archived loop.
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

    fn open_below_base(&self, path: &Utf8Path) -> io::Result<Folder> {
        let below = path.strip_prefix(&self.base).unwrap_or(path);
        Folder::open(&self.base)?.below(below)
    }

    /// Opens the folder of a loop.
    pub(super) fn open_loop(&self, id: &LoopId) -> io::Result<Folder> {
        self.open()?.below(id.as_str())
    }

    /// Makes the state folder. Returns it with the folders that were made for it, innermost last.
    pub(super) fn make(&self) -> Result<(Folder, Vec<Made>), StoreError> {
        make_all(&self.base, &self.folder).map_err(io_error("create", &self.folder))
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

    /// Reads a loop's document.
    pub(super) fn read_document(&self, id: &LoopId) -> io::Result<Vec<u8>> {
        let (folder, name) = self.open_document_folder(id)?;
        folder.read(&name, MAX_BYTES as u64)
    }

    /// Writes the new document of a loop to a temporary file beside it. Returns it with the document's name. Not synced.
    fn prepare_document(&self, id: &LoopId, bytes: &[u8]) -> io::Result<(Prepared, String)> {
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

    /// Moves a document that is too large to be read to where replaced ones are kept. Returns its path, or `None` if there is
    /// no document.
    pub(super) fn keep_unread(&self, id: &LoopId) -> Result<Option<Utf8PathBuf>, StoreError> {
        let keep = || {
            let (from, document) = self.open_document_folder(id)?;
            let (folder, name) = self.next_replaced(id)?;
            from.rename(&document, &folder, &name)?;
            Ok(folder.path().join(name))
        };
        if_there(keep()).map_err(io_error("move", &self.document_path(id)))
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

    /// Runs work under the lock of the state folder.
    pub(super) fn locked<R>(
        &self,
        work: impl FnOnce(&Folder) -> Result<R, StoreError>,
    ) -> Result<R, StoreError> {
        self.locked_by(LOCK, work)
    }

    fn locked_by<R>(
        &self,
        name: &'static str,
        work: impl FnOnce(&Folder) -> Result<R, StoreError>,
    ) -> Result<R, StoreError> {
        let folder = self.open().map_err(io_error("open", &self.folder))?;
        let path = self.folder.join(name);
        let begun = Instant::now();
        let take = |timeout| Lock::take(&folder, name, timeout);
        let lock = self.budget.wait(self.lock_timeout, take);
        let Some(_lock) = lock.map_err(io_error("lock", &path))? else {
            let waited = begun.elapsed();
            return Err(StoreError::Busy { path, waited });
        };
        work(&folder)
    }

    /// Returns what seals the journals here, or `None` if this user started no loop here.
    ///
    /// # Errors
    /// Returns an error if the key or the id cannot be read, or the state folder is a copy of another one.
    pub(super) fn sealing(&self) -> Result<Option<Sealing>, StoreError> {
        let top = self.above.as_ref().unwrap_or(&self.folder);
        let folder = self.open_below_base(top);
        let project = if_there(folder.and_then(|folder| Project::read(&folder)));
        let project = project.map_err(io_error("read", top))?.flatten();
        let (Some(project), Some(key)) = (project, Key::read(&self.home)?) else {
            return Ok(None);
        };
        match project.find_original(&self.home, top) {
            None => Ok(Some(Sealing { key, project })),
            Some(original) => Err(StoreError::NotOurs {
                id: String::new(),
                path: self.folder.clone(),
                why: WhyNotOurs::Journal(format!("this folder is a copy of {original}")),
            }),
        }
    }

    /// Opens the journal of a loop.
    fn open_journal(&self, id: &LoopId) -> io::Result<File> {
        self.open_loop(id)?.file(JOURNAL)
    }

    /// Returns the end of a journal as far as this user sealed it.
    fn last(&self, id: &LoopId) -> Result<Option<Last>, StoreError> {
        let path = self.journal_path(id);
        let failed = |error| io_error("read", &path)(error);
        let Some(file) = if_there(self.open_journal(id)).map_err(failed)? else {
            return Ok(None);
        };
        if let Some(sealing) = self.sealing()?
            && let Some(last) = sealing
                .search_end(id, &file, MAX_JOURNAL, |end| end.last())
                .map_err(failed)?
        {
            let mark = sealing.project.mark(&self.home, id);
            return match last.end < mark.bytes {
                true => Err(self.not_ours(id, "its journal lost lines")),
                false => Ok(Some(last)),
            };
        }
        match has_line(&file).map_err(failed)? {
            true => Err(self.not_ours(id, "its journal was not written by you on this machine")),
            // A start died before its line was whole.
            false => Ok(None),
        }
    }

    /// Returns whether a loop has a journal with a line, whoever wrote it.
    pub(super) fn has_journal(&self, id: &LoopId) -> bool {
        let file = self.open_journal(id);
        file.and_then(|file| has_line(&file)).unwrap_or(false)
    }

    /// Describes a loop that is not this user's.
    pub(super) fn not_ours(&self, id: &LoopId, why: &str) -> StoreError {
        StoreError::NotOurs {
            id: id.to_string(),
            path: self.folder.clone(),
            why: WhyNotOurs::Journal(why.to_owned()),
        }
    }

    /// Forgets how long the journal of a loop was.
    pub(super) fn forget(&self, id: &LoopId) {
        if let Ok(Some(sealing)) = self.sealing() {
            sealing.project.forget(&self.home, id);
        }
    }

    /// Appends a line to a journal, seals and syncs it. Returns the journal's length.
    fn append_line(
        &self,
        here: &Folder,
        id: &LoopId,
        last: Option<&Last>,
        json: &[u8],
        sealing: &Sealing,
    ) -> Result<u64, StoreError> {
        let path = self.journal_path(id);
        let (before, end) = last.map_or(("", 0), |last| (last.seal.as_str(), last.end));
        let seal = sealing.seal(id, before, end, json);
        let line = [json, b"\t", seal.as_bytes(), b"\n"].concat();
        let length = end + line.len() as u64;
        if length > MAX_JOURNAL {
            return Err(StoreError::Full { path });
        }
        let write = || {
            let folder = here.make(id.as_str())?;
            let mut file = folder.file_to_append(JOURNAL)?;
            // What is behind the last line of ours does not exist: a torn line, or a forged one.
            if file.metadata()?.len() > end {
                file.set_len(end)?;
            }
            let written = kill_point::write_all(&mut file, &line).and_then(|()| file.sync_data());
            if written.is_err() {
                let _ = file.set_len(end);
            }
            written?;
            if last.is_none() {
                folder.sync()?;
                here.sync()?;
            }
            Ok(length)
        };
        write().map_err(io_error("write", &path))
    }

    /// Moves those of these files and folders that are there to the archive.
    pub(super) fn archive_pieces(&self, name: &str, pieces: &[String]) -> Result<(), StoreError> {
        let move_all = |here: &Folder| {
            let found: Vec<&String> = pieces.iter().filter(|piece| here.has(piece)).collect();
            let Some(last) = found.last() else {
                return Ok(());
            };
            let to = make_archive(here, name, last)?;
            let mut found = found.into_iter();
            found.try_for_each(|piece| here.rename(piece, &to, piece))
        };
        let archive = self.folder.join(ARCHIVE).join(name);
        self.locked(|here| move_all(here).map_err(io_error("move to", &archive)))
    }

    /// Returns what seals the next line. A copy of another folder gets an id of its own with its first loop.
    fn sealing_to_write(&self, here: &Folder, is_first: bool) -> Result<Sealing, StoreError> {
        let key = Key::read_or_make(&self.home)?;
        let is_copy = |project: &Project| {
            is_first && project.find_original(&self.home, &self.folder).is_some()
        };
        let project = match Project::read(here) {
            Ok(Some(project)) if !is_copy(&project) => Ok(project),
            Ok(_) => Project::make(here),
            Err(error) => Err(error),
        };
        let project = project.map_err(io_error("write", &self.folder))?;
        Ok(Sealing { key, project })
    }

    /// Returns the names of the files and the folder of a loop, the document first unless it is the user's.
    fn pieces(&self, id: &LoopId) -> Vec<String> {
        let ours = self.spec.file.is_none().then(|| self.document_name(id));
        let mut pieces: Vec<String> = ours.into_iter().collect();
        pieces.extend(SIDECARS.iter().map(|suffix| format!("{id}{suffix}")));
        pieces.push(id.to_string());
        pieces
    }
}

/// Returns whether a journal has a whole line. The first line of a start that died is short, so the beginning says it.
fn has_line(mut file: &File) -> io::Result<bool> {
    let mut bytes = Vec::new();
    file.rewind()?;
    let read = file.take(MAX_FIRST_LINE).read_to_end(&mut bytes)?;
    Ok(read as u64 == MAX_FIRST_LINE || bytes.contains(&b'\n'))
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

impl Journal for LoopFolder {
    fn append(&self, id: &LoopId, line: Line<'_>) -> Result<(), StoreError> {
        self.locked(|here| {
            let last = self.last(id)?;
            let newest = last.as_ref().map(|last| last.change.as_slice());
            let revision = newest.and_then(revision_in).unwrap_or_default();
            if line.after.is_some_and(|after| after != revision) {
                let found = snapshot(newest);
                return Err(StoreError::Stale { found });
            }
            let is_first = last.is_none();
            let sealing = self.sealing_to_write(here, is_first)?;
            // The new document is there before its line, so that a full disk refuses the change here.
            let prepare = |bytes| self.prepare_document(id, bytes);
            let prepared = line.document.map(prepare).transpose();
            let prepared = prepared.map_err(io_error("write", &self.document_path(id)))?;
            let bytes = self.append_line(here, id, last.as_ref(), line.json, &sealing)?;

            // The line counts. If the rest fails, the next open renders the document again, and the mark is older.
            if let Some((document, name)) = prepared {
                let _ = document.rename(&name);
            }
            let project = sealing.project;
            let mark = Mark {
                bytes,
                ..project.mark(&self.home, id)
            };
            let _ = project.set_mark(&self.home, id, &mark);
            if is_first {
                let _ = project.keep(&self.home, &self.folder);
            }
            Ok(())
        })
    }

    fn tail(&self, id: &LoopId) -> Result<Option<Tail>, StoreError> {
        let Some(last) = self.last(id)? else {
            return Ok(None);
        };
        let document = match if_there(self.read_document(id)) {
            Err(error) if error.kind() == io::ErrorKind::FileTooLarge => None,
            read => read.map_err(io_error("read", &self.document_path(id)))?,
        };
        let change = last.change;
        Ok(Some(Tail { change, document }))
    }

    fn restore(&self, id: &LoopId, revision: u64, document: &[u8]) -> Result<(), StoreError> {
        self.locked(|_| {
            let newest = self.last(id)?.and_then(|last| revision_in(&last.change));
            if newest != Some(revision) {
                return Ok(());
            }
            let write = || {
                // The process that wrote the line may have died before it was synced.
                self.open_journal(id)?.sync_data()?;
                let (document, name) = self.prepare_document(id, document)?;
                document.rename(&name)
            };
            write().map_err(io_error("write", &self.document_path(id)))
        })
    }

    fn entries(&self, id: &LoopId, since: Option<u64>) -> Result<Vec<Vec<u8>>, StoreError> {
        let Some((last, sealing)) = self.last(id)?.zip(self.sealing()?) else {
            return Ok(Vec::new());
        };
        let read = || {
            let file = self.open_journal(id)?;
            sealing.search_end(id, &file, last.end, |end| {
                let entries = end.entries();
                let first = entries.iter().flatten().find_map(|json| revision_in(json));
                let is_enough = first
                    .zip(since)
                    .is_some_and(|(first, since)| first <= since);
                (entries.is_none() || is_enough || end.is_whole()).then_some(entries)
            })
        };
        let entries = read().map_err(io_error("read", &self.journal_path(id)))?;
        let entries = entries.flatten();
        entries.ok_or_else(|| self.not_ours(id, "a line of its journal was changed"))
    }

    fn length(&self, id: &LoopId) -> Option<u64> {
        Some(self.open_journal(id).ok()?.metadata().ok()?.len())
    }

    fn list(&self) -> Result<Vec<LoopId>, StoreError> {
        let read = || {
            let here = self.open()?;
            let ids = here.names()?.into_iter();
            let ids = ids.filter_map(|name| LoopId::parse(&name, self.spec.ids).ok());
            let has_journal = |id: &LoopId| {
                let folder = here.below(id.as_str());
                folder.is_ok_and(|folder| folder.has(JOURNAL))
            };
            Ok(ids.filter(has_journal).collect())
        };
        let ids = if_there(read()).map_err(io_error("read", &self.folder))?;
        Ok(ids.unwrap_or_default())
    }

    fn alone(&self, work: &mut dyn FnMut() -> Result<(), StoreError>) -> Result<(), StoreError> {
        self.locked_by(START_LOCK, |_| work())
    }

    fn archive(&self, id: &LoopId) -> Result<(), StoreError> {
        self.archive_pieces(id.as_str(), &self.pieces(id))
    }

    fn unarchive(&self, id: &LoopId) -> Result<(), StoreError> {
        self.locked(|here| {
            let path = self.folder.join(ARCHIVE).join(id.as_str());
            let archive = here.below(ARCHIVE).map_err(io_error("open", &path))?;
            let from = archive
                .below(id.as_str())
                .map_err(io_error("open", &path))?;
            // The document comes last: until then nobody sees the loop.
            for name in self.pieces(id).iter().rev().filter(|name| from.has(name)) {
                if here.has(name) {
                    return Err(StoreError::Active {
                        id: id.to_string(),
                        phase: None,
                        folder: self.folder.clone(),
                    });
                }
                let moved = from.rename(name, here, name);
                moved.map_err(io_error("move", &path.join(name)))?;
            }
            let _ = archive.remove_folder(id.as_str());
            Ok(())
        })
    }
}
