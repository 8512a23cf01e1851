//! The parts of a machine file that the kit needs: phases, transitions, and how a loop starts.
//!
//! Whether the file is a valid machine is for its own build script to say.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer};
use toml::{Spanned, Value};

/// A machine file.
#[derive(Debug, Clone, Deserialize)]
pub struct Machine {
    pub(crate) name: String,
    /// The folder of the message templates.
    pub(crate) messages: Option<String>,
    pub(crate) plugin: Option<Plugin>,
    #[serde(default)]
    pub(crate) state: State,
    pub(crate) modes: BTreeMap<String, Mode>,
    #[serde(default)]
    pub(crate) fields: BTreeMap<String, Field>,
    pub(crate) phases: BTreeMap<String, Phase>,
    /// The entries of each transition, in the order of the file.
    #[serde(skip)]
    pub(crate) transitions: BTreeMap<String, Vec<Transition>>,
}

/// The part of a machine file that is read with its places.
#[derive(Deserialize)]
struct Declared {
    #[serde(default)]
    transitions: BTreeMap<String, Vec<Spanned<Transition>>>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Plugin {
    pub(crate) name: Option<String>,
}

/// The place and form of loops on disk.
#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct State {
    #[serde(default)]
    pub(crate) folder: String,
    ids: Option<String>,
    active: Option<String>,
}

/// One way to start a loop.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Mode {
    /// The actors that may start a loop in it; both if there are none.
    #[serde(default)]
    pub(crate) by: Vec<Actor>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Field {
    /// The value of the engine's own that it holds: `session`, `id`.
    pub(crate) holds: Option<String>,
    at_start: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Phase {
    stored: Option<String>,
    #[serde(default)]
    pub(crate) terminal: bool,
    #[serde(default)]
    on_stop: BTreeMap<String, Value>,
}

/// One `[[transitions.x]]` entry.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Transition {
    /// The line of the machine file, from 1.
    #[serde(skip)]
    pub(crate) line: usize,
    /// The source phases, with `*` resolved.
    #[serde(deserialize_with = "one_or_many")]
    pub(crate) from: Vec<String>,
    /// The target phase, or `same`.
    pub(crate) to: String,
    #[serde(default)]
    pub(crate) by: Vec<Actor>,
    /// Whether only Rust of the program takes it.
    #[serde(default)]
    own: bool,
    pub(crate) requires: Option<String>,
    #[serde(default)]
    args: BTreeMap<String, Value>,
}

/// The caller of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Actor {
    /// The coding agent.
    Agent,
    /// The user.
    Person,
}

impl Machine {
    /// Reads a machine file.
    ///
    /// # Errors
    /// Returns a message if the text is not TOML, or lacks a part of a machine.
    pub fn read(source: &str) -> Result<Self, String> {
        let failed = |error: toml::de::Error| error.to_string();
        let mut machine: Self = toml::from_str(source).map_err(failed)?;
        let declared: Declared = toml::from_str(source).map_err(failed)?;
        if machine.state.folder.is_empty() {
            machine.state.folder = format!(".{}", machine.name);
        }
        for (name, entries) in declared.transitions {
            let sources = entries.iter().flat_map(|entry| &entry.get_ref().from);
            let own: Vec<String> = sources.cloned().collect();
            // `*` is every phase that is not terminal and has no entry of its own.
            let others = machine.phases.iter();
            let others = others.filter(|(name, phase)| !phase.terminal && !own.contains(name));
            let others: Vec<String> = others.map(|(name, _)| name.clone()).collect();

            let mut resolved = Vec::new();
            for entry in entries {
                let line = source[..entry.span().start].matches('\n').count() + 1;
                let mut transition = entry.into_inner();
                transition.line = line;
                if transition.from == ["*"] {
                    transition.from.clone_from(&others);
                }
                resolved.push(transition);
            }
            machine.transitions.insert(name, resolved);
        }
        Ok(machine)
    }

    /// Returns the entries of a transition.
    pub(crate) fn entries(&self, transition: &str) -> &[Transition] {
        self.transitions.get(transition).map_or(&[], Vec::as_slice)
    }

    /// Returns the name of the phase that a document or a journal names in this way.
    pub(crate) fn phase_stored_as(&self, stored: &str) -> Option<&str> {
        let mut phases = self.phases.iter();
        let (name, _) =
            phases.find(|(name, phase)| *phase.stored.as_ref().unwrap_or(name) == stored)?;
        Some(name)
    }

    /// Returns the field that holds something of the engine.
    pub(crate) fn holder(&self, what: &str) -> Option<&str> {
        let mut fields = self.fields.iter();
        let (name, _) = fields.find(|(_, field)| field.holds.as_deref() == Some(what))?;
        Some(name)
    }
}

impl State {
    /// Returns whether the caller of `start` names the loop.
    pub(crate) fn has_named_ids(&self) -> bool {
        self.ids.as_deref() == Some("name")
    }

    /// Returns whether a project may have many active loops.
    pub(crate) fn allows_many(&self) -> bool {
        self.active.as_deref() == Some("many")
    }
}

impl Field {
    pub(crate) fn is_required(&self) -> bool {
        self.at_start.as_deref() == Some("required")
    }
}

impl Phase {
    /// Returns the file that its `on_stop` looks for, with fields in braces.
    pub(crate) fn file(&self) -> Option<&str> {
        let path = |behaviour, key| self.on_stop.get(behaviour)?.get(key)?.as_str();
        path("require-file", "path").or_else(|| path("wait-for", "file"))
    }

    /// Returns the name of the configured command that its `on_stop` runs.
    pub(crate) fn command(&self) -> Option<&str> {
        self.on_stop.get("run")?.get("command")?.as_str()
    }
}

impl Transition {
    /// Returns whether the command line has a verb for it that needs no arguments.
    pub(crate) fn is_plain_verb(&self) -> bool {
        let is_optional = |one: &Value| one.get("optional").and_then(Value::as_bool) == Some(true);
        !self.by.is_empty() && !self.own && self.args.values().all(is_optional)
    }

    pub(crate) fn leaves(&self, phase: &str) -> bool {
        self.from.iter().any(|from| from == phase)
    }

    /// Returns the number of parameters of the generated method.
    pub(crate) fn parameters(&self) -> usize {
        self.args.len() + usize::from(self.requires.is_some())
    }
}

fn one_or_many<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    match Value::deserialize(from)? {
        Value::String(one) => Ok(vec![one]),
        many => many.try_into().map_err(serde::de::Error::custom),
    }
}
