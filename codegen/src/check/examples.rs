//! The search for example values under which some guards hold and others do not.
//!
//! It tries the values at which a comparison turns: for counts each bound that follows from the comparisons, for texts
//! those that are named and as many others as there are texts. If there is an example, there is one among these.

use std::collections::{BTreeSet, HashMap};

use crate::model::{Constant, FieldKind, Guard, Operand, Read, Sign};

const MAX_TRIES: usize = 200_000;
const MAX_POINTS: usize = 2_000;

/// The search needs more tries than it has.
pub(super) struct TooMany;

/// A guard, and whether it is to hold.
pub(super) type Wanted<'g> = (&'g Guard, bool);

/// Returns values under which each guard holds or not as wanted, such as `round is 3`, or `None` if there are none.
pub(super) fn find_example(
    wanted: &[Wanted<'_>],
    kind: &dyn Fn(&Read) -> FieldKind,
) -> Result<Option<Vec<String>>, TooMany> {
    let domains = domains(wanted, kind)?;
    let mut values = HashMap::new();
    if !search(wanted, &domains, &mut values, &mut { MAX_TRIES })? {
        return Ok(None);
    }
    let names = domains.iter().map(|(name, _)| name.as_str());
    let tried = names.filter_map(|name| Some((name, *values.get(name)?)));
    let shown = tried.map(|(name, value)| format!("{name} is {value}"));
    Ok(Some(shown.collect()))
}

/// Tries the values of each name until every guard is decided. Leaves the example in `values`.
fn search<'d>(
    wanted: &[Wanted<'_>],
    domains: &'d [(String, Vec<Constant>)],
    values: &mut HashMap<&'d str, &'d Constant>,
    tries: &mut usize,
) -> Result<bool, TooMany> {
    *tries = tries.checked_sub(1).ok_or(TooMany)?;
    let value = |name: &str| values.get(name).map(|value| (*value).clone());
    let decided = wanted
        .iter()
        .map(|(guard, is_wanted)| Some(guard.decide(&value)? == *is_wanted));
    let decided: Vec<Option<bool>> = decided.collect();
    let (Some(((name, choices), rest)), false) =
        (domains.split_first(), decided.contains(&Some(false)))
    else {
        return Ok(!decided.contains(&Some(false)));
    };
    if !decided.contains(&None) {
        return Ok(true);
    }
    for choice in choices {
        values.insert(name, choice);
        if search(wanted, rest, values, tries)? {
            return Ok(true);
        }
    }
    values.remove(name.as_str());
    Ok(false)
}

/// Returns the values that the guards read, in their order, each with the values to try.
fn domains(
    wanted: &[Wanted<'_>],
    kind: &dyn Fn(&Read) -> FieldKind,
) -> Result<Vec<(String, Vec<Constant>)>, TooMany> {
    let comparisons: Vec<_> = wanted
        .iter()
        .flat_map(|(guard, _)| guard.comparisons())
        .collect();
    let mut texts = BTreeSet::new();
    let mut kinds: Vec<(String, FieldKind)> = Vec::new();
    for side in comparisons
        .iter()
        .flat_map(|(left, _, right)| [*left, *right])
    {
        if let Operand::Constant(Constant::Text(text)) = side {
            texts.insert(text.clone());
        }
        if let Some(read) = side.read()
            && !kinds.iter().any(|(name, _)| *name == read.key())
        {
            kinds.push((read.key(), kind(read)));
        }
    }
    let others = (1..).map(|number| format!("text {number}"));
    let others: Vec<String> = others
        .filter(|text| !texts.contains(text))
        .take(kinds.len())
        .collect();
    let texts: Vec<Constant> = texts
        .into_iter()
        .chain(others)
        .map(Constant::Text)
        .collect();

    let counts = kinds.iter().filter(|(_, kind)| *kind == FieldKind::Count);
    let counts = counts.map(|(name, _)| name.clone()).collect();
    let points = turning_points(&comparisons, counts)?;
    let domains = kinds.into_iter().map(|(name, kind)| {
        let values = match kind {
            FieldKind::Count => points[&name].iter().copied().map(Constant::Count).collect(),
            FieldKind::Flag => vec![Constant::Flag(false), Constant::Flag(true)],
            FieldKind::OneOf(words) => words
                .iter()
                .map(|word| Constant::Text(word.to_string()))
                .collect(),
            _ => texts.clone(),
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
    comparisons: &[(&Operand, Sign, &Operand)],
    counts: Vec<String>,
) -> Result<HashMap<String, BTreeSet<u64>>, TooMany> {
    const ZERO: &str = "";

    let side = |operand: &Operand| match operand {
        Operand::Constant(Constant::Count(count)) => Some((ZERO.to_owned(), i128::from(*count))),
        Operand::Constant(_) => None,
        Operand::Read(read) => Some((read.key(), i128::from(read.offset))),
    };
    let links = comparisons
        .iter()
        .filter_map(|(left, _, right)| Some((side(left)?, side(right)?)));
    let links: Vec<_> = links.collect();

    let steps = counts.len();
    let names = counts.into_iter().chain([ZERO.to_owned()]);
    let mut points: HashMap<_, _> = names.map(|name| (name, BTreeSet::from([0]))).collect();
    for _ in 0..steps {
        let before = points.clone();
        for (left, right) in &links {
            for ((from, plus_from), (to, plus_to)) in [(left, right), (right, left)] {
                let (Some(known), Some(reached)) = (before.get(from), points.get_mut(to)) else {
                    continue;
                };
                if to != ZERO {
                    let bounds = known
                        .iter()
                        .map(|point| i128::from(*point) + plus_from - plus_to);
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
