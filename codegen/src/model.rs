//! A machine as its `machine.toml` declares it: serde types with the place of each value.
//!
//! `parse` reads it, `check` examines it and `emit` turns it into Rust.

mod at;
mod behaviour;
mod field;
mod graph;
mod guard;
mod like;
mod parse;
mod phase;
mod plugin;
mod problem;
mod state;
mod tables;
mod text;
pub mod texts;
mod transition;
mod words;

use serde::{Deserialize, Deserializer, Serialize};
use texts::{FolderPath, Name};

pub use at::At;
pub use behaviour::{Behaviour, Call, Calls, Choice, Outcome, Parameter, Review};
pub use field::{Constant, Field, FieldKind};
pub use graph::Edge;
pub(crate) use parse::parse;
pub use phase::{Mode, Persona, Phase};
pub use plugin::{Does, Plugin, PluginCommand, SlashCommand};
pub use state::State;
pub use tables::Many;
pub(crate) use text::constant_text;
pub use text::{guard_text, update_text};
pub use transition::{Argument, ArgumentKind, From, Guard, Operand, To, Transition, Update};
pub use words::{
    Active, Actor, AtStart, Blocking, Earlier, Evidence, Focus, Form, Held, IdForm, Sign, Turn,
};

/// A whole machine.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// The name of the module and the marker type, and the value of the state document's machine field.
    #[serde(deserialize_with = "name")]
    pub name: At<String>,
    /// The documentation, or an empty text.
    #[serde(default)]
    pub doc: String,
    /// The folder of the templates, relative to the crate. Absent: the crate's root.
    pub messages: Option<FolderPath>,
    /// The names that the program gives to templates in addition to the fields.
    #[serde(default)]
    pub context: Many<At<Name>>,
    /// The transitions to try if the program finds violations.
    #[serde(default)]
    pub before_stop: Many<At<String>>,
    /// The plugin of a client.
    pub plugin: Option<Plugin>,
    /// The location and the form of state documents.
    #[serde(default)]
    pub state: State,
    /// The modes, in the order of the file.
    #[serde(deserialize_with = "tables::table")]
    pub modes: Vec<Mode>,
    /// The fields, in the order of the file, which is the order of the state document.
    #[serde(deserialize_with = "tables::table")]
    pub fields: Vec<Field>,
    /// The phases, in the order of the file.
    #[serde(deserialize_with = "tables::table")]
    pub phases: Vec<Phase>,
    /// The reviewers, in the order of the file, which is the order of the rounds.
    #[serde(default, deserialize_with = "tables::table")]
    pub personas: Vec<Persona>,
    /// The entries of `[[transitions.*]]`, in the order of the file, with their declared sources.
    #[serde(deserialize_with = "transition::transitions")]
    pub transitions: Vec<Transition>,
}

impl Machine {
    /// Returns the folder of the templates, relative to the crate, without `/` at its ends.
    pub fn messages(&self) -> &str {
        self.messages.as_deref().unwrap_or("").trim_matches('/')
    }

    /// Returns the folder of state documents, relative to the loop's root.
    pub fn folder(&self) -> String {
        match &self.state.folder {
            Some(folder) => folder.to_string(),
            None => format!(".{}", self.name.value),
        }
    }
}

fn name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<At<String>, D::Error> {
    let name = At::<Name>::deserialize(deserializer)?;
    Ok(name.map(|name| name.to_string()))
}
