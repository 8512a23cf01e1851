//! What a machine must satisfy before code is generated from it. Each module checks one subject and reports all that it
//! finds.

mod behaviours;
mod bounds;
mod document;
pub mod evaluate;
mod examples;
mod graph;
mod guards;
mod idents;
mod names;
mod presence;
mod questions;
mod types;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

use crate::diagnostic::Diagnostic;
use crate::model::{At, Edge, Field, FieldKind, Machine, Phase, Transition};

/// Returns everything that is wrong with a machine whose form is right.
pub fn check(machine: &Machine) -> Vec<Diagnostic> {
    let mut index = Index::new(machine);
    let found = &mut Problems::default();
    names::names(&index, found);
    let knows_phases = types::types(&mut index, found);
    let index = &index;
    idents::collisions(index, found);
    document::document(index, found);
    graph::shape(index, found);
    if knows_phases {
        graph::reach(index, found);
    }
    behaviours::behaviours(index, found);
    questions::questions(index, found);
    presence::presence(index, found);
    guards::guards(index, found);
    bounds::bounds(index, found);
    std::mem::take(&mut found.0)
}

/// The problems of a machine.
#[derive(Default)]
struct Problems(Vec<Diagnostic>);

impl Problems {
    /// Adds a problem and what to do about it.
    fn add(
        &mut self,
        code: &'static str,
        place: &Range<usize>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        let problem = Diagnostic::new(code, place.clone(), message);
        self.0.push(problem.help(help));
    }

    /// Adds another place to the last problem.
    fn relate(&mut self, place: &Range<usize>, label: &str) {
        if let Some(last) = self.0.last_mut() {
            last.related.push((place.clone(), label.to_owned()));
        }
    }
}

/// A machine with its parts by name.
struct Index<'m> {
    machine: &'m Machine,
    edges: Vec<Edge<'m>>,
    phases: HashMap<&'m str, usize>,
    fields: HashMap<&'m str, &'m Field>,
    /// The entries of each transition.
    transitions: BTreeMap<&'m str, Vec<&'m Transition>>,
    /// The starts of the entries that have a problem. What follows from them is not reported.
    broken: HashSet<usize>,
}

impl<'m> Index<'m> {
    fn new(machine: &'m Machine) -> Self {
        let mut transitions: BTreeMap<&str, Vec<_>> = BTreeMap::new();
        for entry in &machine.transitions {
            let entries = transitions.entry(&entry.name.value);
            entries.or_default().push(entry);
        }
        let phases = machine.phases.iter().enumerate();
        let fields = machine.fields.iter();
        Self {
            machine,
            edges: machine.edges(),
            phases: phases.map(|(at, phase)| (&*phase.name.value, at)).collect(),
            fields: fields.map(|field| (&*field.name.value, field)).collect(),
            transitions,
            broken: HashSet::new(),
        }
    }

    fn phase(&self, at: usize) -> &'m Phase {
        &self.machine.phases[at]
    }

    /// Returns what a field, `round`, or an argument of an entry, `args.score`, holds.
    fn kind(&self, entry: &Transition, name: &str) -> Option<FieldKind> {
        match name.strip_prefix("args.") {
            Some(name) => {
                let argument = entry.args.iter().find(|known| known.name.value == name)?;
                Some(argument.kind.clone().into())
            }
            None => Some(self.fields.get(name)?.kind.clone()),
        }
    }

    fn is_broken(&self, entry: &Transition) -> bool {
        self.broken.contains(&entry.span.start)
    }

    /// Returns whether an entry of the transition has a problem, or there is no entry.
    fn is_uncertain(&self, name: &At<String>) -> bool {
        let entries = self.transitions.get(name.as_str());
        entries.is_none_or(|entries| entries.iter().any(|entry| self.is_broken(entry)))
    }

    /// Returns the edges of a transition from a phase, in the order of the file.
    fn edges_from<'a>(
        &'a self,
        phase: usize,
        name: &'a At<String>,
    ) -> impl Iterator<Item = &'a Edge<'m>> {
        let edges = self.edges.iter();
        edges.filter(move |edge| edge.from == phase && edge.declared.name == *name)
    }
}
