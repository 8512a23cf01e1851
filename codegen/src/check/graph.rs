//! The shape of the graph: ends, dead ends, what cannot be reached, edges that are there twice or do not agree.

use std::collections::{HashMap, HashSet};

use super::{Index, groups};
use crate::diagnostic::{Diagnostic, list};
use crate::model::{Actor, Edge, From, Guard, Transition};

/// What each phase and each transition has to be by itself.
pub(super) fn shape(index: &Index<'_>, edges: &[Edge<'_>], found: &mut Vec<Diagnostic>) {
    let machine = index.machine;
    if machine.modes.is_empty() {
        let one = machine.name.problem("no_mode", "the machine has no mode");
        found.push(
            one.help("add `[modes.plan]` with `start = \"...\"`: it says where a loop begins"),
        );
    }
    for entry in machine.transitions.iter().filter(|entry| entry.own) {
        if entry.by.is_empty() {
            let message = format!("`{}` has `own` and no actor", entry.name);
            let one = entry.name.problem("bad_own", message);
            found.push(one.help("add who may take it: `by = [\"agent\", \"person\"]`"));
        }
    }
    if !machine.phases.iter().any(|phase| phase.terminal) {
        let one = machine.name.problem("no_end", "no phase is terminal");
        found.push(one.help("add a phase with `terminal = true`, and an edge to it"));
    }
    for mode in &machine.modes {
        let start = index
            .phases
            .get(mode.start.as_str())
            .map(|&at| &machine.phases[at]);
        if let Some(start) = start.filter(|start| start.terminal) {
            let message = format!(
                "the mode `{}` starts in `{}`, which is terminal",
                mode.name, start.name
            );
            let one = mode.start.problem("starts_at_end", message);
            found.push(
                one.related(start.name.span.clone(), "terminal")
                    .help("start in a phase that goes on"),
            );
        }
    }
    for phase in &machine.phases {
        if phase.terminal && phase.on_stop.is_some() {
            let message = format!("`{}` is terminal and has an `on_stop`", phase.name);
            let one = phase.name.problem("end_goes_on", message);
            found.push(
                one.help("no stop reaches a loop that is over: leave `on_stop` or `terminal` out"),
            );
        }
    }
    for entry in &machine.transitions {
        let From::Phases(names) = &entry.from else {
            continue;
        };
        for name in names {
            let source = index
                .phases
                .get(name.as_str())
                .map(|&at| &machine.phases[at]);
            if source.is_some_and(|source| source.terminal) {
                let message = format!("`{}` leaves `{}`, which is terminal", entry.name, name);
                let one = name.problem("edge_from_end", message);
                found.push(one.help("a loop that is over stays so: take it out of `from`"));
            }
        }
    }
    agreement(index, found);
    let sources: HashSet<usize> = edges.iter().map(|edge| index.entry(edge)).collect();
    for (at, entry) in machine.transitions.iter().enumerate() {
        if let From::Any(span) = &entry.from
            && !sources.contains(&at)
            && index
                .phases
                .values()
                .any(|&at| !machine.phases[at].terminal)
        {
            let message = format!("`*` leaves `{}` no source", entry.name);
            let one = Diagnostic::new("no_source", span.clone(), message);
            found.push(one.help(
                "every phase has an edge of its own of this transition: take this entry out",
            ));
        }
    }
}

/// All entries of one transition are one method: one signature, one kind of evidence, one set of callers.
fn agreement(index: &Index<'_>, found: &mut Vec<Diagnostic>) {
    for entries in index.transitions.values() {
        let first = &index.machine.transitions[entries[0]];
        for &at in &entries[1..] {
            let entry = &index.machine.transitions[at];
            let actors = |entry: &Transition| {
                let mut actors: Vec<Actor> = entry.by.iter().map(|actor| actor.value).collect();
                actors.sort();
                actors
            };
            let args = |entry: &Transition| -> Vec<_> {
                let args = entry.args.iter();
                args.map(|argument| {
                    (
                        argument.name.clone(),
                        argument.kind.clone(),
                        argument.optional,
                    )
                })
                .collect()
            };
            let differ = [
                ("requires", first.requires != entry.requires),
                ("by", actors(first) != actors(entry)),
                ("own", first.own != entry.own),
                ("args", args(first) != args(entry)),
            ];
            for (key, _) in differ.into_iter().filter(|(_, differ)| *differ) {
                let message = format!("the entries of `{}` differ in `{key}`", entry.name);
                let one = entry.name.problem("entries_differ", message);
                let one = one.related(first.name.span.clone(), "the first entry");
                found.push(one.help(format!(
                    "one transition is one method: write the same `{key}` in each"
                )));
            }
        }
    }
}

/// Phases that no mode reaches, and phases from which nothing terminal is reached.
pub(super) fn reach(index: &Index<'_>, edges: &[Edge<'_>], found: &mut Vec<Diagnostic>) {
    let machine = index.machine;
    let (mut forward, mut backward) = (
        vec![Vec::new(); machine.phases.len()],
        vec![Vec::new(); machine.phases.len()],
    );
    for edge in edges {
        forward[edge.from].push(edge.to);
        backward[edge.to].push(edge.from);
    }
    let starts = machine
        .modes
        .iter()
        .filter_map(|mode| index.phases.get(mode.start.as_str()).copied());
    let starts: Vec<usize> = starts.collect();
    let ends: Vec<usize> = (0..machine.phases.len())
        .filter(|&at| machine.phases[at].terminal)
        .collect();
    let reached = closure(&forward, starts.clone());
    let ending = closure(&backward, ends.clone());
    for (at, phase) in machine.phases.iter().enumerate() {
        let name = &phase.name.value;
        if !reached[at] && !starts.is_empty() && name != "same" {
            let message = format!("no loop reaches `{name}`");
            let one = phase.name.problem("unreachable", message);
            found.push(one.help(format!(
                "add a transition with `to = \"{name}\"`, or take the phase out"
            )));
        } else if !ending[at] && !ends.is_empty() {
            let message = format!("nothing leads from `{name}` to a terminal phase");
            let one = phase.name.problem("no_way_out", message);
            let ends: Vec<&str> = ends.iter().take(4).map(|&end| index.phase(end)).collect();
            found.push(one.help(format!(
                "add a transition from `{name}` that leads to {}",
                list(&ends)
            )));
        }
    }
}

fn closure(next: &[Vec<usize>], starts: Vec<usize>) -> Vec<bool> {
    let mut seen = vec![false; next.len()];
    let mut open = starts;
    while let Some(at) = open.pop() {
        if !std::mem::replace(&mut seen[at], true) {
            open.extend(next[at].iter().filter(|&&to| !seen[to]));
        }
    }
    seen
}

/// Edges of one transition at one source that no guard tells apart. Returns the entries concerned, so that their
/// guards are not reported as overlapping too.
pub(super) fn duplicates(
    index: &Index<'_>,
    edges: &[Edge<'_>],
    found: &mut Vec<Diagnostic>,
) -> HashSet<usize> {
    let mut entries = HashSet::new();
    for ((source, name), group) in groups(edges) {
        let mut guards: HashMap<String, &Edge<'_>> = HashMap::new();
        for edge in group {
            let when = edge.declared.when.as_ref();
            let key = when.map(|when| text(&when.value)).unwrap_or_default();
            let Some(first) = guards.get(&key) else {
                guards.insert(key, edge);
                continue;
            };
            let both = [index.entry(first), index.entry(edge)];
            if both.iter().all(|entry| entries.contains(entry)) {
                continue;
            }
            entries.extend(both);
            let why = if when.is_some() {
                "with the same guard"
            } else {
                "without a guard"
            };
            let message = format!("`{name}` leaves `{}` twice {why}", index.phase(source));
            let one = edge.declared.name.problem("duplicate_edge", message);
            let one = one.related(first.declared.name.span.clone(), "the other edge");
            found.push(one.help("give each a `when` of its own, or take one out"));
        }
    }
    entries
}

/// A guard's meaning as far as its order and its places do not matter.
fn text(guard: &Guard) -> String {
    match guard {
        Guard::All(parts) | Guard::Any(parts) => {
            let mut parts: Vec<String> = parts.iter().map(text).collect();
            parts.sort();
            let word = if matches!(guard, Guard::All(_)) {
                "all"
            } else {
                "any"
            };
            format!("{word}({})", parts.join(","))
        }
        Guard::Compare { left, sign, right } => {
            use crate::model::Operand;
            let side = |operand: &Operand| match operand {
                Operand::Field { name, offset } => format!("{}{offset:+}", name),
                Operand::Argument { name, offset } => format!("args.{}{offset:+}", name),
                Operand::Constant(constant) => format!("{constant:?}"),
            };
            format!("{} {sign:?} {}", side(left), side(right))
        }
    }
}
