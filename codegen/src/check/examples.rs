//! The search for example values under which some guards hold and others do not.
//!
//! The search tries the values at which a comparison turns: bounds of counts, and for texts those
//! that are named and one more for each name. These include an example if one exists.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use crate::model::{Comparison, Constant, FieldKind, Guard, Operand, Read};

const MAX_TRIES: usize = 200_000;
const MAX_POINTS: usize = 2_000;

/// The search needs more tries than it has.
pub(super) struct TooMany;

/// A guard, and whether it is to hold.
pub(super) type Wanted<'g> = (&'g Guard, bool);
/// A name that guards read, and the values to try.
type Domain = (String, Vec<Constant>);

/// Returns values for which each guard is as wanted, such as `round is 3`, or `None`.
pub(super) fn find_example(wanted: &[Wanted<'_>]) -> Result<Option<Vec<String>>, TooMany> {
    let domains = domains(wanted)?;
    let mut values = HashMap::new();
    if !search(wanted, &domains, &mut values, &mut { MAX_TRIES })? {
        return Ok(None);
    }
    let names = domains.iter().map(|(name, _)| name.as_str());
    let tried = names.filter_map(|name| Some(format!("{name} is {}", values.get(name)?)));
    Ok(Some(tried.collect()))
}

/// Tries the values of each name until every guard is decided. Leaves the example in `values`.
fn search<'d>(
    wanted: &[Wanted<'_>],
    domains: &'d [Domain],
    values: &mut HashMap<&'d str, &'d Constant>,
    tries: &mut usize,
) -> Result<bool, TooMany> {
    *tries = tries.checked_sub(1).ok_or(TooMany)?;
    let value = |name: &str| values.get(name).map(|value| (*value).clone());
    let is_met = |(guard, is_wanted): &Wanted<'_>| Some(guard.decide(&value)? == *is_wanted);
    let met: Vec<Option<bool>> = wanted.iter().map(is_met).collect();
    if met.contains(&Some(false)) {
        return Ok(false);
    }
    let Some(((name, choices), rest)) = domains.split_first().filter(|_| met.contains(&None))
    else {
        return Ok(true);
    };
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
fn domains(wanted: &[Wanted<'_>]) -> Result<Vec<Domain>, TooMany> {
    let guards = wanted.iter().map(|(guard, _)| guard);
    let mut seen = HashSet::new();
    let all_reads = guards.clone().flat_map(|guard| guard.reads());
    let reads: Vec<&Read> = all_reads.filter(|read| seen.insert(read.key())).collect();
    let comparisons: Vec<_> = guards.flat_map(|guard| guard.comparisons()).collect();
    let constants = comparisons.iter().filter_map(|one| match &one.right {
        Operand::Constant(Constant::Text(text)) => Some(text.clone()),
        _ => None,
    });
    let named: BTreeSet<String> = constants.collect();
    let others = (1..)
        .map(|number| format!("text {number}"))
        .filter(|text| !named.contains(text))
        .take(reads.len());
    let texts: Vec<String> = named.iter().cloned().chain(others).collect();
    let points = turning_points(&comparisons)?;
    let domains = reads.into_iter().map(|read| {
        let name = read.key();
        let values = match &read.kind {
            Some(FieldKind::Count) => {
                let counts = points[&name].iter().flat_map(|point| u64::try_from(*point));
                counts.map(Constant::Count).collect()
            }
            Some(FieldKind::Flag) => vec![Constant::Flag(false), Constant::Flag(true)],
            Some(FieldKind::OneOf(words)) => {
                let words = words.iter().map(|word| word.to_string());
                words.map(Constant::Text).collect()
            }
            _ => texts.iter().cloned().map(Constant::Text).collect(),
        };
        (name, values)
    });
    Ok(domains.collect())
}

/// Returns the values of counts to try.
///
/// Each comparison bounds the difference of two counts, or of a count and 0, which has no name. If
/// such bounds can be met, the smallest counts that meet them are sums of bounds along a path that
/// starts at 0. A path has at most one step for each count.
fn turning_points(
    comparisons: &[&Comparison],
) -> Result<BTreeMap<String, BTreeSet<i128>>, TooMany> {
    let mut points = BTreeMap::from([(String::new(), BTreeSet::from([0]))]);
    let mut links = Vec::new();
    for Comparison { left, right, .. } in comparisons {
        if left.kind != Some(FieldKind::Count) {
            continue;
        }
        let (other, plus) = match right {
            Operand::Read(read) => (read.key(), i128::from(read.offset)),
            Operand::Constant(Constant::Count(count)) => (String::new(), i128::from(*count)),
            Operand::Constant(_) => continue,
        };
        let difference = plus - i128::from(left.offset);
        for name in [left.key(), other.clone()] {
            points.entry(name).or_insert_with(|| BTreeSet::from([0]));
        }
        links.push((left.key(), other.clone(), -difference));
        links.push((other, left.key(), difference));
    }
    for _ in 0..points.len() {
        let before = points.clone();
        for (from, to, difference) in links.iter().filter(|(_, to, _)| !to.is_empty()) {
            let sums = before[from].iter().map(|point| point + difference);
            let bounds = sums.flat_map(|bound| [bound, bound + 1]);
            let reached = points.entry(to.clone()).or_default();
            reached.extend(bounds.filter(|bound| *bound >= 0));
            if reached.len() > MAX_POINTS {
                return Err(TooMany);
            }
        }
    }
    Ok(points)
}

#[cfg(test)]
mod tests;
