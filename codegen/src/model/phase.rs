//! Modes, phases and personas.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::tables::{self, Named, named};
use super::texts::{Path, StoredWord};
use super::{Actor, At, Behaviour, Constant, Focus, Many};

/// `[modes.x]`.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Mode {
    /// The name of the table.
    #[serde(skip_deserializing)]
    pub name: At<String>,
    /// The first phase.
    pub start: At<String>,
    /// The initial values that only this mode has.
    #[serde(default, deserialize_with = "tables::pairs")]
    pub initial: Vec<(At<String>, At<Constant>)>,
    /// The actors that may start a loop in it. Empty: both.
    #[serde(default)]
    pub by: Many<At<Actor>>,
    /// The template that a start prints. Absent: that of the first phase.
    pub message: Option<At<Path>>,
    /// The documentation, or an empty text.
    #[serde(default)]
    pub doc: String,
}

/// `[phases.x]`.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Phase {
    /// The name of the table.
    #[serde(skip_deserializing)]
    pub name: At<String>,
    /// The form in the state document. Absent: the name.
    pub stored: Option<At<StoredWord>>,
    /// The documentation, or an empty text.
    #[serde(default)]
    pub doc: String,
    /// Whether a loop in it is over.
    #[serde(default)]
    pub terminal: bool,
    /// What a stop does here. Absent in a phase that is not terminal: a method to write in Rust.
    pub on_stop: Option<Behaviour>,
    /// The phase whose `on_stop` this one takes. Keys of its own win. The parser completes `on_stop`.
    pub like: Option<At<String>>,
    /// The template of the message when the phase is entered, unless the edge has one.
    pub message: Option<At<Path>>,
    /// The start of the table.
    #[serde(skip)]
    pub span: Range<usize>,
}

impl Phase {
    /// Returns the form in the state document.
    pub fn stored(&self) -> &str {
        match &self.stored {
            Some(stored) => &stored.value,
            None => &self.name.value,
        }
    }
}

impl Named for Phase {
    fn set_name(&mut self, name: At<String>, span: Range<usize>) {
        self.name = name;
        self.span = span;
    }
}

/// `[personas.x]`: a reviewer in the rounds of every phase that does not name its own.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Persona {
    /// The name of the table.
    #[serde(skip_deserializing)]
    pub name: At<String>,
    /// The name in titles and tables.
    pub label: String,
    /// The template of who the reviewer is and what the review looks at.
    pub prompt: At<Path>,
    /// The subject of the built-in reviewer.
    #[serde(default)]
    pub focus: Focus,
}

named!(Mode, Persona);
