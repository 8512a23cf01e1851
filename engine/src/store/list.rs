//! Listing the loops of a state folder, without a lock and without a change.

use std::cmp::Reverse;
use std::time::SystemTime;

use camino::{Utf8Path, Utf8PathBuf};

use super::error::StoreError;
use super::id::LoopId;
use super::state_folder::{JOURNAL, Store};
use super::value::to_plain;
use crate::files::Folder;

/// A loop as [`Store::list`] sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct Listed {
    /// The id.
    pub id: LoopId,
    /// The document.
    pub path: Utf8PathBuf,
    /// The time when it was last changed or touched.
    pub modified: SystemTime,
    /// The stored form of the phase, or `None` if it is not known.
    pub phase: Option<String>,
    /// Whether that phase is terminal.
    pub terminal: bool,
    /// The session that owns it, or `unknown`.
    pub session: Option<String>,
    /// The folder that it belongs to.
    pub root: Option<String>,
    /// Whether it is a loop of our machine that is not this user's, so that nothing drives it.
    pub left_alone: bool,
    /// The reason why it cannot be opened as a loop of this user and machine.
    pub problem: Option<String>,
}

impl Store {
    /// Returns every loop that has a journal or a document, newest first, and names what is wrong with it. Writes nothing.
    pub fn list(&self) -> Vec<Listed> {
        self.list_each(self.ids())
    }

    fn ids(&self) -> Vec<LoopId> {
        let mut ids = self.journals().list().unwrap_or_default();
        let stems = self.stems().into_iter();
        ids.extend(stems.filter_map(|stem| LoopId::parse(&stem, self.spec.ids).ok()));
        ids.sort();
        ids.dedup();
        ids
    }

    /// Returns the loops that are not over, as [`list`](Self::list) does. One that this user ended is not opened.
    pub fn list_active(&self) -> Vec<Listed> {
        let mut ids = self.ids();
        if let Ok(here) = self.open_folder() {
            ids.retain(|id| !self.is_marked_over(&here, id));
        }
        let mut active = self.list_each(ids);
        active.retain(|one| !one.terminal);
        active
    }

    /// Returns whether the mark of a loop is as new as its journal and says that the loop is over.
    fn is_marked_over(&self, here: &Folder, id: &LoopId) -> bool {
        let is_over = || {
            let mark = self.sealing(here, id).ok()??.mark(id);
            let journal = here.subfolder(id.as_str()).ok()?.look(JOURNAL).ok()??;
            Some(mark.over && mark.bytes == journal.size)
        };
        is_over().unwrap_or_default()
    }

    /// Returns the state files that were made by hand: those whose name is not an id.
    pub fn list_foreign(&self) -> Vec<Listed> {
        let stems = self.stems().into_iter();
        let foreign = stems.filter(|stem| LoopId::parse(stem, self.spec.ids).is_err());
        self.list_each(foreign.map(|stem| LoopId::from_file_stem(&stem)).collect())
    }

    fn list_each(&self, ids: Vec<LoopId>) -> Vec<Listed> {
        newest_first(ids.into_iter().filter_map(|id| self.list_one(id)))
    }

    /// Returns the names of the documents in the state folder, without their extension.
    fn stems(&self) -> Vec<String> {
        if self.spec.file.is_some() {
            return Vec::new();
        }
        let extension = self.spec.extension;
        let stem = |name: String| {
            let stem = name.strip_suffix(extension)?.strip_suffix('.')?;
            Some(stem.to_owned()).filter(|stem| !stem.is_empty())
        };
        let names = self.open_folder().and_then(|here| here.names());
        let stems = names.unwrap_or_default().into_iter().filter_map(stem);
        stems.collect()
    }

    fn list_one(&self, id: LoopId) -> Option<Listed> {
        let spec = self.spec;
        let modified = self.modified(&id)?;
        let newest = self.newest(&id).map(|(newest, _)| newest);
        // Of a loop that cannot be opened, its document says something.
        let document = match &newest {
            Ok(_) => None,
            // A start died before its line was whole.
            Err(StoreError::NotFound { .. }) => return None,
            Err(_) => {
                let bytes = self.read_document(&id).unwrap_or_default();
                spec.parse(&bytes).ok()
            }
        };
        let text = |name: &str| match &newest {
            Ok(newest) => newest.field(name).map(to_plain),
            Err(_) => document.as_ref()?.text(name),
        };
        let phase = text(spec.fields.phase);
        Some(Listed {
            path: self.path_of(&id),
            id,
            modified,
            terminal: spec.is_terminal(phase.as_deref()),
            phase,
            session: text(spec.fields.session),
            root: text(spec.fields.root),
            left_alone: newest.as_ref().is_err_and(StoreError::is_unsealed),
            problem: newest.err().map(|error| error.to_string()),
        })
    }

    /// Returns the time when a loop was last changed or touched: that of its document, or, if that is the user's file, the later
    /// one of journal and document.
    fn modified(&self, id: &LoopId) -> Option<SystemTime> {
        if self.is_in_memory() {
            return Some(SystemTime::UNIX_EPOCH);
        }
        let time = |path: &Utf8Path| {
            let (folder, name) = self.folder_of(path).ok()?;
            Some(folder.look(&name).ok()??.modified)
        };
        let journal = time(&self.journal_path(id));
        let document = time(&self.path_of(id));
        match self.spec.file {
            Some(_) => journal.max(document),
            None => document.or(journal),
        }
    }
}

pub(super) fn newest_first(loops: impl Iterator<Item = Listed>) -> Vec<Listed> {
    let mut listed: Vec<Listed> = loops.collect();
    listed.sort_by_key(|one| Reverse((one.modified, one.id.clone())));
    listed
}
