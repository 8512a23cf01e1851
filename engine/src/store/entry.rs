//! What a line of the journal is: a change has a revision and the fields that resulted from it; a note has neither.

use std::collections::HashSet;

use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Map;
use serde_json::value::RawValue;

use super::error::Snapshot;
use super::id::iso;
use super::value::{MOST_COUNT, Value, value_in};

/// Names the change by which a person takes a loop up.
pub(super) const ADOPT: &str = "adopt";
/// Names the change by which a loop follows its project that was moved.
pub(super) const MOVED: &str = "move";
/// Names the change by which an edit by hand is taken over.
pub(super) const EDIT: &str = "edit";
/// Describes a change that is to be made.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// The transition's name, or what else it is: `start`, `bind`, `adopt`, `set-field`, `bring-back`.
    pub what: String,
    /// Who makes it: `hook`, `agent`, `person`, …
    pub by: String,
    /// The arguments of the transition, by name.
    pub args: Option<JsonText>,
    /// The folder that the loop belongs to from then on. `None`: as before.
    pub root: Option<String>,
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
    pub evidence: Option<JsonText>,
    /// Says whether a visit begins with it: it enters a phase, or begins another round of one.
    pub begins_visit: bool,
}

impl Change {
    /// Makes a change without edits that keeps the phase.
    pub fn bare(what: &str, by: &str) -> Self {
        Self {
            what: what.to_owned(),
            by: by.to_owned(),
            args: None,
            root: None,
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
    /// The arguments of the transition, by name.
    pub args: Option<JsonText>,
    /// The stored phase before.
    pub from: Option<String>,
    /// The stored phase after.
    pub to: Option<String>,
    /// Text that was added to the document. All other text in it is people's, and no journal has that.
    pub append: Option<String>,
    /// The review run that it counted.
    pub run: Option<String>,
    /// What was shown for it.
    pub evidence: Option<JsonText>,
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
    pub data: JsonText,
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
            data: JsonText::of(data)?,
        })
    }
}

/// Holds JSON as its text, which is read when it is asked for: read at once, a hostile one takes many times as much memory and time.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct JsonText(Box<RawValue>);

impl JsonText {
    /// Writes a value.
    ///
    /// # Errors
    /// It is none that JSON has.
    pub fn of(value: &impl Serialize) -> serde_json::Result<Self> {
        serde_json::value::to_raw_value(value).map(Self)
    }

    /// Reads the value; `None` where it is of another type.
    pub fn read<T: DeserializeOwned>(&self) -> Option<T> {
        serde_json::from_str(self.0.get()).ok()
    }
}

impl PartialEq for JsonText {
    fn eq(&self, other: &Self) -> bool {
        self.0.get() == other.0.get()
    }
}

/// Limits how deep brackets are nested in a line: what we write is half as deep.
const DEEPEST: usize = 16;
/// Limits the values in a line.
const MOST_VALUES: usize = 100_000;
/// Limits the names that a line gives as quoted.
const MOST_KEYS: usize = 2048;

/// A change as it is written. `quoted` names the fields that are written as quoted text, so that a document which is rebuilt looks as
/// it did.
#[derive(Serialize)]
struct ChangeLine<'c> {
    revision: u64,
    at: String,
    what: &'c str,
    by: &'c str,
    #[serde(skip_serializing_if = "Option::is_none")]
    args: Option<&'c JsonText>,
    from: Option<&'c str>,
    to: Option<&'c str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    append: Option<&'c str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<&'c str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    evidence: Option<&'c JsonText>,
    #[serde(skip_serializing_if = "Option::is_none")]
    visit: Option<u64>,
    fields: Map<String, serde_json::Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    quoted: Vec<&'c str>,
}

/// A line as it is read, of either kind. Other keys are passed over.
#[derive(Deserialize)]
struct Line {
    at: Timestamp,
    note: Option<String>,
    data: Option<JsonText>,
    revision: Option<u64>,
    what: Option<String>,
    by: Option<String>,
    args: Option<JsonText>,
    from: Option<String>,
    to: Option<String>,
    append: Option<String>,
    run: Option<String>,
    evidence: Option<JsonText>,
    visit: Option<u64>,
    fields: Option<Map<String, serde_json::Value>>,
    quoted: Option<JsonText>,
}

impl Serialize for ChangeEntry {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        let quoted = self
            .fields
            .iter()
            .filter(|(_, value)| matches!(value, Value::Text(_)));
        ChangeLine {
            revision: self.revision,
            at: iso(self.at),
            what: &self.what,
            by: &self.by,
            args: self.args.as_ref(),
            from: self.from.as_deref(),
            to: self.to.as_deref(),
            append: self.append.as_deref(),
            run: self.run.as_deref(),
            evidence: self.evidence.as_ref(),
            visit: self.visit,
            fields: self
                .fields
                .iter()
                .map(|(name, value)| (name.clone(), value.to_json()))
                .collect(),
            quoted: quoted.map(|(name, _)| name.as_str()).collect(),
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

    /// Returns what a note of this name holds; `None` where it is another entry, or holds something else.
    pub fn noted<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        match self {
            Self::Note(note) if note.note == name => note.data.read(),
            Self::Note(_) | Self::Change(_) => None,
        }
    }

    /// Reads one line; `None` if it is none of ours.
    pub(super) fn parse(line: &[u8]) -> Option<Self> {
        if line.first() != Some(&b'{') || !is_simple(line, DEEPEST, MOST_VALUES) {
            return None;
        }
        let line: Line = serde_json::from_slice(line).ok()?;
        if let Some(note) = line.note {
            return Some(Self::Note(NoteEntry {
                at: line.at,
                note,
                data: line.data.unwrap_or_default(),
            }));
        }
        let quoted: HashSet<String> = match line.quoted {
            // They are names of fields.
            Some(names) if is_simple(names.0.get().as_bytes(), 1, MOST_KEYS) => names.read()?,
            Some(_) => return None,
            None => HashSet::new(),
        };
        let field = |(name, value)| match Value::of_json(value) {
            Value::Word(text) if quoted.contains(&name) => (name, Value::Text(text)),
            other => (name, other),
        };
        Some(Self::Change(ChangeEntry {
            revision: line.revision.filter(|revision| *revision <= MOST_COUNT)?,
            at: line.at,
            what: line.what?,
            by: line.by?,
            args: line.args,
            from: line.from,
            to: line.to,
            append: line.append,
            run: line.run,
            evidence: line.evidence,
            visit: line.visit,
            fields: line.fields?.into_iter().map(field).collect(),
        }))
    }
}

/// Returns the revision of a change that this program wrote. `None`: a note.
pub(super) fn revision_in(json: &[u8]) -> Option<u64> {
    let rest = json.strip_prefix(b"{\"revision\":")?;
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    std::str::from_utf8(&rest[..digits]).ok()?.parse().ok()
}

/// Returns where the loop is after a change. Revision 0: there is no change.
pub(super) fn snapshot(json: Option<&[u8]>) -> Snapshot {
    let (phase, revision) = match json.and_then(Entry::parse) {
        Some(Entry::Change(change)) => (change.to.unwrap_or_default(), change.revision),
        _ => (String::new(), 0),
    };
    Snapshot { phase, revision }
}

/// Returns whether a reader needs about as much memory for this JSON as it has bytes: a value takes many times what its brackets do.
fn is_simple(bytes: &[u8], deepest: usize, most_values: usize) -> bool {
    let (mut depth, mut values, mut in_text, mut escaped) = (0_usize, 0_usize, false, false);
    for byte in bytes {
        match (in_text, byte) {
            (true, b'\\') if !escaped => {
                escaped = true;
                continue;
            }
            (_, b'"') if !escaped => in_text = !in_text,
            (false, b'[' | b'{') => {
                depth += 1;
                values += 1;
            }
            (false, b']' | b'}') => depth = depth.saturating_sub(1),
            (false, b',') => values += 1,
            _ => {}
        }
        escaped = false;
        if depth > deepest || values > most_values {
            return false;
        }
    }
    true
}
