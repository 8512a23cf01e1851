//! The shape of the graph: modes, terminal phases, entries that differ, phases that no loop reaches or leaves.

use std::collections::{HashMap, HashSet};

use super::{Index, Problems};
use crate::diagnostic::list;
use crate::model::{Actor, Argument, From, Transition};

/// Checks each mode, phase and transition by itself.
pub(super) fn shape(index: &Index<'_>, found: &mut Problems) {
    let machine = index.machine;
    if machine.modes.is_empty() {
        let help = "add `[modes.NAME]` with `start = \"PHASE\"`";
        found.add(
            "no_mode",
            &machine.name.span,
            "the machine has no mode",
            help,
        );
    }
    if !machine.phases.iter().any(|phase| phase.terminal) {
        let help = "add a phase with `terminal = true`, and a transition to it";
        found.add("no_end", &machine.name.span, "no phase is terminal", help);
    }
    for mode in &machine.modes {
        if let Some(start) = machine.phase(&mode.start).filter(|start| start.terminal) {
            let message = format!("the mode `{}` starts in a terminal phase", mode.name);
            found.add(
                "starts_at_end",
                &mode.start.span,
                message,
                "start in another phase",
            );
            found.relate(&start.name.span, "the phase");
        }
    }
    for phase in machine.phases.iter().filter(|phase| phase.terminal) {
        if phase.on_stop.is_some() {
            let message = format!("`{}` is terminal, but has an `on_stop`", phase.name);
            let help = "remove `on_stop`, or `terminal`";
            found.add("end_goes_on", &phase.name.span, message, help);
        }
    }
    for entry in &machine.transitions {
        if entry.own && entry.by.is_empty() {
            let message = format!("`{}` has `own`, but no `by`", entry.name);
            let help = "add who may take it, such as `by = [\"agent\", \"person\"]`";
            found.add("bad_own", &entry.name.span, message, help);
        }
        sources(index, entry, found);
    }
    for entries in index.transitions.values() {
        for entry in &entries[1..] {
            agreement(entries[0], entry, found);
        }
    }
}

/// Checks the `from` of an entry.
fn sources(index: &Index<'_>, entry: &Transition, found: &mut Problems) {
    let name = &entry.name;
    match &entry.from {
        From::Phases(phases) => {
            let is_terminal = |phase: &str| index.machine.phase(phase).is_some_and(|p| p.terminal);
            for phase in phases.iter().filter(|phase| is_terminal(phase)) {
                let message = format!("`{name}` leaves `{phase}`, which is terminal");
                found.add(
                    "edge_from_end",
                    &phase.span,
                    message,
                    "remove it from `from`",
                );
            }
        }
        From::Any(place) => {
            let is_entry = |other: &Transition| other.span == entry.span;
            let mut declared = index.edges.iter().map(|edge| edge.declared);
            if !index.is_broken(entry) && !declared.any(is_entry) {
                let message = format!("`*` stands for no phase: each has a `{name}` of its own");
                found.add("no_source", place, message, "remove this entry");
            }
        }
    }
}

/// Reports differences between two entries of a transition, which becomes one method.
fn agreement(first: &Transition, entry: &Transition, found: &mut Problems) {
    let actors = |entry: &Transition| -> HashSet<Actor> {
        entry.by.iter().map(|actor| actor.value).collect()
    };
    let is_same = |(a, b): (&Argument, &Argument)| {
        (&a.name, &a.kind, a.optional) == (&b.name, &b.kind, b.optional)
    };
    let args = || entry.args.iter().zip(&first.args);
    let has_same_args = entry.args.len() == first.args.len() && args().all(is_same);
    for (key, is_same) in [
        ("requires", first.requires == entry.requires),
        ("by", actors(first) == actors(entry)),
        ("own", first.own == entry.own),
        ("args", has_same_args),
    ] {
        if !is_same {
            let message = format!("the entries of `{}` differ in `{key}`", entry.name);
            let help = format!("write the same `{key}` in each, or rename one transition");
            found.add("entries_differ", &entry.name.span, message, help);
            found.relate(&first.name.span, "the first entry");
        }
    }
}

/// Reports phases that no loop reaches, and phases from which no loop ends.
pub(super) fn reach(index: &Index<'_>, found: &mut Problems) {
    let machine = index.machine;
    let phases = machine.phases.iter().enumerate();
    let starts = machine
        .modes
        .iter()
        .map(|mode| index.phases[mode.start.as_str()]);
    let ends = phases.clone().filter(|(_, phase)| phase.terminal);
    let ends: Vec<usize> = ends.map(|(at, _)| at).collect();

    let edges = index.edges.iter();
    let from_start = reached(starts, edges.clone().map(|edge| (edge.from, edge.to)));
    let to_end = reached(ends.clone(), edges.map(|edge| (edge.to, edge.from)));
    for (at, phase) in phases {
        let name = &phase.name;
        if !from_start.contains(&at) && !machine.modes.is_empty() && name.value != "same" {
            let message = format!("no loop reaches `{name}`");
            let help = format!("add a transition with `to = \"{name}\"`, or remove the phase");
            found.add("unreachable", &name.span, message, help);
        } else if !to_end.contains(&at) && !ends.is_empty() {
            let ends = ends.iter().map(|&end| &*index.phase(end).name.value);
            let ends: Vec<&str> = ends.take(4).collect();
            let message = format!("nothing leads from `{name}` to a terminal phase");
            let help = format!(
                "add a transition from `{name}` that leads to {}",
                list(&ends)
            );
            found.add("no_way_out", &name.span, message, help);
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
