//! The lines of a journal, and a loop at one revision: a change has a revision and the fields that resulted from it, a note has
//! neither.

use std::ops::Deref;

use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value as Json;

use super::error::Snapshot;
use super::field::{FieldError, FieldInfo};
use super::id::{LoopId, iso};
use super::spec::StateSpec;
use super::value::{FieldValue as _, Fields};

/// A change that is to be made.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// The transition's name, or another word for the change, such as `bind`.
    pub what: String,
    /// The actor who makes it: `hook`, `agent`, `person`.
    pub by: String,
    /// The arguments of the transition, by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args: Option<Json>,
    /// The stored phase that it leaves. It is compared with the loop's phase if it is given.
    pub from: Option<String>,
    /// The stored phase that it enters. `None` keeps the phase.
    pub to: Option<String>,
    /// Text that is added to the document, if its form has a place for text. No journal has the other text of a document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub append: Option<String>,
    /// The review run that it counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// The evidence that was shown for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Json>,
    /// The folder that the loop belongs to from then on. `None`: as before.
    #[serde(skip)]
    pub root: Option<String>,
    /// New values of fields. The store writes those that identify a document (phase, id, revision, machine, root, graph hash).
    #[serde(skip)]
    pub edits: Fields,
    /// Whether a visit begins with it: it enters a phase, or begins another round of one.
    #[serde(skip)]
    pub begins_visit: bool,
}

impl Change {
    /// Makes a change without edits that keeps the phase.
    pub fn bare(what: &str, by: &str) -> Self {
        Self {
            what: what.to_owned(),
            by: by.to_owned(),
            ..Self::default()
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
    #[serde(serialize_with = "write_time")]
    pub at: Timestamp,
    /// The change, with the phases before and after it.
    #[serde(flatten)]
    pub change: Change,
    /// The revision of the change with which the visit began that the loop is in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
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
}

/// A note.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NoteEntry {
    /// The time, in whole seconds.
    #[serde(serialize_with = "write_time")]
    pub at: Timestamp,
    /// The subject, such as `run-began`.
    pub note: String,
    /// The rest, as its writer wants it.
    pub data: Json,
}

fn write_time<S: Serializer>(at: &Timestamp, out: S) -> Result<S::Ok, S::Error> {
    out.serialize_str(&iso(*at))
}

impl Entry {
    /// Returns the change, if it is one.
    pub fn change(&self) -> Option<&ChangeEntry> {
        match self {
            Self::Change(change) => Some(change),
            Self::Note(_) => None,
        }
    }

    /// Returns the data of a note of this name, or `None` if it is another entry or of another type.
    pub fn note_data<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        match self {
            Self::Note(note) if note.note == name => T::deserialize(&note.data).ok(),
            Self::Note(_) | Self::Change(_) => None,
        }
    }
}

/// Returns the revision of a change that this program wrote. `None`: a note.
pub(super) fn revision_in(json: &[u8]) -> Option<u64> {
    let rest = json.strip_prefix(b"{\"revision\":")?;
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    std::str::from_utf8(&rest[..digits]).ok()?.parse().ok()
}

/// A loop at one revision. Only the store makes one.
#[derive(Debug, Clone)]
pub struct Record {
    pub(super) id: LoopId,
    /// The newest change.
    pub(super) newest: ChangeEntry,
    /// The document as it is on disk.
    pub(super) document: Vec<u8>,
    pub(super) spec: &'static StateSpec,
}

impl Record {
    /// Returns the loop's id.
    pub fn id(&self) -> &LoopId {
        &self.id
    }

    /// Returns the number of its changes, its start included.
    pub fn revision(&self) -> u64 {
        self.newest.revision
    }

    /// Returns the revision with which its visit began: the change that entered the phase, or began its round.
    pub fn visit(&self) -> Option<u64> {
        self.newest.visit
    }

    /// Returns the stored form of its phase.
    pub fn phase(&self) -> &str {
        self.newest.to.as_deref().unwrap_or_default()
    }

    /// Returns its phase and revision.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot {
            phase: self.phase().to_owned(),
            revision: self.revision(),
        }
    }

    /// Returns whether it is in a terminal phase.
    pub fn is_terminal(&self) -> bool {
        self.spec.is_terminal(self.phase())
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

    /// Returns the bytes of its document.
    pub fn document(&self) -> &[u8] {
        &self.document
    }

    /// Returns its fields by name.
    pub fn fields(&self) -> &Fields {
        &self.newest.fields
    }

    /// Returns the value of a field.
    pub fn get(&self, field: &str) -> Option<&Json> {
        self.newest.fields.get(field)
    }

    /// Returns the value of a field of the machine, or its initial one if the loop does not have it.
    pub(crate) fn value(&self, field: &FieldInfo) -> Result<Json, FieldError> {
        match self.get(field.name) {
            Some(value) => field.convert(value),
            None => Ok((field.initial)()),
        }
    }

    /// Returns the value of a field that holds a count.
    pub fn count(&self, field: &str) -> Option<u64> {
        self.get(field)?.as_count()
    }

    /// Returns the value of a field that holds text.
    pub fn text(&self, field: &str) -> Option<String> {
        self.get(field)?.as_str().map(str::to_owned)
    }
}
