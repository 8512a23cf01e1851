//! Guards that never hold, two guards of a transition that hold at once, and values for which none of them holds.

use std::collections::{BTreeMap, HashSet};

use super::Check;
use super::examples::{TooMany, Wanted, find_example};
use crate::model::{Entry, Guard};

/// Checks the guards of the entries that have no other problem.
pub(super) fn guards(check: &Check<'_>) {
    let mut skipped = check.broken.clone();
    for entry in &check.machine.transitions {
        let Some(when) = entry.when.as_ref().filter(|_| !check.is_broken(entry)) else {
            continue;
        };
        let before = check.found_count();
        if example(check, entry, &[(when, true)]).is_none() && check.found_count() == before {
            check.add_at("guard_never", &when.span, &[&entry.name]);
        }
        if check.found_count() > before {
            skipped.insert(entry.span.start);
        }
    }

    let mut groups: BTreeMap<_, Vec<&Entry>> = BTreeMap::new();
    for edge in &check.edges {
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
        let phase = &check.phase(from).name;
        for (at, second) in entries.iter().enumerate() {
            for first in &entries[..at] {
                overlap(check, phase, first, second);
            }
        }
        gap(check, phase, &entries);
    }
}

fn overlap(check: &Check<'_>, phase: &str, first: &Entry, second: &Entry) {
    let both = [first, second].into_iter();
    let guards = both.filter_map(|entry| entry.when.as_deref());
    let conditions: Vec<Wanted<'_>> = guards.map(|guard| (guard, true)).collect();
    if let Some(mut values) = example(check, second, &conditions) {
        if values.is_empty() {
            values.push("neither has a guard".to_owned());
        }
        let args = [&second.name, phase, &values.join(", ")];
        check.add_at("guards_overlap", second.guard_span(), &args);
        check.relate(first.guard_span(), "the other entry");
    }
}

/// Reports values for which no entry holds, although every condition that all guards share is true.
fn gap(check: &Check<'_>, phase: &str, entries: &[&Entry]) {
    let guards: Option<Vec<&Guard>> = entries.iter().map(|entry| entry.when.as_deref()).collect();
    // An entry without a guard always holds.
    let Some(guards) = guards else { return };
    let shared = parts(guards[0]).iter().filter(|part| {
        let has_part = |guard: &&Guard| parts(guard).contains(part);
        guards.iter().all(has_part)
    });
    let none = guards.iter().map(|guard| (*guard, false));
    let conditions: Vec<Wanted<'_>> = none.chain(shared.map(|part| (part, true))).collect();
    if let Some(values) = example(check, entries[0], &conditions) {
        let name = &entries[0].name;
        check.add("guards_gap", name, &[phase, &values.join(", ")]);
        for entry in &entries[1..] {
            check.relate(&entry.name.span, "another entry");
        }
    }
}

/// Returns example values. If the search gives up, reports this.
fn example(check: &Check<'_>, entry: &Entry, wanted: &[Wanted<'_>]) -> Option<Vec<String>> {
    find_example(wanted).unwrap_or_else(|TooMany| {
        check.add_at("guards_too_complicated", entry.guard_span(), &[&entry.name]);
        None
    })
}

/// Returns the conditions of a guard that must hold together.
fn parts(guard: &Guard) -> &[Guard] {
    match guard {
        Guard::All(parts) => parts,
        one => std::slice::from_ref(one),
    }
}
