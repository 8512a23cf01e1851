//! The search for example values under which some guards hold and others do not.
//!
//! It tries the values at which a comparison turns: for counts each bound that follows from the comparisons, for texts
//! those that are named and as many others as there are texts. If there is an example, there is one among these.

use std::collections::{BTreeSet, HashMap};

use crate::model::{Constant, FieldKind, Guard, Operand, constant_text};

/// The most values that one search tries.
const MAX_TRIES: usize = 200_000;
/// The most values of one field that a search tries.
const MAX_POINTS: usize = 2_000;

/// The search needs more tries than it has.
pub(super) struct TooMany;

/// A guard, and whether it is to hold.
pub(super) type Wanted<'g> = (&'g Guard, bool);

/// Returns values under which each guard holds or not as wanted, such as `round is 3`, or `None` if there are none.
pub(super) fn find_example(
    wanted: &[Wanted<'_>],
    kind: &dyn Fn(&str) -> FieldKind,
) -> Result<Option<Vec<String>>, TooMany> {
    let guards: Vec<&Guard> = wanted.iter().map(|(guard, _)| *guard).collect();
    let mut search = Search {
        domains: &domains(&guards, kind)?,
        values: HashMap::new(),
        tries: MAX_TRIES,
    };
    if !search.run(wanted, 0)? {
        return Ok(None);
    }
    let tried = search.domains.iter().filter_map(|(name, _)| {
        let value = search.values.get(name.as_str())?;
        Some(format!("{name} is {}", constant_text(value)))
    });
    Ok(Some(tried.collect()))
}

struct Search<'d> {
    /// What the guards read, each with the values to try.
    domains: &'d [(String, Vec<Constant>)],
    values: HashMap<&'d str, &'d Constant>,
    tries: usize,
}

impl Search<'_> {
    /// Tries the values of each name from `at` on, until every guard is decided. Leaves the example in `values`.
    fn run(&mut self, wanted: &[Wanted<'_>], at: usize) -> Result<bool, TooMany> {
        self.tries = self.tries.checked_sub(1).ok_or(TooMany)?;
        let value = |name: &str| self.values.get(name).map(|value| (*value).clone());
        let mut is_decided = true;
        for (guard, is_wanted) in wanted {
            match guard.decide(&value) {
                Some(holds) if holds != *is_wanted => return Ok(false),
                Some(_) => {}
                None => is_decided = false,
            }
        }
        if is_decided {
            return Ok(true);
        }
        let (name, values) = &self.domains[at];
        for value in values {
            self.values.insert(name, value);
            if self.run(wanted, at + 1)? {
                return Ok(true);
            }
        }
        self.values.remove(name.as_str());
        Ok(false)
    }
}

/// Returns what the guards read, in their order, each with the values to try.
fn domains(
    guards: &[&Guard],
    kind: &dyn Fn(&str) -> FieldKind,
) -> Result<Vec<(String, Vec<Constant>)>, TooMany> {
    let comparisons = guards.iter().flat_map(|guard| guard.comparisons());
    let comparisons: Vec<_> = comparisons.map(|(left, _, right)| (left, right)).collect();
    let sides = comparisons.iter().flat_map(|(left, right)| [*left, *right]);

    let mut texts: Vec<String> = Vec::new();
    let mut names: Vec<String> = Vec::new();
    for side in sides {
        if let Operand::Constant(Constant::Text(text)) = side {
            texts.push(text.clone());
        }
        let name = side.reads().map(|(name, _)| name);
        names.extend(name.filter(|name| !names.contains(name)));
    }
    texts.sort();
    texts.dedup();
    let others = (1..).map(|number| format!("text {number}"));
    let others: Vec<String> = others
        .filter(|text| !texts.contains(text))
        .take(names.len())
        .collect();
    texts.extend(others);

    let counts = names
        .iter()
        .filter(|name| kind(name) == FieldKind::Count)
        .cloned();
    let points = turning_points(&comparisons, counts.collect())?;
    let domains = names.into_iter().map(|name| {
        let values = match kind(&name) {
            FieldKind::Count => points[&name].iter().copied().map(Constant::Count).collect(),
            FieldKind::Flag => vec![Constant::Flag(false), Constant::Flag(true)],
            FieldKind::OneOf(words) => words
                .iter()
                .map(|word| Constant::Text(word.value.to_string()))
                .collect(),
            _ => texts.iter().cloned().map(Constant::Text).collect(),
        };
        (name, values)
    });
    Ok(domains.collect())
}

/// Returns the values of counts to try.
///
/// Each comparison bounds the difference of two counts, or of a count and 0. If such bounds can be met, the smallest
/// counts that meet them are sums of bounds along a path that starts at 0. A path has at most one step for each count.
fn turning_points(
    comparisons: &[(&Operand, &Operand)],
    counts: Vec<String>,
) -> Result<HashMap<String, BTreeSet<u64>>, TooMany> {
    /// The name of what is always 0.
    const ZERO: &str = "";

    let side = |operand: &Operand| match operand {
        Operand::Constant(Constant::Count(count)) => Some((ZERO.to_owned(), i128::from(*count))),
        _ => operand
            .reads()
            .map(|(name, offset)| (name, i128::from(offset))),
    };
    let links = comparisons.iter().filter_map(|(left, right)| {
        let (left, plus_left) = side(left)?;
        let (right, plus_right) = side(right)?;
        Some((left, right, plus_right - plus_left))
    });
    let links: Vec<_> = links.collect();

    let steps = counts.len();
    let zero = || BTreeSet::from([0]);
    let mut points: HashMap<String, BTreeSet<u64>> =
        counts.into_iter().map(|name| (name, zero())).collect();
    points.insert(ZERO.to_owned(), zero());
    for _ in 0..steps {
        let before = points.clone();
        for (left, right, distance) in &links {
            for (from, to, distance) in [(right, left, *distance), (left, right, -distance)] {
                let (Some(known), Some(reached)) = (before.get(from), points.get_mut(to)) else {
                    continue;
                };
                if to != ZERO {
                    let bounds = known.iter().map(|point| i128::from(*point) + distance);
                    let bounds = bounds.flat_map(|bound| [bound, bound + 1]);
                    reached.extend(bounds.filter_map(|bound| u64::try_from(bound).ok()));
                }
                if reached.len() > MAX_POINTS {
                    return Err(TooMany);
                }
            }
        }
    }
    Ok(points)
}

#[cfg(test)]
mod tests;
