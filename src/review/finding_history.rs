//! Findings across rounds: each keeps its id, so that messages can say which are new, carried, gone or back again.
//!
//! A finding repeats an earlier one if the reviewer names its id, if the same check found it, if its words are the same except for
//! numbers, or if the same persona found it at the same place.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use super::findings::{Finding, Findings, Severity};
use super::findings_json::FindingsJson;

/// The longest text of a document's line that is kept to recognize a place, in bytes.
const MAX_LINE_BYTES: usize = 200;

/// The standing of a finding after the last round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// Found in the last round for the first time.
    New,
    /// Found in the last round, and in the one of the same persona before it.
    Carried,
    /// Found in the last round, and gone in between.
    BackAgain,
    /// A later round of the same persona did not find it.
    Gone,
    /// No later round of the same persona has looked.
    Unseen,
}

impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::New => "new",
            Self::Carried => "carried",
            Self::BackAgain => "back again",
            Self::Gone => "gone",
            Self::Unseen => "not looked at again",
        })
    }
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

/// A finding as it is compared with others.
struct Known<'r> {
    /// The id, or an empty text.
    id: &'r str,
    /// The first round that found it.
    since: u64,
    persona: &'r str,
    words: String,
    finding: &'r Finding,
}

impl<'r> Known<'r> {
    fn new(finding: &'r Finding, persona: &'r str, since: u64) -> Self {
        Self {
            id: finding.id.as_deref().unwrap_or_default(),
            since,
            persona,
            words: words(&finding.what),
            finding,
        }
    }
}

/// The number of ways in which a finding repeats an earlier one.
const MAX_CLAIMS: usize = 4;

/// Assigns each new finding the id of the earlier finding that it repeats, or else the next free id. Other ids of a reviewer are
/// dropped. `document` is the text that was reviewed, or empty if the subject is not a single document.
pub(super) fn assign_ids(
    earlier: &[FindingsJson],
    new: &mut Findings,
    persona: &str,
    document: &str,
) {
    let lines: Vec<&str> = document.lines().map(line_start).collect();
    let mut known: Vec<Known<'_>> = Vec::new();
    for round in earlier {
        for finding in round.findings.0.iter().filter(|one| one.id.is_some()) {
            let mut one = Known::new(finding, &round.persona, round.round);
            let first = known.iter().find(|first| first.id == one.id);
            one.since = first.map_or(round.round, |first| first.since);
            known.push(one);
        }
    }
    for finding in &mut new.0 {
        finding.line_text = line_text(finding, &lines);
        let id = finding.id.take();
        finding.id = id.or_else(|| take_id(finding, &known));
    }

    let findings = new.0.iter();
    let found: Vec<Known<'_>> = findings.map(|one| Known::new(one, persona, 0)).collect();
    let mut repeated: Vec<Option<&Known<'_>>> = vec![None; found.len()];
    for way in 0..MAX_CLAIMS {
        for (at, one) in found.iter().enumerate() {
            let is_taken = |id: &str| repeated.iter().flatten().any(|other| other.id == id);
            let mut claimed = known
                .iter()
                .rev()
                .filter(|old| repeats(old, one, &lines)[way]);
            if repeated[at].is_none() {
                repeated[at] = claimed.find(|old| !is_taken(old.id));
            }
        }
    }

    let number = |one: &Known<'_>| one.id.strip_prefix('F')?.parse::<u64>().ok();
    let mut last = known.iter().filter_map(number).max().unwrap_or(0);
    for (finding, repeated) in new.0.iter_mut().zip(repeated) {
        finding.since = repeated.map(|one| one.since);
        finding.id = repeated.map(|one| one.id.to_owned()).or_else(|| {
            last += 1;
            Some(format!("F{last}"))
        });
    }
}

/// Takes the id from the beginning of a finding's text, as a Markdown answer has it: `F3: still no way back`.
fn take_id(finding: &mut Finding, known: &[Known<'_>]) -> Option<String> {
    let (id, rest) = finding.what.split_once(": ")?;
    let id = known.iter().find(|one| one.id == id)?.id.to_owned();
    finding.what = rest.trim().to_owned();
    Some(id)
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
    let words = lower.split(|c: char| !c.is_alphabetic());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    words.join(" ")
}

/// Returns in which ways a new finding repeats an earlier one, the best first: the same id, words, check, or place.
fn repeats(old: &Known<'_>, new: &Known<'_>, lines: &[&str]) -> [bool; MAX_CLAIMS] {
    let has_same_id = old.id == new.id;
    let has_same_words = old.words == new.words;
    let is_same_persona = old.persona == new.persona;
    let [old, new] = [old.finding, new.finding];
    let is_same_origin = old.check == new.check && old.file == new.file;
    // The check of a document speaks once in a review, with other words as the document changes. One of many files may speak often.
    let is_same_check = is_same_origin && old.check.is_some() && old.file.is_none();
    // The line with the same text if that is still there, else the one with the same number.
    let is_same_line = || match old.line_text.as_ref() {
        Some(text) if lines.contains(&text.as_str()) => new.line_text.as_ref() == Some(text),
        _ => old.line == new.line,
    };
    let is_at_same_place =
        is_same_persona && is_same_origin && new.line.is_some() && is_same_line();
    [
        has_same_id,
        has_same_words && is_same_origin,
        is_same_check,
        is_at_same_place,
    ]
}

/// Returns the history of each finding, in the order in which they were first found.
pub fn standings(rounds: &[FindingsJson]) -> Vec<FindingHistory> {
    let mut all: Vec<FindingHistory> = Vec::new();
    for round in rounds {
        for finding in &round.findings.0 {
            let Some(id) = &finding.id else { continue };
            let known = all.iter().position(|one| one.id == *id);
            let mut history = FindingHistory {
                id: id.clone(),
                severity: finding.severity,
                what: finding.what.clone(),
                rounds: vec![round.round],
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
fn standing(found: &[u64], rounds: &[FindingsJson]) -> Standing {
    let finders = rounds.iter().filter(|round| found.contains(&round.round));
    let finders: Vec<&str> = finders.map(|round| &*round.persona).collect();
    let has_looked = |after: u64, before: u64| {
        rounds.iter().any(|round| {
            (after + 1..before).contains(&round.round) && finders.contains(&&*round.persona)
        })
    };
    let last = rounds.last().map_or(0, |round| round.round);
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
pub fn is_stalled(rounds: &[FindingsJson]) -> bool {
    let Some((last, earlier)) = rounds.split_last() else {
        return false;
    };
    let material = |round: &FindingsJson| {
        let mut ids: Vec<String> = (round.findings.0.iter())
            .filter(|finding| finding.severity <= Severity::Medium)
            .filter_map(|finding| finding.id.clone())
            .collect();
        ids.sort();
        ids
    };
    let now = material(last);
    let same = |round: &&FindingsJson| round.persona == last.persona && material(round) == now;
    !now.is_empty() && earlier.iter().filter(same).count() >= 2
}

#[cfg(test)]
mod tests;
