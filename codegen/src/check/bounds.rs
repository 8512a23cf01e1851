//! Every cycle is bounded: a loop that could run forever by itself is refused.
//!
//! Cycles are looked for among edges that the hook or an agent can take. An edge is bounded if it raises a count that
//! nothing on its cycles lowers, under a guard that limits the count to a constant or to a field that nothing there
//! changes. It is also bounded if it sets a word with which its guard does not hold, and nothing there sets another one.
//! Bounded edges are removed, and the rest is examined again, because the fields that they reset are then no longer reset.

use std::collections::{HashMap, HashSet, VecDeque};

use super::graph::components;
use super::{Check, strs};
use crate::model::{Actor, Constant, Edge, Field, Guard, Operand, Sign, Update};

pub(super) fn bounds(check: &Check<'_>) {
    let edges = check.edges.iter();
    let mut live: Vec<&Edge<'_>> = edges.filter(|edge| can_repeat(check, edge)).collect();
    loop {
        let pairs = live.iter().map(|edge| (edge.from, edge.to));
        let component = components(check.machine.phases.len(), pairs);
        live.retain(|edge| component[edge.from] == component[edge.to]);
        let mut parts: HashMap<usize, Component<'_>> = HashMap::new();
        for edge in &live {
            parts
                .entry(component[edge.from])
                .or_default()
                .add(check, edge);
        }
        let is_unbounded = |edge: &&Edge<'_>| !parts[&component[edge.from]].bounds(edge);
        let rest: Vec<&Edge<'_>> = live.iter().copied().filter(is_unbounded).collect();
        if rest.len() == live.len() {
            // Each entry is in one cycle of the report at most.
            let mut told: HashSet<usize> = HashSet::new();
            for edge in live {
                let part = &parts[&component[edge.from]];
                if told.contains(&edge.declared.span.start) {
                    continue;
                }
                let cycle = part.shortest_cycle(edge);
                let entries = || cycle.iter().map(|edge| edge.declared.span.start);
                if entries().all(|entry| !told.contains(&entry)) {
                    told.extend(entries());
                    report(check, &cycle, part);
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

/// The effect of an edge on a field.
#[derive(PartialEq)]
enum Change<'m> {
    Raise,
    Word(&'m Constant),
    /// Any other change. It may lower a count.
    Other,
}

/// Returns the effect of an edge on a field, or `None` if nothing.
fn change<'m>(field: &str, update: &'m Update) -> Option<Change<'m>> {
    match update {
        Update::Field { name, offset: 0 } if name == field => None,
        Update::Field { name, offset: 1.. } | Update::Plus { name, .. } if name == field => {
            Some(Change::Raise)
        }
        Update::Constant(word @ (Constant::Text(_) | Constant::Flag(_))) => {
            Some(Change::Word(word))
        }
        _ => Some(Change::Other),
    }
}

/// Phases each of which leads to the others: the edges between them, and their effects on fields.
#[derive(Default)]
struct Component<'m> {
    edges: HashMap<usize, Vec<&'m Edge<'m>>>,
    changes: HashMap<&'m str, Vec<(&'m Edge<'m>, Change<'m>)>>,
}

impl<'m> Component<'m> {
    fn add(&mut self, check: &Check<'m>, edge: &'m Edge<'m>) {
        self.edges.entry(edge.from).or_default().push(edge);
        let [from, to] = [edge.from, edge.to].map(|at| check.phase(at).name.as_str());
        // A field that starts to exist gets its initial value again.
        let crosses = |field: &Field| field.exists_in(from) != field.exists_in(to);
        let divided = check
            .machine
            .fields
            .iter()
            .filter(|field| field.within.is_some());
        let crossing = divided.filter(|field| crosses(field));
        let crossing = crossing.map(|field| (field.name.as_str(), Change::Other));
        let set = edge.declared.set.iter();
        let set = set.filter_map(|(name, update)| Some((name.as_str(), change(name, update)?)));
        for (field, change) in set.chain(crossing) {
            self.changes.entry(field).or_default().push((edge, change));
        }
    }

    fn changes(&self, field: &str) -> &[(&'m Edge<'m>, Change<'m>)] {
        self.changes.get(field).map_or(&[], Vec::as_slice)
    }

    /// Returns the first edge that may lower a count.
    fn reset(&self, field: &str) -> Option<&'m Edge<'m>> {
        let mut changes = self.changes(field).iter();
        let (edge, _) = changes.find(|(_, change)| *change == Change::Other)?;
        Some(edge)
    }

    /// Returns whether an edge can be taken only a limited number of times as long as only edges between these phases are
    /// taken.
    fn bounds(&self, edge: &Edge<'_>) -> bool {
        let Some(when) = &edge.declared.when else {
            return false;
        };
        let is_fixed = |other: &str| self.changes(other).is_empty();
        edge.declared.set.iter().any(|(name, update)| {
            let is_out = |word: &Constant| {
                let word = |field: &str| (field == name.value).then(|| word.clone());
                when.decide(&word) == Some(false)
            };
            if self.reset(name).is_some() {
                return false;
            }
            match (change(name, update), &update.value) {
                (Some(Change::Raise), Update::Field { .. }) => has_ceiling(when, name, &is_fixed),
                (Some(Change::Word(_)), _) => {
                    self.changes(name).iter().all(|change| match change {
                        (_, Change::Word(word)) => is_out(word),
                        _ => true,
                    })
                }
                _ => false,
            }
        })
    }

    /// Returns the shortest cycle that starts with an edge of one.
    fn shortest_cycle(&self, first: &'m Edge<'m>) -> Vec<&'m Edge<'m>> {
        let mut reached_by: HashMap<usize, &'m Edge<'m>> = HashMap::from([(first.to, first)]);
        let mut open = VecDeque::from([first.to]);
        while let Some(at) = open.pop_front().filter(|at| *at != first.from) {
            for edge in self.edges.get(&at).into_iter().flatten() {
                reached_by.entry(edge.to).or_insert_with(|| {
                    open.push_back(edge.to);
                    edge
                });
            }
        }
        let mut cycle = vec![reached_by[&first.from]];
        while cycle[0].from != first.from {
            cycle.insert(0, reached_by[&cycle[0].from]);
        }
        cycle
    }
}

/// Returns whether the guard limits a count to a constant or to another field for which `is_fixed` is true.
fn has_ceiling(guard: &Guard, field: &str, is_fixed: &dyn Fn(&str) -> bool) -> bool {
    let (left, sign, right) = match guard {
        Guard::All(parts) => return parts.iter().any(|part| has_ceiling(part, field, is_fixed)),
        Guard::Any(parts) => return parts.iter().all(|part| has_ceiling(part, field, is_fixed)),
        Guard::Compare { left, sign, right } => (left, sign, right),
    };
    let is_count = |operand: &Operand| {
        let read = operand.read().filter(|read| !read.is_argument);
        read.is_some_and(|read| read.name.value == field)
    };
    let limit = match sign {
        Sign::Less | Sign::LessOrEqual | Sign::Equal if is_count(left) => right,
        Sign::Greater | Sign::GreaterOrEqual | Sign::Equal if is_count(right) => left,
        _ => return false,
    };
    match limit {
        Operand::Constant(_) => true,
        // A caller may give another argument each time.
        Operand::Read(read) if read.is_argument => false,
        Operand::Read(read) => read.name.value != field && is_fixed(&read.name),
    }
}

fn report(check: &Check<'_>, cycle: &[&Edge<'_>], part: &Component<'_>) {
    let phases = cycle.iter().chain(&cycle[..1]);
    let phases = strs(phases.map(|edge| &check.phase(edge.from).name)).join(" -> ");
    let names = strs(cycle.iter().map(|edge| &edge.declared.name)).join(", ");
    let mut reasons = Vec::new();
    for edge in cycle {
        for (field, update) in &edge.declared.set {
            let name = &edge.declared.name;
            if change(field, update) == Some(Change::Raise) {
                reasons.push(match part.reset(field) {
                    Some(reset) => format!("`{}` resets `{field}`; ", reset.declared.name),
                    None => format!("no fixed limit in `{name}` for `{field}`; "),
                });
            }
        }
    }
    reasons.truncate(3);
    let first = &cycle[0].declared.name;
    check.add(
        "unbounded_cycle",
        first,
        &[&phases, &names, &reasons.concat()],
    );
    for edge in cycle.iter().skip(1).take(8) {
        check.relate(&edge.declared.name.span, "then this one");
    }
}
