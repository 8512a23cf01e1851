//! The graph of a machine: its edges, with `*` and `same` resolved, and its parts by name.

use std::collections::{HashMap, HashSet};

use super::{At, Behaviour, Field, FieldKind, From, Held, Machine, Phase, To, Transition};

impl Machine {
    /// Returns the phase of this name.
    pub fn phase(&self, name: &str) -> Option<&Phase> {
        self.phases.iter().find(|phase| phase.name.value == name)
    }

    /// Returns the field of this name.
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.name.value == name)
    }

    /// Returns the names of the fields, in the order of the file.
    pub fn field_names(&self) -> impl Iterator<Item = &str> + Clone {
        self.fields.iter().map(|field| field.name.as_str())
    }

    /// Returns the behaviours of all phases, in the order of the file.
    pub fn behaviours(&self) -> impl Iterator<Item = &Behaviour> + Clone {
        self.phases
            .iter()
            .filter_map(|phase| phase.on_stop.as_ref())
    }

    /// Returns the name of the field with this value of the engine.
    pub fn holder(&self, held: Held) -> Option<&str> {
        let field = self
            .fields
            .iter()
            .find(|field| field.kind == FieldKind::Held(held));
        field.map(|field| field.name.as_str())
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
        let names = self
            .transitions
            .iter()
            .map(|transition| transition.name.as_str());
        let mut seen = HashSet::new();
        names.filter(|name| seen.insert(*name)).collect()
    }

    /// Returns every edge: each declared entry at each of its sources, with `*` and `same` resolved. Leaves out names that
    /// do not exist, which `check` reports.
    pub fn edges(&self) -> Vec<Edge<'_>> {
        let names = self
            .phases
            .iter()
            .enumerate()
            .map(|(at, phase)| (phase.name.as_str(), at));
        let index: HashMap<&str, usize> = names.collect();
        let index = |name: &At<String>| index.get(name.as_str()).copied();
        let mut explicit: HashSet<(&str, usize)> = HashSet::new();
        for declared in &self.transitions {
            if let From::Phases(names) = &declared.from {
                explicit.extend(
                    names
                        .iter()
                        .filter_map(index)
                        .map(|at| (declared.name.as_str(), at)),
                );
            }
        }
        let mut edges = Vec::new();
        for declared in &self.transitions {
            let sources: Vec<usize> = match &declared.from {
                From::Phases(names) => names.iter().filter_map(index).collect(),
                From::Any(_) => {
                    let open = |at: &usize| {
                        !self.phases[*at].terminal
                            && !explicit.contains(&(declared.name.as_str(), *at))
                    };
                    (0..self.phases.len()).filter(open).collect()
                }
            };
            for from in sources {
                let to = match &declared.to {
                    To::Same(_) => Some(from),
                    To::Phase(name) => index(name),
                };
                if let Some(to) = to {
                    edges.push(Edge { declared, from, to });
                }
            }
        }
        edges
    }
}

/// A declared transition at one source.
#[derive(Debug, Clone, Copy)]
pub struct Edge<'m> {
    /// The entry that declares it.
    pub declared: &'m Transition,
    /// The index of the source in [`Machine::phases`].
    pub from: usize,
    /// The index of the target.
    pub to: usize,
}
