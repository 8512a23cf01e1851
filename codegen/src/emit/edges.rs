//! Views of transitions and of their entries in the machine file.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use minijinja::{Value, context};

use super::render::serde;
use crate::diagnostic::line_of;
use crate::model::{Entry, Machine};

/// Returns the view of an entry.
pub(super) fn entry(entry: &Entry, source: &str) -> Value {
    let mut seen = HashSet::new();
    let guard_reads = entry
        .when
        .iter()
        .flat_map(|guard| guard.reads())
        .filter(|read| seen.insert(read.key()));
    let update_reads = entry.set.iter().flat_map(|(_, update)| update.reads());
    context! {
        line => line_of(source, entry.name.span().start),
        guard_reads => serde(guard_reads.collect::<Vec<_>>()),
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
    context! {
        sources => sources.collect::<Vec<_>>(),
        is_plain => first.requires.is_none() && first.args.is_empty(),
        is_everywhere => targets.len() == machine.phases.len(),
        ..serde(first)
    }
}
