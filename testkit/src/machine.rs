//! The parts of a machine file that the kit needs: phases, transitions, and how a loop starts.
//!
//! Whether the file is a valid machine is for its own build script to say.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Deserializer};
use toml::{Spanned, Value};

/// A machine file.
#[derive(Debug, Clone)]
pub struct Machine {
    pub(crate) name: String,
    /// The folder of the message templates.
    pub(crate) messages: Option<String>,
    pub(crate) plugin: Option<String>,
    pub(crate) state: State,
    pub(crate) modes: Vec<(String, Mode)>,
    pub(crate) fields: Vec<(String, Field)>,
    pub(crate) phases: Vec<Phase>,
    pub(crate) transitions: Vec<Transition>,
}

/// The whole file, as it is read.
#[derive(Deserialize)]
struct File {
    name: String,
    messages: Option<String>,
    plugin: Option<Value>,
    #[serde(default)]
    state: State,
    modes: Section<Mode>,
    #[serde(default)]
    fields: Section<Field>,
    phases: Section<Phase>,
    #[serde(default)]
    transitions: BTreeMap<String, Vec<Spanned<Transition>>>,
}

/// The tables of a section, by name.
type Section<T> = BTreeMap<Spanned<String>, T>;

/// Where and how loops are stored.
#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct State {
    #[serde(default)]
    pub(crate) folder: String,
    /// The path of a document outside the folder, with fields in braces.
    pub(crate) file: Option<String>,
    extension: Option<String>,
    form: Option<String>,
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
    /// What the engine keeps in it: `session`, `id`.
    pub(crate) holds: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
    one_of: Option<Vec<String>>,
    at_start: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Phase {
    #[serde(skip)]
    pub(crate) name: String,
    stored: Option<String>,
    #[serde(default)]
    pub(crate) terminal: bool,
    #[serde(default)]
    on_stop: BTreeMap<String, Value>,
}

/// One `[[transitions.x]]` entry.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Transition {
    #[serde(skip)]
    pub(crate) name: String,
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

/// Who runs a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
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
        let file: File = toml::from_str(source).map_err(|error| error.to_string())?;
        let phases = in_order(file.phases).into_iter();
        let phases = phases.map(|(name, phase)| Phase { name, ..phase });
        let phases: Vec<Phase> = phases.collect();
        let mut state = file.state;
        if state.folder.is_empty() {
            state.folder = format!(".{}", file.name);
        }
        Ok(Self {
            messages: file.messages,
            plugin: file
                .plugin
                .and_then(|plugin| Some(plugin.get("name")?.as_str()?.to_owned())),
            state,
            modes: in_order(file.modes),
            fields: in_order(file.fields),
            transitions: transitions(file.transitions, source, &phases),
            phases,
            name: file.name,
        })
    }

    pub(crate) fn phase_stored_as(&self, stored: &str) -> Option<&Phase> {
        let mut phases = self.phases.iter();
        phases.find(|phase| *phase.stored.as_ref().unwrap_or(&phase.name) == stored)
    }

    /// Returns the field that holds something of the engine.
    pub(crate) fn holder(&self, what: &str) -> Option<&str> {
        let mut fields = self.fields.iter();
        let (name, _) = fields.find(|(_, field)| field.holds.as_deref() == Some(what))?;
        Some(name)
    }

    /// Returns the names of the transitions in the order of the file, each once.
    pub(crate) fn transition_names(&self) -> Vec<&str> {
        let mut seen = BTreeSet::new();
        let names = self.transitions.iter().map(|one| one.name.as_str());
        names.filter(|name| seen.insert(*name)).collect()
    }

    /// Returns the entries of a transition.
    pub(crate) fn entries<'m>(&'m self, name: &'m str) -> impl Iterator<Item = &'m Transition> {
        self.transitions.iter().filter(move |one| one.name == name)
    }
}

impl State {
    pub(crate) fn extension(&self) -> &str {
        let default = match self.form.as_deref() {
            Some("json") => "json",
            Some("frontmatter") => "md",
            _ => "state",
        };
        self.extension.as_deref().unwrap_or(default)
    }

    /// Whether the caller of `start` names the loop.
    pub(crate) fn has_named_ids(&self) -> bool {
        self.ids.as_deref() == Some("name")
    }

    /// Whether a project may have many active loops.
    pub(crate) fn allows_many(&self) -> bool {
        self.active.as_deref() == Some("many")
    }
}

impl Field {
    /// Returns the value that the kit gives at a start, if one is required.
    pub(crate) fn value(&self) -> Option<&str> {
        let value = match (self.kind.as_deref(), &self.one_of) {
            (Some("count"), _) => "1",
            (Some("flag"), _) => "true",
            (_, Some(words)) => words.first()?,
            _ => "given-1",
        };
        (self.at_start.as_deref() == Some("required")).then_some(value)
    }
}

impl Phase {
    /// Returns a parameter of its `on_stop`, if that is this behaviour.
    pub(crate) fn parameter(&self, behaviour: &str, name: &str) -> Option<&str> {
        self.on_stop.get(behaviour)?.get(name)?.as_str()
    }

    pub(crate) fn is_reviewed(&self) -> bool {
        self.on_stop.contains_key("review")
    }

    /// Returns the file that its `on_stop` looks for, with fields in braces.
    pub(crate) fn file(&self) -> Option<&str> {
        let required = self.parameter("require-file", "path");
        required.or_else(|| self.parameter("wait-for", "file"))
    }
}

impl Transition {
    /// Whether the command line has a verb for it that needs no arguments.
    pub(crate) fn is_plain_verb(&self) -> bool {
        let is_optional = |one: &Value| one.get("optional").and_then(Value::as_bool) == Some(true);
        !self.by.is_empty() && !self.own && self.args.values().all(is_optional)
    }

    pub(crate) fn leaves(&self, phase: &str) -> bool {
        self.from.iter().any(|from| from == phase)
    }

    /// The number of parameters of the generated method.
    pub(crate) fn parameters(&self) -> usize {
        self.args.len() + usize::from(self.requires.is_some())
    }
}

fn in_order<T>(section: Section<T>) -> Vec<(String, T)> {
    let mut tables: Vec<_> = section.into_iter().collect();
    tables.sort_by_key(|(name, _)| name.span().start);
    let tables = tables.into_iter();
    tables
        .map(|(name, table)| (name.into_inner(), table))
        .collect()
}

/// Puts the entries in the order of the file and resolves `*`: every phase that is not terminal and has no entry of its own.
fn transitions(
    entries: BTreeMap<String, Vec<Spanned<Transition>>>,
    source: &str,
    phases: &[Phase],
) -> Vec<Transition> {
    let named = entries.into_iter().flat_map(|(name, entries)| {
        let entries = entries.into_iter();
        entries.map(move |entry| {
            let line = source[..entry.span().start].matches('\n').count() + 1;
            let name = name.clone();
            Transition {
                name,
                line,
                ..entry.into_inner()
            }
        })
    });
    let mut all: Vec<Transition> = named.collect();
    all.sort_by_key(|one| one.line);
    let declared = all.clone();
    for one in all.iter_mut().filter(|one| one.from == ["*"]) {
        let has_own = |phase: &Phase| {
            let mut entries = declared.iter().filter(|other| other.name == one.name);
            entries.any(|other| other.leaves(&phase.name))
        };
        let open = phases.iter().filter(|phase| !phase.terminal);
        let open = open.filter(|phase| !has_own(phase));
        one.from = open.map(|phase| phase.name.clone()).collect();
    }
    all
}

fn one_or_many<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    match Value::deserialize(from)? {
        Value::String(one) => Ok(vec![one]),
        many => many.try_into().map_err(serde::de::Error::custom),
    }
}
