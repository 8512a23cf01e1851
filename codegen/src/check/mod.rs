//! What a machine has to be before code is made from it. Each room looks at one thing and goes on after a finding.
//!
//! Works on the model alone: no TOML, no Rust. Every analysis has a bound, so that a hostile file costs little.

mod ask;
mod before_stop;
mod behaviours;
mod bounds;
mod edits;
mod file;
mod graph;
mod guards;
mod idents;
mod names;
mod nulls;
mod parameters;
mod plugin;
mod presence;
mod solve;
mod turns;
mod types;

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::diagnostic::Diagnostic;
use crate::model::{Edge, Field, From, Machine};

/// The most edges, each counted with its updates: every entry at every source that it has.
const MOST_EDGES: usize = 1 << 18;

/// After so many findings nobody needs more, and looking for near names takes time.
const ENOUGH: usize = 500;

/// Everything that is wrong with a machine whose form is right.
pub fn check(machine: &Machine) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let index = Index::new(machine);
    let unknown = names::references(&index, &mut found);
    let mistyped = types::types(&index, &mut found);
    if found.len() > ENOUGH {
        return found;
    }
    idents::collisions(&index, &mut found);
    names::holders(&index, &mut found);
    names::places(&index, &mut found);
    if let Some(too_large) = too_many_edges(machine) {
        found.push(too_large);
        return found;
    }
    let edges = machine.edges();
    let broken: HashSet<usize> = unknown.entries.union(&mistyped).copied().collect();
    graph::shape(&index, &edges, &mut found);
    if !unknown.phases {
        graph::reach(&index, &edges, &mut found);
    }
    parameters::parameters(&index, &mut found);
    behaviours::behaviours(&index, &edges, &unknown.adrift, &mut found);
    ask::questions(&index, &edges, &unknown.adrift, &mut found);
    turns::turns(&index, &edges, &mut found);
    let duplicated = graph::duplicates(&index, &edges, &mut found);
    presence::presence(&index, &edges, &mut found);
    guards::guards(&index, &edges, &broken, &duplicated, &mut found);
    match presence::Crossings::new(&index, &edges) {
        Ok(crossings) => bounds::bounds(&index, &edges, &crossings, &broken, &mut found),
        Err(too_large) => found.push(*too_large),
    }
    nulls::nulls(&index, &mut found);
    edits::edits(&index, &mut found);
    file::file(&index, &mut found);
    plugin::commands(machine, &mut found);
    found
}

/// Names to places, so that nothing is searched for twice.
struct Index<'m> {
    machine: &'m Machine,
    phases: HashMap<&'m str, usize>,
    fields: HashMap<&'m str, &'m Field>,
    /// Entries of each transition, by index.
    transitions: BTreeMap<&'m str, Vec<usize>>,
}

impl<'m> Index<'m> {
    fn new(machine: &'m Machine) -> Self {
        let mut transitions: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (at, entry) in machine.transitions.iter().enumerate() {
            transitions.entry(&entry.name.value).or_default().push(at);
        }
        let phases = machine.phases.iter().enumerate();
        Self {
            machine,
            phases: phases
                .map(|(at, phase)| (phase.name.as_str(), at))
                .collect(),
            fields: machine
                .fields
                .iter()
                .map(|field| (field.name.as_str(), field))
                .collect(),
            transitions,
        }
    }

    /// The name of a phase by its index.
    fn phase(&self, at: usize) -> &'m str {
        &self.machine.phases[at].name.value
    }

    /// Which entry declares an edge.
    fn entry(&self, edge: &Edge<'m>) -> usize {
        self.machine
            .transitions
            .element_offset(edge.declared)
            .expect("an edge borrows from its machine's entries")
    }
}

/// The edges of each transition at each source that it has, in the order of the file.
fn groups<'e, 'm>(edges: &'e [Edge<'m>]) -> BTreeMap<(usize, &'m str), Vec<&'e Edge<'m>>> {
    let mut groups: BTreeMap<(usize, &str), Vec<&Edge<'_>>> = BTreeMap::new();
    for edge in edges {
        groups
            .entry((edge.from, &edge.declared.name.value))
            .or_default()
            .push(edge);
    }
    groups
}

fn too_many_edges(machine: &Machine) -> Option<Diagnostic> {
    let mut weight = 0;
    for entry in &machine.transitions {
        let sources = match &entry.from {
            From::Any(_) => machine.phases.len(),
            From::Phases(names) => names.len(),
        };
        weight += sources * (1 + entry.set.len());
        if weight > MOST_EDGES {
            let message =
                format!("with this entry the machine has more than {MOST_EDGES} edges and updates");
            let found = entry.name.problem("too_large", message);
            return Some(found.help("split the machine"));
        }
    }
    None
}
