//! The checks of a machine before code is generated from it. Each module checks one subject and reports all that it
//! finds.

mod behaviours;
mod bounds;
mod document;
mod evaluate;
mod examples;
mod graph;
mod guards;
mod idents;
mod names;
mod types;

use std::cell::RefCell;
use std::collections::HashSet;
use std::ops::Range;

use crate::diagnostic::Diagnostic;
use crate::model::{At, Edge, Entry, Field, Machine, Named, Phase};

/// Returns everything that is wrong with a machine whose form is right.
pub fn check(machine: &Machine) -> Vec<Diagnostic> {
    let mut check = Check {
        machine,
        edges: machine.edges(),
        found: RefCell::default(),
        broken: HashSet::new(),
    };
    names::names(&check);
    types::types(&check);
    for entry in &machine.transitions {
        let before = check.found_count();
        names::transition(&check, entry);
        types::transition(&check, entry);
        if check.found_count() > before {
            check.broken.insert(entry.span.start);
        }
    }
    idents::collisions(&check);
    document::document(&check);
    graph::graph(&check);
    behaviours::behaviours(&check);
    guards::guards(&check);
    bounds::bounds(&check);
    check.found.into_inner()
}

/// A machine with its edges, and its problems.
struct Check<'m> {
    machine: &'m Machine,
    /// All edges, in the order of their entries.
    edges: Vec<Edge<'m>>,
    found: RefCell<Vec<Diagnostic>>,
    /// The starts of the entries with a wrong name or type. Their consequences are not reported.
    broken: HashSet<usize>,
}

impl<'m> Check<'m> {
    /// Reports a problem of a part of the file. Its text in `problems.md` has the part as `{0}`, and then `args`.
    fn add(&self, code: &'static str, part: &At<String>, args: &[&str]) {
        self.add_at(code, &part.span, &[&[part.as_str()], args].concat());
    }

    fn add_at(&self, code: &'static str, place: &Range<usize>, args: &[&str]) {
        self.report(place, Some(problem(code, args)));
    }

    fn report(&self, place: &Range<usize>, problem: Option<Diagnostic>) {
        let span = place.clone();
        let placed = problem.map(|problem| Diagnostic { span, ..problem });
        self.found.borrow_mut().extend(placed);
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

    fn phase(&self, at: usize) -> &'m Named<Phase> {
        &self.machine.phases[at]
    }

    fn is_broken(&self, entry: &Entry) -> bool {
        self.broken.contains(&entry.span.start)
    }

    fn field(&self, name: &str) -> Option<&'m Named<Field>> {
        Named::find(&self.machine.fields, name)
    }

    /// Returns the entries of a transition, in the order of the file.
    fn entries(&self, name: &str) -> impl Iterator<Item = &'m Entry> + Clone {
        let entries = self.machine.transitions.iter();
        entries.filter(move |entry| entry.name.value == name)
    }

    fn edges_of(&self, entry: &Entry) -> impl Iterator<Item = &Edge<'m>> {
        let edges = self.edges.iter();
        edges.filter(move |edge| edge.declared.span.start == entry.span.start)
    }

    /// Returns the edges of a transition from a phase, in the order of the file.
    fn edges_from(&self, phase: usize, name: &str) -> impl Iterator<Item = &Edge<'m>> {
        let edges = self.edges.iter();
        edges.filter(move |edge| edge.from == phase && *edge.declared.name == name)
    }
}

fn strs<'n>(names: impl IntoIterator<Item = &'n At<String>>) -> Vec<&'n str> {
    names.into_iter().map(|name| name.as_str()).collect()
}

/// Makes a problem without a place.
fn problem(code: &'static str, args: &[&str]) -> Diagnostic {
    let texts = include_str!("problems.md");
    let section = texts.split_once(&format!("\n## {code}\n"));
    let (_, section) = section.unwrap_or((texts, code));
    let mut lines = section.lines().map(|line| {
        let args = args.iter().enumerate();
        args.fold(line.to_owned(), |line, (number, argument)| {
            line.replace(&format!("{{{number}}}"), argument)
        })
    });
    let mut line = || lines.next().unwrap_or_default();
    Diagnostic::new(code, 0..0, line()).help(line())
}
