//! Modes, phases and personas.

use serde::{Deserialize, Serialize};

use super::tables::{self, many};
use super::texts::{Path, Word};
use super::{Actor, At, Behaviour, Constant, Focus, Named};

/// `[modes.x]`: a way to start a loop.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct Mode {
    pub(crate) start: At<String>,
    /// The initial values that only this mode has.
    #[serde(default, deserialize_with = "tables::entries")]
    pub(crate) initial: Vec<(At<String>, At<Constant>)>,
    /// The actors that may start a loop in it. If empty, both may.
    #[serde(default, deserialize_with = "many")]
    by: Vec<At<Actor>>,
    /// The template that a start prints, by default that of the first phase.
    pub(crate) message: Option<At<Path>>,
    #[serde(default)]
    doc: String,
}

/// `[phases.x]`.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct Phase {
    stored: Option<Word>,
    #[serde(default)]
    doc: String,
    /// Whether a loop in it is over.
    #[serde(default)]
    pub terminal: bool,
    /// The behaviour of a stop. Without one, a phase that is not terminal has a method in Rust.
    pub(crate) on_stop: Option<Behaviour>,
    /// The phase whose `on_stop` this one takes. The parser has completed `on_stop`.
    #[serde(rename = "like")]
    _like: Option<String>,
    /// The template of the message when the phase is entered, unless the edge has one.
    pub(crate) message: Option<At<Path>>,
}

impl Named<Phase> {
    /// Returns the form in the state document, which is the name if `stored` is absent.
    pub fn stored_name(&self) -> &str {
        self.stored.as_ref().map_or(&self.name, |word| word)
    }
}

/// `[personas.x]`: a reviewer in the rounds of every phase that does not name its own.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct Persona {
    /// The name in titles and tables.
    label: String,
    /// The template about the reviewer and the subject of the review.
    pub(crate) prompt: At<Path>,
    /// The subject of the built-in reviewer.
    #[serde(default)]
    focus: Focus,
}
