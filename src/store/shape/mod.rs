//! The shape of a machine: everything that the meaning of a state document depends on. Read from the JSON that
//! `claudex-build` writes (`SHAPE`), which is also kept beside the loops, as `machines/<graph hash>.json`.
//!
//! This file knows what a shape says; `diff` compares two, `migration` carries one to the next. None of them touches a
//! file.

mod diff;
mod migration;
#[cfg(test)]
pub(super) mod tests;

use crate::digest::sha256;

use serde::Deserialize;

use super::document::Document;
use super::id::LoopId;
use super::spec::IdForm;
use super::value::Value;

pub use diff::{Difference, Suggestion, Verdict, compare, diff};
pub use migration::Migrations;

/// The version of the shape's own form that is read here.
const VERSION: u32 = 1;

/// A machine, as far as its documents' meaning goes.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shape {
    /// The version of the form that it is written in.
    #[serde(rename = "shape")]
    pub version: u32,
    /// The machine's name.
    pub machine: String,
    /// Where its documents are, and in which form.
    pub state: StateShape,
    /// Its fields, in the order of the document.
    pub fields: Vec<FieldShape>,
    /// Its phases.
    pub phases: Vec<PhaseShape>,
    /// Its edges.
    pub edges: Vec<EdgeShape>,
    /// The digest of the bytes that it was read from.
    #[serde(skip)]
    pub hash: String,
}

/// Where a machine's documents are, and in which form.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StateShape {
    /// The state folder, from the root.
    pub folder: String,
    /// The extension of a state document.
    pub extension: String,
    /// Names the path of a document that is the user's own, with `{id}` for the id.
    #[serde(default)]
    pub file: Option<String>,
    /// `lines`, `json`, or `frontmatter` with the places of its fields.
    pub form: String,
    /// `stamp` or `name`.
    pub ids: String,
}

/// A field.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FieldShape {
    /// Its name.
    pub name: String,
    /// `count`, `text`, `one_of`, `held`, …
    pub kind: String,
    /// The words of a `one_of`.
    #[serde(default)]
    pub words: Vec<String>,
    /// What the engine keeps in it.
    #[serde(default)]
    pub holds: Option<String>,
    /// Its value at the start.
    #[serde(default)]
    pub initial: Option<serde_json::Value>,
    /// The value that a document has as null.
    #[serde(default)]
    pub null: Option<serde_json::Value>,
    /// `optional`, `required`; absent: not given at the start.
    #[serde(default)]
    pub at_start: Option<String>,
    /// The phases in which it exists; absent: all.
    #[serde(default, rename = "in")]
    pub within: Option<Vec<String>>,
    /// Whether the journal's value wins over an edit by hand.
    #[serde(default)]
    pub owned: bool,
    /// A migration gives it a value of the new machine.
    #[serde(skip)]
    given: bool,
}

/// A phase.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PhaseShape {
    /// Its name.
    pub name: String,
    /// Its form in a document.
    pub stored: String,
    /// Whether a loop is over in it.
    pub terminal: bool,
    /// A migration says which phase of the new machine it is.
    #[serde(skip)]
    given: bool,
}

/// An edge: one transition at one source.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EdgeShape {
    /// The transition.
    pub transition: String,
    /// Where it leaves.
    pub from: String,
    /// Where it leads.
    pub to: String,
    /// The guard's text.
    #[serde(default)]
    pub when: Option<String>,
    /// The evidence that it needs.
    #[serde(default)]
    pub requires: Option<String>,
    /// Who may take it besides the hook.
    #[serde(default)]
    pub by: Vec<String>,
    /// Its arguments.
    #[serde(default)]
    pub args: serde_json::Map<String, serde_json::Value>,
    /// What it sets.
    #[serde(default)]
    pub set: serde_json::Map<String, serde_json::Value>,
}

/// Text that is no shape, or no list of migrations.
#[derive(
    Debug, Clone, PartialEq, Eq, derive_more::Display, derive_more::Error, miette::Diagnostic,
)]
pub enum ShapeError {
    /// It is not the JSON of a shape.
    #[display("it is no shape of a machine: {reason}")]
    #[diagnostic(
        code(claudex::shape::form),
        help("a shape is a file of `machines/` in a state folder; a start writes it")
    )]
    Form {
        /// What the reader said.
        reason: String,
    },
    /// It was written by another version of the engine.
    #[display("the form of the shape is version {found}, and this engine reads {VERSION}")]
    #[diagnostic(
        code(claudex::shape::version),
        help("use the version of the engine that wrote it")
    )]
    Version {
        /// What it says.
        found: u32,
    },
}

impl Shape {
    /// Reads a shape.
    ///
    /// # Errors
    /// See [`ShapeError`].
    pub fn read(json: &[u8]) -> Result<Self, ShapeError> {
        #[derive(Deserialize)]
        struct Version {
            shape: u32,
        }
        let form = |error: serde_json::Error| ShapeError::Form {
            reason: error.to_string(),
        };
        let Version { shape: found } = serde_json::from_slice(json).map_err(form)?;
        if found != VERSION {
            return Err(ShapeError::Version { found });
        }
        let mut shape: Self = serde_json::from_slice(json).map_err(form)?;
        shape.hash = hash_of(json);
        Ok(shape)
    }

    /// Returns the phase of this name.
    pub fn phase(&self, name: &str) -> Option<&PhaseShape> {
        self.phases.iter().find(|phase| phase.name == name)
    }

    /// Returns the phase with this stored form.
    pub fn stored(&self, stored: &str) -> Option<&PhaseShape> {
        self.phases.iter().find(|phase| phase.stored == stored)
    }

    /// Returns the field of this name.
    pub fn field(&self, name: &str) -> Option<&FieldShape> {
        self.fields.iter().find(|field| field.name == name)
    }

    /// Returns whether the journal's value of a field wins over an edit by hand, as [`StateSpec`](super::StateSpec) says it of
    /// ours.
    pub(super) fn is_protected(&self, name: &str) -> bool {
        self.field(name).is_some_and(|field| {
            field.owned
                || field
                    .holds
                    .as_deref()
                    .is_some_and(|holds| holds != "updated")
        })
    }

    /// Returns the fields with the values that a document has as null, as [`StateSpec`](super::StateSpec) says it of ours.
    pub(super) fn nulls(&self) -> Vec<(String, Value)> {
        let of = |field: &FieldShape| {
            let plain = match field.null.as_ref()? {
                serde_json::Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            Some((field.name.clone(), Value::from_plain(&plain)))
        };
        self.fields.iter().filter_map(of).collect()
    }

    /// Checks that a document in a phase opens as a loop of this machine; if not, says what is in the way.
    pub(super) fn admits(&self, stored: &str, document: &dyn Document) -> Result<(), String> {
        if self.stored(stored).is_none() {
            return Err(format!("no phase is stored as `{stored}`"));
        }
        for field in &self.fields {
            if let Some(value) = document.get(&field.name)
                && !field.takes(&value)
            {
                let shown: String = value.to_plain().chars().take(80).collect();
                return Err(format!("`{}` would be `{shown}`", field.name));
            }
        }
        Ok(())
    }
}

impl FieldShape {
    /// Returns whether a value is of the field's kind. The same as opening a loop asks of it.
    fn takes(&self, value: &Value) -> bool {
        match self.kind.as_str() {
            "count" => value.as_count().is_some(),
            "flag" => value.as_flag().is_some(),
            "time" => {
                let text = value.to_plain();
                text.is_empty() || text.parse::<jiff::Timestamp>().is_ok()
            }
            "id" => {
                let text = value.to_plain();
                text.is_empty()
                    || value.as_list().is_none() && LoopId::parse(&text, IdForm::Name).is_ok()
            }
            "list" => value.as_list().is_some(),
            "one_of" => self.words.iter().any(|word| *word == *value.to_plain()),
            _ => true,
        }
    }

    /// Returns the initial value as machine.toml writes it.
    fn initial_text(&self) -> String {
        self.initial
            .as_ref()
            .map_or_else(String::new, ToString::to_string)
    }
}

/// Returns the digest that a shape's bytes have: the graph hash, 16 hex digits.
pub(super) fn hash_of(json: &[u8]) -> String {
    sha256(json)[..16].to_owned()
}
