//! Opening a loop: its newest change, and a document that shows it.

use camino::Utf8PathBuf;
use serde::Serialize;

use super::document::{Document, DocumentError};
use super::entry::{Change, ChangeEntry, EDIT, Entry, MOVED, NoteEntry};
use super::error::{StoreError, WhyNotOurs, io_error};
use super::id::LoopId;
use super::journal::{Line, Tail};
use super::record::{self, Record};
use super::spec::{Form, StateSpec};
use super::store::Store;
use super::value::Value;

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
    /// What was done, for the user to know.
    pub repairs: Vec<Repair>,
}

/// What was done to a document that did not show the newest change.
#[derive(Debug, Clone, PartialEq, Eq, derive_more::Display, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Repair {
    /// The document was not there.
    #[display("{path} was missing and was written again", path = crate::text::shown(path))]
    Written {
        /// The document.
        path: Utf8PathBuf,
    },
    /// Fields had been edited by hand that the machine opens to that.
    #[display("the state was edited by hand, which was taken over: {}", fields.join(", "))]
    EditTaken {
        /// The fields with their new values, such as `max_rounds: 5`.
        fields: Vec<String>,
    },
    /// The document had been changed by hand.
    #[display(
        "the state was edited by hand ({what}); the edit was undone, and the file is kept as {kept}",
        kept = crate::text::shown(kept)
    )]
    EditUndone {
        /// The fields, or why the document could not be read.
        what: String,
        /// The copy.
        kept: Utf8PathBuf,
    },
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

    /// Returns the root of a loop whose project was moved. In a folder that projects share, no loop moves.
    fn root_after_move(&self, record: &Record) -> Option<String> {
        let is_own = self.folder().starts_with(self.root());
        let root = record.get(self.spec().fields.root)?.to_plain().into_owned();
        (is_own && self.root() != root.as_str()).then(|| self.root().to_string())
    }

    fn open_where_written(&self, id: &LoopId) -> Result<Opened, StoreError> {
        let mut repairs = Vec::new();
        loop {
            let Some(tail) = self.journal_of().tail(id)? else {
                return Err(self.why_none(id));
            };
            let mut newest = self.newest(id, &tail)?;
            let seen = Seen::of(self, &newest, tail.document.as_deref());
            let record = |document| Record::new(self.spec(), id, &newest, document);
            match seen {
                Seen::AsWritten(document) => {
                    let record = record(document);
                    return Ok(Opened { record, repairs });
                }
                Seen::Older(found) if self.is_behind(found, &newest) => {
                    let newest = newest.revision;
                    return Err(StoreError::NotOurs {
                        id: id.to_string(),
                        path: self.path_of(id),
                        why: WhyNotOurs::PutBack { found, newest },
                    });
                }
                Seen::Edited { taken, .. } if self.only_looks() => {
                    for (field, value) in taken {
                        record::set(&mut newest.fields, &field, value);
                    }
                    let document = tail.document.unwrap_or_default();
                    let record = Record::new(self.spec(), id, &newest, document);
                    return Ok(Opened { record, repairs });
                }
                _ if self.only_looks() => {
                    let document = self.render_onto(id, &newest, None)?;
                    let record = record(document);
                    return Ok(Opened { record, repairs });
                }
                Seen::Edited { taken, undone } => {
                    let bytes = tail.document.unwrap_or_default();
                    if !undone.is_empty() {
                        repairs.push(Repair::EditUndone {
                            what: undone.join(", "),
                            kept: self.files().keep_replaced(id, &bytes)?,
                        });
                    }
                    if taken.is_empty() {
                        let document = self.render_onto(id, &newest, Some(&bytes))?;
                        self.restore(&newest, id, &document)?;
                        return self.log_repairs(id, record(document), repairs);
                    }
                    let shown =
                        |(field, value): &(String, Value)| format!("{field}: {}", value.to_plain());
                    let fields = taken.iter().map(shown).collect();
                    let change = Change {
                        edits: taken,
                        ..Change::bare(EDIT, "person")
                    };
                    let held = Record::new(self.spec(), id, &newest, bytes);
                    match self.write(&held, change) {
                        Ok(record) => {
                            repairs.push(Repair::EditTaken { fields });
                            return self.log_repairs(id, record, repairs);
                        }
                        Err(StoreError::Stale { .. }) => {}
                        Err(error) => return Err(error),
                    }
                }
                Seen::Missing | Seen::Older(_) => {
                    if let (Seen::Older(found), Some(bytes)) = (&seen, &tail.document)
                        && !self.wrote(id, *found, bytes)?
                    {
                        repairs.push(Repair::EditUndone {
                            what: self.spec().fields.revision.to_owned(),
                            kept: self.files().keep_replaced(id, bytes)?,
                        });
                    }
                    if tail.document.is_none() {
                        repairs.push(match self.files().keep_unread(id)? {
                            Some(kept) => Repair::EditUndone {
                                what: DocumentError::TooLarge.to_string(),
                                kept,
                            },
                            None => Repair::Written {
                                path: self.path_of(id),
                            },
                        });
                    }
                    let document = self.render_onto(id, &newest, tail.document.as_deref())?;
                    self.restore(&newest, id, &document)?;
                    return self.log_repairs(id, record(document), repairs);
                }
                Seen::Unreadable(why) => {
                    let bytes = tail.document.unwrap_or_default();
                    repairs.push(Repair::EditUndone {
                        what: why,
                        kept: self.files().keep_replaced(id, &bytes)?,
                    });
                    let document = self.render_onto(id, &newest, None)?;
                    self.restore(&newest, id, &document)?;
                    return self.log_repairs(id, record(document), repairs);
                }
            }
        }
    }

    /// Returns whether a document shows the fields that the loop had at revision `found`.
    fn wrote(&self, id: &LoopId, found: u64, bytes: &[u8]) -> Result<bool, StoreError> {
        let entries = self.journal_since(id, Some(found))?;
        let mut changes = entries.iter().filter_map(Entry::change);
        let written = changes.find(|change| change.revision == found);
        let document = self.spec().parse(bytes).ok();
        Ok(written.zip(document).is_some_and(|(written, document)| {
            differing(&document, &written.fields).next().is_none()
        }))
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
        let kept = self.files().keep_replaced(id, &bytes)?;
        let document = self.render_onto(id, &newest, Some(&bytes))?;
        self.restore(&newest, id, &document)?;
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
        match Seen::of(self, &newest, tail.document.as_deref()) {
            Seen::Older(found) if self.is_behind(found, &newest) => {
                Ok(Some((newest, tail.document.unwrap_or_default())))
            }
            _ => Ok(None),
        }
    }

    /// Returns whether a document at revision `found` is older than a crash can leave it. Only a file of the user's can be.
    fn is_behind(&self, found: u64, newest: &ChangeEntry) -> bool {
        self.spec().file.is_some() && found + 1 < newest.revision
    }

    fn log_repairs(
        &self,
        id: &LoopId,
        record: Record,
        repairs: Vec<Repair>,
    ) -> Result<Opened, StoreError> {
        for repair in &repairs {
            self.log(&format!("{id}: {repair}"));
            // An edit that was taken over is a change already.
            if !matches!(repair, Repair::EditTaken { .. }) {
                self.note_attempt(id, REPAIRED, &[("what", &repair.to_string())]);
            }
        }
        Ok(Opened { record, repairs })
    }

    fn restore(
        &self,
        newest: &ChangeEntry,
        id: &LoopId,
        document: &[u8],
    ) -> Result<(), StoreError> {
        self.journal_of().restore(id, newest.revision, document)
    }

    /// Reads the newest change of a tail.
    pub(super) fn newest(&self, id: &LoopId, tail: &Tail) -> Result<ChangeEntry, StoreError> {
        let spec = self.spec();
        let Some(Entry::Change(newest)) = Entry::parse(&tail.change) else {
            return Err(self
                .files()
                .not_ours(id, "another version wrote its journal"));
        };
        match newest.field(spec.fields.machine) {
            Some(machine) if machine.to_plain() != spec.machine => Err(StoreError::OtherMachine {
                path: self.path_of(id),
                found: machine.to_plain().into_owned(),
                expected: spec.machine,
            }),
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

    /// Describes why there is no loop of this user: what the document says of it.
    pub(super) fn why_none(&self, id: &LoopId) -> StoreError {
        let path = self.path_of(id);
        let Ok(bytes) = self.files().read_document(id) else {
            return self.no_loop(id);
        };
        let not_ours = |path, why| StoreError::NotOurs {
            id: id.to_string(),
            path,
            why,
        };
        match self.spec().parse(&bytes) {
            Err(error) => StoreError::document("read", path, error),
            Ok(document) => match document.get(self.spec().fields.machine) {
                None => not_ours(path, WhyNotOurs::NoMachine),
                Some(machine) if machine.to_plain() == self.spec().machine => {
                    not_ours(path, WhyNotOurs::NoJournal)
                }
                Some(machine) => StoreError::OtherMachine {
                    path,
                    found: machine.to_plain().into_owned(),
                    expected: self.spec().machine,
                },
            },
        }
    }

    /// Adds a note to a loop's journal. A note changes no field and has no revision.
    ///
    /// # Errors
    /// As [`Store::open`], and `data` is not JSON.
    pub fn note(&self, id: &LoopId, note: &str, data: &impl Serialize) -> Result<(), StoreError> {
        let written = NoteEntry::now(note, data)
            .and_then(|note| serde_json::to_vec(&Entry::Note(note)))
            .map_err(|error| io_error("write", &self.journal_path(id))(error.into()))?;
        let line = Line {
            json: &written,
            after: None,
            document: None,
        };
        if self.journal_of().tail(id)?.is_none() {
            return Err(self.why_none(id));
        }
        self.journal_of().append(id, line)
    }

    /// Notes what was tried and did not happen, unless the loop is over or the journal ends with the same note. Failing to note it
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

/// What a document shows, compared with the newest change.
enum Seen {
    AsWritten(Vec<u8>),
    Missing,
    /// An earlier revision, without an edit.
    Older(u64),
    Edited {
        taken: Vec<(String, Value)>,
        undone: Vec<String>,
    },
    Unreadable(String),
}

impl Seen {
    fn of(store: &Store, newest: &ChangeEntry, document: Option<&[u8]>) -> Self {
        let spec = store.spec();
        let Some(bytes) = document else {
            return Self::Missing;
        };
        let found = match spec.parse(bytes) {
            Ok(found) => found,
            Err(error) => return Self::Unreadable(error.to_string()),
        };
        let shown = found
            .get(spec.fields.revision)
            .and_then(|value| value.as_count());
        if let Some(shown) = shown.filter(|shown| *shown < newest.revision) {
            return Self::Older(shown);
        }
        let changed: Vec<_> = differing(&found, &newest.fields).collect();
        if changed.is_empty() {
            return Self::AsWritten(bytes.to_vec());
        }
        let (taken, undone): (Vec<_>, Vec<_>) = changed
            .into_iter()
            .map(|(field, _)| (field.clone(), found.get(field)))
            .partition(|(field, value)| {
                shown == Some(newest.revision) && spec.takes_edit(field, value.as_ref())
            });
        Self::Edited {
            taken: taken
                .into_iter()
                .filter_map(|(field, value)| Some((field, value?)))
                .collect(),
            undone: undone.into_iter().map(|(field, _)| field).collect(),
        }
    }
}

/// Returns the fields that a document does not show with their values.
fn differing<'f>(
    document: &Document,
    fields: &'f [(String, Value)],
) -> impl Iterator<Item = &'f (String, Value)> {
    fields.iter().filter(|(field, value)| {
        let shown = document.get(field);
        shown.is_none_or(|shown| !is_same(&shown, value))
    })
}

/// Returns whether two values are written alike: a word and a text are, and a number in quotes.
fn is_same(one: &Value, other: &Value) -> bool {
    one == other || one.to_json() == other.to_json() || one.to_plain() == other.to_plain()
}

/// Renders fields into a document. Lines that it does not know stay.
pub(super) fn render(
    spec: &'static StateSpec,
    document: Option<Document>,
    fields: &[(String, Value)],
    texts: &[String],
) -> Vec<u8> {
    let mut document = document.unwrap_or_else(|| spec.empty());
    for (field, value) in fields {
        if document.get(field).is_none_or(|found| found != *value) {
            document.set(field, value);
        }
    }
    document.put_first(fields);
    for text in texts {
        document.append(text);
    }
    document.to_bytes()
}
