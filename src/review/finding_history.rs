//! Findings across rounds: each keeps its id, so that messages can name new, carried and gone ones.
//!
//! A finding repeats an earlier one if the reviewer names its id, if the same check found it, if
//! its words are the same except for numbers, or if the same persona found it at the same place.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::answer;
use super::findings::{Finding, Severity};
use super::runs::Run;

/// The longest part of a document's line that identifies a place, in bytes.
const MAX_LINE_BYTES: usize = 200;

/// The standing of a finding after the last round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, derive_more::Display)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// Found in the last round for the first time.
    #[display("new")]
    New,
    /// Found in the last round, and in the one of the same persona before it.
    #[display("carried")]
    Carried,
    /// Found in the last round, and gone in between.
    #[display("back again")]
    BackAgain,
    /// A later round of the same persona did not find it.
    #[display("gone")]
    Gone,
    /// No later round of the same persona exists.
    #[display("not looked at again")]
    Unseen,
}

/// A finding across the rounds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FindingHistory {
    /// The finding as it was last found.
    pub finding: Finding,
    /// The rounds that found it, oldest first; never empty.
    pub rounds: Vec<u64>,
    /// The standing.
    pub standing: Standing,
}

/// Returns the number of findings with each standing: `1 new, 2 gone`, or `none`.
pub fn summary(all: &[FindingHistory]) -> String {
    let mut counts: BTreeMap<Standing, usize> = BTreeMap::new();
    for one in all {
        *counts.entry(one.standing).or_default() += 1;
    }
    if counts.is_empty() {
        return "none".to_owned();
    }
    let parts = counts
        .iter()
        .map(|(standing, count)| format!("{count} {standing}"));
    parts.collect::<Vec<_>>().join(", ")
}

struct KnownFinding<'r> {
    finding: &'r Finding,
    id: &'r str,
    words: String,
    /// The first round that found it.
    since: u64,
    has_same_persona: bool,
}

impl KnownFinding<'_> {
    /// Returns how a new finding repeats this one, the surest way first: id, words, check or place.
    fn repetition(&self, new: &Finding, words: &str, lines: &[&str]) -> Option<usize> {
        let old = self.finding;
        let is_same_line = || match old.line_text.as_deref() {
            // The line with the same text if it still exists, else that with the same number.
            Some(text) if lines.contains(&text) => new.line_text.as_deref() == Some(text),
            _ => old.line == new.line,
        };
        let has_same_origin = old.check == new.check && old.file == new.file;
        // A document's check has one finding in a review, whose words change with the document.
        // A check of several files may have many.
        let has_same_check = new.check.is_some() && new.file.is_none();
        let ways = [
            new.id.as_deref() == Some(self.id),
            has_same_origin && self.words == words,
            has_same_origin && has_same_check,
            has_same_origin && self.has_same_persona && new.line.is_some() && is_same_line(),
        ];
        ways.iter().position(|is_same| *is_same)
    }
}

/// Assigns each new finding the id of the earlier finding that it repeats, or else the next free
/// id. Other ids are dropped. `document` is the reviewed text, or empty for several files.
pub(super) fn assign_ids(earlier: &[Run], new: &mut [Finding], persona: &str, document: &str) {
    let lines: Vec<&str> = document.lines().map(line_start).collect();
    // The newest round is first.
    let mut known: Vec<KnownFinding<'_>> = Vec::new();
    for round in earlier.iter().rev() {
        known.extend(round.findings().iter().filter_map(|finding| {
            Some(KnownFinding {
                finding,
                id: finding.id.as_deref()?,
                words: words(&finding.what),
                since: finding.since.unwrap_or(round.began.round),
                has_same_persona: round.began.persona == persona,
            })
        }));
    }

    let mut matches = Vec::new();
    for (at, finding) in new.iter_mut().enumerate() {
        finding.line_text = line_text(finding, &lines);
        let words = words(&finding.what);
        for (nth, old) in known.iter().enumerate() {
            let way = old.repetition(finding, &words, &lines);
            matches.extend(way.map(|way| (way, at, nth)));
        }
    }
    matches.sort_unstable();
    let mut repeated: BTreeMap<usize, &KnownFinding<'_>> = BTreeMap::new();
    let mut ids = BTreeSet::new();
    for (_, at, nth) in matches {
        if !repeated.contains_key(&at) && ids.insert(known[nth].id) {
            repeated.insert(at, &known[nth]);
        }
    }

    let number = |old: &KnownFinding<'_>| old.id.strip_prefix('F')?.parse::<u64>().ok();
    let mut last = known.iter().filter_map(number).max().unwrap_or(0);
    for (at, finding) in new.iter_mut().enumerate() {
        let old = repeated.get(&at);
        finding.since = old.map(|old| old.since);
        finding.id = old.map(|old| old.id.to_owned()).or_else(|| {
            last += 1;
            Some(format!("F{last}"))
        });
    }
}

/// Returns the text of a finding's line, if it has words.
fn line_text(finding: &Finding, lines: &[&str]) -> Option<String> {
    let line = usize::try_from(finding.line?).ok()?.checked_sub(1)?;
    let text = lines.get(line).filter(|_| finding.file.is_none())?;
    let has_words = text.chars().any(char::is_alphabetic);
    has_words.then(|| (*text).to_owned())
}

/// Returns the beginning of a document's line, which identifies it.
fn line_start(line: &str) -> &str {
    let line = line.trim();
    &line[..line.floor_char_boundary(MAX_LINE_BYTES)]
}

/// Returns the words of a text, without numbers, punctuation and case.
fn words(text: &str) -> String {
    answer::words(text).replace(char::is_numeric, "")
}

/// Returns the history of each finding, in the order in which they were first found.
pub fn standings(rounds: &[Run]) -> Vec<FindingHistory> {
    let mut all: Vec<FindingHistory> = Vec::new();
    for round in rounds {
        for finding in round.findings() {
            if let Some(known) = all.iter_mut().find(|one| one.finding.id == finding.id) {
                known.finding = finding.clone();
                known.rounds.push(round.began.round);
            } else {
                all.push(FindingHistory {
                    finding: finding.clone(),
                    rounds: vec![round.began.round],
                    standing: Standing::New,
                });
            }
        }
    }
    for one in &mut all {
        one.standing = standing(&one.rounds, rounds);
    }
    all
}

/// Returns the standing of a finding. Only rounds of the personas that found it count.
fn standing(found: &[u64], rounds: &[Run]) -> Standing {
    let finders: BTreeSet<&str> = rounds
        .iter()
        .filter(|round| found.contains(&round.began.round))
        .map(|round| round.began.persona.as_str())
        .collect();
    let by_finders = rounds
        .iter()
        .filter(|round| finders.contains(round.began.persona.as_str()));
    let seen_rounds: Vec<u64> = by_finders.map(|round| round.began.round).collect();
    let last = rounds.last().map(|round| round.began.round);
    match (found, seen_rounds.as_slice()) {
        ([.., latest], [.., newest]) if latest < newest => Standing::Gone,
        ([.., latest], _) if Some(*latest) < last => Standing::Unseen,
        ([.., before, _], [.., previous, _]) if before < previous => Standing::BackAgain,
        ([_, _, ..], _) => Standing::Carried,
        _ => Standing::New,
    }
}

/// Returns whether the rounds are stalled: two earlier rounds of the same persona found exactly the
/// last material findings. One repetition is no stall: the revision may have missed the point.
pub fn is_stalled(rounds: &[Run]) -> bool {
    let Some((last, earlier)) = rounds.split_last() else {
        return false;
    };
    let material = |round: &Run| -> BTreeSet<String> {
        let findings = round.findings().iter();
        let material = findings.filter(|finding| finding.severity <= Severity::Medium);
        material.filter_map(|finding| finding.id.clone()).collect()
    };
    let now = material(last);
    let same = |round: &&Run| round.began.persona == last.began.persona && material(round) == now;
    !now.is_empty() && earlier.iter().filter(same).count() >= 2
}

#[cfg(test)]
mod tests;
