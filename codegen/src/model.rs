//! A machine as its `machine.toml` declares it: serde types with the place of each value.
//!
//! `parse` reads it, `check` examines it and `emit` turns it into Rust.

mod at;
mod behaviour;
mod expression;
mod field;
mod graph;
mod like;
mod parse;
mod parser;
mod phase;
mod plugin;
mod problem;
mod tables;
pub mod texts;
mod transition;
mod words;

use serde::{Deserialize, Deserializer, Serialize};
use tables::many;
use texts::{Extension, Name, Path, Variable};

pub use at::At;
pub(crate) use behaviour::{Behaviour, Call};
pub use expression::{Comparison, Guard, Operand, Read, Update};
pub use field::{Constant, Field, FieldKind};
pub use graph::Edge;
pub(crate) use parse::parse;
pub use phase::Phase;
pub(crate) use phase::{Mode, Persona};
pub(crate) use plugin::Plugin;
pub use tables::Named;
pub use transition::{Argument, Entry, Transition};
pub use words::{
    Active, Actor, AtStart, Blocking, Earlier, EngineField, Evidence, Focus, Form, FromProgram,
    IdForm, Sign, Turn,
};

/// A whole machine.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// The name of the module and the marker type, also in the state document.
    #[serde(deserialize_with = "name")]
    pub name: At<String>,
    #[serde(default)]
    pub(crate) doc: String,
    messages: Option<Path>,
    /// The names that the program gives to templates in addition to the fields.
    #[serde(default, deserialize_with = "many")]
    pub(crate) context: Vec<At<Name>>,
    /// The transitions to try if the program finds violations.
    #[serde(default, deserialize_with = "many")]
    pub(crate) before_stop: Vec<At<String>>,
    pub(crate) plugin: Option<Plugin>,
    #[serde(default)]
    pub(crate) state: State,
    #[serde(deserialize_with = "tables::table")]
    pub(crate) modes: Vec<Named<Mode>>,
    /// The fields, in the order of the file, which is the order of the state document.
    #[serde(deserialize_with = "tables::table")]
    pub fields: Vec<Named<Field>>,
    /// The phases, in the order of the file.
    #[serde(deserialize_with = "tables::table")]
    pub phases: Vec<Named<Phase>>,
    /// The reviewers, in the order of the file, which is the order of the rounds.
    #[serde(default, deserialize_with = "tables::table")]
    pub(crate) personas: Vec<Named<Persona>>,
    /// The entries of `[[transitions.*]]`, in the order of the file, with their declared sources.
    #[serde(deserialize_with = "transition::transitions")]
    pub transitions: Vec<Entry>,
}

impl Machine {
    /// Returns the folder of the templates, relative to the crate, without `/` at its ends.
    pub(crate) fn messages(&self) -> &str {
        let folder = self.messages.as_deref().map_or("", String::as_str);
        folder.trim_matches('/')
    }

    /// Returns the folder of state documents, relative to the loop's root.
    pub fn folder(&self) -> String {
        let folder = self.state.folder.as_ref();
        folder.map_or_else(|| format!(".{}", self.name), |path| path.to_string())
    }
}

/// `[state]`: the folder and the form of state documents.
#[derive(Debug, Clone, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct State {
    /// The documents' folder below the loop's root, by default `.NAME` ([`Machine::folder`]).
    pub(crate) folder: Option<Path>,
    pub(crate) folder_env: Option<At<Variable>>,
    /// The path of a document that users own, below the root, such as `plans/{id}/state.json`.
    pub(crate) file: Option<At<Path>>,
    pub(crate) extension: Option<At<Extension>>,
    pub(crate) form: Form,
    pub(crate) ids: IdForm,
    #[serde(deserialize_with = "many")]
    pub(crate) edits: Vec<At<String>>,
    pub(crate) active: Active,
}

fn name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<At<String>, D::Error> {
    let name = At::<Name>::deserialize(deserializer)?;
    Ok(At::new(name.to_string(), name.span()))
}
