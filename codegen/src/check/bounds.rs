//! Every cycle is bounded: a loop that could run forever by itself is refused.
//!
//! Cycles are looked for among edges that the hook or an agent can take. An edge is bounded if it raises a count that
//! nothing on its cycles lowers, under a guard that limits the count to a constant or to a field that nothing there
//! changes. It is also bounded if it sets a word with which its guard does not hold, and nothing there sets another one.
//! Bounded edges are removed, and the rest is examined again, because what they reset is then no longer reset.

use std::collections::{HashSet, VecDeque};

use super::graph::reached;
use super::{Index, Problems};
use crate::model::{Actor, Constant, Edge, Guard, Operand, Sign, Update};

pub(super) fn bounds(index: &Index<'_>, found: &mut Problems) {
    let edges = index.edges.iter();
    let mut live: Vec<&Edge<'_>> = edges.filter(|edge| can_repeat(index, edge)).collect();
    loop {
        let component = components(index.machine.phases.len(), &live);
        live.retain(|edge| component[edge.from] == component[edge.to]);
        let peers = |edge: &Edge<'_>| -> Vec<&Edge<'_>> {
            let is_peer = |peer: &&&Edge<'_>| component[peer.from] == component[edge.from];
            live.iter().filter(is_peer).copied().collect()
        };
        let is_unbounded = |edge: &&&Edge<'_>| !is_bounded(index, edge, &peers(edge));
        let rest: Vec<&Edge<'_>> = live.iter().filter(is_unbounded).copied().collect();
        if rest.len() == live.len() {
            report(index, &live, &peers, found);
            return;
        }
        live = rest;
    }
}

/// Returns whether an edge can be taken without a person.
fn can_repeat(index: &Index<'_>, edge: &Edge<'_>) -> bool {
    let source = index.phase(edge.from);
    let by = &edge.declared.by;
    let is_person = !by.is_empty() && by.iter().all(|actor| actor.value == Actor::Person);
    let mut calls = source
        .on_stop
        .iter()
        .flat_map(|behaviour| behaviour.calls());
    let is_hook = calls.any(|call| call.then == edge.declared.name);
    !source.terminal && !index.is_broken(edge.declared) && (!is_person || is_hook)
}

/// What an edge does to a field.
#[derive(PartialEq)]
enum Change<'m> {
    Nothing,
    Raise,
    Word(&'m Constant),
    /// Any other change. It may lower a count.
    Other,
}

fn change<'m>(index: &Index<'_>, edge: &Edge<'m>, field: &str) -> Change<'m> {
    let exists = |phase: usize| {
        let field = index.fields.get(field);
        field.is_some_and(|field| field.exists_in(&index.phase(phase).name))
    };
    // A field that starts to exist gets its initial value again.
    if exists(edge.from) != exists(edge.to) {
        return Change::Other;
    }
    let set = edge.declared.set.iter();
    let mut updates = set.filter(|(name, _)| name.value == field);
    let Some((_, update)) = updates.next() else {
        return Change::Nothing;
    };
    match &update.value {
        Update::Field { name, offset: 0 } if name == field => Change::Nothing,
        Update::Field { name, offset: 1.. } | Update::Plus { name, .. } if name == field => {
            Change::Raise
        }
        Update::Constant(word @ (Constant::Text(_) | Constant::Flag(_))) => Change::Word(word),
        _ => Change::Other,
    }
}

/// Returns whether an edge can be taken only a limited number of times as long as only its peers are taken.
fn is_bounded(index: &Index<'_>, edge: &Edge<'_>, peers: &[&Edge<'_>]) -> bool {
    let Some(when) = &edge.declared.when else {
        return false;
    };
    edge.declared.set.iter().any(|(name, update)| {
        let changes: Vec<Change<'_>> = peers.iter().map(|peer| change(index, peer, name)).collect();
        if changes.contains(&Change::Other) {
            return false;
        }
        match (&update.value, change(index, edge, name)) {
            (Update::Field { .. }, Change::Raise) => has_ceiling(&when.value, name, &|other| {
                peers
                    .iter()
                    .all(|peer| change(index, peer, other) == Change::Nothing)
            }),
            (_, Change::Word(_)) => changes.iter().all(|change| match change {
                Change::Word(word) => never_holds_with(&when.value, name, word),
                _ => true,
            }),
            _ => false,
        }
    })
}

/// Returns whether the guard limits a count to a constant or to another field for which `is_fixed` is true.
fn has_ceiling(guard: &Guard, field: &str, is_fixed: &dyn Fn(&str) -> bool) -> bool {
    let (left, sign, right) = match guard {
        Guard::All(parts) => return parts.iter().any(|part| has_ceiling(part, field, is_fixed)),
        Guard::Any(parts) => return parts.iter().all(|part| has_ceiling(part, field, is_fixed)),
        Guard::Compare { left, sign, right } => (left, *sign, right),
    };
    let is_count = |operand: &Operand| operand.field().is_some_and(|name| name.value == field);
    let limit = match sign {
        Sign::Less | Sign::LessOrEqual | Sign::Equal if is_count(left) => right,
        Sign::Greater | Sign::GreaterOrEqual | Sign::Equal if is_count(right) => left,
        _ => return false,
    };
    match limit {
        Operand::Constant(_) => true,
        // A caller may give another argument each time.
        Operand::Argument { .. } => false,
        Operand::Field { name, .. } => name.value != field && is_fixed(name),
    }
}

/// Returns whether the guard cannot hold if a field has this value.
fn never_holds_with(guard: &Guard, field: &str, value: &Constant) -> bool {
    guard.decide(&|name| (name == field).then(|| value.clone())) == Some(false)
}

/// Returns a number for each phase. Two phases have the same number if each is reached from the other.
fn components(phases: usize, live: &[&Edge<'_>]) -> Vec<usize> {
    let reached: Vec<HashSet<usize>> = (0..phases)
        .map(|from| reached([from], live.iter().map(|edge| (edge.from, edge.to))))
        .collect();
    let component = |at: usize| {
        let mut others = (0..at).filter(|&other| reached[at].contains(&other));
        others
            .find(|&other| reached[other].contains(&at))
            .unwrap_or(at)
    };
    (0..phases).map(component).collect()
}

/// Reports cycles without a bound, each entry in one of them at most.
fn report<'e, 'm>(
    index: &Index<'m>,
    live: &[&'e Edge<'m>],
    peers: &dyn Fn(&Edge<'m>) -> Vec<&'e Edge<'m>>,
    found: &mut Problems,
) {
    let mut told: HashSet<usize> = HashSet::new();
    for edge in live {
        let cycle = shortest_cycle(live, edge);
        let entries: Vec<usize> = cycle.iter().map(|edge| edge.declared.span.start).collect();
        if entries.iter().any(|entry| told.contains(entry)) {
            continue;
        }
        told.extend(entries);
        unbounded(index, &cycle, &peers(edge), found);
    }
}

/// Returns the shortest cycle that starts with an edge of one.
fn shortest_cycle<'e, 'm>(edges: &[&'e Edge<'m>], first: &'e Edge<'m>) -> Vec<&'e Edge<'m>> {
    let mut paths = VecDeque::from([vec![first]]);
    let mut seen = HashSet::from([first.to]);
    while let Some(path) = paths.pop_front() {
        let at = path[path.len() - 1].to;
        if at == first.from {
            return path;
        }
        for edge in edges.iter().filter(|edge| edge.from == at) {
            if seen.insert(edge.to) {
                paths.push_back(path.iter().copied().chain([*edge]).collect());
            }
        }
    }
    vec![first]
}

fn unbounded(index: &Index<'_>, cycle: &[&Edge<'_>], peers: &[&Edge<'_>], found: &mut Problems) {
    let phases = cycle.iter().chain(&cycle[..1]);
    let phases: Vec<&str> = phases
        .map(|edge| &*index.phase(edge.from).name.value)
        .collect();
    let names: Vec<&str> = cycle
        .iter()
        .map(|edge| &*edge.declared.name.value)
        .collect();
    let message = format!(
        "nothing bounds the cycle {} (by {})",
        phases.join(" -> "),
        names.join(", ")
    );
    let reasons = cycle.iter().flat_map(|edge| reasons(index, edge, peers));
    let remedy = "to end a cycle, let one of its edges raise a count under a guard, such as \
                  `when = \"tries < 3\"` with `set = { tries = \"tries + 1\" }`, and let no other edge lower \
                  the count; or let only the user take an edge: `by = [\"person\"]`";
    let help: Vec<String> = reasons.take(3).chain([remedy.to_owned()]).collect();
    found.add(
        "unbounded_cycle",
        &cycle[0].declared.name.span,
        message,
        help.join("; "),
    );
    for edge in &cycle[1..] {
        found.relate(&edge.declared.name.span, "then this one");
    }
}

/// Returns why the counts that an edge raises do not bound it.
fn reasons(index: &Index<'_>, edge: &Edge<'_>, peers: &[&Edge<'_>]) -> Vec<String> {
    let edge_name = &edge.declared.name;
    let set = edge.declared.set.iter();
    let raised = set.filter(|(field, _)| change(index, edge, field) == Change::Raise);
    let reason = raised.map(|(field, _)| {
        let mut peers = peers.iter();
        let resets = peers.find(|peer| change(index, peer, field) == Change::Other);
        let when = edge.declared.when.as_ref();
        let has_limit = when.is_some_and(|when| has_ceiling(when, field, &|_| true));
        let why = match resets {
            Some(peer) => format!("`{}` resets it", peer.declared.name),
            None if has_limit => "its limit changes on the way".to_owned(),
            None => format!("no guard of `{edge_name}` limits it"),
        };
        format!("`{edge_name}` raises `{field}`, but {why}")
    });
    reason.collect()
}
