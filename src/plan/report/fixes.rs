//! The patches that reviewers proposed, each tried against the work tree as it is now. Nothing is applied.

use serde::Serialize;

use super::super::AnyLoop;
use super::{FindingsJson, place, prose};
use claudex_loop::review::findings::Finding;
use claudex_loop::review::worktree::{OwnFiles, Snapshot, file_name};

/// The longest line of a patch that is shown, in characters.
const LINE: usize = 400;
/// The most lines of a patch that are shown.
const LINES: usize = 400;

/// A patch, tried.
#[derive(Debug, Serialize)]
pub(super) struct Fix {
    /// From 1, over all rounds.
    pub(super) number: usize,
    pub(super) round: u64,
    /// Which of the round's findings it belongs to.
    pub(super) index: usize,
    pub(super) place: String,
    what: String,
    /// Why it does not apply; None: it does.
    pub(super) problem: Option<String>,
    /// Whether what is shown is not the patch to the byte.
    altered: bool,
    fence: String,
    patch: String,
}

/// All patches of all rounds, tried.
#[derive(Debug, Default)]
pub(super) struct Fixes {
    pub(super) all: Vec<Fix>,
    /// The tree that they were tried against.
    pub(super) tree: String,
}

impl Fixes {
    pub(super) fn of(held: &AnyLoop, rounds: &[FindingsJson]) -> Self {
        let proposed: Vec<(&FindingsJson, usize, &Finding, &str)> = rounds
            .iter()
            .flat_map(|verdict| {
                let findings = verdict.findings.0.iter().enumerate();
                findings.filter_map(move |(index, finding)| {
                    let patch = finding
                        .patch
                        .as_deref()
                        .filter(|patch| !patch.trim().is_empty())?;
                    Some((verdict, index, finding, patch))
                })
            })
            .collect();
        if proposed.is_empty() {
            return Self::default();
        }
        let store = held.raw().store();
        let snapshot = Snapshot::take(store.root(), OwnFiles::in_store(store, store.root()));
        let all = proposed
            .into_iter()
            .enumerate()
            .map(|(at, (verdict, index, finding, patch))| {
                let problem = match &snapshot {
                    Ok(snapshot) => snapshot.applies(patch).err(),
                    Err(error) => Some(format!("it could not be tried: {error}")),
                };
                let shown = shown(patch);
                Fix {
                    number: at + 1,
                    round: verdict.round,
                    index,
                    place: place(finding),
                    what: prose(&finding.what, 500),
                    problem: problem.map(|problem| prose(&problem, 300)),
                    altered: shown != patch.trim_end_matches('\n'),
                    fence: fence(&shown),
                    patch: shown,
                }
            })
            .collect();
        let tree = snapshot.map(|snapshot| snapshot.tree().to_owned());
        Self {
            all,
            tree: tree.unwrap_or_else(|_| "unknown".to_owned()),
        }
    }

    /// How many apply.
    pub(super) fn applying(&self) -> usize {
        self.all.iter().filter(|fix| fix.problem.is_none()).count()
    }

    /// The number of a finding's patch.
    pub(super) fn number(&self, round: u64, index: usize) -> Option<usize> {
        let of = |fix: &&Fix| fix.round == round && fix.index == index;
        self.all.iter().find(of).map(|fix| fix.number)
    }
}

/// A patch as it is shown: what is hidden in it spelled out, its lines and their number capped. The whole one is in the
/// findings' JSON.
fn shown(patch: &str) -> String {
    let plain: String = patch
        .split_inclusive('\n')
        .map(file_name::visible)
        .collect();
    let plain = plain.replace("\r\n", "\n");
    let mut shown: Vec<String> = plain
        .lines()
        .take(LINES)
        .map(|line| match line.char_indices().nth(LINE) {
            Some((end, _)) => format!("{}... (cut here)", &line[..end]),
            None => line.to_owned(),
        })
        .collect();
    let rest = plain.lines().count().saturating_sub(LINES);
    if rest > 0 {
        shown.push(format!("... ({rest} more lines are left out here)"));
    }
    shown.join("\n")
}

/// A fence that nothing in the text closes.
fn fence(text: &str) -> String {
    let longest = text
        .split(|c| c != '`')
        .map(str::len)
        .max()
        .unwrap_or_default();
    "`".repeat(longest.max(2) + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_patch_closes_its_fence_and_a_long_one_is_cut() {
        assert_eq!(fence("+a\n"), "```");
        assert_eq!(fence("+````` x\n"), "``````");
        assert_eq!(
            shown("+a\r\n+b\u{202e}\u{1b}c\r\n"),
            "+a\n+b<U+202E><U+001B>c"
        );
        let long = shown(&format!("+{}\n{}", "x".repeat(1000), "+y\n".repeat(1000)));
        assert!(long.lines().next().unwrap().ends_with("... (cut here)"));
        assert!(long.ends_with("... (601 more lines are left out here)"));
    }
}
