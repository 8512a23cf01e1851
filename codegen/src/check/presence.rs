//! Fields that exist in some phases only (`in`): nothing reads or sets one in another phase.

use std::ops::Range;

use super::{Index, Problems};
use crate::diagnostic::list;
use crate::model::texts::interpolated;
use crate::model::{AtStart, Transition};

pub(super) fn presence(index: &Index<'_>, found: &mut Problems) {
    let machine = index.machine;
    for mode in &machine.modes {
        let start: Vec<usize> = index
            .phases
            .get(mode.start.as_str())
            .copied()
            .into_iter()
            .collect();
        for (field, _) in &mode.initial {
            let what = format!("the mode `{}` sets", mode.name);
            require(index, field, &field.span, &start, &what, found);
        }
        for field in &machine.fields {
            if field.at_start != AtStart::Never {
                let what = format!("a start in the mode `{}` takes", mode.name);
                require(index, &field.name, &field.name.span, &start, &what, found);
            }
        }
    }
    for (at, phase) in machine.phases.iter().enumerate() {
        let behaviour = phase.on_stop.iter();
        for parameter in behaviour.flat_map(|behaviour| behaviour.parameters()) {
            let in_braces = interpolated(parameter.value).unwrap_or_default();
            let names = in_braces.into_iter().map(|(name, _)| name);
            let what = format!("`{}` reads", parameter.key);
            for name in names.chain(parameter.is_field().then_some(parameter.value)) {
                require(index, name, parameter.span, &[at], &what, found);
            }
        }
    }
    for entry in &machine.transitions {
        self::entry(index, entry, found);
    }
}

fn entry(index: &Index<'_>, entry: &Transition, found: &mut Problems) {
    let edges = index.edges.iter();
    let edges = edges.filter(|edge| edge.declared.span == entry.span);
    let (sources, targets): (Vec<usize>, Vec<usize>) =
        edges.map(|edge| (edge.from, edge.to)).unzip();
    let reads = format!("`{}` reads", entry.name);
    let comparisons = entry.when.iter().flat_map(|when| when.comparisons());
    let sides = comparisons.flat_map(|(left, _, right)| [left, right]);
    for name in sides.filter_map(|side| side.field()) {
        require(index, name, &name.span, &sources, &reads, found);
    }
    for (name, update) in &entry.set {
        if let Some(read) = update.value.field() {
            require(index, read, &update.span, &sources, &reads, found);
        }
        let sets = format!("`{}` sets", entry.name);
        require(index, name, &name.span, &targets, &sets, found);
    }
}

/// Reports that a field is used in phases in which it does not exist. `what` is the subject and the verb.
fn require(
    index: &Index<'_>,
    name: &str,
    place: &Range<usize>,
    phases: &[usize],
    what: &str,
    found: &mut Problems,
) {
    let Some(field) = index.fields.get(name) else {
        return;
    };
    let within: Vec<&str> = field
        .within
        .iter()
        .flatten()
        .map(|phase| phase.as_str())
        .collect();
    if !within.iter().all(|phase| index.phases.contains_key(phase)) {
        return;
    }
    let phases = phases.iter().map(|&at| &*index.phase(at).name.value);
    let mut absent: Vec<&str> = phases.filter(|phase| !field.exists_in(phase)).collect();
    absent.dedup();
    absent.truncate(4);
    if !absent.is_empty() {
        let message = format!(
            "{what} `{name}` in {}, where it does not exist",
            list(&absent)
        );
        let help = format!(
            "`{name}` exists in {}: add the phase to its `in`, or do not use it there",
            list(&within)
        );
        found.add("field_absent", place, message, help);
        found.relate(&field.name.span, "the field");
    }
}
