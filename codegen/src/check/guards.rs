//! Guards that cannot hold, guards of one transition that hold together, and values for which none of them does, though what all of them
//! ask for is so.

use std::collections::HashSet;

use super::solve::{Answer, Solver};
use super::{Index, groups};
use crate::diagnostic::Diagnostic;
use crate::model::{Edge, Guard, Transition, guard_text};

/// Edges of one transition at one source; each pair is looked at.
const MOST_EDGES: usize = 64;
/// Steps for all guards of a machine together.
const STEPS: u64 = 4_000_000;

pub(super) fn guards(
    index: &Index<'_>,
    edges: &[Edge<'_>],
    broken: &HashSet<usize>,
    duplicated: &HashSet<usize>,
    found: &mut Vec<Diagnostic>,
) {
    let mut solver = Solver {
        fields: &index.fields,
        left: STEPS,
    };
    let mut never: HashSet<usize> = HashSet::new();
    for (at, entry) in index.machine.transitions.iter().enumerate() {
        if let Some(when) = entry.when.as_ref().filter(|_| !broken.contains(&at)) {
            match solver.solve(&entry.args, &[(&when.value, true)]) {
                Answer::Example(_) => {}
                Answer::Never => {
                    never.insert(at);
                    let message = format!("no values make this guard of `{}` hold", entry.name);
                    let one = when.problem("guard_never", message);
                    found.push(
                        one.help("counts begin at 0; loosen the guard, or take the edge out"),
                    );
                }
                Answer::GaveUp => found.push(gave_up(entry)),
            }
        }
    }
    // Entries that stand together at several sources are looked at once.
    let mut seen: HashSet<Vec<usize>> = HashSet::new();
    for ((source, name), group) in groups(edges) {
        let entries: Vec<usize> = group.iter().map(|edge| index.entry(edge)).collect();
        let skip =
            |at: &usize| broken.contains(at) || duplicated.contains(at) || never.contains(at);
        if group.len() < 2 || entries.iter().any(skip) || !seen.insert(entries) {
            continue;
        }
        if let Some(beyond) = group.get(MOST_EDGES) {
            let message = format!(
                "`{name}` has {} edges from `{}`",
                group.len(),
                index.phase(source)
            );
            let one = beyond.declared.name.problem("too_large", message);
            found.push(one.help(format!(
                "{MOST_EDGES} are the most: give some of them a name of their own"
            )));
            continue;
        }
        overlaps(&mut solver, index.phase(source), &group, found);
        gap(&mut solver, index.phase(source), &group, found);
    }
}

fn overlaps<'m>(
    solver: &mut Solver<'m, '_>,
    source: &str,
    group: &[&Edge<'m>],
    found: &mut Vec<Diagnostic>,
) {
    for (at, edge) in group.iter().enumerate() {
        for other in &group[at + 1..] {
            let wanted: Vec<(&Guard, bool)> = [edge, other]
                .iter()
                .filter_map(|edge| Some((&edge.declared.when.as_ref()?.value, true)))
                .collect();
            let (first, second) = (edge.declared, other.declared);
            let name = &second.name.value;
            match solver.solve(&edge.declared.args, &wanted) {
                Answer::Never => {}
                Answer::GaveUp => {
                    found.push(gave_up(second));
                    return;
                }
                Answer::Example(values) => {
                    let message = format!(
                        "two edges of `{name}` from `{source}` are open at once{}",
                        shown(&values)
                    );
                    let one = Diagnostic::new("guards_overlap", second.guard_span(), message);
                    let one = one.related(first.guard_span(), "open at once with this one");
                    found.push(one.help("let one guard be the opposite of the other"));
                }
            }
        }
    }
}

fn gap<'m>(
    solver: &mut Solver<'m, '_>,
    source: &str,
    group: &[&Edge<'m>],
    found: &mut Vec<Diagnostic>,
) {
    let guards: Option<Vec<_>> = group
        .iter()
        .map(|edge| edge.declared.when.as_ref().map(|when| (&when.value, false)))
        .collect();
    // An edge without a guard leaves no gap.
    let (Some(mut guards), Some(first)) = (guards, group.first()) else {
        return;
    };
    // What every guard asks for is when the transition is open at all, as the guard of a single edge is.
    let (one, others) = guards.split_at(1);
    let common = parts(one[0].0).iter().filter(|part| {
        let text = guard_text(part);
        let asks = |guard: &Guard| parts(guard).iter().any(|other| guard_text(other) == text);
        others.iter().all(|(guard, _)| asks(guard))
    });
    let common: Vec<_> = common.map(|part| (part, true)).collect();
    guards.extend(common);
    match solver.solve(&first.declared.args, &guards) {
        Answer::Never => {}
        Answer::GaveUp => found.push(gave_up(first.declared)),
        Answer::Example(values) => {
            let name = &first.declared.name;
            let message = format!(
                "no edge of `{}` from `{source}` is open{}",
                name,
                shown(&values)
            );
            let mut one = name.problem("guards_gap", message);
            for edge in &group[1..] {
                one = one.related(edge.declared.name.span.clone(), "nor is this one");
            }
            found.push(one.help("widen a guard, or add an edge for what is left"));
        }
    }
}

/// Returns what has to hold together.
fn parts(guard: &Guard) -> &[Guard] {
    match guard {
        Guard::All(parts) => parts,
        one => std::slice::from_ref(one),
    }
}

fn shown(values: &[String]) -> String {
    if values.is_empty() {
        String::new()
    } else {
        format!(" when {}", values.join(" and "))
    }
}

fn gave_up(entry: &Transition) -> Diagnostic {
    let message = format!(
        "the guards of `{}` are too complicated to be checked",
        entry.name
    );
    let one = Diagnostic::new("guards_too_complicated", entry.guard_span(), message);
    one.help("use fewer `or`s and fields, or keep a field that says it shorter")
}
