//! Every cycle is bounded: a loop that could run forever by itself is refused.
//!
//! Cycles are looked for among edges that the hook or an agent can take. An edge is bounded if it raises a count that
//! nothing on its cycles lowers, under a guard that limits the count to a constant or to a field that nothing there
//! changes. It is also bounded if it sets a word with which its guard does not hold, and nothing there sets another one.
//! Bounded edges are removed, and the rest is examined again, because the fields that they reset are then no longer reset.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::graph::components;
use super::{Check, strs};
use crate::diagnostic::list;
use crate::model::{Constant, Edge, Field, Guard, Named, Operand, Sign, Update};

pub(super) fn bounds(check: &Check<'_>) {
    let edges = check.edges.iter();
    let mut live: Vec<&Edge<'_>> = edges.filter(|edge| can_repeat(check, edge)).collect();
    loop {
        let pairs = live.iter().map(|edge| (edge.from, edge.to));
        let component = components(check.machine.phases.len(), pairs);
        live.retain(|edge| component[edge.from] == component[edge.to]);
        let mut parts: BTreeMap<usize, Component<'_>> = BTreeMap::new();
        for edge in &live {
            let part = parts.entry(component[edge.from]).or_default();
            part.add(check, edge);
        }
        let count = live.len();
        live.retain(|edge| !parts[&component[edge.from]].bounds(edge));
        if live.len() == count {
            parts.values().for_each(|part| report(check, part));
            return;
        }
    }
}

/// Returns whether an edge can be taken without the user.
fn can_repeat(check: &Check<'_>, edge: &Edge<'_>) -> bool {
    let source = check.phase(edge.from);
    let hook = source.on_stop.iter();
    let mut calls = hook.flat_map(|behaviour| behaviour.calls());
    let by_hook = calls.any(|call| call.then == edge.declared.name);
    !source.terminal
        && !check.is_broken(edge.declared)
        && (!edge.declared.is_by_user_alone() || by_hook)
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
        Update::Value(Operand::Read(read)) if read.key() == field && read.offset == 0 => None,
        Update::Value(Operand::Read(read)) if read.key() == field && read.offset > 0 => {
            Some(Change::Raise)
        }
        Update::Plus(read, _) if read.key() == field => Some(Change::Raise),
        Update::Value(Operand::Constant(word @ (Constant::Text(_) | Constant::Flag(_)))) => {
            Some(Change::Word(word))
        }
        _ => Some(Change::Other),
    }
}

/// Phases each of which leads to the others: the edges between them, and their effects on fields.
#[derive(Default)]
struct Component<'m> {
    edges: Vec<&'m Edge<'m>>,
    changes: HashMap<&'m str, Vec<(&'m Edge<'m>, Change<'m>)>>,
}

impl<'m> Component<'m> {
    fn add(&mut self, check: &Check<'m>, edge: &'m Edge<'m>) {
        self.edges.push(edge);
        let [from, to] = [edge.from, edge.to].map(|at| &check.phase(at).name);
        // A field that starts to exist gets its initial value again.
        let crosses = |field: &&Named<Field>| field.exists_in(from) != field.exists_in(to);
        let fields = check.machine.fields.iter().filter(crosses);
        let crossing = fields.map(|field| (field.name.as_str(), Change::Other));
        let updates = edge.declared.set.iter();
        let set = updates.filter_map(|(name, update)| Some((name.as_str(), change(name, update)?)));
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
        let mut set = edge.declared.set.iter();
        set.any(|(name, update)| {
            let is_out = |word: &Constant| {
                let word = |field: &str| (field == name.value).then(|| word.clone());
                when.decide(&word) == Some(false)
            };
            let stays_out = |(_, change): &(_, Change<'_>)| match change {
                Change::Word(word) => is_out(word),
                _ => true,
            };
            let is_bound = match (change(name, update), &update.value) {
                (Some(Change::Raise), Update::Value(_)) => has_ceiling(when, name, &is_fixed),
                (Some(Change::Word(_)), _) => self.changes(name).iter().all(stays_out),
                _ => false,
            };
            is_bound && self.reset(name).is_none()
        })
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
    match limit.as_ref() {
        Operand::Constant(_) => true,
        // A caller may give another argument each time.
        Operand::Read(read) if read.is_argument => false,
        Operand::Read(read) => read.name.value != field && is_fixed(&read.name),
    }
}

fn report(check: &Check<'_>, part: &Component<'_>) {
    let distinct = |names: Vec<&str>| {
        let mut seen = HashSet::new();
        let names = names.into_iter().filter(|name| seen.insert(*name));
        list(&names.collect::<Vec<_>>())
    };
    let edges = part.edges.iter();
    let phases = edges.clone().map(|edge| &check.phase(edge.from).name);
    let names = edges.map(|edge| &edge.declared.name);
    let args = [distinct(strs(phases)), distinct(strs(names)), reasons(part)];
    let first = &part.edges[0].declared.name;
    check.add(
        "unbounded_cycle",
        first,
        &args.each_ref().map(String::as_str),
    );
}

/// Returns why the edges that raise a count bound nothing: three reasons at most.
fn reasons(part: &Component<'_>) -> String {
    let mut reasons = BTreeSet::new();
    for (field, changes) in &part.changes {
        let raises = changes
            .iter()
            .filter(|(_, change)| *change == Change::Raise);
        reasons.extend(raises.map(|(edge, _)| match part.reset(field) {
            Some(reset) => format!("`{}` resets `{field}`; ", reset.declared.name),
            None => format!("no fixed limit in `{}` for `{field}`; ", edge.declared.name),
        }));
    }
    reasons.into_iter().take(3).collect()
}
