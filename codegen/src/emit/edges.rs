//! Views of transitions and of their entries in the machine file.

use std::collections::{BTreeMap, BTreeSet};

use minijinja::{Value, context};

use super::render::serde;
use super::types::Type;
use crate::diagnostic::line_of;
use crate::model::{Constant, Machine, Named, Operand, Transition, Update};

/// One `[[transitions.x]]` entry with its edges.
pub(super) struct Entry<'m> {
    pub(super) machine: &'m Machine,
    pub(super) declared: &'m Named<Transition>,
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
        let updates = declared.set.iter().zip(&declared.update_texts);
        let texts = updates.map(|((name, update), (_, text))| {
            let text = match (&update.value, &text.value) {
                (Update::Value(Operand::Constant(value)), _) => value.to_string(),
                (_, Constant::Text(text)) => text.clone(),
                (_, value) => value.to_string(),
            };
            (name.as_str(), text)
        });
        context! {
            from => serde(self.sources().collect::<Vec<_>>()),
            to => self.target(),
            line => line_of(source, declared.span.start),
            guard => declared.when.as_ref().map(|guard| self.guard(guard)),
            set => serde(texts.collect::<Vec<_>>()),
            updates => self.updates(),
            ..serde(declared)
        }
    }
}

/// Returns the view of a transition: its first entry, and its sources with the targets of each.
pub(super) fn transition(
    machine: &Machine,
    first: &Named<Transition>,
    entries: &[Entry<'_>],
) -> Value {
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
            ty => Type::of_argument(&first.name, argument).name(),
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
