//! Guards that never hold, two guards of a transition that hold at once, and values for which none of them holds.

use std::collections::{BTreeMap, HashSet};

use super::examples::{TooMany, Wanted, find_example};
use super::{Index, Problems};
use crate::model::{FieldKind, Guard, Transition, guard_text};

/// Checks the guards of the entries that have no other problem.
pub(super) fn guards(index: &Index<'_>, found: &mut Problems) {
    let mut skipped = index.broken.clone();
    for entry in &index.machine.transitions {
        let Some(when) = entry.when.as_ref().filter(|_| !index.is_broken(entry)) else {
            continue;
        };
        let Some(values) = example(index, entry, &[(&when.value, true)], found) else {
            skipped.insert(entry.span.start);
            continue;
        };
        if values.is_none() {
            let message = format!("no values make this guard of `{}` hold", entry.name);
            let help = "counts start at 0; change the guard, or remove the entry";
            found.add("guard_never", &when.span, message, help);
            skipped.insert(entry.span.start);
        }
    }

    let mut groups: BTreeMap<_, Vec<&Transition>> = BTreeMap::new();
    for edge in &index.edges {
        let key = (edge.from, &edge.declared.name.value);
        groups.entry(key).or_default().push(edge.declared);
    }
    // The same entries may meet in several phases.
    let mut seen: HashSet<Vec<usize>> = HashSet::new();
    for ((from, _), entries) in groups {
        let starts: Vec<usize> = entries.iter().map(|entry| entry.span.start).collect();
        let is_skipped = starts.iter().any(|start| skipped.contains(start));
        if entries.len() < 2 || is_skipped || !seen.insert(starts) {
            continue;
        }
        let phase = &*index.phase(from).name.value;
        for (at, second) in entries.iter().enumerate() {
            for first in &entries[..at] {
                overlap(index, phase, first, second, found);
            }
        }
        gap(index, phase, &entries, found);
    }
}

/// Reports values for which two entries hold at once.
fn overlap(
    index: &Index<'_>,
    phase: &str,
    first: &Transition,
    second: &Transition,
    found: &mut Problems,
) {
    let guards = [first, second].into_iter().filter_map(guard);
    let wanted: Vec<Wanted<'_>> = guards.map(|guard| (guard, true)).collect();
    if let Some(Some(values)) = example(index, second, &wanted, found) {
        let name = &second.name;
        let values = match values.as_slice() {
            [] => "neither has a guard".to_owned(),
            values => values.join(", "),
        };
        let message = format!("two entries of `{name}` hold at once in `{phase}`: {values}");
        let help = "change a guard so that only one of them holds, or remove an entry";
        found.add("guards_overlap", &second.guard_span(), message, help);
        found.relate(&first.guard_span(), "the other entry");
    }
}

/// Reports values for which no entry holds, although every condition that all guards share is true.
fn gap(index: &Index<'_>, phase: &str, entries: &[&Transition], found: &mut Problems) {
    let guards: Option<Vec<&Guard>> = entries.iter().map(|entry| guard(entry)).collect();
    // An entry without a guard always holds.
    let Some(guards) = guards else { return };
    let shared = parts(guards[0]).iter().filter(|part| {
        let text = guard_text(part);
        let has_part = |guard: &&Guard| parts(guard).iter().any(|part| guard_text(part) == text);
        guards.iter().all(has_part)
    });
    let none = guards.iter().map(|guard| (*guard, false));
    let wanted: Vec<Wanted<'_>> = none.chain(shared.map(|part| (part, true))).collect();
    if let Some(Some(values)) = example(index, entries[0], &wanted, found) {
        let name = &entries[0].name;
        let values = values.join(", ");
        let message = format!("no entry of `{name}` holds in `{phase}`: {values}");
        let help = "widen a guard, or add an entry for these values";
        found.add("guards_gap", &name.span, message, help);
        for entry in &entries[1..] {
            found.relate(&entry.name.span, "another entry");
        }
    }
}

/// Returns example values, or `None` if the search gives up, which is reported.
fn example(
    index: &Index<'_>,
    entry: &Transition,
    wanted: &[Wanted<'_>],
    found: &mut Problems,
) -> Option<Option<Vec<String>>> {
    let kind = |name: &str| index.kind(entry, name).unwrap_or(FieldKind::Text);
    match find_example(wanted, &kind) {
        Ok(values) => Some(values),
        Err(TooMany) => {
            let message = format!(
                "the guards of `{}` are too complicated to check",
                entry.name
            );
            let help = "compare fewer fields, or keep the result of a comparison in a field";
            found.add("guards_too_complicated", &entry.guard_span(), message, help);
            None
        }
    }
}

fn guard(entry: &Transition) -> Option<&Guard> {
    entry.when.as_ref().map(|when| &when.value)
}

/// Returns the conditions of a guard that must hold together.
fn parts(guard: &Guard) -> &[Guard] {
    match guard {
        Guard::All(parts) => parts,
        one => std::slice::from_ref(one),
    }
}
