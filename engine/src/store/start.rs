//! Starting a loop: refused while another one is under way, and nothing is left behind if it fails.

use std::time::Duration;

use camino::Utf8PathBuf;
use jiff::Timestamp;
use serde_json::Value as Json;

use super::document::Document;
use super::entry::ChangeEntry;
use super::error::{StartError, StoreError, WhyNotOurs, io_error};
use super::id::{LoopId, iso};
use super::journal::After;
use super::loop_folder::{IGNORE, LOCK, SIDECARS, START_LOCK};
use super::project;
use super::record::Record;
use super::spec::{Active, HeldFields};
use super::store::Store;
use super::value::Fields;
use crate::files::{Folder, Made, remove_made};

/// The first change of a loop that the engine made.
const START: &str = "start";
/// The first change of a loop whose document it did not make.
const IMPORT: &str = "import";
/// The finished loops that a start leaves where they are. Older ones are archived.
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
    ///
    /// # Errors
    /// [`StoreError::Active`] if a loop here, or a state file made by hand, is not at its end. Nothing of the new loop is left
    /// behind then.
    pub fn start(&self, plan: StartPlan) -> Result<Record, StartError> {
        self.start_telling(plan, None).map(|started| started.record)
    }

    /// Starts a loop, with a document that the engine did not write if one is given, and tells what was archived before.
    ///
    /// # Errors
    /// Returns the errors of [`Store::start`].
    pub fn start_telling(
        &self,
        plan: StartPlan,
        import: Option<Import>,
    ) -> Result<Started, StartError> {
        let made = match self.is_in_memory() {
            true => None,
            false => Some(self.make()?),
        };
        let result = match self.journal_of().alone() {
            Ok(_alone) => self.start_alone(plan, import),
            Err(error) => Err(error.into()),
        };
        if let (Err(_), Some((here, made))) = (&result, made) {
            unmake(&here, &made);
        }
        result
    }

    fn start_alone(&self, plan: StartPlan, import: Option<Import>) -> Result<Started, StartError> {
        let archived = match plan.stale_after {
            Some(older) => self.archive_stale(plan.now.into(), older),
            None => Vec::new(),
        };
        let id = match plan.id {
            Some(id) => id,
            None => LoopId::new_stamp(plan.now)
                .map_err(io_error("take random bytes for", self.folder()))?,
        };
        let id = LoopId::parse(id.as_str(), self.spec().ids).map_err(|error| {
            StoreError::input("start", self.folder().join(id.as_str()), error.to_string())
        })?;
        let path = self.path_of(&id);
        let taken = import.as_ref().map(|import| import.file.clone());
        let before = match taken.as_ref() == Some(&path) {
            true => self.find_behind(&id)?.map(|(newest, _)| newest),
            false => None,
        };
        if before.is_none() {
            self.check_free(&id, taken.as_ref())?;
        }
        let after = before.as_ref().map_or(0, |newest| newest.revision);
        let (what, document) = match import {
            Some(import) => (IMPORT, Some(import.document)),
            None => (START, None),
        };
        let fields = self.first_fields(plan.now, &id, after + 1, plan.fields, document.as_ref())?;
        let text = |field: &str| fields.get(field)?.as_str();
        self.refuse_active(&id, text(self.spec().fields.session), taken.as_ref())?;
        let phase = text(self.spec().fields.phase).filter(|phase| !phase.is_empty());
        let phase = phase.ok_or_else(|| {
            let why = "its fields name no phase".to_owned();
            StoreError::input("start a loop in", self.folder().to_owned(), why)
        })?;
        let phase = phase.to_owned();
        let entry = ChangeEntry {
            revision: after + 1,
            at: plan.now,
            what: what.to_owned(),
            by: plan.by,
            from: before.and_then(|newest| newest.to),
            to: Some(phase),
            visit: Some(after + 1),
            fields,
            ..ChangeEntry::default()
        };
        let found = document.map(|document| document.to_bytes());
        let record = match self.append(
            &id,
            After::Revision(after),
            found.as_deref().unwrap_or_default(),
            entry,
        ) {
            Ok(record) => record,
            Err(StoreError::Stale { .. }) => return Err(self.exists(&id).into()),
            Err(error) => return Err(error.into()),
        };
        if self.is_in_memory() {
            return Ok(Started { record, archived });
        }
        if let Some((taken, bytes)) = taken.zip(found)
            && (taken.parent() == Some(self.folder()) || taken == path)
        {
            self.keep_replaced(&id, &bytes)?;
            if taken != path
                && let (Some(name), Ok(here)) = (taken.file_name(), self.open_folder())
            {
                here.remove(name).map_err(io_error("remove", &taken))?;
            }
        }
        let pid = format!("{}\n", std::process::id());
        let name = format!("{id}{}", SIDECARS[0]);
        let here = self.open_folder();
        let written = here.and_then(|here| here.replace(&name, pid.as_bytes()));
        written.map_err(io_error("write", &self.folder().join(&name)))?;
        self.archive_finished(MAX_FINISHED);
        Ok(Started { record, archived })
    }

    /// Refuses an id that a loop has or had here, and a document of the user's that is another loop's.
    fn check_free(&self, id: &LoopId, taken: Option<&Utf8PathBuf>) -> Result<(), StoreError> {
        if self.has_journal(id) || self.has_archived(id) {
            return Err(self.exists(id));
        }
        let path = self.path_of(id);
        if taken == Some(&path) || self.read_document(id).is_err() {
            return Ok(());
        }
        match self.spec().file {
            Some(_) => self.make_way(id),
            None => Err(self.exists(id)),
        }
    }

    /// Archives the finished loop whose document is where the document of a new one goes.
    fn make_way(&self, id: &LoopId) -> Result<(), StoreError> {
        let path = self.path_of(id);
        let same = |one: &super::list::Listed| one.id != *id && one.path == path;
        match self.list().into_iter().find(same) {
            Some(other) if other.terminal => self.archive(&other.id),
            Some(other) if other.ours => Err(StoreError::Active {
                id: other.id.to_string(),
                phase: other.phase,
                folder: self.folder().to_owned(),
            }),
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
        let active = |id: String, phase: Option<String>| StoreError::Active {
            id,
            phase,
            folder: self.folder().to_owned(),
        };
        for other in self.list() {
            let is_in_way = match self.spec().active {
                Active::One => true,
                Active::Session => other.session.as_deref() == session,
                Active::Many => false,
            };
            if other.id != *id
                && !other.terminal
                && is_in_way
                && other.phase.is_some()
                && Some(&other.path) != taken
                && self.is_for(other.root.as_deref())
            {
                return Err(active(other.id.to_string(), other.phase).into());
            }
        }
        // A state file that was made by hand counts, too.
        for file in self.list_foreign() {
            if !file.terminal
                && file.phase.is_some()
                && Some(&file.path) != taken
                && self.spec().active != Active::Many
            {
                let name = file.path.file_stem().unwrap_or_default().to_owned();
                return Err(active(name, file.phase).into());
            }
        }
        Ok(())
    }

    /// Completes the fields of a new loop with what the engine keeps.
    fn first_fields(
        &self,
        now: Timestamp,
        id: &LoopId,
        revision: u64,
        mut fields: Fields,
        document: Option<&Document>,
    ) -> Result<Fields, StoreError> {
        let spec = self.spec();
        let names = &spec.fields;
        let began = document
            .and_then(|document| began(document, names, now))
            .unwrap_or(now);
        let kept: [(Option<&str>, Json); 10] = [
            (Some(names.id), id.as_str().into()),
            (Some(names.root), self.root().as_str().into()),
            (names.started, iso(began).into()),
            (names.started_epoch, began.as_second().max(0).into()),
            (names.updated, iso(now).into()),
            (Some(names.revision), revision.into()),
            (names.findings, 0.into()),
            (names.visit, revision.into()),
            (Some(names.machine), spec.machine.into()),
            (names.graph_hash, spec.graph_hash.into()),
        ];
        for (name, value) in kept {
            if let Some(name) = name {
                fields.insert(name.to_owned(), value);
            }
        }
        let session = fields.entry(names.session);
        session.or_insert_with(|| "unknown".into());
        for (field, value) in &fields {
            self.check_range(id, field, value)?;
        }
        Ok(fields)
    }
}

/// Returns when the loop of an imported document began, if that was earlier.
fn began(document: &Document, names: &HeldFields, now: Timestamp) -> Option<Timestamp> {
    let began: Timestamp = document.text(names.started?)?.parse().ok()?;
    (began < now).then_some(began)
}

/// Takes away folders that were made for a start that failed, if nothing else is in them.
fn unmake(here: &Folder, made: &[Made]) {
    let ours = [LOCK, START_LOCK, project::FILE, IGNORE];
    let is_ours =
        |listed: &[(String, _)]| listed.iter().all(|(name, _)| ours.contains(&name.as_str()));
    if made.is_empty() || !here.list().is_ok_and(|listed| is_ours(&listed)) {
        return;
    }
    for name in ours {
        let _ = here.remove(name);
    }
    remove_made(made);
}
