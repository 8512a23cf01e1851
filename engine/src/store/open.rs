//! Opening a loop: its newest change, and a document that shows it.

use camino::Utf8PathBuf;
use serde_json::Value as Json;

use super::document::Document;
use super::entry::{Change, ChangeEntry, EDIT, Entry, MOVED, NoteEntry, Record};
use super::error::{StoreError, WhyNotOurs, io_error};
use super::id::LoopId;
use super::journal::After;
use super::spec::Form;
use super::store::Store;
use super::value::{FieldValue as _, Fields};
use crate::text;

/// The note of a verb or a helper that was refused.
pub const REFUSED: &str = "refused";
/// The note of a document that was edited by hand or missing, and was written again.
pub const REPAIRED: &str = "repaired";

/// A loop that was opened, and the repair of its document.
#[derive(Debug, Clone)]
pub struct Opened {
    /// The loop.
    pub record: Record,
    /// The repairs of its document, for the user to know, each a sentence.
    pub repairs: Vec<String>,
}

/// The difference between a document and the newest change.
#[derive(Default)]
struct Difference {
    /// The edits by hand that the machine allows.
    taken: Fields,
    /// The fields of other edits, or why the document cannot be read.
    undone: Option<String>,
}

impl Store {
    /// Opens a loop. Its state is its newest change. A document that does not show that is written again; an edit by hand
    /// that the machine allows becomes a change, and so does the root of a project that was moved.
    pub fn open(&self, id: &LoopId) -> Result<Opened, StoreError> {
        let mut repairs = Vec::new();
        loop {
            let (mut newest, found) = self.newest(id)?;
            if let Some(found) = self.revision_behind(&newest, found.as_deref()) {
                let newest = newest.revision;
                return Err(self.not_ours(id, WhyNotOurs::PutBack { found, newest }));
            }
            let difference = self.compare(id, &newest, found.as_deref())?;
            if self.only_looks {
                newest.fields.extend(difference.unwrap_or_default().taken);
                let record = self.record(id, newest, found.unwrap_or_default());
                return Ok(Opened { record, repairs });
            }

            let mut change = Change {
                root: self.root_after_move(&newest),
                ..Change::bare(MOVED, "person")
            };
            let mut document = found.clone().unwrap_or_default();
            if let Some(difference) = difference {
                let undone = difference.undone.as_deref();
                repairs.extend(self.describe_repair(id, found.as_deref(), undone)?);
                document = self.render_onto(id, &newest, found.as_deref())?;
                if !difference.taken.is_empty() {
                    EDIT.clone_into(&mut change.what);
                    change.edits = difference.taken;
                } else if change.root.is_none() {
                    self.journal_of().restore(id, newest.revision, &document)?;
                }
            }
            let taken = describe_edits(&newest, &change.edits);
            let mut record = self.record(id, newest, document);
            if change.root.is_some() || !taken.is_empty() {
                match self.write(&record, change) {
                    Ok(written) => record = written,
                    Err(StoreError::Stale { .. }) => continue,
                    Err(error) => return Err(error),
                }
            }
            for repair in &repairs {
                self.log(&format!("{id}: {repair}"));
                self.note_attempt(id, REPAIRED, &[("what", repair)]);
            }
            if !taken.is_empty() {
                // It is in the journal as a change already.
                self.log(&format!("{id}: {taken}"));
                repairs.push(taken);
            }
            return Ok(Opened { record, repairs });
        }
    }

    pub(super) fn record(&self, id: &LoopId, newest: ChangeEntry, document: Vec<u8>) -> Record {
        Record {
            id: id.clone(),
            newest,
            document,
            spec: self.spec(),
        }
    }

    /// Returns the newest change of a loop, and its document if there is one.
    pub(super) fn newest(&self, id: &LoopId) -> Result<(ChangeEntry, Option<Vec<u8>>), StoreError> {
        let Some(tail) = self.journal_of().tail(id)? else {
            return Err(self.why_none(id));
        };
        let Ok(newest) = serde_json::from_slice::<ChangeEntry>(&tail.change) else {
            return Err(self.foreign_journal(id, "another version wrote its journal"));
        };
        match newest.field(self.spec().fields.machine) {
            Some(machine) if machine.to_plain() != self.spec().machine => {
                Err(self.other_machine(id, machine.to_plain().into_owned()))
            }
            _ => Ok((newest, tail.document)),
        }
    }

    /// Returns the reason for which there is no loop of this user, from its document.
    fn why_none(&self, id: &LoopId) -> StoreError {
        let Ok(bytes) = self.read_document(id) else {
            return self.no_loop(id);
        };
        match self.spec().parse(&bytes) {
            Err(error) => io_error("read", &self.path_of(id))(error),
            Ok(document) => match document.text(self.spec().fields.machine) {
                None => self.not_ours(id, WhyNotOurs::NoMachine),
                Some(machine) if machine == self.spec().machine => {
                    self.not_ours(id, WhyNotOurs::NoJournal)
                }
                Some(machine) => self.other_machine(id, machine),
            },
        }
    }

    /// Returns the root of a loop whose project was moved. In a folder that projects share, no loop moves.
    fn root_after_move(&self, newest: &ChangeEntry) -> Option<String> {
        let is_own = self.folder().starts_with(self.root());
        let root = newest.field(self.spec().fields.root)?.as_str()?;
        (is_own && self.root() != root).then(|| self.root().to_string())
    }

    /// Returns a description of the repair of a document, for the user. Keeps one that was edited in another way than the machine allows.
    fn describe_repair(
        &self,
        id: &LoopId,
        found: Option<&[u8]>,
        undone: Option<&str>,
    ) -> Result<Option<String>, StoreError> {
        match (found, undone) {
            (Some(bytes), Some(what)) => {
                let kept = text::shown(self.keep_replaced(id, bytes)?);
                Ok(Some(format!(
                    "the state was edited by hand ({what}); the edit was undone, and the file is kept as {kept}"
                )))
            }
            (Some(_), None) => Ok(None),
            (None, _) => {
                let path = text::shown(self.path_of(id));
                Ok(Some(format!("{path} was missing and was written again")))
            }
        }
    }

    /// Compares a document with the newest change. Returns `None` if it shows that change.
    fn compare(
        &self,
        id: &LoopId,
        newest: &ChangeEntry,
        found: Option<&[u8]>,
    ) -> Result<Option<Difference>, StoreError> {
        let spec = self.spec();
        let mut difference = Difference::default();
        let document = match found.map(|bytes| spec.parse(bytes)) {
            Some(Ok(document)) => document,
            unreadable => {
                let error = unreadable.and_then(Result::err);
                difference.undone = error.map(|error| error.to_string());
                return Ok(Some(difference));
            }
        };
        let shown = document.count(spec.fields.revision);
        if let Some(shown) = shown.filter(|shown| *shown < newest.revision) {
            // A crash leaves the document of the change before. Any other one was edited.
            let entries = self.journal_since(id, Some(shown))?;
            let mut changes = entries.iter().filter_map(Entry::change);
            let written = changes.find(|change| change.revision == shown);
            let is_written =
                written.is_some_and(|written| differing(&document, &written.fields).is_empty());
            difference.undone = (!is_written).then(|| spec.fields.revision.to_owned());
            return Ok(Some(difference));
        }
        let mut undone = Vec::new();
        for field in differing(&document, &newest.fields) {
            match document.get(field) {
                Some(value) if shown == Some(newest.revision) && spec.takes_edit(field, &value) => {
                    difference.taken.insert(field.to_owned(), value);
                }
                _ => undone.push(field),
            }
        }
        let is_same = difference.taken.is_empty() && undone.is_empty();
        difference.undone = (!undone.is_empty()).then(|| undone.join(", "));
        Ok((!is_same).then_some(difference))
    }

    /// Returns the revision of a document that is older than a crash can leave it. Only a file of the user's can be.
    pub(super) fn revision_behind(
        &self,
        newest: &ChangeEntry,
        found: Option<&[u8]>,
    ) -> Option<u64> {
        self.spec().file?;
        let document = self.spec().parse(found?).ok()?;
        let shown = document.count(self.spec().fields.revision)?;
        (shown + 1 < newest.revision).then_some(shown)
    }

    /// Writes the document of a loop again if it was put back, such as by a checkout, and keeps the file as `<id>/replaced-N`.
    /// Returns the path of the kept file, or `None` if the document was not put back.
    pub fn render_again(&self, id: &LoopId) -> Result<Option<Utf8PathBuf>, StoreError> {
        let (newest, found) = self.newest(id)?;
        if self.revision_behind(&newest, found.as_deref()).is_none() {
            return Ok(None);
        }
        let bytes = found.unwrap_or_default();
        let kept = self.keep_replaced(id, &bytes)?;
        let document = self.render_onto(id, &newest, Some(&bytes))?;
        self.journal_of().restore(id, newest.revision, &document)?;
        self.log(&format!(
            "{id}: the document was written again; the file that was put back is kept as {kept}"
        ));
        Ok(Some(kept))
    }

    /// Renders a change into a document that is there. Text that changes since then added below the fields is added again.
    fn render_onto(
        &self,
        id: &LoopId,
        newest: &ChangeEntry,
        found: Option<&[u8]>,
    ) -> Result<Vec<u8>, StoreError> {
        let spec = self.spec();
        let document = found.and_then(|bytes| spec.parse(bytes).ok());
        let document = document.unwrap_or_else(|| spec.empty());
        let shown = document.count(spec.fields.revision).unwrap_or_default();
        let mut texts = Vec::new();
        if shown < newest.revision && matches!(spec.form, Form::Frontmatter(..)) {
            let entries = self.journal(id)?;
            let changes = entries.iter().filter_map(Entry::change);
            let missed = changes.filter(|change| change.revision > shown);
            texts.extend(missed.filter_map(|change| change.append.clone()));
        }
        Ok(document.with(&newest.fields, &texts).to_bytes())
    }

    /// Adds a note to a loop's journal. A note changes no field and has no revision.
    pub fn note(
        &self,
        id: &LoopId,
        note: &str,
        data: &impl serde::Serialize,
    ) -> Result<(), StoreError> {
        let json = NoteEntry::now(note, data)
            .and_then(|note| serde_json::to_vec(&Entry::Note(note)))
            .map_err(|error| io_error("write", &self.journal_path(id))(error.into()))?;
        self.newest(id)?;
        self.journal_of().append(id, After::Any, &json, None)
    }

    /// Records a failed attempt, unless the loop is over or the journal ends with the same note. Failing to note it
    /// fails nothing.
    pub fn note_attempt(&self, id: &LoopId, note: &str, data: &[(&str, &str)]) {
        let data: Fields = (data.iter())
            .map(|(key, text)| ((*key).to_owned(), text::one_line(text, 500).into()))
            .collect();
        let entries = self.journal(id).unwrap_or_default();
        let last = entries.last().and_then(|entry| entry.noted::<Fields>(note));
        let newest = entries.iter().rev().find_map(Entry::change);
        let phase = newest.and_then(|newest| newest.to.as_deref());
        let is_over = phase.is_some_and(|phase| self.spec().is_terminal(phase));
        if is_over || last.as_ref() == Some(&data) {
            return;
        }
        if let Err(error) = self.note(id, note, &data) {
            self.log(&format!(
                "{id} {note} {data:?}: could not be noted: {error}"
            ));
        }
    }

    /// Returns a loop's journal, oldest entry first.
    pub fn journal(&self, id: &LoopId) -> Result<Vec<Entry>, StoreError> {
        self.journal_since(id, None)
    }

    /// Returns the journal, or at least its entries since a revision.
    pub fn journal_since(&self, id: &LoopId, since: Option<u64>) -> Result<Vec<Entry>, StoreError> {
        let lines = self.journal_of().entries(id, since)?;
        if lines.is_empty() {
            return Err(self.no_loop(id));
        }
        Ok(lines
            .iter()
            .filter_map(|line| serde_json::from_slice(line).ok())
            .collect())
    }
}

/// Returns the fields that a document does not show with their values. A number may be in quotes.
fn differing<'f>(document: &Document, fields: &'f Fields) -> Vec<&'f str> {
    let is_shown = |field: &str, value: &Json| {
        document
            .get(field)
            .is_some_and(|shown| shown == *value || shown.to_plain() == value.to_plain())
    };
    let differing = fields
        .iter()
        .filter(|(field, value)| !is_shown(field, value));
    differing.map(|(field, _)| field.as_str()).collect()
}

/// Returns a description of the edits by hand that are taken over, for the user. Empty if there are none.
fn describe_edits(newest: &ChangeEntry, edits: &Fields) -> String {
    let describe = |(field, value): (&String, &Json)| {
        let old = newest.field(field).map(|old| old.to_plain().into_owned());
        let old = old.map(|old| format!(" (was {old})")).unwrap_or_default();
        format!("{field}: {}{old}", value.to_plain())
    };
    if edits.is_empty() {
        return String::new();
    }
    let fields: Vec<String> = edits.iter().map(describe).collect();
    let fields = fields.join(", ");
    format!("the state was edited by hand, which was taken over: {fields}")
}
