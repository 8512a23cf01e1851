//! Starting a loop: refused while another one is under way, and nothing is left behind if it fails.

use std::time::Duration;

use camino::Utf8PathBuf;
use jiff::Timestamp;
use serde_json::Value as Json;

use super::document::Document;
use super::entry::{Change, ChangeEntry, Record};
use super::error::{StartError, StoreError, WhyNotOurs, io_error};
use super::id::{LoopId, iso};
use super::journal::After;
use super::loop_folder::SIDECARS;
use super::spec::Active;
use super::store::Store;
use super::value::Fields;

/// The finished loops that a start leaves in the folder. Older ones are archived.
const MAX_FINISHED: usize = 20;

/// The parts of a new loop.
#[derive(Debug)]
pub struct StartPlan {
    /// The time of the start.
    pub now: Timestamp,
    /// Archives loops that nobody touched for this long first.
    pub stale_after: Option<Duration>,
    /// The id. `None`: a stamp is made.
    pub id: Option<LoopId>,
    /// The actor who starts it, for the journal.
    pub by: String,
    /// The fields in their order, the phase among them. The store writes the id, the revision, the machine, the graph hash, the
    /// root and the times. A missing session becomes `unknown`.
    pub fields: Fields,
}

/// A document that the engine did not write.
#[derive(Debug)]
pub struct Import {
    /// The document. Keys that no field of the machine names stay in it.
    pub document: Document,
    /// The file that it was read from, by its canonical path. One in the state folder, or in the place of the loop's document,
    /// is replaced and kept as `<id>/replaced-N`. Any other file stays. If it is the document of a loop that was put back, such
    /// as by a checkout, that loop takes the file's state as its next change.
    pub file: Utf8PathBuf,
}

/// A loop that was started.
#[derive(Debug)]
pub struct Started {
    /// The loop.
    pub record: Record,
    /// The stale loops that were archived before.
    pub archived: Vec<LoopId>,
}

impl Store {
    /// Starts a loop. Makes the state folder, which ignores itself, if it is not there.
    pub fn start(&self, plan: StartPlan) -> Result<Record, StartError> {
        self.start_telling(plan, None).map(|started| started.record)
    }

    /// Starts a loop, with a document that the engine did not write if one is given, and returns the loops that were archived before.
    pub fn start_telling(
        &self,
        plan: StartPlan,
        import: Option<Import>,
    ) -> Result<Started, StartError> {
        if !self.is_in_memory() {
            // Without a key no loop can be started, so nothing is made.
            self.home.key_or_new()?;
            self.make()?;
        }
        let _alone = self.journal_of().alone()?;
        let archived = match plan.stale_after {
            Some(older) => self.archive_stale(plan.now.into(), older),
            None => Vec::new(),
        };
        let spec = self.spec();
        let id = match plan.id {
            Some(id) => id,
            None => LoopId::new_stamp(plan.now)
                .map_err(io_error("take random bytes for", self.folder()))?,
        };
        let id = LoopId::parse(id.as_str(), spec.ids).map_err(|error| {
            StoreError::input("start", self.folder().join(id.as_str()), error.to_string())
        })?;
        let path = self.path_of(&id);
        let taken = import.as_ref().map(|import| import.file.clone());
        // A document that was put back is the next change of its loop.
        let mut before = ChangeEntry::default();
        if taken.as_ref() == Some(&path) && self.has_journal(&id) {
            let (newest, found) = self.newest(&id)?;
            if self.revision_behind(&newest, found.as_deref()).is_some() {
                before = newest;
            }
        }
        if before.revision == 0 {
            self.check_free(&id, taken.as_ref())?;
        }
        let what = if import.is_some() { "import" } else { "start" };
        let document = import.map(|import| import.document);
        let text = |field: &str| plan.fields.get(field)?.as_str().map(str::to_owned);
        let session = text(spec.fields.session).unwrap_or_else(|| "unknown".to_owned());
        self.refuse_active(&id, Some(&session), taken.as_ref())?;
        let phase = text(spec.fields.phase).filter(|phase| !phase.is_empty());
        if phase.is_none() {
            let why = "its fields name no phase".to_owned();
            let folder = self.folder().to_owned();
            return Err(StoreError::input("start a loop in", folder, why).into());
        }
        let fields = self.first_fields(plan.now, &id, session, plan.fields, document.as_ref())?;
        let after = After::Revision(before.revision);
        before.fields = fields;
        let change = Change {
            to: phase,
            root: Some(self.root().to_string()),
            begins_visit: true,
            ..Change::bare(what, &plan.by)
        };
        let entry = self.next_entry(&id, plan.now, before, change)?;
        let found = document.map(|document| document.to_bytes());
        let bytes = found.as_deref().unwrap_or_default();
        let record = self.append(&id, after, bytes, entry);
        let record = record.map_err(|error| match error {
            StoreError::Stale { .. } => self.active(id.as_str(), None),
            error => error,
        })?;
        if !self.is_in_memory() {
            if let Some((file, bytes)) = taken.zip(found) {
                self.keep_imported(&id, &file, &bytes)?;
            }
            let pid = format!("{}\n", std::process::id());
            self.write_beside(&id, SIDECARS[0], pid.as_bytes())?;
            self.archive_finished(MAX_FINISHED);
        }
        Ok(Started { record, archived })
    }

    /// Keeps an imported file of the state folder, or in the place of the loop's document, as `<id>/replaced-N`.
    fn keep_imported(
        &self,
        id: &LoopId,
        file: &Utf8PathBuf,
        bytes: &[u8],
    ) -> Result<(), StoreError> {
        let is_document = *file == self.path_of(id);
        if !is_document && file.parent() != Some(self.folder()) {
            return Ok(());
        }
        self.keep_replaced(id, bytes)?;
        if is_document {
            return Ok(());
        }
        let removed = self
            .folder_of(file)
            .and_then(|(folder, name)| folder.remove(&name));
        removed.map_err(io_error("remove", file))
    }

    /// Refuses an id that a loop has or had here, and the user's document that is another loop's, unless that loop is
    /// finished and can be archived.
    fn check_free(&self, id: &LoopId, taken: Option<&Utf8PathBuf>) -> Result<(), StoreError> {
        let exists = || Err(self.active(id.as_str(), None));
        if self.has_journal(id) || self.has_archived(id) {
            return exists();
        }
        let path = self.path_of(id);
        if taken == Some(&path) || self.read_document(id).is_err() {
            return Ok(());
        }
        if self.spec().file.is_none() {
            return exists();
        }
        let mut others = self.list().into_iter();
        match others.find(|one| one.id != *id && one.path == path) {
            Some(other) if other.terminal => self.archive(&other.id),
            Some(other) if other.ours => Err(self.active(other.id.as_str(), other.phase)),
            _ => Err(self.not_ours(id, WhyNotOurs::OtherFile)),
        }
    }

    /// Refuses a start while another loop is under way that may not be beside it.
    pub(super) fn refuse_active(
        &self,
        id: &LoopId,
        session: Option<&str>,
        taken: Option<&Utf8PathBuf>,
    ) -> Result<(), StartError> {
        let active = self.spec().active;
        for other in self.list() {
            let is_in_way = match active {
                Active::One => true,
                Active::Session => other.session.as_deref() == session,
                Active::Many => false,
            };
            let is_under_way = other.phase.is_some() && !other.terminal && other.id != *id;
            let is_here = Some(&other.path) != taken && self.is_for(other.root.as_deref());
            if is_in_way && is_under_way && is_here {
                return Err(self.active(other.id.as_str(), other.phase).into());
            }
        }
        // A state file that was made by hand counts, too.
        for file in self.list_foreign() {
            let is_under_way = file.phase.is_some() && !file.terminal;
            if active != Active::Many && is_under_way && Some(&file.path) != taken {
                let name = file.path.file_stem().unwrap_or_default();
                return Err(self.active(name, file.phase).into());
            }
        }
        Ok(())
    }

    /// Completes the fields of a new loop with those that no later change sets.
    fn first_fields(
        &self,
        now: Timestamp,
        id: &LoopId,
        session: String,
        mut fields: Fields,
        document: Option<&Document>,
    ) -> Result<Fields, StoreError> {
        let names = &self.spec().fields;
        // The loop of an imported document may have begun earlier.
        let began = names
            .started
            .and_then(|field| document?.text(field)?.parse::<Timestamp>().ok())
            .map_or(now, |began| began.min(now));
        let kept: [(Option<&str>, Json); 6] = [
            (Some(names.id), id.as_str().into()),
            (Some(names.session), session.into()),
            (names.started, iso(began).into()),
            (names.started_epoch, began.as_second().max(0).into()),
            (names.findings, 0.into()),
            (Some(names.machine), self.spec().machine.into()),
        ];
        for (name, value) in kept {
            if let Some(name) = name {
                fields.insert(name.to_owned(), value);
            }
        }
        for (field, value) in &fields {
            self.check_range(id, field, value)?;
        }
        Ok(fields)
    }
}
