//! Every cycle is bounded: a loop that could run forever by itself is refused.
//!
//! An edge is bounded if its guard limits a count that it raises and its cycles never lower, by a
//! constant or by a field that they never change. It is also bounded if it sets a word that its
//! guard excludes and its cycles keep. Bounded edges are removed, and the rest is checked again,
//! because removed edges reset nothing. Edges that only the user can take do not count.

use std::collections::{BTreeMap, BTreeSet};

use super::Check;
use super::graph::find_components;
use crate::diagnostic::list;
use crate::model::{At, Constant, Edge, Field, Guard, Named, Operand, Sign, Update};

/// Edges between phases each of which leads to the others.
type Cycle<'c, 'm> = Vec<&'c Edge<'m>>;

pub(super) fn check_bounds(check: &Check<'_>) {
    let edges = check.edges.iter();
    let mut live: Vec<&Edge<'_>> = edges.filter(|edge| can_repeat(check, edge)).collect();
    loop {
        let pairs: Vec<_> = live.iter().map(|edge| (edge.from, edge.to)).collect();
        let component = find_components(check.machine.phases.len(), &pairs);
        let mut cycles: BTreeMap<usize, Cycle<'_, '_>> = BTreeMap::new();
        for edge in &live {
            if component[edge.from] == component[edge.to] {
                cycles.entry(component[edge.from]).or_default().push(edge);
            }
        }
        let count = live.len();
        live = cycles
            .values()
            .flat_map(|cycle| cycle.iter().filter(|edge| !is_bounded(check, cycle, edge)))
            .copied()
            .collect();
        if live.len() == count {
            cycles.values().for_each(|cycle| report_cycle(check, cycle));
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
    !source.terminal && (!edge.declared.is_by_user_alone() || by_hook)
}

/// The effect of an edge on a field.
enum Effect<'m> {
    /// Raises a count by a constant.
    Raise,
    /// Raises a count by an argument, which may be 0.
    Add,
    Word(&'m Constant),
    /// Any other change. It may lower a count.
    Other,
}

/// Returns the effect of an edge on a field, or `None` if it has none.
fn find_effect<'m>(check: &Check<'m>, edge: &Edge<'m>, field: &Named<Field>) -> Option<Effect<'m>> {
    let mut updates = edge.declared.set.iter();
    let Some((_, update)) = updates.find(|(name, _)| *name == field.name) else {
        // A field that starts to exist gets its initial value again.
        let exists = |phase: usize| field.exists_in(&check.phase(phase).name);
        return (exists(edge.from) != exists(edge.to)).then_some(Effect::Other);
    };
    match &**update {
        Update::Value(Operand::Read(read)) if read.key() == **field.name => match read.offset {
            0 => None,
            1.. => Some(Effect::Raise),
            _ => Some(Effect::Other),
        },
        Update::Value(Operand::Constant(word @ (Constant::Text(_) | Constant::Flag(_)))) => {
            Some(Effect::Word(word))
        }
        Update::Plus(read, _) if read.name == field.name => Some(Effect::Add),
        _ => Some(Effect::Other),
    }
}

/// Returns the edges of a cycle that have an effect on a field, each with its effect.
fn find_effects<'c, 'm>(
    check: &Check<'m>,
    cycle: &Cycle<'c, 'm>,
    field: &Named<Field>,
) -> Vec<(&'c Edge<'m>, Effect<'m>)> {
    let edges = cycle.iter();
    edges
        .filter_map(|edge| Some((*edge, find_effect(check, edge, field)?)))
        .collect()
}

/// Returns whether an edge can be taken only a limited number of times within its cycle.
fn is_bounded(check: &Check<'_>, cycle: &Cycle<'_, '_>, edge: &Edge<'_>) -> bool {
    let Some(when) = &edge.declared.when else {
        return false;
    };
    let is_fixed = |name: &str| {
        let field = check.field(name);
        field.is_some_and(|field| find_effects(check, cycle, field).is_empty())
    };
    let set = edge.declared.set.iter();
    let mut fields = set.filter_map(|(name, _)| check.field(name));
    fields.any(|field| {
        let is_out = |word: &Constant| {
            let word = |name: &str| (*name == **field.name).then(|| word.clone());
            when.decide(&word) == Some(false)
        };
        let all = find_effects(check, cycle, field);
        let mut others = all.iter().map(|(_, effect)| effect);
        match find_effect(check, edge, field) {
            Some(Effect::Raise) => {
                has_ceiling(when, &field.name, &is_fixed)
                    && !others.any(|effect| matches!(effect, Effect::Other))
            }
            Some(Effect::Word(_)) => {
                others.all(|effect| matches!(effect, Effect::Word(word) if is_out(word)))
            }
            _ => false,
        }
    })
}

/// Returns whether a guard limits a count to a constant or to a field that `is_fixed` accepts.
fn has_ceiling(guard: &Guard, field: &str, is_fixed: &dyn Fn(&str) -> bool) -> bool {
    let comparison = match guard {
        Guard::All(parts) => return parts.iter().any(|part| has_ceiling(part, field, is_fixed)),
        Guard::Any(parts) => return parts.iter().all(|part| has_ceiling(part, field, is_fixed)),
        Guard::Compare(comparison) => comparison,
    };
    let left = &comparison.left;
    let right = comparison.right.read();
    let is_right = right.is_some_and(|read| read.key() == field);
    let limit = match comparison.sign {
        Sign::Less | Sign::LessOrEqual | Sign::Equal if left.key() == field => right,
        Sign::Greater | Sign::GreaterOrEqual | Sign::Equal if is_right => Some(left),
        _ => return false,
    };
    // A caller may give another argument each time.
    limit.is_none_or(|read| !read.is_argument && *read.name != *field && is_fixed(&read.name))
}

fn report_cycle(check: &Check<'_>, cycle: &Cycle<'_, '_>) {
    let phases = cycle.iter().map(|edge| &check.phase(edge.from).name);
    let names = cycle.iter().map(|edge| &edge.declared.name);
    let resets = check.machine.fields.iter().filter_map(|field| {
        let all = find_effects(check, cycle, field);
        let mut effects = all.iter().map(|(_, effect)| effect);
        let is_reset = |(_, effect): &&(_, _)| matches!(effect, Effect::Other);
        let (reset, _) = all.iter().find(is_reset)?;
        let is_raised = effects.any(|effect| matches!(effect, Effect::Raise));
        is_raised.then(|| format!("`{}` resets `{}`; ", reset.declared.name, field.name))
    });
    let resets: String = resets.collect();
    let args = [&*distinct(phases), &distinct(names), &resets];
    check.add("unbounded_cycle", &cycle[0].declared.name, &args);
}

/// Returns names as a sentence has them, each once.
fn distinct<'m>(names: impl Iterator<Item = &'m At<String>>) -> String {
    let mut seen = BTreeSet::new();
    list(names.filter(|name| seen.insert(name.as_str())))
}
