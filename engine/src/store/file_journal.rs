//! Journals as files: a line is there if it has this user's seal, and survives a power loss once it is synced.

use std::fmt::Debug;
use std::fs::File;
use std::io;

use camino::Utf8Path;

use super::entry::revision_in;
use super::error::{OrIo as _, StoreError, WhyNotOurs};
use super::id::LoopId;
use super::journal::{After, Journal, Tail};
use super::loop_folder::{ARCHIVE, JOURNAL, LOCK, LoopFolder, SIDECARS, START_LOCK};
use super::seal::{Line, Sealing, newest};
use super::state_home::{Mark, Project};
use crate::files::{Folder, if_there, kill_point};

/// The most bytes of a journal.
const MAX_JOURNAL: u64 = 64 * 1024 * 1024;

/// The end of a journal that this user sealed.
struct Sealed {
    /// The newest change, as JSON.
    change: Vec<u8>,
    /// The seal and the end of the newest line.
    seal: String,
    end: u64,
    sealing: Sealing,
    mark: Mark,
}

impl LoopFolder {
    /// Returns the seals of the journals here, or `None` if this user started no loop here.
    pub(super) fn sealing(&self) -> Result<Option<Sealing>, StoreError> {
        let top = self.above.as_ref().unwrap_or(&self.folder);
        let folder = self.open_below_base(top);
        let project =
            if_there(folder.and_then(|folder| Project::read(&folder))).or_io("read", top)?;
        let (Some(project), Some(key)) = (project.flatten(), self.home.key()?) else {
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

    /// Returns the end of a journal that is to begin. A copy of another folder gets its own id.
    fn sealed_to_begin(&self, here: &Folder) -> Result<Sealed, StoreError> {
        let key = self.home.key_or_new()?;
        let is_own = |project: &Project| project.find_original(&self.home, &self.folder).is_none();
        let found = Project::read(here).or_io("read", &self.folder)?;
        let project = match found.filter(is_own) {
            Some(project) => project,
            None => Project::make(here).or_io("write", &self.folder)?,
        };
        Ok(Sealed {
            change: Vec::new(),
            seal: String::new(),
            end: 0,
            sealing: Sealing { key, project },
            mark: Mark::default(),
        })
    }

    fn open_journal(&self, id: &LoopId) -> io::Result<File> {
        self.open_loop_folder(id)?.file(JOURNAL)
    }

    /// Returns the end of a journal as far as this user sealed it.
    fn sealed(&self, id: &LoopId) -> Result<Option<Sealed>, StoreError> {
        let path = self.journal_path(id);
        let Some(file) = if_there(self.open_journal(id)).or_io("read", &path)? else {
            return Ok(None);
        };
        let foreign =
            || self.foreign_journal(id, "its journal was not written by you on this machine");
        let sealing = self.sealing()?.ok_or_else(foreign)?;
        // The mark is read first: another process may append a line, and then the mark of it, at any moment.
        let mark = sealing.project.mark(&self.home, id);
        let is_enough = |lines: &[Option<Line>]| newest(lines).is_some();
        let lines = sealing
            .last_lines(id, &file, MAX_JOURNAL, is_enough)
            .or_io("read", &path)?;
        let (last, change) = newest(&lines).ok_or_else(foreign)?;
        if last.end < mark.bytes {
            return Err(self.foreign_journal(id, "its journal lost lines"));
        }
        Ok(Some(Sealed {
            change: change.json.clone(),
            seal: last.seal.clone(),
            end: last.end,
            sealing,
            mark,
        }))
    }

    /// Appends a line to a journal, and syncs it. A journal is there with a whole line, or not at all.
    fn append_line(&self, here: &Folder, id: &LoopId, end: u64, line: &[u8]) -> io::Result<()> {
        let folder = here.make(id.as_str())?;
        if end == 0 {
            folder.replace(JOURNAL, line)?;
            return here.sync();
        }
        let mut file = folder.file_to_append(JOURNAL)?;
        // Bytes behind our last line do not exist: a torn line, or a forged one.
        if file.metadata()?.len() > end {
            file.set_len(end)?;
        }
        let written = kill_point::write_all(&mut file, line).and_then(|()| file.sync_data());
        if written.is_err() {
            let _ = file.set_len(end);
        }
        written
    }

    /// Moves those of these files and folders that are there to the archive.
    pub(super) fn archive_pieces(&self, name: &str, pieces: &[String]) -> Result<(), StoreError> {
        let (here, _lock) = self.lock(LOCK)?;
        let found: Vec<&String> = pieces.iter().filter(|piece| here.has(piece)).collect();
        let Some(last) = found.last() else {
            return Ok(());
        };
        let moved = make_archive(&here, name, last).and_then(|to| {
            let mut found = found.iter();
            found.try_for_each(|piece| here.rename(piece, &to, piece))
        });
        moved.or_io("move to", self.folder.join(ARCHIVE).join(name))
    }

    /// Returns the names of the files and the folder of a loop, the document first unless it is the user's.
    fn pieces(&self, id: &LoopId) -> Vec<String> {
        let document = self.spec.file.is_none().then(|| self.document_name(id));
        let sidecars = SIDECARS.iter().map(|suffix| format!("{id}{suffix}"));
        (document.into_iter().chain(sidecars))
            .chain([id.to_string()])
            .collect()
    }
}

impl Journal for LoopFolder {
    fn append(
        &self,
        id: &LoopId,
        after: After,
        json: &[u8],
        document: Option<&[u8]>,
    ) -> Result<(), StoreError> {
        let (here, _lock) = self.lock(LOCK)?;
        let is_foreign = || matches!(self.entries(id, None), Err(StoreError::NotOurs { .. }));
        let sealed = match after {
            After::Foreign if is_foreign() => None,
            _ => self.sealed(id)?,
        };
        after.check(sealed.as_ref().map(|sealed| &*sealed.change))?;
        let Sealed {
            seal,
            end,
            sealing,
            mark,
            ..
        } = match sealed {
            Some(sealed) => sealed,
            None => self.sealed_to_begin(&here)?,
        };
        // The new document is there before its line, so that a full disk refuses the change here.
        let prepare = |bytes| {
            self.prepare_document(id, bytes)
                .or_io("write", self.path_of(id))
        };
        let prepared = document.map(prepare).transpose()?;
        let set_mark = |mark: &Mark| sealing.project.set_mark(&self.home, id, mark);
        if after == After::Foreign {
            // The journal that is replaced may be longer.
            let _ = set_mark(&mark);
        }
        let path = self.journal_path(id);
        let seal = sealing.seal(id, &seal, end, json);
        let line = [json, b"\t", seal.as_bytes(), b"\n"].concat();
        let bytes = end + line.len() as u64;
        if bytes > MAX_JOURNAL {
            return Err(StoreError::Full { path });
        }
        self.append_line(&here, id, end, &line)
            .or_io("write", &path)?;

        // The line counts. If the rest fails, the next open renders the document again, and the mark is older.
        if let Some((document, name)) = prepared {
            let _ = document.rename(&name);
        }
        let _ = set_mark(&Mark { bytes, ..mark });
        if end == 0 {
            let _ = sealing.project.keep(&self.home, &self.folder);
        }
        Ok(())
    }

    fn tail(&self, id: &LoopId) -> Result<Option<Tail>, StoreError> {
        let length = || Some(self.open_journal(id).ok()?.metadata().ok()?.len());
        loop {
            let before = length();
            let Some(Sealed { change, .. }) = self.sealed(id)? else {
                return Ok(None);
            };
            let path = self.path_of(id);
            let document = if_there(self.read(&path)).or_io("read", &path)?;
            // A document that another process wrote in between would not be that of this change.
            if length() == before {
                return Ok(Some(Tail { change, document }));
            }
        }
    }

    fn restore(&self, id: &LoopId, revision: u64, document: &[u8]) -> Result<(), StoreError> {
        let _lock = self.lock(LOCK)?;
        let sealed = self.sealed(id)?;
        if sealed.and_then(|sealed| revision_in(&sealed.change)) != Some(revision) {
            return Ok(());
        }
        let write = || {
            // The process that wrote the line may have died before it was synced.
            self.open_journal(id)?.sync_data()?;
            let (document, name) = self.prepare_document(id, document)?;
            document.rename(&name)
        };
        write().or_io("write", self.path_of(id))
    }

    fn entries(&self, id: &LoopId, since: Option<u64>) -> Result<Vec<Vec<u8>>, StoreError> {
        let Some(Sealed { end, sealing, .. }) = self.sealed(id)? else {
            return Ok(Vec::new());
        };
        let is_enough = |lines: &[Option<Line>]| {
            let mut revisions = lines.iter().flatten().map(|line| revision_in(&line.json));
            let first = revisions.find_map(|revision| revision);
            let reaches = first
                .zip(since)
                .is_some_and(|(first, since)| first <= since);
            reaches || lines.iter().any(Option::is_none)
        };
        let lines = self
            .open_journal(id)
            .and_then(|file| sealing.last_lines(id, &file, end, is_enough))
            .or_io("read", self.journal_path(id))?;
        let entries = lines.into_iter().map(|line| line.map(|line| line.json));
        let sealed = entries.collect::<Option<Vec<_>>>();
        sealed.ok_or_else(|| self.foreign_journal(id, "a line of its journal was changed"))
    }

    fn exists(&self, id: &LoopId) -> bool {
        self.open_journal(id).is_ok()
    }

    fn list(&self) -> Result<Vec<LoopId>, StoreError> {
        let names = self.open_folder().and_then(|here| here.names());
        let names = if_there(names).or_io("read", &self.folder)?;
        let ids = names.into_iter().flatten();
        Ok(ids
            .filter_map(|name| LoopId::parse(&name, self.spec.ids).ok())
            .filter(|id| {
                self.open_loop_folder(id)
                    .is_ok_and(|folder| folder.has(JOURNAL))
            })
            .collect())
    }

    fn alone(&self) -> Result<Box<dyn Debug + '_>, StoreError> {
        Ok(Box::new(self.lock(START_LOCK)?))
    }

    fn archive(&self, id: &LoopId) -> Result<(), StoreError> {
        self.archive_pieces(id.as_str(), &self.pieces(id))
    }

    fn unarchive(&self, id: &LoopId) -> Result<(), StoreError> {
        let (here, _lock) = self.lock(LOCK)?;
        let path = self.folder.join(ARCHIVE).join(id.as_str());
        let archive = here.subfolder(ARCHIVE).or_io("open", &path)?;
        let from = archive.subfolder(id.as_str()).or_io("open", &path)?;
        // The document comes last: until then nobody sees the loop.
        for name in self.pieces(id).iter().rev().filter(|name| from.has(name)) {
            if here.has(name) {
                return Err(self.active(id.as_str(), None));
            }
            from.rename(name, &here, name)
                .or_io("move", path.join(name))?;
        }
        let _ = archive.remove_folder(id.as_str());
        Ok(())
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
