//! Every cycle is bounded: a loop that could run forever by itself is refused.
//!
//! Cycles are looked for among edges that the hook or an agent can take. An edge is bounded if it raises a count that
//! nothing on its cycles lowers, under a guard that limits the count to a constant or to a field that nothing there
//! changes. It is also bounded if it sets a word with which its guard does not hold, and nothing there sets another one.
//! Bounded edges are removed, and the rest is examined again, because what they reset is then no longer reset.

use std::collections::{HashSet, VecDeque};

use super::graph::reached;
use super::{Check, strs};
use crate::model::{Actor, Constant, Edge, Guard, Operand, Sign, Update};

pub(super) fn bounds(check: &Check<'_>) {
    let edges = check.edges.iter();
    let mut live: Vec<&Edge<'_>> = edges.filter(|edge| can_repeat(check, edge)).collect();
    loop {
        let pairs = || live.iter().map(|edge| (edge.from, edge.to));
        let phases = 0..check.machine.phases.len();
        let reached: Vec<_> = phases.map(|from| reached([from], pairs())).collect();
        live.retain(|edge| reached[edge.to].contains(&edge.from));
        // The edges on the cycles through an edge.
        let peers = |edge: &Edge<'_>| -> Vec<&Edge<'_>> {
            let leads = |from: usize, to: usize| reached[from].contains(&to);
            let is_peer = |at: usize| leads(edge.from, at) && leads(at, edge.from);
            let live = live.iter().copied();
            live.filter(|peer| is_peer(peer.from)).collect()
        };
        let is_unbounded = |edge: &&&Edge<'_>| !is_bounded(check, edge, &peers(edge));
        let rest: Vec<&Edge<'_>> = live.iter().filter(is_unbounded).copied().collect();
        if rest.len() == live.len() {
            // Each entry is in one cycle of the report at most.
            let mut told: HashSet<usize> = HashSet::new();
            for edge in &live {
                let cycle = shortest_cycle(&live, edge);
                let entries = || cycle.iter().map(|edge| edge.declared.span.start);
                if entries().all(|entry| !told.contains(&entry)) {
                    told.extend(entries());
                    report(check, &cycle, &peers(edge));
                }
            }
            return;
        }
        live = rest;
    }
}

/// Returns whether an edge can be taken without the user.
fn can_repeat(check: &Check<'_>, edge: &Edge<'_>) -> bool {
    let source = check.phase(edge.from);
    let by = &edge.declared.by;
    let by_user = !by.is_empty() && by.iter().all(|actor| actor.value == Actor::Person);
    let hook = source.on_stop.iter();
    let mut calls = hook.flat_map(|behaviour| behaviour.calls());
    let by_hook = calls.any(|call| call.then == edge.declared.name);
    !source.terminal && !check.is_broken(edge.declared) && (!by_user || by_hook)
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

fn change<'m>(check: &Check<'_>, edge: &Edge<'m>, field: &str) -> Change<'m> {
    let exists = |phase: usize| {
        let field = check.machine.field(field);
        field.is_some_and(|field| field.exists_in(&check.phase(phase).name))
    };
    // A field that starts to exist gets its initial value again.
    if exists(edge.from) != exists(edge.to) {
        return Change::Other;
    }
    let mut set = edge.declared.set.iter();
    let update = set.find(|(name, _)| name.value == field);
    match update.map(|(_, update)| &update.value) {
        None => Change::Nothing,
        Some(Update::Field { name, offset: 0 }) if name == field => Change::Nothing,
        Some(Update::Field { name, offset: 1.. } | Update::Plus { name, .. }) if name == field => {
            Change::Raise
        }
        Some(Update::Constant(word @ (Constant::Text(_) | Constant::Flag(_)))) => {
            Change::Word(word)
        }
        _ => Change::Other,
    }
}

/// Returns whether an edge can be taken only a limited number of times as long as only its peers are taken.
fn is_bounded(check: &Check<'_>, edge: &Edge<'_>, peers: &[&Edge<'_>]) -> bool {
    let Some(when) = &edge.declared.when else {
        return false;
    };
    edge.declared.set.iter().any(|(name, update)| {
        let changes = || peers.iter().map(|peer| change(check, peer, name));
        if changes().any(|change| change == Change::Other) {
            return false;
        }
        match (&update.value, change(check, edge, name)) {
            (Update::Field { .. }, Change::Raise) => has_ceiling(when, name, &|other| {
                let mut changes = peers.iter().map(|peer| change(check, peer, other));
                changes.all(|change| change == Change::Nothing)
            }),
            (_, Change::Word(_)) => changes().all(|change| match change {
                Change::Word(word) => {
                    let word = |field: &str| (field == name.value).then(|| word.clone());
                    when.decide(&word) == Some(false)
                }
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
        Guard::Compare { left, sign, right } => (left, sign, right),
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
                paths.push_back([path.as_slice(), &[edge]].concat());
            }
        }
    }
    vec![first]
}

fn report(check: &Check<'_>, cycle: &[&Edge<'_>], peers: &[&Edge<'_>]) {
    let phases = cycle.iter().chain(&cycle[..1]);
    let phases = strs(phases.map(|edge| &check.phase(edge.from).name));
    let names = strs(cycle.iter().map(|edge| &edge.declared.name));
    let reasons = cycle.iter().flat_map(|edge| reasons(check, edge, peers));
    let reasons: String = reasons.take(3).collect();
    let phases = phases.join(" -> ");
    let names = names.join(", ");
    let place = &cycle[0].declared.name.span;
    check.add("unbounded_cycle", place, &[&phases, &names, &reasons]);
    for edge in &cycle[1..] {
        check.relate(&edge.declared.name.span, "then this one");
    }
}

/// Returns why the counts that an edge raises do not bound it.
fn reasons(check: &Check<'_>, edge: &Edge<'_>, peers: &[&Edge<'_>]) -> Vec<String> {
    let name = &edge.declared.name;
    let set = edge.declared.set.iter();
    let raised = set.filter(|(field, _)| change(check, edge, field) == Change::Raise);
    let reasons = raised.map(|(field, _)| {
        let mut peers = peers.iter();
        let resets = peers.find(|peer| change(check, peer, field) == Change::Other);
        let when = edge.declared.when.as_ref();
        let why = match resets {
            Some(peer) => format!("`{}` resets it", peer.declared.name),
            None if when.is_some_and(|when| has_ceiling(when, field, &|_| true)) => {
                "its limit changes on the way".to_owned()
            }
            None => format!("no guard of `{name}` limits it"),
        };
        format!("`{name}` raises `{field}`, but {why}; ")
    });
    reasons.collect()
}
