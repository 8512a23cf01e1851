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
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};

use super::budget::Budget;
use super::document::MAX_BYTES;
use super::entry::{revision_in, snapshot};
use super::error::{StoreError, WhyNotOurs, io_error};
use super::id::LoopId;
use super::journal::{Journal, Line, Tail};
use super::lock::{PROJECT, STARTING, with_lock};
use super::project::{Mark, Project, Whereabouts};
use super::seal::{self, Chain, Key};
use super::spec::StateSpec;
use super::state_home::StateHome;
use crate::files::kill_point::{self, kill_point};
use crate::files::{Folder, Made, Prepared, if_there, make_all};

/// The name of the journal in a loop's folder.
pub(super) const JOURNAL: &str = "journal.jsonl";
/// The name of the folder of archived loops.
pub(super) const ARCHIVE: &str = "archive";
/// Endings of the files beside a document, each after the id.
pub(super) const SIDECARS: [&str; 3] = [".lock", "-runner.sh", "-prompt.txt"];
/// The most bytes of a journal.
const MAX_JOURNAL: u64 = 64 * 1024 * 1024;
/// The most bytes of a journal without a line that a start has left.
const MAX_FIRST_LINE: u64 = 1024 * 1024;
/// The bytes that are read of a journal's end at first. Two usual lines fit.
const FIRST_LOOK: u64 = 8 * 1024;
/// The most documents that were replaced after an edit by hand and are kept.
const MAX_REPLACED: u32 = 5;
/// What stands for the id in the path of a document of the user's.
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
    pub(super) deadline: Duration,
    pub(super) budget: Budget,
    /// The state folder, if this is the folder of an archived loop below it.
    above: Option<Utf8PathBuf>,
}

/// The last line of a journal that has this user's seal.
struct Last {
    seal: String,
    /// The newest change, as JSON.
    change: Vec<u8>,
    /// Where the line ends, in bytes.
    end: u64,
}

/// A document that is about to be written.
struct NewDocument<'f> {
    content: Prepared<'f>,
    folder: Folder,
    name: String,
}

impl NewDocument<'_> {
    fn put(self) -> io::Result<()> {
        self.content.exchange(&self.folder, &self.name)
    }
}

impl LoopFolder {
    /// Names a state folder. Both paths are canonical, as far as they are not below each other.
    pub(super) fn new(
        folder: &Utf8Path,
        root: Utf8PathBuf,
        spec: &'static StateSpec,
        home: StateHome,
        deadline: Duration,
    ) -> Self {
        // One spelling: the folder is compared with the path that the state home keeps.
        let folder: Utf8PathBuf = folder.components().collect();
        let base = if folder.starts_with(&root) {
            root.clone()
        } else {
            folder.clone()
        };
        Self {
            spec,
            folder,
            root,
            base,
            home,
            deadline,
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
    ///
    /// # Errors
    /// It is not there, or it or a folder above it is not trusted (see [`UntrustedError`]).
    pub(super) fn open(&self) -> io::Result<Folder> {
        self.open_below_base(&self.folder)
    }

    fn open_below_base(&self, path: &Utf8Path) -> io::Result<Folder> {
        let below = path.strip_prefix(&self.base).unwrap_or(path);
        Folder::open(&self.base)?.below(below)
    }

    /// Opens the folder of a loop.
    ///
    /// # Errors
    /// See [`LoopFolder::open`].
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

    /// Opens the folder of a loop's document, and returns the document's name in it.
    pub(super) fn document_in(&self, here: &Folder, id: &LoopId) -> io::Result<(Folder, String)> {
        match self.spec.file {
            Some(_) => crate::files::folder_of(&[&self.root, &self.base], &self.document_path(id)),
            None => Ok((here.clone(), self.document_name(id))),
        }
    }

    /// Reads a loop's document.
    ///
    /// # Errors
    /// `NotFound` if there is none, `FileTooLarge` above [`MAX_BYTES`].
    pub(super) fn read_document(&self, id: &LoopId) -> io::Result<Vec<u8>> {
        let (folder, name) = self.document_in(&self.open()?, id)?;
        folder.read(&name, MAX_BYTES as u64)
    }

    /// Writes the new document of a loop to a temporary file in the state folder. Not synced.
    fn prepare_document<'f>(
        &self,
        here: &'f Folder,
        id: &LoopId,
        bytes: &[u8],
    ) -> io::Result<NewDocument<'f>> {
        let content = here.prepare(bytes)?;
        if self.spec.file.is_none() {
            let (folder, name) = (here.clone(), self.document_name(id));
            return Ok(NewDocument {
                content,
                folder,
                name,
            });
        }
        let path = self.document_path(id);
        let (folder, _) = make_all(&self.root, path.parent().unwrap_or(&self.root))?;
        let name = path.file_name().unwrap_or_default().to_owned();
        // A file of the user's keeps its permissions.
        let old = folder.look(&name)?;
        content.set_mode(old.map_or(0o644, |old| old.mode()))?;
        Ok(NewDocument {
            content,
            folder,
            name,
        })
    }

    /// Describes why a document was not written.
    fn unwritten(&self, id: &LoopId, error: io::Error) -> StoreError {
        let path = self.document_path(id);
        match error.kind() {
            io::ErrorKind::CrossesDevices => {
                let folder = crate::text::shown(&self.folder);
                let why = format!(
                    "it is not on the file system of {folder}, so that it cannot be replaced in one step"
                );
                io_error("write", &path)(io::Error::new(error.kind(), why))
            }
            _ => io_error("write", &path)(error),
        }
    }

    /// Takes the last line of a journal away again, which nobody was told of.
    fn take_back(&self, id: &LoopId, end: u64) -> io::Result<()> {
        let folder = self.open_loop(id)?;
        if end > 0 {
            return folder.file_to_append(JOURNAL)?.set_len(end);
        }
        folder.remove(JOURNAL)?;
        self.open()?.remove_folder(id.as_str())
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
            let (from, document) = self.document_in(&self.open()?, id)?;
            let (folder, name) = self.next_replaced(id)?;
            from.rename(&document, &folder, &name)?;
            Ok(folder.path().join(name))
        };
        if_there(keep()).map_err(io_error("move", &self.document_path(id)))
    }

    /// Returns the folder of a loop and the name in it of the next document that is kept there. Removes the oldest one.
    fn next_replaced(&self, id: &LoopId) -> io::Result<(Folder, String)> {
        let folder = self.open_loop(id)?;
        let number = |name: &str| name.strip_prefix("replaced-")?.parse::<u32>().ok();
        let names = folder.names(|name| number(name).is_some())?;
        let numbers: Vec<u32> = names.iter().filter_map(|name| number(name)).collect();
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
        self.locked_by(PROJECT, work)
    }

    fn locked_by<R>(
        &self,
        name: &'static str,
        work: impl FnOnce(&Folder) -> Result<R, StoreError>,
    ) -> Result<R, StoreError> {
        let folder = self.open().map_err(io_error("open", &self.folder))?;
        let (wait, deadline) = self.budget.wait_for_lock(self.deadline);
        with_lock(&folder, name, deadline, || {
            drop(wait);
            work(&folder)
        })?
    }

    /// Returns this user's key and the id of the state folder. `None`: no loop was started here by this user.
    ///
    /// # Errors
    /// The key or the id cannot be read, or the state folder is a copy of another one.
    pub(super) fn sealing(&self) -> Result<Option<(Key, Project)>, StoreError> {
        let top = self.above.as_ref().unwrap_or(&self.folder);
        let folder = self.open_below_base(top);
        let project = if_there(folder.and_then(|folder| Project::read(&folder)));
        let project = project.map_err(io_error("read", top))?.flatten();
        let (Some(project), Some(key)) = (project, Key::read(&self.home)?) else {
            return Ok(None);
        };
        match project.locate(&self.home, top) {
            Whereabouts::Here => Ok(Some((key, project))),
            Whereabouts::CopyOf(original) => Err(StoreError::NotOurs {
                id: String::new(),
                path: self.folder.clone(),
                why: WhyNotOurs::Journal(format!("this folder is a copy of {original}")),
            }),
        }
    }

    /// Returns the last line of a journal that has this user's seal, and the newest change up to it.
    fn last(&self, id: &LoopId) -> Result<Option<Last>, StoreError> {
        let path = self.journal_path(id);
        let open = || self.open_loop(id)?.file(JOURNAL);
        let Some(file) = if_there(open()).map_err(io_error("read", &path))? else {
            return Ok(None);
        };
        let found = match self.sealing()? {
            Some((key, project)) => {
                let chain = Chain {
                    project: project.as_str(),
                    id,
                };
                let last = last_in(&file, &key, &chain).map_err(io_error("read", &path))?;
                let mark = project.mark(&self.home, id);
                if last.as_ref().is_some_and(|last| last.end < mark.bytes) {
                    return Err(self.not_ours(id, "its journal lost lines"));
                }
                last
            }
            None => None,
        };
        match found {
            Some(last) => Ok(Some(last)),
            // A start died before its line was whole.
            None if !has_line(&file).map_err(io_error("read", &path))? => Ok(None),
            None => Err(self.not_ours(id, "its journal was not written by you on this machine")),
        }
    }

    /// Returns whether a loop has a journal with a line, whoever wrote it.
    pub(super) fn has_journal(&self, id: &LoopId) -> bool {
        let open = || self.open_loop(id)?.file(JOURNAL);
        open().and_then(|file| has_line(&file)).unwrap_or(false)
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
        if let Ok(Some((_, project))) = self.sealing() {
            project.forget(&self.home, id);
        }
    }

    fn append_line(
        &self,
        here: &Folder,
        id: &LoopId,
        last: Option<&Last>,
        json: &[u8],
    ) -> Result<u64, StoreError> {
        let path = self.journal_path(id);
        let key = Key::read_or_make(&self.home)?;
        let project = self.project_to_write(here, last.is_none());
        let project = project.map_err(io_error("write", &self.folder))?;
        let (before, end) = last.map_or(("", 0), |last| (last.seal.as_str(), last.end));
        let chain = Chain {
            project: project.as_str(),
            id,
        };
        let seal = key.seal(&chain, before, end, json);
        let line = [json, b"\t", seal.as_bytes(), b"\n"].concat();
        let length = end + line.len() as u64;
        if length > MAX_JOURNAL {
            return Err(StoreError::Full { path });
        }
        let written = || {
            let folder = here.make(id.as_str())?;
            let mut file = folder.file_to_append(JOURNAL)?;
            // What is behind the last line of ours does not exist: a torn line, or a forged one.
            if file.metadata()?.len() > end {
                file.set_len(end)?;
            }
            kill_point();
            let half = kill_point::is_next().then_some(line.len() / 2);
            let result = file
                .write_all(&line[..half.unwrap_or(line.len())])
                .and_then(|()| {
                    if half.is_some() {
                        kill_point::die();
                    }
                    file.sync_data()
                });
            if result.is_err() {
                let _ = file.set_len(end);
            }
            result?;
            if last.is_none() {
                folder.sync()?;
                here.sync()?;
            }
            Ok(())
        };
        written().map_err(io_error("write", &path))?;
        Ok(length)
    }

    /// Keeps how long a journal is now. Failing to keep it fails nothing.
    fn keep_length(&self, here: &Folder, id: &LoopId, length: u64, is_first: bool) {
        let Ok(Some(project)) = Project::read(here) else {
            return;
        };
        let mark = Mark {
            bytes: length,
            ..project.mark(&self.home, id)
        };
        let _ = project.set_mark(&self.home, id, &mark);
        if is_first {
            let _ = project.keep(&self.home, &self.folder);
        }
    }

    /// Moves those of these files and folders that are there to the archive.
    pub(super) fn archive_pieces(&self, name: &str, pieces: &[String]) -> Result<(), StoreError> {
        self.locked(|here| {
            let found: Vec<&String> = pieces.iter().filter(|piece| here.has(piece)).collect();
            let Some(last) = found.last() else {
                return Ok(());
            };
            let archive = self.folder.join(ARCHIVE);
            let to = make_archive(here, name, last).map_err(io_error("create", &archive))?;
            for piece in found {
                here.rename(piece, &to, piece)
                    .map_err(io_error("move", &self.folder.join(piece)))?;
            }
            Ok(())
        })
    }

    /// Returns the id of the state folder. A copy of another folder gets an id of its own with its first loop.
    fn project_to_write(&self, here: &Folder, is_first_line: bool) -> io::Result<Project> {
        let project = Project::read_or_make(here)?;
        match is_first_line && project.locate(&self.home, &self.folder) != Whereabouts::Here {
            true => Project::make(here),
            false => Ok(project),
        }
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
    file.seek(SeekFrom::Start(0))?;
    let read = file.take(MAX_FIRST_LINE).read_to_end(&mut bytes)?;
    Ok(read as u64 == MAX_FIRST_LINE || memchr::memchr(b'\n', &bytes).is_some())
}

/// Makes a folder in the archive: `name`, or `name-2` and so on if `piece` was archived there before.
fn make_archive(here: &Folder, name: &str, piece: &str) -> io::Result<Folder> {
    let mut number = 1;
    let mut target = Utf8Path::new(ARCHIVE).join(name);
    loop {
        let folder = here.make(&target)?;
        if !folder.has(piece) {
            return Ok(folder);
        }
        number += 1;
        target = Utf8Path::new(ARCHIVE).join(format!("{name}-{number}"));
    }
}

/// Reads a journal's end until it has the last sealed line and the newest change.
fn last_in(file: &File, key: &Key, chain: &Chain<'_>) -> io::Result<Option<Last>> {
    // Nothing beyond that is a line of ours.
    let length = file.metadata()?.len().min(MAX_JOURNAL);
    let mut look = FIRST_LOOK;
    loop {
        let (bytes, from) = read_end(file, length, look)?;
        match last_of(&bytes, from, key, chain) {
            Look::Found { seal, end, change } => {
                return Ok(Some(Last { seal, change, end }));
            }
            Look::Nothing if from == 0 => return Ok(None),
            Look::Nothing | Look::Further => look = look.saturating_mul(16),
        }
    }
}

/// Reads the last bytes before `end`, and returns where they begin.
fn read_end(mut file: &File, end: u64, look: u64) -> io::Result<(Vec<u8>, u64)> {
    let from = end.saturating_sub(look);
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(from))?;
    file.take(end - from).read_to_end(&mut bytes)?;
    Ok((bytes, from))
}

/// Returns the sealed lines of a journal, or of its end, as JSON. A line that begins before the end that was read, and the one
/// after it, of which nobody can tell, are left out. `None`: a line does not have the seal.
fn sealed(bytes: &[u8], from: u64, key: &Key, chain: &Chain<'_>) -> Option<Vec<Vec<u8>>> {
    let mut lines = bytes.split_inclusive(|byte| *byte == b'\n');
    let mut before = String::new();
    let mut at = from;
    if from > 0 {
        at += lines.next().map_or(0, |line| line.len() as u64);
        let first = lines.next()?;
        at += first.len() as u64;
        before = seal::split(first).map_or(before, |(_, seal)| seal.to_owned());
    }
    let mut entries = Vec::new();
    for line in lines {
        let (json, seal) = seal::split(line)?;
        if seal != key.seal(chain, &before, at, json) {
            return None;
        }
        entries.push(json.to_vec());
        at += line.len() as u64;
        seal.clone_into(&mut before);
    }
    Some(entries)
}

/// What the end of a journal says.
enum Look {
    Found {
        seal: String,
        end: u64,
        change: Vec<u8>,
    },
    /// No line in it has this user's seal.
    Nothing,
    /// More of the journal has to be read.
    Further,
}

fn last_of(bytes: &[u8], from: u64, key: &Key, chain: &Chain<'_>) -> Look {
    let mut found: Option<(String, u64)> = None;
    let mut end = memchr::memrchr(b'\n', bytes).map_or(0, |at| at + 1);
    while end > 0 {
        let begin = begin_of(bytes, end);
        // The seal covers the one of the line before, so that has to be there whole.
        let before = match begin {
            0 if from > 0 => {
                return if found.is_some() {
                    Look::Further
                } else {
                    Look::Nothing
                };
            }
            0 => 0,
            begin => begin_of(bytes, begin),
        };
        if before == 0 && from > 0 {
            return Look::Further;
        }
        let previous = seal::split(&bytes[before..begin]).map_or("", |(_, seal)| seal);
        let line = seal::split(&bytes[begin..end]);
        let at = from + begin as u64;
        let sealed = line.filter(|(json, seal)| *seal == key.seal(chain, previous, at, json));
        match sealed {
            Some((json, seal)) => {
                let (seal, end) = found
                    .take()
                    .unwrap_or_else(|| (seal.to_owned(), from + end as u64));
                if revision_in(json).is_some() {
                    return Look::Found {
                        seal,
                        end,
                        change: json.to_vec(),
                    };
                }
                found = Some((seal, end));
            }
            // A sealed line follows a sealed one.
            None => found = None,
        }
        end = begin;
    }
    Look::Nothing
}

fn begin_of(bytes: &[u8], end: usize) -> usize {
    memchr::memrchr(b'\n', &bytes[..end - 1]).map_or(0, |at| at + 1)
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
            // The new document is there before its line, so that a full disk refuses the change here.
            let prepare = |document| self.prepare_document(here, id, document);
            let prepared = line.document.map(prepare).transpose();
            let prepared = prepared.map_err(|error| self.unwritten(id, error))?;
            let length = self.append_line(here, id, last.as_ref(), line.json)?;
            if let Some(Err(error)) = prepared.map(NewDocument::put) {
                let _ = self.take_back(id, last.as_ref().map_or(0, |last| last.end));
                return Err(self.unwritten(id, error));
            }
            self.keep_length(here, id, length, last.is_none());
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
        self.locked(|here| {
            let newest = self.last(id)?.and_then(|last| revision_in(&last.change));
            if newest != Some(revision) {
                return Ok(());
            }
            let write = || {
                // The process that wrote the line may have died before it was synced.
                self.open_loop(id)?.file(JOURNAL)?.sync_data()?;
                self.prepare_document(here, id, document)?.put()
            };
            write().map_err(|error| self.unwritten(id, error))
        })
    }

    fn entries(&self, id: &LoopId, since: Option<u64>) -> Result<Vec<Vec<u8>>, StoreError> {
        let path = self.journal_path(id);
        let Some((last, (key, project))) = self.last(id)?.zip(self.sealing()?) else {
            return Ok(Vec::new());
        };
        let chain = Chain {
            project: project.as_str(),
            id,
        };
        let read = |look: u64| {
            let file = self.open_loop(id)?.file(JOURNAL)?;
            read_end(&file, last.end, look)
        };
        let mut look = match since {
            Some(_) => FIRST_LOOK * 8,
            None => last.end,
        };
        loop {
            let (bytes, from) = read(look).map_err(io_error("read", &path))?;
            let Some(entries) = sealed(&bytes, from, &key, &chain) else {
                return Err(self.not_ours(id, "a line of its journal was changed"));
            };
            let first = entries.iter().find_map(|json| revision_in(json));
            if from == 0
                || first
                    .zip(since)
                    .is_some_and(|(first, since)| first <= since)
            {
                return Ok(entries);
            }
            look = look.saturating_mul(16);
        }
    }

    fn length(&self, id: &LoopId) -> Option<u64> {
        let folder = self.open_loop(id).ok()?;
        Some(folder.look(JOURNAL).ok()??.size())
    }

    fn list(&self) -> Result<Vec<LoopId>, StoreError> {
        let Some(here) = if_there(self.open()).map_err(io_error("open", &self.folder))? else {
            return Ok(Vec::new());
        };
        let listed = here.list().map_err(io_error("read", &self.folder))?;
        let folders = listed.into_iter().filter(|(_, found)| found.is_folder());
        let mut ids: Vec<LoopId> = folders
            .filter_map(|(name, _)| LoopId::parse(&name, self.spec.ids).ok())
            .filter(|id| {
                here.below(id.as_str())
                    .is_ok_and(|folder| folder.has(JOURNAL))
            })
            .collect();
        ids.sort_unstable();
        Ok(ids)
    }

    fn alone(&self, work: &mut dyn FnMut() -> Result<(), StoreError>) -> Result<(), StoreError> {
        self.locked_by(STARTING, |_| work())
    }

    fn archive(&self, id: &LoopId) -> Result<(), StoreError> {
        self.archive_pieces(id.as_str(), &self.pieces(id))
    }

    fn unarchive(&self, id: &LoopId) -> Result<(), StoreError> {
        self.locked(|here| {
            let from = here.below(Utf8Path::new(ARCHIVE).join(id.as_str()));
            let from = from.map_err(io_error(
                "open",
                &self.folder.join(ARCHIVE).join(id.as_str()),
            ))?;
            // The document comes last: until then nobody sees the loop.
            for name in self.pieces(id).iter().rev().filter(|name| from.has(name)) {
                if here.has(name) {
                    return Err(StoreError::Active {
                        id: id.to_string(),
                        phase: None,
                        folder: self.folder.clone(),
                    });
                }
                from.rename(name, here, name)
                    .map_err(io_error("move", &from.path().join(name)))?;
            }
            let _ = here
                .below(ARCHIVE)
                .and_then(|archive| archive.remove_folder(id.as_str()));
            Ok(())
        })
    }
}
