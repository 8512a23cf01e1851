//! Findings across rounds: each keeps its id, so that messages can say which are new, carried, gone or back again.
//!
//! A finding repeats an earlier one if the reviewer names its id, if the same check found it, if its words are the same except for
//! numbers, or if the same persona found it at the same place.

use std::collections::BTreeMap;

use serde::Serialize;

use super::findings::{Finding, Findings, Severity};
use super::runs::Run;

/// The longest text of a document's line that is kept to recognize a place, in bytes.
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
    /// No later round of the same persona has looked.
    #[display("not looked at again")]
    Unseen,
}

/// A finding across the rounds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FindingHistory {
    /// The id, such as `F3`.
    pub id: String,
    /// The severity when it was last found.
    pub severity: Severity,
    /// The text when it was last found.
    pub what: String,
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
    let parts: Vec<String> = counts
        .iter()
        .map(|(standing, count)| format!("{count} {standing}"))
        .collect();
    if parts.is_empty() {
        "none".to_owned()
    } else {
        parts.join(", ")
    }
}

/// A finding of an earlier round.
struct Known<'r> {
    round: &'r Run,
    finding: &'r Finding,
    words: String,
}

/// Returns whether a new finding with these words repeats an earlier one.
type Recognize<'a> = dyn Fn(&Known<'_>, &Finding, &str) -> bool + 'a;

/// Assigns each new finding the id of the earlier finding that it repeats, or else the next free id. Other ids of a reviewer are
/// dropped. `document` is the text that was reviewed, or empty if the subject is not a single document.
pub(super) fn assign_ids(earlier: &[Run], new: &mut Findings, persona: &str, document: &str) {
    let lines: Vec<&str> = document.lines().map(line_start).collect();
    // The newest round first.
    let mut known: Vec<Known<'_>> = Vec::new();
    for round in earlier.iter().rev() {
        let findings = round.findings().iter().filter(|one| one.id.is_some());
        known.extend(findings.map(|finding| Known {
            round,
            finding,
            words: words(&finding.what),
        }));
    }
    for finding in &mut new.0 {
        finding.line_text = line_text(finding, &lines);
        // A Markdown answer has the id at the beginning of the text: `F3: still no way back`.
        if let Some((id, rest)) = finding.what.split_once(": ")
            && finding.id.is_none()
            && known
                .iter()
                .any(|old| old.finding.id.as_deref() == Some(id))
        {
            finding.id = Some(id.to_owned());
            finding.what = rest.trim().to_owned();
        }
    }

    let found: Vec<(&Finding, String)> = (new.0.iter())
        .map(|finding| (finding, words(&finding.what)))
        .collect();
    let is_same_line = |old: &Finding, new: &Finding| match old.line_text.as_ref() {
        // The line with the same text if that is still there, else the one with the same number.
        Some(text) if lines.contains(&text.as_str()) => new.line_text.as_ref() == Some(text),
        _ => old.line == new.line,
    };
    let is_same_origin = |old: &Known<'_>, new: &Finding| {
        old.finding.check == new.check && old.finding.file == new.file
    };
    // The best way to recognize a finding first: the same id, words, check, or place.
    let ways: [&Recognize<'_>; 4] = [
        &|old, new, _| old.finding.id == new.id,
        &|old, new, words| is_same_origin(old, new) && old.words == words,
        // The check of a document speaks once in a review, with other words as the document changes. One of many files may speak
        // often.
        &|old, new, _| is_same_origin(old, new) && new.check.is_some() && new.file.is_none(),
        &|old, new, _| {
            let is_same_persona = old.round.began.persona == persona;
            let is_known_line = new.line.is_some() && is_same_line(old.finding, new);
            is_same_origin(old, new) && is_same_persona && is_known_line
        },
    ];
    let mut repeated: Vec<Option<&Known<'_>>> = vec![None; found.len()];
    for is_same in ways {
        for (at, (finding, words)) in found.iter().enumerate() {
            let is_taken = |id: &Option<String>| {
                let mut matches = repeated.iter().flatten();
                matches.any(|one| one.finding.id == *id)
            };
            let is_repeated =
                |old: &&Known<'_>| is_same(old, finding, words) && !is_taken(&old.finding.id);
            if repeated[at].is_none() {
                repeated[at] = known.iter().find(is_repeated);
            }
        }
    }

    let number = |one: &Known<'_>| {
        one.finding
            .id
            .as_ref()?
            .strip_prefix('F')?
            .parse::<u64>()
            .ok()
    };
    let mut last = known.iter().filter_map(number).max().unwrap_or(0);
    for (finding, repeated) in new.0.iter_mut().zip(repeated) {
        let first = |one: &Known<'_>| one.finding.since.unwrap_or(one.round.began.round);
        finding.since = repeated.map(first);
        finding.id = repeated.and_then(|one| one.finding.id.clone()).or_else(|| {
            last += 1;
            Some(format!("F{last}"))
        });
    }
}

/// Returns the text of the line that a finding is about, if it has words.
fn line_text(finding: &Finding, lines: &[&str]) -> Option<String> {
    let line = usize::try_from(finding.line?).ok()?.checked_sub(1)?;
    let text = lines.get(line).filter(|_| finding.file.is_none())?;
    let has_words = text.chars().any(char::is_alphabetic);
    has_words.then(|| (*text).to_owned())
}

/// Returns the beginning of a document's line, by which it is recognized.
fn line_start(line: &str) -> &str {
    let line = line.trim();
    &line[..line.floor_char_boundary(MAX_LINE_BYTES)]
}

/// Returns the words of a text, without numbers, punctuation and case.
fn words(text: &str) -> String {
    let lower = text.to_lowercase();
    let words: Vec<&str> = lower
        .split(|c: char| !c.is_alphabetic())
        .filter(|word| !word.is_empty())
        .collect();
    words.join(" ")
}

/// Returns the history of each finding, in the order in which they were first found.
pub fn standings(rounds: &[Run]) -> Vec<FindingHistory> {
    let mut all: Vec<FindingHistory> = Vec::new();
    for round in rounds {
        for finding in round.findings() {
            let Some(id) = &finding.id else { continue };
            let known = all.iter().position(|one| one.id == *id);
            let mut history = FindingHistory {
                id: id.clone(),
                severity: finding.severity,
                what: finding.what.clone(),
                rounds: vec![round.began.round],
                standing: Standing::New,
            };
            match known {
                Some(at) => {
                    history
                        .rounds
                        .splice(0..0, std::mem::take(&mut all[at].rounds));
                    all[at] = history;
                }
                None => all.push(history),
            }
        }
    }
    for one in &mut all {
        one.standing = standing(&one.rounds, rounds);
    }
    all
}

/// Returns the standing of a finding that was found in some of the rounds. Only the personas that found it count as having looked.
fn standing(found: &[u64], rounds: &[Run]) -> Standing {
    let finders: Vec<&str> = rounds
        .iter()
        .filter(|round| found.contains(&round.began.round))
        .map(|round| &*round.began.persona)
        .collect();
    let has_looked = |after: u64, before: u64| {
        rounds.iter().any(|round| {
            (after + 1..before).contains(&round.began.round)
                && finders.contains(&&*round.began.persona)
        })
    };
    let last = rounds.last().map_or(0, |round| round.began.round);
    match found {
        [.., latest] if *latest < last && has_looked(*latest, last + 1) => Standing::Gone,
        [.., latest] if *latest < last => Standing::Unseen,
        [.., before, latest] if has_looked(*before, *latest) => Standing::BackAgain,
        [_, .., _] => Standing::Carried,
        _ => Standing::New,
    }
}

/// Returns whether the rounds are stalled: the last one has material findings, and two earlier rounds of the same persona found
/// exactly these. One repetition is no stall: the revision may have missed the point.
pub fn is_stalled(rounds: &[Run]) -> bool {
    let Some((last, earlier)) = rounds.split_last() else {
        return false;
    };
    let material = |round: &Run| {
        let mut ids: Vec<String> = (round.findings().iter())
            .filter(|finding| finding.severity <= Severity::Medium)
            .filter_map(|finding| finding.id.clone())
            .collect();
        ids.sort();
        ids
    };
    let now = material(last);
    let same = |round: &&Run| round.began.persona == last.began.persona && material(round) == now;
    !now.is_empty() && earlier.iter().filter(same).count() >= 2
}

#[cfg(test)]
mod tests;
