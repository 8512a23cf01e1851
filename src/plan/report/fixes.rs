//! The patches that reviewers proposed, each tried against the current work tree. Nothing is
//! applied.

use serde::Serialize;

use super::super::AnyLoop;
use super::{FindingsJson, place, prose};
use claudex_loop::review::findings::Finding;
use claudex_loop::review::worktree::{OwnFiles, Snapshot, file_name};

/// Upper limit of a line of a patch in the report, in characters.
const MAX_LINE_CHARS: usize = 400;
/// Upper limit of lines of a patch in the report.
const MAX_LINES: usize = 400;

/// A patch that was tried.
#[derive(Debug, Serialize)]
pub(super) struct Fix {
    /// The number of the patch, from 1, over all rounds.
    pub(super) number: usize,
    pub(super) round: u64,
    /// The index of its finding among those of the round.
    pub(super) index: usize,
    pub(super) place: String,
    what: String,
    /// The reason why it does not apply, or `None` if it does.
    pub(super) problem: Option<String>,
    /// Whether the report does not show the patch byte for byte.
    altered: bool,
    fence: String,
    patch: String,
}

/// The patches of all rounds.
#[derive(Debug, Default)]
pub(super) struct Fixes {
    pub(super) all: Vec<Fix>,
    /// The id of the tree that they were tried against.
    pub(super) tree: String,
}

impl Fixes {
    /// Tries all patches of these verdicts.
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
        let snapshot = Snapshot::take(store.root(), &OwnFiles::in_store(store, store.root()), None);
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

    /// Returns how many apply.
    pub(super) fn applying(&self) -> usize {
        self.all.iter().filter(|fix| fix.problem.is_none()).count()
    }

    /// Returns the number of a finding's patch.
    pub(super) fn number(&self, round: u64, index: usize) -> Option<usize> {
        let of = |fix: &&Fix| fix.round == round && fix.index == index;
        self.all.iter().find(of).map(|fix| fix.number)
    }
}

/// Returns a patch as the report shows it: hidden characters spelled out, long lines and long
/// patches cut. The findings' JSON has the whole patch.
fn shown(patch: &str) -> String {
    let plain: String = patch
        .split_inclusive('\n')
        .map(file_name::visible)
        .collect();
    let plain = plain.replace("\r\n", "\n");
    let mut shown: Vec<String> = plain
        .lines()
        .take(MAX_LINES)
        .map(|line| match line.char_indices().nth(MAX_LINE_CHARS) {
            Some((end, _)) => format!("{}... (cut here)", &line[..end]),
            None => line.to_owned(),
        })
        .collect();
    let rest = plain.lines().count().saturating_sub(MAX_LINES);
    if rest > 0 {
        shown.push(format!("... ({rest} more lines are left out here)"));
    }
    shown.join("\n")
}

/// Returns a fence that no line of the text closes.
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
    fn patch_fence_stays_open_and_long_patch_is_cut() {
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
