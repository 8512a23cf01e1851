//! The graph of a machine: its edges, with `*` and `same` resolved, and its parts by name.

use std::collections::HashSet;

use super::{Behaviour, Entry, FieldKind, Held, Machine};

impl Machine {
    /// Returns the behaviours of all phases, in the order of the file.
    pub(crate) fn behaviours(&self) -> impl Iterator<Item = &Behaviour> + Clone {
        let phases = self.phases.iter();
        phases.filter_map(|phase| phase.on_stop.as_ref())
    }

    /// Returns the name of the field with this value of the engine.
    pub fn holder(&self, held: Held) -> Option<&str> {
        let mut fields = self.fields.iter();
        let field = fields.find(|field| field.kind == FieldKind::Held(held))?;
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

    /// Returns the indices of the phases that an entry leaves, with `*` resolved. Leaves out names that do not exist, which
    /// `check` reports.
    pub(crate) fn sources(&self, entry: &Entry) -> Vec<usize> {
        if entry.any_source().is_none() {
            let sources = entry.sources().iter();
            return sources.filter_map(|name| self.phase_index(name)).collect();
        }
        let entries = self.transitions.iter();
        let others = entries.filter(|other| other.name == entry.name);
        let explicit: Vec<_> = others.flat_map(|other| other.sources()).collect();
        let is_left = |at: &usize| {
            let phase = &self.phases[*at];
            !phase.terminal && !explicit.contains(&&phase.name)
        };
        (0..self.phases.len()).filter(is_left).collect()
    }

    /// Returns every edge: each declared entry at each of its sources, with `*` and `same` resolved.
    pub fn edges(&self) -> Vec<Edge<'_>> {
        let entries = self.transitions.iter();
        let edges = entries.flat_map(|declared| {
            let sources = self.sources(declared).into_iter();
            let target = |from| match declared.target() {
                Some(name) => self.phase_index(name),
                None => Some(from),
            };
            sources.filter_map(move |from| {
                let to = target(from)?;
                Some(Edge { declared, from, to })
            })
        });
        edges.collect()
    }

    fn phase_index(&self, name: &str) -> Option<usize> {
        let mut phases = self.phases.iter();
        phases.position(|phase| phase.name.value == name)
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
