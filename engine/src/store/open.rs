//! Opening a loop: its newest change, and a document that shows it.

use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;
use serde_json::{Value as Json, json};

use super::document::Document;
use super::entry::{Change, ChangeEntry, Entry, NoteEntry, Record};
use super::error::{OrIo as _, StoreError, WhyNotOurs};
use super::id::{LoopId, to_seconds};
use super::journal::Tail;
use super::state_folder::Store;
use super::value::{Fields, to_plain};
use crate::text;

const MAX_REPAIR_CHARS: usize = 500;
/// The note of a document that was edited by hand or missing, and was written again.
const REPAIRED: &str = "repaired";

/// The difference between a document and the newest change. A missing or older one has no edits.
#[derive(Default)]
struct Difference {
    /// The edits by hand that the machine allows.
    taken: Fields,
    /// The fields of other edits, or why the document cannot be read.
    undone: Vec<String>,
}

impl Store {
    /// Opens a loop, whose state is its newest change. Writes a document that differs again. An
    /// edit by hand that the machine allows and the root of a moved project become changes.
    pub fn open(&self, id: &LoopId) -> Result<Record, StoreError> {
        loop {
            let (mut newest, found) = self.newest(id)?;
            if let Some(why) = self.why_replaced(id, &newest, found.as_deref()) {
                return Err(self.not_ours(id, why));
            }
            let difference = self.compare(id, &newest, found.as_deref())?;
            if self.is_read_only {
                newest.fields.extend(difference.unwrap_or_default().taken);
                newest.fields.extend(self.root_after_move(&newest));
                return Ok(self.record(id, newest, found.unwrap_or_default()));
            }
            match self.repair(id, newest, found.as_deref(), difference) {
                // Another process changed the loop in between.
                Err(StoreError::Stale { .. }) => {}
                opened => return opened,
            }
        }
    }

    /// Writes a differing document again, and the changes from edits by hand and a moved project.
    fn repair(
        &self,
        id: &LoopId,
        newest: ChangeEntry,
        found: Option<&[u8]>,
        difference: Option<Difference>,
    ) -> Result<Record, StoreError> {
        let mut repairs = Vec::new();
        let mut edits = Fields::new();
        let mut document = found.unwrap_or_default().to_vec();
        if let Some(Difference { taken, undone }) = difference {
            match found {
                None => {
                    let path = text::printable(self.path_of(id));
                    repairs.push(format!("{path} was missing and was written again"));
                }
                Some(bytes) if !undone.is_empty() => {
                    let kept = text::printable(self.keep_replaced(id, bytes)?);
                    repairs.push(format!(
                        "the state was edited by hand ({}); the edit was undone, and the file is kept as {kept}",
                        undone.join(", ")
                    ));
                }
                Some(_) => {}
            }
            document = self.render(&newest.fields, &document, "");
            self.journals().restore(id, newest.revision, &document)?;
            edits = taken;
        }
        let edited = describe_edits(&newest, &edits);
        edits.extend(self.root_after_move(&newest));
        let mut record = self.record(id, newest, document);
        if !edits.is_empty() {
            let what = if edited.is_some() { "edit" } else { "move" };
            record = self.apply_change(&record, Change::edit(what, "person", edits))?;
        }
        // An edit that was taken over is in the journal as a change already.
        for repair in &repairs {
            let data = json!({ "what": text::one_line(repair, MAX_REPAIR_CHARS) });
            let _ = self.note(id, REPAIRED, &data);
        }
        repairs.extend(edited);
        for repair in &repairs {
            self.log(&format!("{id}: {repair}"));
        }
        record.repairs = repairs;
        Ok(record)
    }

    pub(super) fn record(&self, id: &LoopId, newest: ChangeEntry, document: Vec<u8>) -> Record {
        Record {
            id: id.clone(),
            newest,
            document,
            repairs: Vec::new(),
            spec: self.spec,
        }
    }

    /// Returns the newest change of a loop, and its document if there is one.
    pub(super) fn newest(&self, id: &LoopId) -> Result<Tail, StoreError> {
        let Some((newest, document)) = self.journals().tail(id)? else {
            return Err(self.explain_missing(id));
        };
        match newest.field(self.spec.fields.machine).map(to_plain) {
            Some(machine) if machine != self.spec.machine => Err(self.other_machine(id, &machine)),
            _ => Ok((newest, document)),
        }
    }

    fn other_machine(&self, id: &LoopId, found: &str) -> StoreError {
        StoreError::OtherMachine(format!(
            "{} belongs to the machine `{}`, not to `{}`",
            text::printable(self.path_of(id)),
            found.escape_debug(),
            self.spec.machine
        ))
    }

    /// Returns the error for a loop without a journal of this user, from its document.
    fn explain_missing(&self, id: &LoopId) -> StoreError {
        let Ok(bytes) = self.read_document(id) else {
            return self.no_loop(id);
        };
        match self.spec.parse(&bytes) {
            Err(source) => StoreError::Io {
                doing: "read",
                path: self.path_of(id),
                source,
            },
            Ok(document) => match document.text(self.spec.fields.machine) {
                None => self.not_ours(id, WhyNotOurs::NoMachine),
                Some(machine) if machine == self.spec.machine => {
                    self.not_ours(id, WhyNotOurs::NoJournal)
                }
                Some(machine) => self.other_machine(id, &machine),
            },
        }
    }

    /// Returns the new root of a loop in a moved project. In a shared folder, no loop moves.
    fn root_after_move(&self, newest: &ChangeEntry) -> Option<(String, Json)> {
        let field = self.spec.fields.root;
        let root = newest.field(field)?.as_str()?;
        let is_moved = !self.is_shared() && self.root != root;
        is_moved.then(|| (field.to_owned(), self.root.as_str().into()))
    }

    /// Compares a document with the newest change. Returns `None` if it shows that change.
    fn compare(
        &self,
        id: &LoopId,
        newest: &ChangeEntry,
        found: Option<&[u8]>,
    ) -> Result<Option<Difference>, StoreError> {
        let spec = self.spec;
        let mut difference = Difference::default();
        let document = match found.map(|bytes| spec.parse(bytes)).transpose() {
            Ok(Some(document)) => document,
            Ok(None) => return Ok(Some(difference)),
            Err(error) => {
                difference.undone.push(error.to_string());
                return Ok(Some(difference));
            }
        };
        let revision = document.count(spec.fields.revision).unwrap_or(u64::MAX);
        if revision < newest.revision {
            // A crash leaves the document of the change before. Any other one was edited.
            let entries = self.journal_since(id, revision)?;
            let mut changes = entries.iter().filter_map(Entry::change);
            let written = changes.find(|change| change.revision == revision);
            if !written.is_some_and(|written| differing(&document, written).is_empty()) {
                difference.undone.push(spec.fields.revision.to_owned());
            }
            return Ok(Some(difference));
        }
        for name in differing(&document, newest) {
            let field = spec.field(&name).filter(|_| revision == newest.revision);
            let takes = |value: &Json| field.is_some_and(|field| field.takes_edit(value));
            match document.get(&name).filter(takes) {
                Some(value) => _ = difference.taken.insert(name, value),
                None => difference.undone.push(name),
            }
        }
        let is_same = difference.taken.is_empty() && difference.undone.is_empty();
        Ok((!is_same).then_some(difference))
    }

    /// Returns why neither a change nor a crash can have left the user's own document, if so.
    pub(super) fn why_replaced(
        &self,
        id: &LoopId,
        newest: &ChangeEntry,
        found: Option<&[u8]>,
    ) -> Option<WhyNotOurs> {
        self.spec.file?;
        let newest = newest.revision;
        let Some(bytes) = found else {
            let has_folder = self.path_of(id).parent().is_none_or(Utf8Path::exists);
            return (!has_folder).then_some(WhyNotOurs::NoFolder);
        };
        let document = self.spec.parse(bytes).ok()?;
        let found = document.count(self.spec.fields.revision)?;
        let is_known = found == newest || found + 1 == newest;
        (!is_known).then_some(WhyNotOurs::Replaced { found, newest })
    }

    /// Writes a document that was replaced or removed again. Returns the path of the kept file.
    pub fn render_again(&self, id: &LoopId) -> Result<Option<Utf8PathBuf>, StoreError> {
        let (newest, found) = self.newest(id)?;
        if self.why_replaced(id, &newest, found.as_deref()).is_none() {
            return Ok(None);
        }
        let kept = found.as_ref().map(|bytes| self.keep_replaced(id, bytes));
        let kept = kept.transpose()?;
        let document = self.render(&newest.fields, &found.unwrap_or_default(), "");
        self.journals().restore(id, newest.revision, &document)?;
        self.log(&format!("{id}: the document was written again by the user"));
        Ok(kept)
    }

    /// Renders fields into an existing document, and adds lines to its text.
    pub(super) fn render(&self, fields: &Fields, found: &[u8], text: &str) -> Vec<u8> {
        let empty = || Document::empty(self.spec.form, self.spec.declared);
        let document = self.spec.parse(found).unwrap_or_else(|_| empty());
        document.with(fields, text).to_bytes()
    }

    /// Adds a note to a loop's journal. A note changes no field and has no revision.
    pub fn note(
        &self,
        id: &LoopId,
        note: &str,
        data: &impl serde::Serialize,
    ) -> Result<(), StoreError> {
        let data = serde_json::to_value(data).map_err(io::Error::from);
        let entry = NoteEntry {
            at: to_seconds(Timestamp::now()),
            note: note.to_owned(),
            data: data.or_io("write", self.journal_path(id))?,
        };
        self.newest(id)?;
        self.journals().append(id, None, Entry::Note(entry), None)
    }

    /// Returns a loop's journal, oldest entry first.
    pub fn journal(&self, id: &LoopId) -> Result<Vec<Entry>, StoreError> {
        self.journal_since(id, 0)
    }

    /// Returns at least the entries in a loop's journal since a revision.
    pub(crate) fn journal_since(&self, id: &LoopId, since: u64) -> Result<Vec<Entry>, StoreError> {
        let entries = self.journals().entries(id, since)?;
        if entries.is_empty() {
            return Err(self.explain_missing(id));
        }
        Ok(entries)
    }
}

/// Returns the fields that differ in a document after a change. A number may be in quotes.
fn differing(document: &Document, change: &ChangeEntry) -> Vec<String> {
    let is_shown = |field: &str, value: &Json| {
        let found = document.get(field);
        found.is_some_and(|found| found == *value || to_plain(&found) == to_plain(value))
    };
    let fields = change.fields.iter();
    let differing = fields.filter(|(field, value)| !is_shown(field, value));
    differing.map(|(field, _)| field.clone()).collect()
}

/// Returns a description of the edits by hand that are taken over, for the user, if there are some.
fn describe_edits(newest: &ChangeEntry, edits: &Fields) -> Option<String> {
    let describe = |(field, value): (&String, &Json)| match newest.field(field) {
        Some(old) => format!("{field}: {} (was {})", to_plain(value), to_plain(old)),
        None => format!("{field}: {}", to_plain(value)),
    };
    let fields = edits.iter().map(describe).collect::<Vec<_>>().join(", ");
    (!fields.is_empty())
        .then(|| format!("the state was edited by hand, which was taken over: {fields}"))
}
