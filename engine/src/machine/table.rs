//! The const description of a machine: the declarations of `machine.toml` as data.

use std::any::Any;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::edge::EdgeInfo;
use crate::store::StateSpec;
pub use crate::store::{FieldInfo, FieldKind, InitialValue};

/// A whole machine.
#[derive(Debug)]
pub struct Table {
    /// The machine's name.
    pub name: &'static str,
    /// The purpose.
    pub doc: &'static str,
    /// The machine file, as the messages name it.
    pub file: &'static str,
    /// The plugin of a client whose slash commands call its program.
    pub plugin: Option<&'static str>,
    /// The slash commands of that plugin, by name.
    pub slash: &'static [&'static str],
    /// The place and form of its documents.
    pub state: &'static StateSpec,
    /// The modes.
    pub modes: &'static [ModeInfo],
    /// The phases, in the order of `machine.toml`. Edges name them by index.
    pub phases: &'static [PhaseInfo],
    /// Returns the edges, each once.
    pub all_edges: fn() -> Vec<&'static EdgeInfo>,
    /// Declarations that only the program reads.
    pub extra: Extra,
}

/// A declaration of the machine file that the engine does not read. `&()` if there is none.
pub type Extra = &'static (dyn Any + Send + Sync);

/// A message template, compiled in. The caller that shows a message renders it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message {
    /// The file's name, for errors.
    pub name: &'static str,
    /// The template, in the syntax of minijinja.
    pub text: &'static str,
}

/// A mode: a first phase with its initial values.
#[derive(Debug)]
pub struct ModeInfo {
    /// The name, as `start` takes it.
    pub name: &'static str,
    /// The doc.
    pub doc: &'static str,
    /// Index of the first phase.
    pub start: usize,
    /// Initial values that differ from the fields' own.
    pub initial: &'static [(&'static str, InitialValue)],
    /// The actors that may start a loop in it. If empty, the agent and the user may.
    pub by: &'static [Actor],
    /// The template that a start prints, unless it is that of the first phase.
    pub message: Option<Message>,
}

impl ModeInfo {
    /// Returns the value of a field at the start of the mode.
    pub fn start_value(&self, field: &FieldInfo) -> Json {
        match self.initial.iter().find(|(name, _)| *name == field.name) {
            Some((_, value)) => value(),
            None => (field.initial)(),
        }
    }
}

/// A phase.
#[derive(Debug)]
pub struct PhaseInfo {
    /// The name, as documents have it: `stored` of machine.toml, or else the name there.
    pub name: &'static str,
    /// The doc.
    pub doc: &'static str,
    /// Whether the loop is over in it.
    pub terminal: bool,
    /// The message when it is entered, unless the edge has its own.
    pub message: Option<Message>,
    /// The behaviour of a stop in it, or `None` if it is terminal or Rust decides.
    pub on_stop: Option<BehaviourInfo>,
    /// Declarations that only the program reads.
    pub extra: Extra,
}

/// The behaviour of a stop in a phase, from claudex-build's catalogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BehaviourInfo {
    /// The name in the catalogue.
    pub name: &'static str,
    /// The parameters as `machine.toml` has them.
    pub parameters: &'static [(&'static str, &'static str)],
    /// The transitions of its outcomes at which nothing has happened since the last stop.
    pub reminds: &'static [&'static str],
}

impl BehaviourInfo {
    /// Returns a parameter, if the machine file has it.
    pub fn parameter(&self, name: &str) -> Option<&'static str> {
        self.parameters
            .iter()
            .find(|(key, _)| *key == name)
            .map(|(_, value)| *value)
    }
}

/// An argument of a transition.
#[derive(Debug)]
pub struct ArgumentInfo {
    /// The name.
    pub name: &'static str,
    /// The doc.
    pub doc: &'static str,
    /// The kind of its value.
    pub kind: FieldKind,
    /// Whether a call can leave it out.
    pub optional: bool,
}

/// An actor on a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Actor {
    /// The loop's own driver: the Stop hook, or `run` in its place.
    Hook,
    /// The coding agent.
    Agent,
    /// The user.
    Person,
}

crate::words!(Actor);

impl Table {
    /// Returns the index of the phase with this name.
    pub fn phase_position(&self, name: &str) -> Option<usize> {
        self.phases.iter().position(|phase| phase.name == name)
    }
}
