//! The lines of a journal: a change has a revision and the fields that resulted from it, a note has neither.

use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value as Json;

use super::error::Snapshot;
use super::id::iso;
use super::value::Fields;

/// The change by which a user takes a loop over.
pub(super) const ADOPT: &str = "adopt";
/// The change by which a loop follows its project that was moved.
pub(super) const MOVED: &str = "move";
/// The change by which an edit by hand is taken over.
pub(super) const EDIT: &str = "edit";

/// A change that is to be made.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Change {
    /// The transition's name, or another word for the change, such as `bind`.
    pub what: String,
    /// The actor who makes it: `hook`, `agent`, `person`.
    pub by: String,
    /// The arguments of the transition, by name.
    pub args: Option<Json>,
    /// The folder that the loop belongs to from then on. `None`: as before.
    pub root: Option<String>,
    /// The stored phase that it leaves. It is compared with the loop's phase if it is given.
    pub from: Option<String>,
    /// The stored phase that it enters. `None` keeps the phase.
    pub to: Option<String>,
    /// New values of fields. The store writes those that say what a document is (phase, id, revision, machine, root, graph hash).
    pub edits: Fields,
    /// Text that is added to the document, if its form has a place for text.
    pub append: Option<String>,
    /// The review run that it counts.
    pub run: Option<String>,
    /// The evidence that was shown for it.
    pub evidence: Option<Json>,
    /// Whether a visit begins with it: it enters a phase, or begins another round of one.
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
    /// Its number, from 1.
    pub revision: u64,
    /// The time, in whole seconds.
    #[serde(serialize_with = "write_time")]
    pub at: Timestamp,
    /// See [`Change::what`].
    pub what: String,
    /// See [`Change::by`].
    pub by: String,
    /// The arguments of the transition, by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args: Option<Json>,
    /// The stored phase before.
    pub from: Option<String>,
    /// The stored phase after.
    pub to: Option<String>,
    /// Text that was added to the document. All other text in it is people's, and no journal has that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub append: Option<String>,
    /// The review run that it counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// The evidence that was shown for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Json>,
    /// The revision of the change with which the visit began that the loop is in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub visit: Option<u64>,
    /// All fields that resulted, in the document's order.
    pub fields: Fields,
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
    /// Its subject, such as `run-began`.
    pub note: String,
    /// The rest, as its writer wants it.
    pub data: Json,
}

impl NoteEntry {
    /// Makes a note of now.
    ///
    /// # Errors
    /// `data` cannot be written as JSON.
    pub fn now(note: &str, data: &impl Serialize) -> serde_json::Result<Self> {
        Ok(Self {
            at: Timestamp::now(),
            note: note.to_owned(),
            data: serde_json::to_value(data)?,
        })
    }
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
    pub fn noted<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        match self {
            Self::Note(note) if note.note == name => T::deserialize(&note.data).ok(),
            Self::Note(_) | Self::Change(_) => None,
        }
    }

    /// Reads one line, without its seal.
    pub(super) fn parse(line: &[u8]) -> Option<Self> {
        serde_json::from_slice(line).ok()
    }
}

/// Returns the revision of a change that this program wrote. `None`: a note.
pub(super) fn revision_in(json: &[u8]) -> Option<u64> {
    let rest = json.strip_prefix(b"{\"revision\":")?;
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    std::str::from_utf8(&rest[..digits]).ok()?.parse().ok()
}

/// Returns the phase and revision of a loop after a change. Revision 0: there is no change.
pub(super) fn snapshot(json: Option<&[u8]>) -> Snapshot {
    let (phase, revision) = match json.and_then(Entry::parse) {
        Some(Entry::Change(change)) => (change.to.unwrap_or_default(), change.revision),
        _ => (String::new(), 0),
    };
    Snapshot { phase, revision }
}
