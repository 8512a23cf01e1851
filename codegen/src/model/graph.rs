//! The graph of a machine: its edges, with `*` and `same` resolved, and its parts by name.

use std::collections::{HashMap, HashSet};

use super::{At, Behaviour, FieldKind, Held, Machine, Named, Transition};

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

    /// Returns the fields that hold data, each with its type.
    pub fn data(&self) -> impl Iterator<Item = (&str, &str)> {
        self.fields.iter().filter_map(|field| match &field.kind {
            FieldKind::Data(kind) => Some((field.name.as_str(), kind.as_str())),
            _ => None,
        })
    }

    /// Returns the names of the transitions, each once, in the order of the file.
    pub fn transition_names(&self) -> Vec<&str> {
        let entries = self.first_entries().into_iter();
        entries.map(|entry| entry.name.as_str()).collect()
    }

    /// Returns the first entry of each transition, which has the keys that all entries share.
    pub(crate) fn first_entries(&self) -> Vec<&Named<Transition>> {
        let mut seen = HashSet::new();
        let entries = self.transitions.iter();
        entries
            .filter(|entry| seen.insert(entry.name.as_str()))
            .collect()
    }

    /// Returns every edge: each declared entry at each of its sources, with `*` and `same` resolved. Leaves out names that
    /// do not exist, which `check` reports.
    pub fn edges(&self) -> Vec<Edge<'_>> {
        let phases = self.phases.iter().enumerate();
        let index: HashMap<&str, usize> = phases
            .map(|(at, phase)| (phase.name.as_str(), at))
            .collect();
        let index = |name: &At<String>| index.get(name.as_str()).copied();
        let explicit: HashSet<(&str, usize)> = self
            .transitions
            .iter()
            .flat_map(|entry| entry.sources().iter().map(move |name| (entry, name)))
            .filter_map(|(entry, name)| Some((entry.name.as_str(), index(name)?)))
            .collect();
        let mut edges = Vec::new();
        for declared in &self.transitions {
            let is_left_by_any = |at: &usize| {
                !self.phases[*at].terminal && !explicit.contains(&(declared.name.as_str(), *at))
            };
            let sources: Vec<usize> = match declared.any_source() {
                Some(_) => (0..self.phases.len()).filter(is_left_by_any).collect(),
                None => declared.sources().iter().filter_map(index).collect(),
            };
            for from in sources {
                let to = declared.target().map_or(Some(from), index);
                edges.extend(to.map(|to| Edge { declared, from, to }));
            }
        }
        edges
    }
}

/// A declared transition at one source.
#[derive(Debug, Clone, Copy)]
pub struct Edge<'m> {
    /// The entry that declares it.
    pub declared: &'m Named<Transition>,
    /// The index of the source in [`Machine::phases`].
    pub from: usize,
    /// The index of the target.
    pub to: usize,
}
