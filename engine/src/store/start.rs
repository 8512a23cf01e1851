//! Starting a loop: refused while another one is under way, and nothing is left behind if it fails.

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;

use super::document::Document;
use super::entry::{Change, ChangeEntry, Record, set_engine_field};
use super::error::{OrIo as _, StoreError, WhyNotOurs};
use super::id::{LoopId, to_seconds};
use super::loop_files::PROCESS_ID;
use super::spec::Active;
use super::state_folder::Store;
use super::value::{Fields, to_plain};
use crate::text::printable;

/// The finished loops that a start leaves in the folder. Older ones are archived.
const MAX_FINISHED: usize = 20;

/// The circumstances of a start: the time, the session, the id.
#[derive(Debug, Clone)]
pub struct Beginning {
    /// The time of the start.
    pub now: Timestamp,
    /// The session that owns the loop, or `unknown`.
    pub session: String,
    /// The loop's id if a field has to name it, or `None` to make one.
    pub id: Option<LoopId>,
}

impl Beginning {
    /// Makes a start now, for a session.
    pub fn now(session: impl Into<String>) -> Self {
        Self {
            now: Timestamp::now(),
            session: session.into(),
            id: None,
        }
    }
}

/// A document that the engine did not write.
#[derive(Debug)]
pub struct Import {
    /// The document. Keys that no field of the machine names stay in it.
    pub document: Document,
    /// The canonical path of its file. One in the state folder, or in the place of the loop's own
    /// document, is replaced and kept as `<id>/replaced-N`. A document that was replaced, as by
    /// a checkout, becomes the next change of its loop.
    pub file: Utf8PathBuf,
}

impl Store {
    /// Starts a loop, and makes the state folder. The fields are in their order, the phase among
    /// them; the store writes the engine's other fields.
    pub fn start(
        &self,
        beginning: &Beginning,
        by: &str,
        mut fields: Fields,
        import: Option<Import>,
    ) -> Result<Record, StoreError> {
        if !self.is_in_memory() {
            // Without a key no loop can be started, so nothing is made.
            self.home.open_or_make()?;
            self.make()?;
        }
        let _lock = self.journals().lock_starts()?;
        let names = &self.spec.fields;
        let id = match &beginning.id {
            Some(id) => id.clone(),
            None => {
                LoopId::new_stamp(beginning.now).or_io("take random bytes for", &self.folder)?
            }
        };
        LoopId::parse(id.as_str(), self.spec.ids)
            .map_err(|why| StoreError::input("start", self.loop_folder(&id), why))?;
        let document = import.as_ref().map(|import| &import.document);
        let file = import.as_ref().map(|import| &*import.file);
        let before = self.find_predecessor(&id, file)?;
        self.refuse_active(&id, Some(&beginning.session), file)?;
        // The loop of an imported document may have begun earlier.
        let began = names
            .started
            .and_then(|field| document?.text(field)?.parse::<Timestamp>().ok())
            .map_or(beginning.now, |began| began.min(beginning.now));
        let change = Change {
            to: fields.get(names.phase).map(to_plain),
            begins_visit: true,
            ..Change::new(if import.is_some() { "import" } else { "start" }, by)
        };
        set_engine_field(&mut fields, names.id, id.as_str());
        set_engine_field(&mut fields, names.session, beginning.session.as_str());
        set_engine_field(&mut fields, names.started, to_seconds(began).to_string());
        set_engine_field(&mut fields, names.started_epoch, began.as_second().max(0));
        set_engine_field(&mut fields, names.findings, 0);
        set_engine_field(&mut fields, names.machine, self.spec.machine);
        set_engine_field(&mut fields, names.root, self.root.as_str());
        let after = before.revision;
        let entry = ChangeEntry { fields, ..before }.followed_by(self.spec, beginning.now, change);
        let found = document.map(Document::to_bytes).unwrap_or_default();
        let earlier = self.read_document(&id).ok().filter(|_| file.is_none());
        let mut record = self.append_change(&id, after, &found, entry)?;
        if !self.is_in_memory() {
            if let Some(file) = file {
                self.keep_imported(&id, file, &found)?;
            }
            // The user may have added keys or text to the document of an earlier loop.
            if let Some(kept) = earlier.and_then(|bytes| self.keep_replaced(&id, &bytes).ok()) {
                let kept = printable(kept);
                record
                    .repairs
                    .push(format!("the document before it is kept as {kept}"));
            }
            // The loop has begun, and no full disk takes that back.
            let pid = format!("{}\n", std::process::id());
            let _ = self.write_beside(&id, PROCESS_ID, pid.as_bytes());
            self.archive_finished(MAX_FINISHED);
        }
        Ok(record)
    }

    /// Keeps an imported file as `<id>/replaced-N` if its place is the engine's ([`Import::file`]).
    fn keep_imported(&self, id: &LoopId, file: &Utf8Path, bytes: &[u8]) -> Result<(), StoreError> {
        let is_document = file == self.path_of(id);
        if !is_document && file.parent() != Some(&*self.folder) {
            return Ok(());
        }
        self.keep_replaced(id, bytes)?;
        if is_document {
            return Ok(());
        }
        self.folder_of(file)
            .and_then(|(folder, name)| folder.remove(&name))
            .or_io("remove", file)
    }

    /// Refuses an id that is taken, and a document of another loop, unless that can be archived.
    /// Returns the change to follow: of the loop whose document was replaced, or else an empty one.
    fn find_predecessor(
        &self,
        id: &LoopId,
        file: Option<&Utf8Path>,
    ) -> Result<ChangeEntry, StoreError> {
        let path = self.path_of(id);
        let is_imported = file == Some(&*path);
        let has_journal = self.has_journal(id);
        if is_imported && has_journal {
            let (newest, found) = self.newest(id)?;
            if self.why_replaced(id, &newest, found.as_deref()).is_some() {
                return Ok(newest);
            }
        }
        let is_taken = !is_imported && self.read_document(id).is_ok();
        if has_journal || self.has_archived(id) || is_taken && self.spec.file.is_none() {
            return Err(self.conflict_with(id, None));
        }
        if is_taken {
            match self.list().find(|one| one.id != *id && one.path == path) {
                Some(other) if other.terminal => self.archive(&other.id)?,
                Some(other) if other.problem.is_none() => {
                    return Err(self.conflict_with(&other.id, other.phase));
                }
                _ => return Err(self.not_ours(id, WhyNotOurs::NoJournal)),
            }
        }
        Ok(ChangeEntry::default())
    }

    /// Refuses a start while another loop, or a state file made by hand but `file`, is active.
    pub(super) fn refuse_active(
        &self,
        id: &LoopId,
        session: Option<&str>,
        file: Option<&Utf8Path>,
    ) -> Result<(), StoreError> {
        let active = self.spec.active;
        if active == Active::Many {
            return Ok(());
        }
        for other in self.list_active().into_iter().chain(self.list_foreign()) {
            let is_in_way = active == Active::One || other.session.as_deref() == session;
            let is_under_way = other.phase.is_some() && !other.terminal && other.id != *id;
            let is_here = Some(&*other.path) != file && self.is_for(other.root.as_deref());
            if is_in_way && is_under_way && is_here {
                return Err(self.conflict_with(&other.id, other.phase));
            }
        }
        Ok(())
    }
}
