//! Opening a loop: its newest change, and a document that shows it.

use camino::Utf8PathBuf;
use serde::Serialize;
use serde_json::Value as Json;

use super::document::Document;
use super::entry::{Change, ChangeEntry, EDIT, Entry, MOVED, NoteEntry};
use super::error::{StoreError, WhyNotOurs, io_error};
use super::id::LoopId;
use super::journal::{After, Line, Tail};
use super::record::Record;
use super::spec::{Form, StateSpec};
use super::store::Store;
use super::value::{FieldValue as _, Fields};
use crate::text;

/// The note of a verb or a helper that was refused.
pub const REFUSED: &str = "refused";
/// The note of a document that was edited by hand or missing, and was written again.
pub const REPAIRED: &str = "repaired";
/// The note of a file that nothing in the journal explains.
pub const UNEXPLAINED: &str = "unexplained";

/// A loop that was opened, and what had to be done to its document.
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
    /// that the machine allows becomes a change.
    ///
    /// # Errors
    /// There is no such loop, it is not this user's, another machine wrote it, or it cannot be read or written.
    pub fn open(&self, id: &LoopId) -> Result<Opened, StoreError> {
        let mut opened = self.open_where_written(id)?;
        while !self.only_looks()
            && let Some(root) = self.root_after_move(&opened.record)
        {
            let moved = Change {
                root: Some(root),
                ..Change::bare(MOVED, "person")
            };
            match self.write(&opened.record, moved) {
                Ok(record) => opened.record = record,
                Err(StoreError::Stale { .. }) => opened = self.open_where_written(id)?,
                Err(error) => return Err(error),
            }
        }
        Ok(opened)
    }

    /// Makes a loop of its newest change and its document.
    pub(super) fn record(&self, id: &LoopId, newest: ChangeEntry, document: Vec<u8>) -> Record {
        Record {
            id: id.clone(),
            newest,
            document,
            spec: self.spec(),
        }
    }

    /// Returns the root of a loop whose project was moved. In a folder that projects share, no loop moves.
    fn root_after_move(&self, record: &Record) -> Option<String> {
        let is_own = self.folder().starts_with(self.root());
        let root = record.root()?;
        (is_own && self.root() != root.as_str()).then(|| self.root().to_string())
    }

    fn open_where_written(&self, id: &LoopId) -> Result<Opened, StoreError> {
        let mut repairs = Vec::new();
        loop {
            let Some(tail) = self.journal_of().tail(id)? else {
                return Err(self.why_none(id));
            };
            let mut newest = self.newest(id, &tail)?;
            let found = tail.document;
            if let Some(found) = self.revision_behind(&newest, found.as_deref()) {
                let newest = newest.revision;
                return Err(self.not_ours(id, WhyNotOurs::PutBack { found, newest }));
            }
            let difference = self.compare(id, &newest, found.as_deref())?;
            let difference = match difference {
                Some(difference) if !self.only_looks() => difference,
                seen => {
                    newest.fields.extend(seen.unwrap_or_default().taken);
                    let record = self.record(id, newest, found.unwrap_or_default());
                    return Ok(Opened { record, repairs });
                }
            };
            match (&found, difference.undone) {
                (Some(bytes), Some(what)) => {
                    let kept = text::shown(self.keep_replaced(id, bytes)?);
                    repairs.push(format!(
                        "the state was edited by hand ({what}); the edit was undone, and the file is kept as {kept}"
                    ));
                }
                (None, _) => {
                    let path = text::shown(self.path_of(id));
                    repairs.push(format!("{path} was missing and was written again"));
                }
                (Some(_), None) => {}
            }
            if difference.taken.is_empty() {
                let document = self.render_onto(id, &newest, found.as_deref())?;
                self.journal_of().restore(id, newest.revision, &document)?;
                let record = self.record(id, newest, document);
                return Ok(self.opened(record, repairs));
            }
            let shown = |(field, value): (&String, &Json)| {
                let old = newest.field(field).map(|old| old.to_plain().into_owned());
                let old = old.map(|old| format!(" (was {old})")).unwrap_or_default();
                format!("{field}: {}{old}", value.to_plain())
            };
            let fields: Vec<String> = difference.taken.iter().map(shown).collect();
            let change = Change {
                edits: difference.taken,
                ..Change::bare(EDIT, "person")
            };
            let held = self.record(id, newest, found.unwrap_or_default());
            match self.write(&held, change) {
                Ok(record) => {
                    let fields = fields.join(", ");
                    let taken =
                        format!("the state was edited by hand, which was taken over: {fields}");
                    self.log(&format!("{id}: {taken}"));
                    // It is in the journal as a change already.
                    let mut opened = self.opened(record, repairs);
                    opened.repairs.push(taken);
                    return Ok(opened);
                }
                Err(StoreError::Stale { .. }) => {}
                Err(error) => return Err(error),
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
        let document = match found.map(|bytes| spec.parse(bytes)) {
            Some(Ok(document)) => document,
            unreadable => {
                let undone = unreadable.and_then(Result::err);
                return Ok(Some(Difference {
                    undone: undone.map(|error| error.to_string()),
                    ..Difference::default()
                }));
            }
        };
        let shown = document
            .get(spec.fields.revision)
            .and_then(|value| value.as_count());
        if let Some(shown) = shown.filter(|shown| *shown < newest.revision) {
            let is_edited = !self.wrote(id, shown, &document)?;
            return Ok(Some(Difference {
                undone: is_edited.then(|| spec.fields.revision.to_owned()),
                ..Difference::default()
            }));
        }
        let mut taken = Fields::new();
        let mut undone = Vec::new();
        for field in differing(&document, &newest.fields) {
            match document.get(field) {
                Some(value) if shown == Some(newest.revision) && spec.takes_edit(field, &value) => {
                    taken.insert(field.to_owned(), value);
                }
                _ => undone.push(field),
            }
        }
        let is_same = taken.is_empty() && undone.is_empty();
        Ok((!is_same).then(|| Difference {
            taken,
            undone: (!undone.is_empty()).then(|| undone.join(", ")),
        }))
    }

    /// Returns whether a document shows the fields that the loop had at a revision.
    fn wrote(&self, id: &LoopId, revision: u64, document: &Document) -> Result<bool, StoreError> {
        let entries = self.journal_since(id, Some(revision))?;
        let mut changes = entries.iter().filter_map(Entry::change);
        let written = changes.find(|change| change.revision == revision);
        Ok(written.is_some_and(|written| differing(document, &written.fields).next().is_none()))
    }

    /// Writes the document of a loop again if it was put back, such as by a checkout, and keeps the file as `<id>/replaced-N`.
    /// Returns the path of the kept file, or `None` if the document was not put back.
    ///
    /// # Errors
    /// Returns an error if the loop is not this user's, or cannot be read or written.
    pub fn render_again(&self, id: &LoopId) -> Result<Option<Utf8PathBuf>, StoreError> {
        let Some((newest, bytes)) = self.find_behind(id)? else {
            return Ok(None);
        };
        let kept = self.keep_replaced(id, &bytes)?;
        let document = self.render_onto(id, &newest, Some(&bytes))?;
        self.journal_of().restore(id, newest.revision, &document)?;
        self.log(&format!(
            "{id}: the document was written again; the file that was put back is kept as {kept}"
        ));
        Ok(Some(kept))
    }

    /// Returns the newest change of a loop and its document, if the document was put back, such as by a checkout.
    pub(super) fn find_behind(
        &self,
        id: &LoopId,
    ) -> Result<Option<(ChangeEntry, Vec<u8>)>, StoreError> {
        let Some(tail) = self.journal_of().tail(id)? else {
            return Ok(None);
        };
        let newest = self.newest(id, &tail)?;
        let behind = self.revision_behind(&newest, tail.document.as_deref());
        Ok(behind.and(Some((newest, tail.document.unwrap_or_default()))))
    }

    /// Returns the revision of a document that is older than a crash can leave it. Only a file of the user's can be.
    fn revision_behind(&self, newest: &ChangeEntry, found: Option<&[u8]>) -> Option<u64> {
        self.spec().file?;
        let document = self.spec().parse(found?).ok()?;
        let shown = document.get(self.spec().fields.revision)?.as_count()?;
        (shown + 1 < newest.revision).then_some(shown)
    }

    /// Logs and notes the repairs of a document.
    fn opened(&self, record: Record, repairs: Vec<String>) -> Opened {
        for repair in &repairs {
            self.log(&format!("{}: {repair}", record.id));
            self.note_attempt(&record.id, REPAIRED, &[("what", repair)]);
        }
        Opened { record, repairs }
    }

    /// Reads the newest change of a tail.
    pub(super) fn newest(&self, id: &LoopId, tail: &Tail) -> Result<ChangeEntry, StoreError> {
        let spec = self.spec();
        let Ok(newest) = serde_json::from_slice::<ChangeEntry>(&tail.change) else {
            let why = "another version wrote its journal";
            return Err(self.foreign_journal(id, why));
        };
        match newest.field(spec.fields.machine) {
            Some(machine) if machine.to_plain() != spec.machine => {
                Err(self.other_machine(id, machine))
            }
            _ => Ok(newest),
        }
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
        let shown = document
            .as_ref()
            .and_then(|document| document.get(spec.fields.revision)?.as_count())
            .unwrap_or_default();
        let mut texts = Vec::new();
        if shown < newest.revision && matches!(spec.form, Form::Frontmatter(..)) {
            let entries = self.journal(id)?;
            let changes = entries.iter().filter_map(Entry::change);
            let missed = changes.filter(|change| change.revision > shown);
            texts.extend(missed.filter_map(|change| change.append.clone()));
        }
        Ok(render(spec, document, &newest.fields, &texts))
    }

    /// Returns the reason for which there is no loop of this user, from its document.
    pub(super) fn why_none(&self, id: &LoopId) -> StoreError {
        let Ok(bytes) = self.read_document(id) else {
            return self.no_loop(id);
        };
        match self.spec().parse(&bytes) {
            Err(error) => StoreError::document("read", self.path_of(id), error),
            Ok(document) => match document.get(self.spec().fields.machine) {
                None => self.not_ours(id, WhyNotOurs::NoMachine),
                Some(machine) if machine.to_plain() == self.spec().machine => {
                    self.not_ours(id, WhyNotOurs::NoJournal)
                }
                Some(machine) => self.other_machine(id, &machine),
            },
        }
    }

    /// Adds a note to a loop's journal. A note changes no field and has no revision.
    ///
    /// # Errors
    /// Returns the errors of [`Store::open`], and one if `data` is not JSON.
    pub fn note(&self, id: &LoopId, note: &str, data: &impl Serialize) -> Result<(), StoreError> {
        let written = NoteEntry::now(note, data)
            .and_then(|note| serde_json::to_vec(&Entry::Note(note)))
            .map_err(|error| io_error("write", &self.journal_path(id))(error.into()))?;
        let line = Line {
            json: &written,
            after: After::Any,
            document: None,
        };
        if self.journal_of().tail(id)?.is_none() {
            return Err(self.why_none(id));
        }
        self.journal_of().append(id, line)
    }

    /// Notes a failed attempt, unless the loop is over or the journal ends with the same note. Failing to note it
    /// fails nothing.
    pub fn note_attempt(&self, id: &LoopId, note: &str, data: &[(&str, &str)]) {
        let data: serde_json::Map<_, _> = (data.iter())
            .map(|(key, text)| ((*key).to_owned(), crate::text::one_line(text, 500).into()))
            .collect();
        let entries = self.journal(id).unwrap_or_default();
        let last = entries
            .last()
            .and_then(|entry| entry.noted::<serde_json::Map<_, _>>(note));
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
    ///
    /// # Errors
    /// There is none, it is not this user's, or it cannot be read.
    pub fn journal(&self, id: &LoopId) -> Result<Vec<Entry>, StoreError> {
        self.journal_since(id, None)
    }

    /// Returns the journal, or at least its entries since a revision.
    pub fn journal_since(&self, id: &LoopId, since: Option<u64>) -> Result<Vec<Entry>, StoreError> {
        let lines = self.journal_of().entries(id, since)?;
        if lines.is_empty() {
            return Err(self.no_loop(id));
        }
        Ok(lines.iter().filter_map(|line| Entry::parse(line)).collect())
    }
}

/// Returns the fields that a document does not show with their values. A number may be in quotes.
fn differing<'f>(document: &Document, fields: &'f Fields) -> impl Iterator<Item = &'f str> {
    let is_shown = |field: &str, value: &Json| {
        document
            .get(field)
            .is_some_and(|shown| shown == *value || shown.to_plain() == value.to_plain())
    };
    fields
        .iter()
        .filter(move |(field, value)| !is_shown(field, value))
        .map(|(field, _)| field.as_str())
}

/// Renders fields into a document. Lines that it does not know stay.
pub(super) fn render(
    spec: &'static StateSpec,
    document: Option<Document>,
    fields: &Fields,
    texts: &[String],
) -> Vec<u8> {
    let mut document = document.unwrap_or_else(|| spec.empty());
    for (field, value) in fields {
        if document.get(field).as_ref() != Some(value) {
            document.set(field, value);
        }
    }
    document.put_first(fields);
    for text in texts {
        document.append(text);
    }
    document.to_bytes()
}
