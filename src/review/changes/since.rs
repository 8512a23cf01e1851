//! Whether a work tree still is what was reviewed: a record of where a text of changes came from, and what differs later.
//!
//! The objects of a snapshot are gone with it, so files that changed since are named by their diffs, in the text that was kept.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::text::{BINARY, LEFT_OUT};
use super::unseen::listed;
use super::{Base, Changes};
use crate::text::one_line;

/// Tells where a text of changes came from, as the journal keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Compared {
    /// The commit that the work tree was compared with; `None`: there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// The tree of the work tree.
    pub tree: String,
    /// What the text does not show, each a sentence.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unseen: Vec<String>,
}

impl Compared {
    pub(super) fn of(base: &Base, tree: &str, unseen: Vec<String>) -> Self {
        Self {
            base: base.commit.clone(),
            tree: tree.to_owned(),
            unseen,
        }
    }

    /// Says what changed between the start of a loop and its first review.
    pub fn since_start(&self, start: &Self) -> Vec<String> {
        let mut told = Vec::new();
        if self.base != start.base {
            told.push(format!(
                "The changes were compared with {} when the loop started, and with {} when they were reviewed.",
                commit(start.base.as_deref()),
                commit(self.base.as_deref())
            ));
        }
        if self.tree != start.tree {
            told.push(
                "The work tree was changed between the start of the loop and the review."
                    .to_owned(),
            );
        }
        told
    }

    /// Says in which ways the work tree now is not what was reviewed, each a sentence. `copy` is the text that was reviewed.
    pub fn differences(&self, copy: Option<&str>, now: &Changes) -> Vec<String> {
        let mut told = Vec::new();
        let moved = self.base != now.compared.base;
        if moved {
            told.push(format!(
                "The changes were compared with {}; by now it would be {}, so what counts as changed is not what was reviewed.",
                commit(self.base.as_deref()),
                commit(now.compared.base.as_deref())
            ));
        }
        if self.tree != now.compared.tree {
            let names = copy
                .filter(|_| !moved)
                .map(|copy| differing(copy, &now.text));
            told.push(match names {
                Some(names) if !names.is_empty() => format!(
                    "Files were changed after the review, and nobody reviewed that: {}.",
                    listed(&names)
                ),
                Some(_) => {
                    "Files whose diff the review did not show were changed after it.".to_owned()
                }
                None => "The work tree was changed after the review, and nobody reviewed that."
                    .to_owned(),
            });
        }
        if copy.is_none() {
            told.push("The kept copy of what was reviewed is gone or was changed.".to_owned());
        }
        let new = now
            .compared
            .unseen
            .iter()
            .filter(|line| !self.unseen.contains(line));
        told.extend(new.map(|line| format!("At the end: {line}")));
        told
    }
}

fn commit(id: Option<&str>) -> String {
    match id {
        Some(id) => format!("commit {}", one_line(id, 12).trim_end_matches("...")),
        None => "nothing".to_owned(),
    }
}

/// Returns the files whose diffs are not the same in two texts, in the order of their names.
fn differing(before: &str, now: &str) -> Vec<String> {
    let (before, now) = (parts(before), parts(now));
    let all: BTreeSet<&String> = before.keys().chain(now.keys()).collect();
    all.into_iter()
        .filter(|name| before.get(*name) != now.get(*name))
        .cloned()
        .collect()
}

/// Returns what a text says of each file, by the file's name.
fn parts(text: &str) -> BTreeMap<String, Vec<&str>> {
    let mut parts: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    let mut current: Option<String> = None;
    for line in text.lines() {
        if let Some(names) = line.strip_prefix("diff --git ") {
            current = Some(name(names));
        } else if current.is_none()
            && let Some(file) = [BINARY, LEFT_OUT]
                .iter()
                .find_map(|start| line.strip_prefix(start))
        {
            let name = file.rsplit_once(" (").map_or(file, |(name, _)| name);
            parts.entry(name.to_owned()).or_default().push(line);
        }
        if let Some(current) = &current {
            parts.entry(current.clone()).or_default().push(line);
        }
    }
    parts
}

/// Returns the name in `a/x b/x`; both names where they differ.
fn name(names: &str) -> String {
    let one = names
        .get(..names.len() / 2)
        .zip(names.get(names.len() / 2 + 1..));
    let same = one.and_then(|(old, new)| {
        let old = old
            .strip_prefix("a/")
            .or_else(|| old.strip_prefix("\"a/"))?;
        let new = new
            .strip_prefix("b/")
            .or_else(|| new.strip_prefix("\"b/"))?;
        (old == new).then(|| old.trim_end_matches('"').to_owned())
    });
    same.unwrap_or_else(|| names.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_whose_diffs_differ() {
        let before = "# x\n# binary: logo.png (3 bytes)\n\ndiff --git a/a b b/a b\n+one\ndiff --git a/c b/c\n+c\n";
        let now = "# x\n# binary: logo.png (4 bytes)\n\ndiff --git a/a b b/a b\n+two\ndiff --git a/d b/e\n+c\n";
        assert_eq!(differing(before, now), ["a b", "a/d b/e", "c", "logo.png"]);
        assert_eq!(differing(before, before), [""; 0]);
        assert_eq!(name("\"a/\\t\" \"b/\\t\""), "\\t");
    }
}
