//! Checks of guards: ones that never hold, that hold at once, or that leave a gap.

use std::collections::{BTreeMap, HashSet};

use super::Check;
use super::examples::{TooMany, Wanted, find_example};
use crate::model::{Entry, Guard};

pub(super) fn check_guards(check: &Check<'_>) {
    for entry in &check.machine.transitions {
        if let Some(when) = &entry.when
            && let Ok(None) = find_or_report(check, entry, &[(when, true)])
        {
            check.add_at("guard_never", when.span(), &[&entry.name]);
        }
    }

    let mut groups: BTreeMap<_, Vec<&Entry>> = BTreeMap::new();
    for edge in &check.edges {
        let key = (edge.from, edge.declared.name.as_str());
        groups.entry(key).or_default().push(edge.declared);
    }
    // The same entries may meet in several phases.
    let mut seen: HashSet<Vec<usize>> = HashSet::new();
    for ((from, _), entries) in groups {
        let starts = entries.iter().map(|entry| entry.name.span().start);
        if entries.len() < 2 || !seen.insert(starts.collect()) {
            continue;
        }
        let phase = &check.phase(from).name;
        for (at, second) in entries.iter().enumerate() {
            for first in &entries[..at] {
                check_overlap(check, phase, first, second);
            }
        }
        check_gap(check, phase, &entries);
    }
}

fn check_overlap(check: &Check<'_>, phase: &str, first: &Entry, second: &Entry) {
    let both = [first, second].into_iter();
    let guards = both.filter_map(|entry| entry.when.as_deref());
    let conditions: Vec<Wanted<'_>> = guards.map(|guard| (guard, true)).collect();
    if let Ok(Some(mut values)) = find_or_report(check, second, &conditions) {
        if values.is_empty() {
            values.push("neither has a guard".to_owned());
        }
        let line = check.line(&first.guard_span());
        let args = [&second.name, phase, &values.join(", "), &line];
        check.add_at("guards_overlap", second.guard_span(), &args);
    }
}

/// Reports values for which no entry holds, although every condition that all guards share is true.
fn check_gap(check: &Check<'_>, phase: &str, entries: &[&Entry]) {
    let guards: Option<Vec<&Guard>> = entries.iter().map(|entry| entry.when.as_deref()).collect();
    // An entry without a guard always holds.
    let Some(guards) = guards else { return };
    let shared = parts(guards[0]).iter().filter(|part| {
        let has_part = |guard: &&Guard| parts(guard).contains(part);
        guards.iter().all(has_part)
    });
    let none = guards.iter().map(|guard| (*guard, false));
    let conditions: Vec<Wanted<'_>> = none.chain(shared.map(|part| (part, true))).collect();
    if let Ok(Some(values)) = find_or_report(check, entries[0], &conditions) {
        let others = entries[1..].iter();
        let lines =
            others.map(|entry| format!("another entry: line {}; ", check.line(&entry.name.span())));
        let args = [phase, &values.join(", "), &lines.collect::<String>()];
        check.add("guards_gap", &entries[0].name, &args);
    }
}

/// Returns example values. If the search gives up, reports this.
fn find_or_report(
    check: &Check<'_>,
    entry: &Entry,
    wanted: &[Wanted<'_>],
) -> Result<Option<Vec<String>>, TooMany> {
    find_example(wanted).inspect_err(|TooMany| {
        check.add_at("guards_too_complicated", entry.guard_span(), &[&entry.name]);
    })
}

/// Returns the conditions of a guard that must hold together.
fn parts(guard: &Guard) -> &[Guard] {
    match guard {
        Guard::All(parts) => parts,
        one => std::slice::from_ref(one),
    }
}
