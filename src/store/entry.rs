//! What a line of the journal is: a change has a revision and the fields that resulted from it; a note has neither.

use jiff::Timestamp;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Map;

use super::id::iso;
use super::json::is_simple;
use super::spec::StateSpec;
use super::value::{MOST_COUNT, Value, value_in};

/// Names the change by which a person takes a loop up.
pub(super) const ADOPT: &str = "adopt";
/// Names the change by which an edit by hand is taken over.
pub(super) const EDIT: &str = "edit";
/// Names a migration.
pub(super) const MIGRATE: &str = "migrate";
/// Names who makes these two.
pub(super) const ENGINE: &str = "engine";
/// A person makes it.
pub(super) const PERSON: &str = "person";

/// Describes a change that is to be made.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// The transition's name, or what else it is: `start`, `bind`, `adopt`, `set-field`, `migrate`, `bring-back`.
    pub what: String,
    /// Who makes it: `hook`, `agent`, `person`, …
    pub by: String,
    /// The stored phase that it leaves; checked against the document if it is given.
    pub from: Option<String>,
    /// The stored phase that it enters; `None` keeps the phase.
    pub to: Option<String>,
    /// New values of fields. Those that say what a document is (phase, id, revision, machine, root, graph hash) are
    /// left out: the store writes them.
    pub edits: Vec<(String, Value)>,
    /// Text that is added to the document, where its form has a place for text.
    pub append: Option<String>,
    /// The review run that it counts.
    pub run: Option<String>,
    /// What was shown for it.
    pub evidence: Option<serde_json::Value>,
    /// Says whether a visit begins with it: it enters a phase, or begins another round of one.
    pub begins_visit: bool,
}

impl Change {
    /// Makes a change without edits that keeps the phase.
    pub fn bare(what: &str, by: &str) -> Self {
        Self {
            what: what.to_owned(),
            by: by.to_owned(),
            from: None,
            to: None,
            edits: Vec::new(),
            append: None,
            run: None,
            evidence: None,
            begins_visit: false,
        }
    }
}

/// One line of the journal.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Entry {
    /// A change of the document.
    Change(ChangeEntry),
    /// Something worth keeping that changed no field.
    Note(NoteEntry),
}

/// Describes a change that was made.
#[derive(Debug, Clone, PartialEq)]
pub struct ChangeEntry {
    /// Its number, from 1.
    pub revision: u64,
    /// When, in whole seconds.
    pub at: Timestamp,
    /// See [`Change::what`].
    pub what: String,
    /// Who made it.
    pub by: String,
    /// The stored phase before.
    pub from: Option<String>,
    /// The stored phase after.
    pub to: Option<String>,
    /// Text that was added to the document. All other text in it is people's, and no journal has that.
    pub append: Option<String>,
    /// The review run that it counted.
    pub run: Option<String>,
    /// What was shown for it.
    pub evidence: Option<serde_json::Value>,
    /// The change with which the visit began that the loop is in, by its revision. `None` where an earlier version of the engine wrote
    /// the line.
    pub visit: Option<u64>,
    /// All fields that resulted, in the document's order.
    pub fields: Vec<(String, Value)>,
}

impl ChangeEntry {
    /// Returns the value that a field has since the change.
    pub fn field(&self, name: &str) -> Option<&Value> {
        value_in(&self.fields, name)
    }

    /// Returns the version that made the change; empty where it names none, `None` where the machine cannot tell its versions
    /// apart.
    pub(super) fn graph_hash(&self, spec: &StateSpec) -> Option<String> {
        let field = spec.fields.graph_hash?;
        Some(self.field(field).map_or(String::new(), |hash| hash.to_plain().into_owned()))
    }
}

/// Holds a note.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NoteEntry {
    /// When, in whole seconds.
    #[serde(serialize_with = "write_time")]
    pub at: Timestamp,
    /// What it is about: `run-began`, `run-ended`, …
    pub note: String,
    /// The rest, as its writer wants it.
    #[serde(default)]
    pub data: Map<String, serde_json::Value>,
}

/// Limits how deep brackets are nested in a line: what we write is half as deep.
const DEEPEST: usize = 16;
/// Limits the values in a line.
const MOST_VALUES: usize = 100_000;

/// A change as it stands in the file. `quoted` names the fields that are written as quoted text, so that a document
/// which is rebuilt looks as it did.
#[derive(Serialize, Deserialize)]
struct ChangeLine {
    revision: u64,
    at: String,
    what: String,
    by: String,
    from: Option<String>,
    to: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    append: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    run: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    evidence: Option<serde_json::Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    visit: Option<u64>,
    #[serde(skip_deserializing)]
    fields: Map<String, serde_json::Value>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    quoted: Vec<String>,
}

#[derive(Deserialize)]
struct NoteLine {
    at: String,
    note: String,
    #[serde(default)]
    data: Map<String, serde_json::Value>,
}

impl Serialize for ChangeEntry {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        let quoted = |(name, value): &(String, Value)| matches!(value, Value::Text(_)).then(|| name.clone());
        ChangeLine {
            revision: self.revision,
            at: iso(self.at),
            what: self.what.clone(),
            by: self.by.clone(),
            from: self.from.clone(),
            to: self.to.clone(),
            append: self.append.clone(),
            run: self.run.clone(),
            evidence: self.evidence.clone(),
            visit: self.visit,
            fields: self.fields.iter().map(|(name, value)| (name.clone(), value.to_json())).collect(),
            quoted: self.fields.iter().filter_map(quoted).collect(),
        }
        .serialize(out)
    }
}

fn write_time<S: Serializer>(at: &Timestamp, out: S) -> Result<S::Ok, S::Error> {
    out.serialize_str(&iso(*at))
}

impl Entry {
    /// Returns the change, where it is one.
    pub fn change(&self) -> Option<&ChangeEntry> {
        match self {
            Self::Change(change) => Some(change),
            Self::Note(_) => None,
        }
    }

    /// Reads one line; `None` if it is none of ours.
    pub(super) fn parse(line: &[u8]) -> Option<Self> {
        if line.first() != Some(&b'{') || !is_simple(line, DEEPEST, MOST_VALUES) {
            return None;
        }
        let mut json: Map<String, serde_json::Value> = serde_json::from_slice(line).ok()?;
        if json.contains_key("note") {
            let NoteLine { at, note, data } = serde_json::from_value(json.into()).ok()?;
            return Some(Self::Note(NoteEntry { at: at.parse().ok()?, note, data }));
        }
        // Most of the line, and taken as it is.
        let Some(serde_json::Value::Object(fields)) = json.remove("fields") else {
            return None;
        };
        let line: ChangeLine = serde_json::from_value(json.into()).ok()?;
        if line.revision > MOST_COUNT {
            return None;
        }
        let field = |(name, value)| match Value::of_json(value) {
            Value::Word(text) if line.quoted.contains(&name) => (name, Value::Text(text)),
            other => (name, other),
        };
        let fields = fields.into_iter().map(field).collect();
        Some(Self::Change(ChangeEntry {
            revision: line.revision,
            at: line.at.parse().ok()?,
            what: line.what,
            by: line.by,
            from: line.from,
            to: line.to,
            append: line.append,
            run: line.run,
            evidence: line.evidence,
            visit: line.visit,
            fields,
        }))
    }
}
