//! Views of transitions and of their entries in the machine file.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use minijinja::{Value, context};

use super::ident::type_of_argument;
use super::render::serde;
use crate::diagnostic::line_of;
use crate::model::{Constant, Entry, Machine, Operand, Update};

/// Returns the view of an entry.
pub(super) fn entry(machine: &Machine, entry: &Entry, source: &str) -> Value {
    let sources = machine.sources(entry).into_iter();
    let from = sources.map(|at| machine.phases[at].name.as_str());
    let updates = entry.set.iter().zip(&entry.update_texts);
    let texts = updates.map(|((name, update), (_, text))| match &text.value {
        Constant::Text(text) if !matches!(update.value, Update::Value(Operand::Constant(_))) => {
            (name, text.clone())
        }
        constant => (name, constant.to_string()),
    });
    let mut seen = HashSet::new();
    let guard_reads = entry
        .when
        .iter()
        .flat_map(|guard| guard.reads())
        .filter(|read| seen.insert(read.key()));
    let update_reads = entry.set.iter().flat_map(|(_, update)| update.reads());
    context! {
        from => serde(from.collect::<Vec<_>>()),
        to => entry.target().map(|target| target.as_str()),
        line => line_of(source, entry.span.start),
        guard => serde(&entry.when),
        guard_reads => serde(guard_reads.collect::<Vec<_>>()),
        set => serde(texts.collect::<Vec<_>>()),
        updates => serde(&entry.set),
        update_reads => serde(update_reads.collect::<Vec<_>>()),
        ..serde(entry)
    }
}

/// Returns the view of a transition: its first entry, and its sources with the targets of each.
pub(super) fn transition(machine: &Machine, first: &Entry) -> Value {
    let mut targets: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    let edges = machine.edges().into_iter();
    for edge in edges.filter(|edge| edge.declared.name == first.name) {
        targets.entry(edge.from).or_default().insert(edge.to);
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
        context! { ty => type_of_argument(&first.name, argument), ..serde(argument) }
    });
    context! {
        sources => sources.collect::<Vec<_>>(),
        args => args.collect::<Vec<_>>(),
        is_plain => first.requires.is_none() && first.args.is_empty(),
        is_everywhere => targets.len() == machine.phases.len(),
        ..serde(first)
    }
}
