//! A machine file, as claudex-build reads it.

use std::fs;
use std::path::Path;

use claudex_build::model;
use serde_json::Value as Json;

use crate::report::Wrong;

/// A machine file.
pub(crate) struct Machine {
    pub(crate) source: String,
    pub(crate) model: model::Machine,
    /// The model as JSON: its tables are lists.
    pub(crate) json: Json,
}

impl Machine {
    /// Reads a machine file.
    pub(crate) fn read(path: &Path) -> Result<Self, Wrong> {
        let name = path.display().to_string();
        let source = fs::read_to_string(path).map_err(|error| format!("{name}: {error}"))?;
        let model = claudex_build::check_source(&name, &source)?;
        let json = serde_json::to_value(&model)?;
        Ok(Self {
            source,
            model,
            json,
        })
    }

    /// Returns a table of the file: its `modes`, `fields` or `phases`.
    pub(crate) fn table(&self, key: &str) -> &[Json] {
        self.json[key].as_array().map_or(&[], Vec::as_slice)
    }

    /// Returns whether the edges lead from the one stored phase to the other by a transition.
    pub(crate) fn has_edge(&self, transition: &Json, from: &Json, to: &Json) -> bool {
        let stored = |phase: usize| self.model.phases[phase].stored();
        let edges = self.model.edges();
        edges.iter().any(|edge| {
            let is_meant = edge.declared.name.as_str() == transition;
            is_meant && stored(edge.from) == from && stored(edge.to) == to
        })
    }

    /// Returns the verbs without required arguments, each with its edges. `resume` does more than its transition.
    pub(crate) fn plain_verbs(&self) -> Vec<(&str, Vec<model::Edge<'_>>)> {
        let is_plain = |one: &model::Transition| {
            let mut arguments = one.args.iter();
            !one.by.is_empty() && !one.own && arguments.all(|argument| argument.optional)
        };
        let entries = self.model.first_entries().into_iter();
        let names = entries.map(|entry| entry.name.as_str());
        let verbs = names.filter(|name| *name != "resume").map(|name| {
            let mut edges = self.model.edges();
            edges.retain(|edge| edge.declared.name.value == name && is_plain(edge.declared));
            (name, edges)
        });
        verbs.filter(|(_, edges)| !edges.is_empty()).collect()
    }
}

/// Returns a JSON text, or an empty one for other JSON.
pub(crate) fn text(json: &Json) -> &str {
    json.as_str().unwrap_or_default()
}
