//! What a machine must satisfy before code is generated from it. Each module checks one subject and reports all that it
//! finds.

mod answers;
mod behaviours;
mod bounds;
mod document;
pub mod evaluate;
mod examples;
mod graph;
mod guards;
mod idents;
mod names;
mod types;

use std::cell::RefCell;
use std::collections::{BTreeMap, HashSet};
use std::fmt::Display;
use std::ops::Range;

use crate::diagnostic::Diagnostic;
use crate::model::{At, Edge, From, Machine, Phase, Transition};

/// Returns everything that is wrong with a machine whose form is right.
pub fn check(machine: &Machine) -> Vec<Diagnostic> {
    let mut check = Check::new(machine);
    names::names(&check);
    check.broken = types::types(&check);
    idents::collisions(&check);
    document::document(&check);
    graph::graph(&check);
    behaviours::behaviours(&check);
    answers::answers(&check);
    names::presence(&check);
    guards::guards(&check);
    bounds::bounds(&check);
    check.found.into_inner()
}

/// A machine, and what is wrong with it.
struct Check<'m> {
    machine: &'m Machine,
    edges: Vec<Edge<'m>>,
    /// The entries of each transition.
    transitions: BTreeMap<&'m str, Vec<&'m Transition>>,
    found: RefCell<Vec<Diagnostic>>,
    /// The starts of the entries with an unknown name or a wrong type. What follows from that is not reported.
    broken: HashSet<usize>,
}

impl<'m> Check<'m> {
    fn new(machine: &'m Machine) -> Self {
        let mut transitions: BTreeMap<&str, Vec<_>> = BTreeMap::new();
        for entry in &machine.transitions {
            transitions.entry(&entry.name).or_default().push(entry);
        }
        Self {
            machine,
            edges: machine.edges(),
            transitions,
            found: RefCell::default(),
            broken: HashSet::new(),
        }
    }

    /// Reports a problem. `args` are for its text in `problems.md`.
    fn add(&self, code: &'static str, place: &Range<usize>, args: &[&dyn Display]) {
        self.report(place, problem(code, args));
    }

    /// Reports a problem at a place.
    fn report(&self, place: &Range<usize>, mut problem: Diagnostic) {
        problem.span = place.clone();
        self.found.borrow_mut().push(problem);
    }

    /// Adds another place to the last problem.
    fn relate(&self, place: &Range<usize>, label: &str) {
        if let Some(last) = self.found.borrow_mut().last_mut() {
            last.related.push((place.clone(), label.to_owned()));
        }
    }

    fn found_count(&self) -> usize {
        self.found.borrow().len()
    }

    fn phase(&self, at: usize) -> &'m Phase {
        &self.machine.phases[at]
    }

    /// Returns the index of the phase of this name.
    fn phase_index(&self, name: &str) -> Option<usize> {
        let mut phases = self.machine.phases.iter();
        phases.position(|phase| phase.name.value == name)
    }

    fn is_broken(&self, entry: &Transition) -> bool {
        self.broken.contains(&entry.span.start)
    }

    /// Returns the edges of an entry.
    fn edges_of(&self, entry: &'m Transition) -> impl Iterator<Item = &Edge<'m>> + Clone {
        let edges = self.edges.iter();
        edges.filter(|edge| edge.declared.span == entry.span)
    }

    /// Returns the edges of a transition from a phase, in the order of the file.
    fn edges_from(&self, phase: usize, name: &At<String>) -> Vec<&Edge<'m>> {
        let edges = self.edges.iter();
        let edges = edges.filter(|edge| edge.from == phase && edge.declared.name == *name);
        edges.collect()
    }
}

/// Returns names as plain strings.
fn strs<'n>(names: impl IntoIterator<Item = &'n At<String>>) -> Vec<&'n str> {
    names.into_iter().map(|name| name.as_str()).collect()
}

/// Returns the phases in `from` of an entry, without those for which `*` stands.
fn sources(entry: &Transition) -> &[At<String>] {
    match &entry.from {
        From::Phases(names) => names,
        From::Any(_) => &[],
    }
}

/// Describes a problem, without a place.
fn problem(code: &'static str, args: &[&dyn Display]) -> Diagnostic {
    let (_, section) = include_str!("problems.md")
        .split_once(&format!("\n## {code}\n"))
        .unwrap_or_default();
    debug_assert!(!section.is_empty(), "`{code}` has no text");
    let mut lines = section.lines().map(|line| fill(line, args));
    let mut line = || lines.next().unwrap_or_default();
    Diagnostic::new(code, 0..0, line()).help(line())
}

/// Replaces `{0}` in a line by the first argument, and so on.
fn fill(line: &str, args: &[&dyn Display]) -> String {
    let mut parts = line.split('{');
    let mut filled = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let argument = part.split_once('}').and_then(|(number, rest)| {
            let number: usize = number.parse().ok()?;
            Some((args.get(number)?, rest))
        });
        match argument {
            Some((argument, rest)) => filled += &format!("{argument}{rest}"),
            None => filled += &format!("{{{part}"),
        }
    }
    filled
}

#[cfg(test)]
mod tests {
    #[test]
    fn each_problem_has_a_message_and_a_remedy() {
        let mut codes = Vec::new();
        for section in include_str!("problems.md").split("\n## ").skip(1) {
            let lines: Vec<&str> = section.trim_end().lines().collect();
            assert_eq!(lines.len(), 3, "{section}");
            codes.push(lines[0]);
        }
        let all = codes.len();
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), all);
    }
}
