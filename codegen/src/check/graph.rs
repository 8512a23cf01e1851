//! Checks of the graph: modes, terminal phases, differing entries, unreachable or endless phases.

use std::collections::HashSet;

use super::Check;
use crate::diagnostic::list;
use crate::model::{At, Entry, Named, Transition};

pub(super) fn check_graph(check: &Check<'_>) {
    let machine = check.machine;
    let is_terminal = |name: &&At<String>| {
        let phase = Named::find(&machine.phases, name);
        phase.is_some_and(|phase| phase.terminal)
    };
    if machine.modes.is_empty() {
        check.add("no_mode", &machine.name, &[]);
    }
    if !machine.phases.iter().any(|phase| phase.terminal) {
        check.add("no_end", &machine.name, &[]);
    }
    for mode in &machine.modes {
        if is_terminal(&&mode.start) {
            check.add("starts_at_end", &mode.start, &[&mode.name]);
        }
    }
    for phase in &machine.phases {
        if phase.terminal && phase.on_stop.is_some() {
            check.add("end_goes_on", &phase.name, &[]);
        }
        if phase.terminal && phase.message.is_some() {
            check.add("end_message", &phase.name, &[]);
        }
    }
    for entry in &machine.transitions {
        for phase in entry.from.iter().filter(is_terminal) {
            check.add("edge_from_end", phase, &[&entry.name]);
        }
    }
    for first in machine.first_entries() {
        for entry in check.entries(&first.name).skip(1) {
            check_entries_agree(check, first, entry);
        }
    }
    check_reachability(check);
}

/// Reports differences between two entries of a transition, which becomes one method.
fn check_entries_agree(check: &Check<'_>, first: &Entry, entry: &Entry) {
    let args = |entry: &Transition| {
        let args = entry.args.iter();
        args.map(|one| (one.name.clone(), one.kind.clone(), one.optional))
            .collect::<Vec<_>>()
    };
    for (key, is_same) in [
        ("requires", first.requires == entry.requires),
        ("by", first.by == entry.by),
        ("own", first.own == entry.own),
        ("args", args(first) == args(entry)),
    ] {
        if !is_same {
            let line = check.line(&first.name.span());
            check.add("entries_differ", &entry.name, &[key, &line]);
        }
    }
}

/// Reports phases that no loop reaches, and phases from which no loop ends.
fn check_reachability(check: &Check<'_>) {
    let phases = &check.machine.phases;
    let modes = check.machine.modes.iter();
    let is_start = |at: &usize| modes.clone().any(|mode| mode.start == phases[*at].name);
    let starts: Vec<usize> = (0..phases.len()).filter(is_start).collect();
    let is_end = |at: &usize| phases[*at].terminal;
    let ends: Vec<usize> = (0..phases.len()).filter(is_end).collect();
    let names = ends.iter().map(|end| &phases[*end].name);
    let names = list(names.take(4));

    let edges = check.edges.iter();
    let forward: Vec<_> = edges.clone().map(|edge| (edge.from, edge.to)).collect();
    let backward: Vec<_> = edges.map(|edge| (edge.to, edge.from)).collect();
    let from_start = reachable(&forward, starts.clone());
    let to_end = reachable(&backward, ends.clone());
    for (at, phase) in phases.iter().enumerate() {
        let name = &phase.name;
        if !from_start.contains(&at) && !starts.is_empty() {
            check.add("unreachable", name, &[]);
        } else if !to_end.contains(&at) && !ends.is_empty() {
            check.add("no_way_out", name, &[&names]);
        }
    }
}

/// Returns the phases in `open` and all to which the pairs lead from them.
fn reachable(pairs: &[(usize, usize)], mut open: Vec<usize>) -> HashSet<usize> {
    let mut seen = HashSet::new();
    while let Some(at) = open.pop() {
        if seen.insert(at) {
            let here = pairs.iter().filter(|(from, _)| *from == at);
            open.extend(here.map(|(_, to)| to));
        }
    }
    seen
}

/// Returns the component of each phase: the first phase that leads to it and to which it leads.
pub(super) fn find_components(count: usize, pairs: &[(usize, usize)]) -> Vec<usize> {
    let all: Vec<_> = (0..count).map(|at| reachable(pairs, vec![at])).collect();
    let first = |at: usize| {
        let mut phases = 0..count;
        phases.find(|first| all[*first].contains(&at) && all[at].contains(first))
    };
    (0..count).map(|at| first(at).unwrap_or(at)).collect()
}
