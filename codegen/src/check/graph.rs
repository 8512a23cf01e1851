//! The shape of the graph: modes, terminal phases, entries that differ, phases that no loop reaches or leaves.

use std::collections::{HashMap, HashSet};

use super::{Check, sources, strs};
use crate::diagnostic::list;
use crate::model::{Actor, Argument, From, Transition};

pub(super) fn graph(check: &Check<'_>) {
    let machine = check.machine;
    let is_terminal = |name: &str| machine.phase(name).is_some_and(|phase| phase.terminal);
    let name = &machine.name.span;
    if machine.modes.is_empty() {
        check.add("no_mode", name, &[]);
    }
    if !machine.phases.iter().any(|phase| phase.terminal) {
        check.add("no_end", name, &[]);
    }
    for mode in machine.modes.iter().filter(|mode| is_terminal(&mode.start)) {
        check.add("starts_at_end", &mode.start.span, &[&mode.name]);
    }
    let ends = machine.phases.iter().filter(|phase| phase.terminal);
    for phase in ends.filter(|phase| phase.on_stop.is_some()) {
        check.add("end_goes_on", &phase.name.span, &[&phase.name]);
    }
    for entry in &machine.transitions {
        let name = &entry.name;
        if entry.own && entry.by.is_empty() {
            check.add("own_without_by", &name.span, &[name]);
        }
        for phase in sources(entry).iter().filter(|phase| is_terminal(phase)) {
            check.add("edge_from_end", &phase.span, &[name, phase]);
        }
        if let From::Any(place) = &entry.from
            && check.edges_of(entry).next().is_none()
            && !check.is_broken(entry)
        {
            check.add("no_source", place, &[name]);
        }
    }
    for entries in check.transitions.values() {
        for entry in &entries[1..] {
            agreement(check, entries[0], entry);
        }
    }
    let found = check.found.borrow();
    let has_unknown = found.iter().any(|one| one.code == "unknown_phase");
    drop(found);
    if !has_unknown {
        reach(check);
    }
}

/// Reports differences between two entries of a transition, which becomes one method.
fn agreement(check: &Check<'_>, first: &Transition, entry: &Transition) {
    fn actors(entry: &Transition) -> HashSet<Actor> {
        entry.by.iter().map(|actor| actor.value).collect()
    }
    fn args(entry: &Transition) -> Vec<Argument> {
        let undocumented = |argument: &Argument| Argument {
            doc: String::new(),
            ..argument.clone()
        };
        entry.args.iter().map(undocumented).collect()
    }
    for (key, is_same) in [
        ("requires", first.requires == entry.requires),
        ("by", actors(first) == actors(entry)),
        ("own", first.own == entry.own),
        ("args", args(first) == args(entry)),
    ] {
        if !is_same {
            check.add("entries_differ", &entry.name.span, &[&entry.name, &key]);
            check.relate(&first.name.span, "the first entry");
        }
    }
}

/// Reports phases that no loop reaches, and phases from which no loop ends.
fn reach(check: &Check<'_>) {
    let machine = check.machine;
    let phases = machine.phases.iter().enumerate();
    let modes = machine.modes.iter();
    let starts = modes.filter_map(|mode| check.phase_index(&mode.start));
    let starts: Vec<usize> = starts.collect();
    let ends = phases.clone().filter(|(_, phase)| phase.terminal);
    let ends: Vec<usize> = ends.map(|(at, _)| at).collect();
    let names = ends.iter().map(|&end| &check.phase(end).name);
    let names = list(&strs(names.take(4)));

    let edges = check.edges.iter();
    let forward = edges.clone().map(|edge| (edge.from, edge.to));
    let from_start = reached(starts.clone(), forward);
    let to_end = reached(ends.clone(), edges.map(|edge| (edge.to, edge.from)));
    for (at, phase) in phases {
        let name = &phase.name;
        if !from_start.contains(&at) && !starts.is_empty() && name.value != "same" {
            check.add("unreachable", &name.span, &[name]);
        } else if !to_end.contains(&at) && !ends.is_empty() {
            check.add("no_way_out", &name.span, &[name, &names]);
        }
    }
}

/// Returns the phases that are reached from some phases, with these.
pub(super) fn reached(
    starts: impl IntoIterator<Item = usize>,
    edges: impl Iterator<Item = (usize, usize)>,
) -> HashSet<usize> {
    let mut next: HashMap<usize, Vec<usize>> = HashMap::new();
    for (from, to) in edges {
        next.entry(from).or_default().push(to);
    }
    let mut seen = HashSet::new();
    let mut open: Vec<usize> = starts.into_iter().collect();
    while let Some(at) = open.pop() {
        if seen.insert(at) {
            open.extend(next.get(&at).into_iter().flatten());
        }
    }
    seen
}
