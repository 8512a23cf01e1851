//! What changes of the edges mean for loops on disk.

use std::collections::{BTreeMap, BTreeSet};

use super::super::{EdgeShape, Shape};
use super::difference::{Difference, Verdict, some};

/// Edges are read at the next change, so none of them is in the way of a loop on disk.
pub(super) fn edges(
    old: &Shape,
    new: &Shape,
    names: &BTreeMap<&str, &str>,
    found: &mut Vec<Difference>,
) {
    type Groups<'s> = BTreeMap<(&'s str, &'s str), Vec<&'s EdgeShape>>;
    fn group<'s>(edges: &'s [EdgeShape], name: impl Fn(&'s str) -> &'s str) -> Groups<'s> {
        let mut groups: Groups<'s> = BTreeMap::new();
        for edge in edges {
            let key = (edge.transition.as_str(), name(&edge.from));
            groups.entry(key).or_default().push(edge);
        }
        groups
    }
    let renamed = |name| names.get(name).copied().unwrap_or(name);
    let before = group(&old.edges, renamed);
    let after = group(&new.edges, |name| name);
    // The same said of many sources is said once.
    let mut said: BTreeMap<(&str, String, &str), Vec<&str>> = BTreeMap::new();
    for ((transition, from), edges) in &before {
        let Some(now) = after.get(&(*transition, *from)) else {
            // Where the phase went, its edges went with it.
            if new.phase(from).is_some() {
                let key = (
                    *transition,
                    "was removed".to_owned(),
                    "loops in these phases cannot take it",
                );
                said.entry(key).or_default().push(from);
            }
            continue;
        };
        for (what, means) in altered(edges, now, renamed) {
            said.entry((*transition, what, means))
                .or_default()
                .push(from);
        }
    }
    let stayed: BTreeSet<&str> = names.values().copied().collect();
    for (transition, from) in after.keys() {
        if !before.contains_key(&(*transition, *from)) && stayed.contains(from) {
            let key = (
                *transition,
                "was added".to_owned(),
                "loops in these phases can take it",
            );
            said.entry(key).or_default().push(from);
        }
    }
    for ((transition, what, means), from) in said {
        let what = format!("the transition `{transition}` from {} {what}", some(&from));
        found.push(Difference::new(Verdict::Safe, what, means));
    }
}

/// Returns how the edges of one transition at one phase differ, each with what it means.
fn altered<'s>(
    old: &[&'s EdgeShape],
    new: &[&'s EdgeShape],
    renamed: impl Fn(&'s str) -> &'s str,
) -> Vec<(String, &'static str)> {
    let next = "it holds from their next change on";
    let ([before], [after]) = (old, new) else {
        let same = old.len() == new.len()
            && old.iter().zip(new).all(|(before, after)| {
                let before = EdgeShape {
                    from: after.from.clone(),
                    to: renamed(&before.to).to_owned(),
                    ..(*before).clone()
                };
                before == **after
            });
        let what = "has other alternatives".to_owned();
        return if same { Vec::new() } else { vec![(what, next)] };
    };
    let mut found = Vec::new();
    if renamed(&before.to) != after.to {
        found.push((
            format!("leads to `{}`, no longer to `{}`", after.to, before.to),
            next,
        ));
    }
    if before.when != after.when {
        let text = |when: &Option<String>| {
            when.as_ref()
                .map_or_else(|| "always".to_owned(), |when| format!("when `{when}`"))
        };
        let what = format!(
            "is open {}, no longer {}",
            text(&after.when),
            text(&before.when)
        );
        found.push((
            what,
            "it holds from their next change on; where no guard holds a loop waits, and can be cancelled",
        ));
    }
    if before.requires != after.requires {
        let text = |needs: &Option<String>| needs.clone().unwrap_or_else(|| "no".to_owned());
        let what = format!(
            "needs {} evidence, no longer {}",
            text(&after.requires),
            text(&before.requires)
        );
        // `settled` is more than `reviewed`, which is more than none; `verified` is more than none alone.
        let is_more = before.requires.is_none()
            || before.requires.as_deref() == Some("reviewed")
                && after.requires.as_deref() == Some("settled");
        let means = if !is_more {
            "they can go on with less than was promised when they began; what the journal shows stays"
        } else {
            next
        };
        found.push((what, means));
    }
    if before.by != after.by {
        let text = |by: &[String]| {
            if by.is_empty() {
                "the hook".to_owned()
            } else {
                by.join(" and ")
            }
        };
        let what = format!(
            "is for {}, no longer for {}",
            text(&after.by),
            text(&before.by)
        );
        found.push((what, next));
    }
    if before.args != after.args {
        found.push(("takes other arguments".to_owned(), next));
    }
    if before.set != after.set {
        found.push(("sets other values".to_owned(), next));
    }
    found
}
