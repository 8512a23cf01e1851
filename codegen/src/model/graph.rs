//! The graph of a machine: its edges, with `*` and `same` resolved, and its parts by name.

use std::collections::HashSet;

use super::{Behaviour, EngineField, Entry, FieldKind, Machine};

impl Machine {
    pub(crate) fn behaviours(&self) -> impl Iterator<Item = &Behaviour> + Clone {
        let phases = self.phases.iter();
        phases.filter_map(|phase| phase.on_stop.as_ref())
    }

    /// Returns the name of the field with this value of the engine.
    pub fn engine_field(&self, value: EngineField) -> Option<&str> {
        let mut fields = self.fields.iter();
        let field = fields.find(|field| field.kind == FieldKind::Engine(value))?;
        Some(&field.name)
    }

    /// Returns the first entry of each transition, which has the keys that all entries share.
    pub fn first_entries(&self) -> Vec<&Entry> {
        let mut seen = HashSet::new();
        let entries = self.transitions.iter();
        entries
            .filter(|entry| seen.insert(entry.name.as_str()))
            .collect()
    }

    /// Returns every edge: each declared entry at each of its sources. Leaves out names that do not
    /// exist, which `check` reports.
    pub fn edges(&self) -> Vec<Edge<'_>> {
        let mut edges = Vec::new();
        for declared in &self.transitions {
            for source in &declared.from {
                let from = self.phase_index(source);
                let to = self.phase_index(declared.to.as_ref().unwrap_or(source));
                if let Some((from, to)) = from.zip(to) {
                    edges.push(Edge { declared, from, to });
                }
            }
        }
        edges
    }

    fn phase_index(&self, name: &str) -> Option<usize> {
        self.phases.iter().position(|phase| *phase.name == *name)
    }
}

/// A declared transition at one source.
#[derive(Debug, Clone, Copy)]
pub struct Edge<'m> {
    /// The entry that declares it.
    pub declared: &'m Entry,
    /// The index of the source in [`Machine::phases`].
    pub from: usize,
    /// The index of the target.
    pub to: usize,
}
