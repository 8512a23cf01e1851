//! The lines of a journal, changes and notes, and a loop at one revision.

use std::ops::Deref;

use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::error::StoreError;
use super::field::FieldInfo;
use super::id::{LoopId, to_seconds};
use super::spec::StateSpec;
use super::value::{Fields, to_count};

/// A change that is to be made.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// The transition's name, or another word for the change, such as `bind`.
    pub what: String,
    /// The actor who makes it: `hook`, `agent`, `person`.
    pub by: String,
    /// The arguments of the transition by name, or the fields of an edit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub args: Option<Json>,
    /// The phase that it leaves. The store sets it.
    pub from: Option<String>,
    /// The phase that it enters. `None` keeps the phase.
    pub to: Option<String>,
    /// The review run that it counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// The evidence that was shown for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Json>,
    /// New values of fields, without those that identify a document, which the store writes.
    #[serde(skip)]
    pub edits: Fields,
    /// Lines that are added to the document's text, if its form has text. The journal has none.
    #[serde(skip)]
    pub text: String,
    /// Whether a visit begins with it: it enters a phase, or begins another round of one.
    #[serde(skip)]
    pub begins_visit: bool,
}

impl Change {
    /// Makes a change without edits that keeps the phase.
    pub fn new(what: &str, by: &str) -> Self {
        Self {
            what: what.to_owned(),
            by: by.to_owned(),
            ..Self::default()
        }
    }

    /// Makes a change that sets fields and keeps the phase.
    pub fn edit(what: &str, by: &str, edits: Fields) -> Self {
        Self {
            args: Some(Json::Object(edits.clone())),
            edits,
            ..Self::new(what, by)
        }
    }
}

/// One line of the journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Entry {
    /// A change of the loop.
    Change(Box<ChangeEntry>),
    /// Something worth keeping that changed no field.
    Note(NoteEntry),
}

/// A change that was made.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ChangeEntry {
    /// The number, from 1.
    pub revision: u64,
    /// The time, in whole seconds.
    pub at: Timestamp,
    /// The change, with the phases before and after it.
    #[serde(flatten)]
    pub change: Change,
    /// The revision of the change with which the visit began that the loop is in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub visit: Option<u64>,
    /// All fields that resulted, in the document's order.
    pub fields: Fields,
}

impl Deref for ChangeEntry {
    type Target = Change;

    fn deref(&self) -> &Change {
        &self.change
    }
}

impl ChangeEntry {
    /// Returns the value that a field has since the change.
    pub fn field(&self, name: &str) -> Option<&Json> {
        self.fields.get(name)
    }

    /// Makes the error of a change that was to follow another one than this.
    pub fn stale(&self) -> StoreError {
        StoreError::Stale {
            phase: self.to.clone().unwrap_or_default(),
            revision: self.revision,
        }
    }

    /// Makes the entry of the change that follows this one.
    pub(super) fn followed_by(self, spec: &StateSpec, at: Timestamp, mut change: Change) -> Self {
        let at = to_seconds(at);
        let names = &spec.fields;
        let revision = self.revision + 1;
        let mut visit = self.visit;
        let mut fields = self.fields;
        set_engine_field(&mut fields, names.updated, at.to_string());
        fields.extend(std::mem::take(&mut change.edits));
        change.from = self.change.to.clone();
        change.to = change.to.or(self.change.to);
        set_engine_field(&mut fields, names.phase, change.to.clone());
        set_engine_field(&mut fields, names.revision, revision);
        set_engine_field(&mut fields, names.graph_hash, spec.graph_hash);
        if change.begins_visit {
            visit = Some(revision);
            // The run of an earlier visit does not count for this one.
            set_engine_field(&mut fields, names.run, "");
        } else if let Some(run) = &change.run {
            set_engine_field(&mut fields, names.run, run.as_str());
        }
        set_engine_field(&mut fields, names.visit, visit);
        Self {
            revision,
            at,
            change,
            visit,
            fields,
        }
    }
}

/// Sets a field that the engine keeps, if the machine has it.
pub(super) fn set_engine_field(
    fields: &mut Fields,
    name: impl Into<Option<&'static str>>,
    value: impl Into<Json>,
) {
    if let Some(name) = name.into() {
        fields.insert(name.to_owned(), value.into());
    }
}

/// A note.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NoteEntry {
    /// The time, in whole seconds.
    pub at: Timestamp,
    /// The subject, such as `run-began`.
    pub note: String,
    /// The rest, in a form that its writer chooses.
    pub data: Json,
}

impl Entry {
    /// Returns the change, if it is one.
    pub fn change(&self) -> Option<&ChangeEntry> {
        match self {
            Self::Change(change) => Some(change),
            Self::Note(_) => None,
        }
    }

    /// Returns the data of a note of this name, or `None` if the entry or its type is another.
    pub fn note_data<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        match self {
            Self::Note(note) if note.note == name => T::deserialize(&note.data).ok(),
            Self::Note(_) | Self::Change(_) => None,
        }
    }
}

/// A loop at one revision. Only the store makes one.
#[derive(Debug, Clone)]
pub struct Record {
    pub(super) id: LoopId,
    pub(super) newest: ChangeEntry,
    /// The document as it is on disk.
    pub(super) document: Vec<u8>,
    pub(super) repairs: Vec<String>,
    pub(super) spec: &'static StateSpec,
}

/// Access to the newest change.
impl Deref for Record {
    type Target = ChangeEntry;

    fn deref(&self) -> &ChangeEntry {
        &self.newest
    }
}

impl Record {
    /// Returns the loop's id.
    pub fn id(&self) -> &LoopId {
        &self.id
    }

    /// Returns its phase.
    pub fn phase(&self) -> &str {
        self.to.as_deref().unwrap_or_default()
    }

    /// Returns the session that owns it, or `unknown`.
    pub fn session(&self) -> Option<String> {
        self.text(self.spec.fields.session)
    }

    /// Returns the mode that it was started in, if the machine keeps it.
    pub fn mode(&self) -> Option<String> {
        self.text(self.spec.fields.mode?)
    }

    /// Returns the folder that it belongs to, as its start wrote it.
    pub fn root(&self) -> Option<String> {
        self.text(self.spec.fields.root)
    }

    /// Returns the repairs that opening made to its document, each a sentence for the user.
    pub fn repairs(&self) -> &[String] {
        &self.repairs
    }

    /// Returns a field's value, or its initial one if the loop does not have it.
    pub(crate) fn value(&self, field: &FieldInfo) -> Result<Json, String> {
        match self.field(field.name) {
            Some(value) => field.convert(value),
            None => Ok((field.initial)()),
        }
    }

    /// Returns the value of a field that holds a count.
    pub fn count(&self, field: &str) -> Option<u64> {
        to_count(self.field(field)?)
    }

    /// Returns the value of a field that holds text.
    pub fn text(&self, field: &str) -> Option<String> {
        self.field(field)?.as_str().map(str::to_owned)
    }
}
