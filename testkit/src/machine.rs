//! The parts of a machine file that the kit needs: phases, transitions, and how a loop starts.
//!
//! Whether the file is a valid machine is for its own build script to say.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value as Json};
use toml::Spanned;

/// A machine file.
#[derive(Debug)]
pub struct Machine {
    /// The whole file.
    pub(crate) file: Json,
    /// The entries of each transition.
    pub(crate) transitions: BTreeMap<String, Vec<Transition>>,
}

/// One `[[transitions.x]]` entry.
#[derive(Debug, Deserialize)]
pub(crate) struct Transition {
    /// The line of the machine file, from 1.
    #[serde(skip)]
    pub(crate) line: usize,
    /// The source phases, with `*` resolved.
    #[serde(deserialize_with = "one_or_many")]
    pub(crate) from: Vec<String>,
    /// The target phase, or `same`.
    pub(crate) to: String,
    /// The actors that may take it: `agent`, `person`.
    #[serde(default)]
    pub(crate) by: Vec<String>,
    /// Whether only Rust of the program takes it.
    #[serde(default)]
    own: bool,
    pub(crate) requires: Option<String>,
    #[serde(default)]
    args: BTreeMap<String, Json>,
}

impl Machine {
    /// Reads a machine file.
    ///
    /// # Errors
    /// Returns a message if the text is not TOML, or lacks a part of a machine.
    pub fn read(source: &str) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Declared {
            phases: BTreeMap<String, Json>,
            #[serde(default)]
            transitions: BTreeMap<String, Vec<Spanned<Transition>>>,
        }
        let failed = |error: toml::de::Error| error.to_string();
        let declared: Declared = toml::from_str(source).map_err(failed)?;
        let mut transitions = BTreeMap::new();
        for (name, spanned) in declared.transitions {
            let mut entries = Vec::new();
            for entry in spanned {
                let line = source[..entry.span().start].matches('\n').count() + 1;
                entries.push(Transition {
                    line,
                    ..entry.into_inner()
                });
            }
            // `*` is every phase that is not terminal and has no entry of its own.
            let phases = declared.phases.iter();
            let others = phases.filter(|(name, phase)| {
                phase["terminal"] != true && !entries.iter().any(|entry| entry.leaves(name))
            });
            let others: Vec<String> = others.map(|(name, _)| name.clone()).collect();
            for entry in entries.iter_mut().filter(|entry| entry.from == ["*"]) {
                entry.from.clone_from(&others);
            }
            transitions.insert(name, entries);
        }
        let file = toml::from_str(source).map_err(failed)?;
        Ok(Self { file, transitions })
    }

    pub(crate) fn name(&self) -> &str {
        text(&self.file["name"])
    }

    /// Returns the state folder, relative to the loop's root.
    pub(crate) fn folder(&self) -> String {
        match &self.file["state"]["folder"] {
            Json::String(folder) => folder.clone(),
            _ => format!(".{}", self.name()),
        }
    }

    /// Returns the tables below a key: `modes`, `fields`, `phases`.
    pub(crate) fn tables(&self, key: &str) -> impl Iterator<Item = (&str, &Json)> {
        let tables = self.file[key].as_object().into_iter().flat_map(Map::iter);
        tables.map(|(name, table)| (name.as_str(), table))
    }

    /// Returns the name of the phase that a document or a journal names in this way.
    pub(crate) fn phase_stored_as(&self, stored: &Json) -> Option<&str> {
        let is_it = |name: &str, phase: &Json| match phase.get("stored") {
            Some(word) => word == stored,
            None => stored == name,
        };
        let mut phases = self.tables("phases");
        Some(phases.find(|(name, phase)| is_it(name, phase))?.0)
    }

    /// Returns the field that holds a value of the engine, such as `session`.
    pub(crate) fn holder(&self, what: &str) -> Option<&str> {
        let mut fields = self.tables("fields");
        Some(fields.find(|(_, field)| field["holds"] == what)?.0)
    }
}

impl Transition {
    /// Returns whether the command line has a verb for it that needs no arguments.
    pub(crate) fn is_plain_verb(&self) -> bool {
        let is_optional = |argument: &Json| argument["optional"] == true;
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

/// Returns a JSON text, or an empty one if it is none.
pub(crate) fn text(json: &Json) -> &str {
    json.as_str().unwrap_or_default()
}

fn one_or_many<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    match Json::deserialize(from)? {
        Json::String(one) => Ok(vec![one]),
        many => Vec::deserialize(many).map_err(serde::de::Error::custom),
    }
}
