//! Listing the loops of a state folder, without a lock and without a change.

use std::time::SystemTime;

use camino::{Utf8Path, Utf8PathBuf};

use super::error::StoreError;
use super::id::LoopId;
use super::state_folder::Store;
use super::value::to_plain;

/// A loop as [`Store::list`] sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct ListedLoop {
    /// The id.
    pub id: LoopId,
    /// The document.
    pub path: Utf8PathBuf,
    /// The time when it was last changed or touched.
    pub modified: SystemTime,
    /// The phase, or `None` if it is not known.
    pub phase: Option<String>,
    /// Whether that phase is terminal.
    pub terminal: bool,
    /// The session that owns it, or `unknown`.
    pub session: Option<String>,
    /// The folder that it belongs to.
    pub root: Option<String>,
    /// The reason why it cannot be opened as a loop of this user and machine.
    pub problem: Option<String>,
}

impl Store {
    /// Returns every loop with a journal or document and its problem, newest first. Opens each only
    /// when the iterator reaches it. Writes nothing.
    pub fn list(&self) -> impl Iterator<Item = ListedLoop> {
        self.list_each(self.journals().list())
    }

    /// Returns the loops of [`Store::list`] that are not over. Opens none that this user ended.
    pub fn list_active(&self) -> Vec<ListedLoop> {
        // A loop that is over stays so: no edge leaves its phase.
        let is_over = |id: &LoopId| self.sealer(id).is_ok_and(|sealer| sealer.mark(id).over);
        let mut ids = self.journals().list();
        ids.retain(|id| !is_over(id));
        self.list_each(ids).filter(|one| !one.terminal).collect()
    }

    /// Returns the state files that were made by hand: those whose name is not an id.
    pub fn list_foreign(&self) -> Vec<ListedLoop> {
        let names = self.names_in(&self.folder);
        let stems = names.iter().filter_map(|name| self.document_stem(name));
        let foreign = stems.filter(|stem| LoopId::parse(stem, self.spec.ids).is_err());
        self.list_each(foreign.map(LoopId::from_file_stem))
            .collect()
    }

    pub(super) fn list_each(
        &self,
        ids: impl IntoIterator<Item = LoopId>,
    ) -> impl Iterator<Item = ListedLoop> {
        let here = self.open_folder().ok();
        let modified = |id: &LoopId| match &here {
            Some(here) => self.modified(here, id),
            None => self.is_in_memory().then_some(SystemTime::UNIX_EPOCH),
        };
        let timed = |id: LoopId| Some((modified(&id)?, id));
        let mut newest_last: Vec<_> = ids.into_iter().filter_map(timed).collect();
        newest_last.sort_unstable();
        let newest_first = newest_last.into_iter().rev();
        newest_first.filter_map(|(modified, id)| self.list_one(id, modified))
    }

    /// Returns the names in the state folder or one below it, or nothing if it cannot be read.
    pub(super) fn names_in(&self, folder: &Utf8Path) -> Vec<String> {
        let names = self.open_below_base(folder).and_then(|here| here.names());
        names.unwrap_or_default()
    }

    fn list_one(&self, id: LoopId, modified: SystemTime) -> Option<ListedLoop> {
        let spec = self.spec;
        let newest = self.newest(&id).map(|(newest, _)| newest);
        // If a loop cannot be opened, its document has some of this.
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
        Some(ListedLoop {
            path: self.path_of(&id),
            id,
            modified,
            terminal: spec.is_terminal(phase.as_deref()),
            phase,
            session: text(spec.fields.session),
            root: text(spec.fields.root),
            problem: newest.err().map(|error| error.to_string()),
        })
    }
}
