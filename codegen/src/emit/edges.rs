//! Views of transitions and of their entries in the machine file.

use std::collections::{BTreeMap, BTreeSet};

use minijinja::{Value, context};

use super::render::serde;
use super::types::Type;
use super::view::first_entry;
use crate::diagnostic::line_of;
use crate::model::{Argument, Machine, Transition, guard_text};

/// One `[[transitions.x]]` entry with its edges.
pub(super) struct Entry<'m> {
    pub(super) machine: &'m Machine,
    pub(super) declared: &'m Transition,
    pub(super) args: &'m [Argument],
    pub(super) from: Vec<usize>,
    /// The index of the target. `None`: the source.
    to: Option<usize>,
}

/// Returns all entries in the order of the file.
pub(super) fn entries(machine: &Machine) -> Vec<Entry<'_>> {
    let edges = machine.edges();
    let entries = edges.chunk_by(|one, next| std::ptr::eq(one.declared, next.declared));
    let entries = entries.map(|edges| Entry {
        machine,
        declared: edges[0].declared,
        args: &first_entry(machine, &edges[0].declared.name).args,
        from: edges.iter().map(|edge| edge.from).collect(),
        to: edges[0].declared.target().map(|_| edges[0].to),
    });
    entries.collect()
}

impl<'m> Entry<'m> {
    pub(super) fn sources(&self) -> impl Iterator<Item = &'m str> {
        let phases = &self.machine.phases;
        self.from.iter().map(|at| phases[*at].name.as_str())
    }

    /// Returns the name of the target. `None`: the source.
    pub(super) fn target(&self) -> Option<&'m str> {
        self.to.map(|at| self.machine.phases[at].name.as_str())
    }

    pub(super) fn view(&self, source: &str) -> Value {
        let declared = self.declared;
        let guard = declared.when.as_ref();
        let texts = declared.set.iter();
        let texts = texts.map(|(name, update)| (name.as_str(), update.to_string()));
        context! {
            from => serde(self.sources().collect::<Vec<_>>()),
            to => self.target(),
            line => line_of(source, declared.span.start),
            when => guard.map(|guard| guard_text(guard)),
            guard => guard.map(|guard| self.guard(guard)),
            set => serde(texts.collect::<Vec<_>>()),
            updates => self.updates(),
            ..serde(declared)
        }
    }
}

/// Returns the view of a transition: its first entry, which has the keys that all entries share, and its sources with the
/// targets of each.
pub(super) fn transition(machine: &Machine, name: &str, entries: &[Entry<'_>]) -> Value {
    let first = first_entry(machine, name);
    let mut targets: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for entry in entries
        .iter()
        .filter(|entry| entry.declared.name == first.name)
    {
        for from in &entry.from {
            let targets = targets.entry(*from).or_default();
            targets.insert(entry.to.unwrap_or(*from));
        }
    }
    let phase = |at: &usize| machine.phases[*at].name.as_str();
    let sources = targets.iter().map(|(from, targets)| {
        context! {
            phase => phase(from),
            targets => serde(targets.iter().map(phase).collect::<Vec<_>>()),
            is_fork => targets.len() > 1,
        }
    });
    let args = first.args.iter().map(|argument| {
        context! {
            ty => Type::of_argument(name, argument).name(),
            ..serde(argument)
        }
    });
    context! {
        sources => sources.collect::<Vec<_>>(),
        args => args.collect::<Vec<_>>(),
        is_plain => first.requires.is_none() && first.args.is_empty(),
        is_everywhere => targets.len() == machine.phases.len(),
        ..serde(first)
    }
}
