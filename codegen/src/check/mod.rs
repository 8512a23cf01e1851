//! The checks of a machine before code is generated. Each module checks one subject and reports all
//! problems that it finds.

mod behaviours;
mod bounds;
mod document;
mod examples;
mod graph;
mod guards;
mod idents;
mod names;
mod types;

use std::cell::RefCell;
use std::ops::Range;

use crate::diagnostic::{Diagnostic, line_of, section};
use crate::model::{At, Edge, Entry, Field, Machine, Named, Phase};

/// Returns the problems of a machine whose form is right. An unknown name prevents the checks of
/// the graph, and a wrong name or type those of the guards.
pub(crate) fn check(machine: &Machine, source: &str) -> Vec<Diagnostic> {
    let check = Check {
        machine,
        source,
        edges: machine.edges(),
        found: RefCell::default(),
    };
    let is_clean = || check.found.borrow().is_empty();
    names::check_names(&check);
    let has_names = is_clean();
    types::check_types(&check);
    let has_types = is_clean();
    idents::check_collisions(&check);
    document::check_document(&check);
    if has_names {
        graph::check_graph(&check);
        behaviours::check_behaviours(&check);
    }
    if has_types {
        guards::check_guards(&check);
        bounds::check_bounds(&check);
    }
    check.found.into_inner()
}

/// A machine with its edges, and its problems.
struct Check<'m> {
    machine: &'m Machine,
    source: &'m str,
    /// All edges, in the order of their entries.
    edges: Vec<Edge<'m>>,
    found: RefCell<Vec<Diagnostic>>,
}

impl<'m> Check<'m> {
    /// Reports a problem of a part, which is `{0}` of its text in `problems.md`; `args` follow.
    fn add(&self, code: &'static str, part: &At<String>, args: &[&str]) {
        self.add_at(code, part.span(), &[&[part.as_str()], args].concat());
    }

    fn add_at(&self, code: &'static str, place: Range<usize>, args: &[&str]) {
        self.report(place, Some(problem(code, args)));
    }

    fn report(&self, span: Range<usize>, problem: Option<Diagnostic>) {
        let placed = problem.map(|problem| Diagnostic { span, ..problem });
        self.found.borrow_mut().extend(placed);
    }

    fn line(&self, place: &Range<usize>) -> String {
        line_of(self.source, place.start).to_string()
    }

    fn phase(&self, at: usize) -> &'m Named<Phase> {
        &self.machine.phases[at]
    }

    fn field(&self, name: &str) -> Option<&'m Named<Field>> {
        Named::find(&self.machine.fields, name)
    }

    /// Returns the entries of a transition, in the order of the file.
    fn entries(&self, name: &str) -> impl Iterator<Item = &'m Entry> + Clone {
        let entries = self.machine.transitions.iter();
        entries.filter(move |entry| *entry.name == *name)
    }

    /// Returns the edges of a transition from a phase, in the order of the file.
    fn edges_from(&self, phase: usize, name: &str) -> impl Iterator<Item = &Edge<'m>> {
        let edges = self.edges.iter();
        edges.filter(move |edge| edge.from == phase && *edge.declared.name == *name)
    }
}

/// Makes a problem without a place.
fn problem(code: &'static str, args: &[&str]) -> Diagnostic {
    let section = section(include_str!("problems.md"), code);
    let mut lines = section.lines().map(|line| {
        let args = args.iter().enumerate();
        args.fold(line.to_owned(), |line, (number, argument)| {
            line.replace(&format!("{{{number}}}"), argument)
        })
    });
    let mut line = || lines.next().unwrap_or_default();
    Diagnostic::new(code, 0..0, line()).help(line())
}
