//! Journals as files. A line counts if it has this user's seal, and survives power loss if synced.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::io::{self, ErrorKind};
use std::sync::Arc;

use super::entry::{ChangeEntry, Entry};
use super::error::{OrIo as _, StoreError};
use super::id::LoopId;
use super::journal::{Journal, Tail, check_order, lock_mutex};
use super::loop_files::JOURNAL;
use super::mark::Mark;
use super::seal::{Line, Sealer};
use super::state_folder::{LOCK, START_LOCK, Store};
use crate::files::kill_point::{kill_point, sync, write_all};
use crate::files::{Folder, MAX_BYTES, PreparedFile, make_all, optional};

const MAX_JOURNAL_BYTES: u64 = 64 * 1024 * 1024;
/// The finding about a journal without a line of this user.
const NOT_WRITTEN: &str = "its journal was not written by you on this machine";

/// A journal as far as this user sealed it, or one that is to begin.
struct SealedJournal {
    here: Folder,
    folder: Folder,
    /// The length of the file.
    length: u64,
    /// The last lines, with a change among them. Bytes behind the last one do not count.
    lines: Vec<Line>,
    sealer: Arc<Sealer>,
    mark: Mark,
}

impl SealedJournal {
    fn change(&self) -> Option<&ChangeEntry> {
        let mut lines = self.lines.iter().rev();
        lines.find_map(|line| line.entry.change())
    }

    /// Returns the byte at which the next line begins.
    fn end(&self) -> u64 {
        self.lines.last().map_or(0, |line| line.end)
    }

    /// Appends a line to the file, and syncs it. A journal exists only with a whole line.
    fn append_line(&self, line: &[u8]) -> io::Result<()> {
        let end = self.end();
        if end == 0 {
            self.folder.replace(JOURNAL, line)?;
            return self.here.sync();
        }
        let mut file = self.folder.file_to_append(JOURNAL)?;
        // Bytes behind our last line do not count: a torn line, or a forged one.
        if self.length > end {
            kill_point();
            file.set_len(end)?;
        }
        let written = write_all(&mut file, line).and_then(|()| sync(&file));
        if written.is_err() {
            let _ = file.set_len(end);
        }
        written
    }
}

impl Store {
    /// Returns the sealer of the journals here. Reads the key and the project once.
    pub(super) fn sealer(&self, id: &LoopId) -> Result<Arc<Sealer>, StoreError> {
        let mut known = lock_mutex(&self.sealer);
        if let Some(known) = &*known {
            return Ok(known.clone());
        }
        let top = self.open_below_base(&self.top).or_io("open", &self.top)?;
        let Some(mut sealer) = self.home.sealer(&top)? else {
            return Err(self.foreign_journal(id, NOT_WRITTEN));
        };
        if let Some(original) = sealer.find_original(&self.top) {
            return Err(self.foreign_journal(id, format!("this folder is a copy of {original}")));
        }
        Ok(known.insert(Arc::new(sealer)).clone())
    }

    /// Reads the sealed end of a journal, at least since a revision. `here` is the state folder.
    fn read_sealed(
        &self,
        here: io::Result<Folder>,
        id: &LoopId,
        since: u64,
    ) -> Result<Option<SealedJournal>, StoreError> {
        let path = self.journal_path(id);
        let opened = here.and_then(|here| {
            let folder = here.subfolder(id.as_str())?;
            let file = folder.file(JOURNAL)?;
            Ok((here, folder, file))
        });
        let Some((here, folder, file)) = optional(opened).or_io("read", &path)? else {
            return Ok(None);
        };
        let sealer = self.sealer(id)?;
        // The mark is read first, because another process may append a line and its mark meanwhile.
        let mark = sealer.mark(id);
        let length = file.metadata().or_io("read", &path)?.len();
        let lines = sealer
            .read_lines(id, &file, length.min(MAX_JOURNAL_BYTES), since)
            .or_io("read", &path)?
            .ok_or_else(|| self.foreign_journal(id, "a line of its journal was changed"))?;
        match lines.last().map_or(0, |line| line.end) {
            0 if length == 0 => Err(self.foreign_journal(id, "its journal is empty")),
            0 => Err(self.foreign_journal(id, NOT_WRITTEN)),
            end if end < mark.bytes => Err(self.foreign_journal(id, "its journal lost lines")),
            _ => Ok(Some(SealedJournal {
                here,
                folder,
                length,
                lines,
                sealer,
                mark,
            })),
        }
    }

    fn begin_journal(&self, here: Folder, id: &LoopId) -> Result<SealedJournal, StoreError> {
        let sealer = Arc::new(self.home.sealer_or_new(&here)?);
        *lock_mutex(&self.sealer) = Some(sealer.clone());
        // The journal that is replaced may be longer.
        let _ = sealer.set_mark(id, &Mark::default());
        let folder = here
            .make_subfolder(id.as_str())
            .or_io("create", self.loop_folder(id))?;
        Ok(SealedJournal {
            here,
            folder,
            length: 0,
            lines: Vec::new(),
            sealer,
            mark: Mark::default(),
        })
    }

    /// Writes a loop's new document to a temporary file, not synced. Returns it with its name.
    fn prepare_document(
        &self,
        here: &Folder,
        id: &LoopId,
        bytes: &[u8],
    ) -> Result<(PreparedFile, String), StoreError> {
        let path = self.path_of(id);
        let prepare = || {
            let users_folder = self.spec.file.and(path.parent());
            if let Some(parent) = users_folder {
                make_all(&self.root, parent)?;
            }
            let (folder, name) = self.document_place(here, id)?;
            let old = folder.metadata(&name)?;
            if old.is_some_and(|old| old.kind.is_dir()) {
                return Err(ErrorKind::IsADirectory.into());
            }
            let content = folder.prepare(bytes)?;
            if users_folder.is_some() {
                // The user's file keeps its permissions.
                content.set_mode(old.map_or(0o644, |old| old.mode))?;
            }
            Ok((content, name))
        };
        prepare().or_io("write", &path)
    }
}

impl Journal for Store {
    fn append(
        &self,
        id: &LoopId,
        after: Option<u64>,
        entry: Entry,
        document: Option<&[u8]>,
    ) -> Result<(), StoreError> {
        let (here, _lock) = self.lock(LOCK)?;
        let since = if after == Some(0) { 0 } else { u64::MAX };
        let sealed = match self.read_sealed(Ok(here.clone()), id, since) {
            // A loop that is taken over begins its journal again.
            Err(StoreError::NotOurs { .. }) if after == Some(0) => None,
            sealed => sealed?,
        };
        check_order(after, sealed.as_ref().and_then(SealedJournal::change))?;
        // The document is written before the line, so that a full disk refuses the change here.
        let prepare = |bytes| self.prepare_document(&here, id, bytes);
        let prepared = document.map(prepare).transpose()?;
        let sealed = match sealed {
            Some(sealed) => sealed,
            None => self.begin_journal(here, id)?,
        };
        let path = self.journal_path(id);
        let json = serde_json::to_vec(&entry)
            .map_err(io::Error::from)
            .or_io("write", &path)?;
        let end = sealed.end();
        let before = sealed.lines.last().map_or("", |line| &line.seal);
        let seal = sealed.sealer.seal(id, before, end, &json);
        let line = [&*json, b"\t", seal.as_bytes(), b"\n"].concat();
        let bytes = end + line.len() as u64;
        if bytes > MAX_JOURNAL_BYTES {
            return Err(StoreError::Full { path });
        }
        sealed.append_line(&line).or_io("write", &path)?;

        // The line counts. If the rest fails, the next open repairs it; the mark is older.
        if let Some((document, name)) = prepared {
            let _ = document.rename(&name);
        }
        let mut mark = sealed.mark;
        mark.bytes = bytes;
        if let Some(change) = entry.change() {
            mark.over = self.spec.is_terminal(change.to.as_deref());
        }
        let _ = sealed.sealer.set_mark(id, &mark);
        // Failing to keep it fails nothing: the path is compared again at the next use.
        if end == 0 || !sealed.sealer.keeps_path {
            let _ = sealed.sealer.keep_path(&self.top);
            // Only a sealer that is read again knows that it is kept.
            *lock_mutex(&self.sealer) = None;
        }
        Ok(())
    }

    fn tail(&self, id: &LoopId) -> Result<Option<Tail>, StoreError> {
        loop {
            let Some(sealed) = self.read_sealed(self.open_folder(), id, u64::MAX)? else {
                return Ok(None);
            };
            let document = self
                .document_place(&sealed.here, id)
                .and_then(|(folder, name)| folder.read(&name, MAX_BYTES));
            let document = optional(document).or_io("read", self.path_of(id))?;
            // A document that another process wrote in between would not be that of this change.
            let length = || Some(sealed.folder.file(JOURNAL).ok()?.metadata().ok()?.len());
            if length() == Some(sealed.length) {
                let change = sealed.change().cloned();
                return Ok(change.map(|change| (change, document)));
            }
        }
    }

    fn restore(&self, id: &LoopId, revision: u64, document: &[u8]) -> Result<(), StoreError> {
        let (here, _lock) = self.lock(LOCK)?;
        let sealed = self.read_sealed(Ok(here.clone()), id, u64::MAX)?;
        let is_newest = |change: &ChangeEntry| change.revision == revision;
        let Some(sealed) = sealed.filter(|sealed| sealed.change().is_some_and(is_newest)) else {
            return Ok(());
        };
        // The process that wrote the line may have died before it was synced.
        let file = sealed.folder.file(JOURNAL);
        file.and_then(sync).or_io("write", self.journal_path(id))?;
        let (document, name) = self.prepare_document(&here, id, document)?;
        document.rename(&name).or_io("write", self.path_of(id))
    }

    fn entries(&self, id: &LoopId, since: u64) -> Result<Vec<Entry>, StoreError> {
        let sealed = self.read_sealed(self.open_folder(), id, since)?;
        let lines = sealed.into_iter().flat_map(|sealed| sealed.lines);
        Ok(lines.map(|line| line.entry).collect())
    }

    fn list(&self) -> BTreeSet<LoopId> {
        let names = self.names_in(&self.folder).into_iter();
        let id = |name: String| {
            LoopId::parse(self.document_stem(&name).unwrap_or(&name), self.spec.ids).ok()
        };
        names.filter_map(id).collect()
    }

    fn lock_starts(&self) -> Result<Box<dyn Debug + '_>, StoreError> {
        Ok(Box::new(self.lock(START_LOCK)?))
    }
}
