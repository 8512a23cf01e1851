//! Findings across rounds: each keeps its id, so that messages can say which are new, carried, gone or back again.
//!
//! A finding repeats an earlier one if the reviewer names its id, if the same check found it, if its words are the same except for
//! numbers, or if the same persona found it at the same place.

use std::fmt;

use serde::Serialize;

use super::findings::{Finding, Findings, Severity};

/// The longest text of a document's line that is kept to recognize a place, in bytes.
const MAX_LINE_BYTES: usize = 200;

/// A round that was reviewed.
#[derive(Debug, Clone)]
pub struct Round {
    /// Its number, from 1.
    pub number: u64,
    /// The persona's label.
    pub persona: String,
    /// The findings.
    pub findings: Findings,
}

/// The standing of a finding after the last round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
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

impl Standing {
    /// All standings, in the order of a summary.
    const ALL: [Self; 5] = [
        Self::New,
        Self::Carried,
        Self::BackAgain,
        Self::Gone,
        Self::Unseen,
    ];
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
    /// Its id, such as `F3`.
    pub id: String,
    /// Its severity when it was last found.
    pub severity: Severity,
    /// Its text when it was last found.
    pub what: String,
    /// The rounds that found it, oldest first; never empty.
    pub rounds: Vec<u64>,
    /// Its standing.
    pub standing: Standing,
}

/// Returns the number of findings with each standing: `1 new, 2 gone`, or `none`.
pub fn summary(all: &[FindingHistory]) -> String {
    let count = |standing| all.iter().filter(|one| one.standing == standing).count();
    let parts = Standing::ALL.map(|standing| (count(standing), standing));
    let parts = parts.into_iter().filter(|(count, _)| *count > 0);
    let parts: Vec<String> = parts
        .map(|(count, standing)| format!("{count} {standing}"))
        .collect();
    match parts.is_empty() {
        true => "none".to_owned(),
        false => parts.join(", "),
    }
}

/// Gives each new finding the id of the earlier finding that it repeats, or else the next free id. Other ids of a reviewer are
/// dropped. `document` is the text that was reviewed, or empty if the subject is not a single document.
pub(super) fn assign_ids(earlier: &[Round], new: &mut Findings, persona: &str, document: &str) {
    let cut = |line: &'_ str| line.floor_char_boundary(MAX_LINE_BYTES);
    let lines = document.lines().map(str::trim);
    let lines: Vec<&str> = lines.map(|line| &line[..cut(line)]).collect();
    let known = known(earlier);
    let mut repeated: Vec<Option<&Known<'_>>> = Vec::new();
    for finding in &mut new.0 {
        finding.line_text = line_text(finding, &lines);
        let id = finding.id.take().or_else(|| take_id(finding, &known));
        let words = words(&finding.what);
        let found = known
            .iter()
            .find(|one| Some(one.id) == id.as_deref())
            .or_else(|| known.iter().find(|one| one.has_words(&words, finding)))
            .or_else(|| known.iter().find(|one| one.is_same_check(finding)));
        repeated.push(found.filter(|one| !is_taken(&repeated, one)));
    }
    // A finding with the same words has the better claim to an id than another one at its place.
    for (at, finding) in new.0.iter().enumerate() {
        if repeated[at].is_none() {
            let mut same_place = known
                .iter()
                .rev()
                .filter(|one| one.persona == persona && one.is_at_place(finding, &lines));
            repeated[at] = same_place.find(|one| !is_taken(&repeated, one));
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

/// Returns the findings of earlier rounds that have an id.
fn known(earlier: &[Round]) -> Vec<Known<'_>> {
    let mut known: Vec<Known<'_>> = Vec::new();
    for round in earlier {
        for finding in &round.findings.0 {
            let Some(id) = &finding.id else { continue };
            let first = known.iter().find(|one| one.id == id);
            known.push(Known {
                id,
                since: first.map_or(round.number, |first| first.since),
                persona: &round.persona,
                words: words(&finding.what),
                finding,
            });
        }
    }
    known
}

fn is_taken(taken: &[Option<&Known<'_>>], known: &Known<'_>) -> bool {
    taken.iter().flatten().any(|one| one.id == known.id)
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
    text.chars()
        .any(char::is_alphabetic)
        .then(|| (*text).to_owned())
}

/// Returns the words of a finding, without numbers, punctuation and case.
fn words(what: &str) -> String {
    let plain = |character: char| match character {
        character if character.is_alphabetic() => character,
        _ => ' ',
    };
    let words: String = what.to_lowercase().chars().map(plain).collect();
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A finding of an earlier round.
struct Known<'r> {
    id: &'r str,
    /// The first round that found it.
    since: u64,
    persona: &'r str,
    words: String,
    finding: &'r Finding,
}

impl Known<'_> {
    /// Returns whether both say the same of the same file.
    fn has_words(&self, words: &str, other: &Finding) -> bool {
        self.words == words && self.finding.check == other.check && self.finding.file == other.file
    }

    /// Returns whether the same check of a document found both: it speaks once in a review, with other words as the document
    /// changes. One of many files may speak often in the same file.
    fn is_same_check(&self, other: &Finding) -> bool {
        self.finding.check.is_some()
            && self.finding.file.is_none()
            && self.finding.check == other.check
            && other.file.is_none()
    }

    /// Returns whether both are about one line: the one with the same text if that is still there, else the one with the same
    /// number.
    fn is_at_place(&self, other: &Finding, lines: &[&str]) -> bool {
        let finding = self.finding;
        let text = finding.line_text.as_deref();
        let is_same_line = match text.filter(|text| lines.contains(text)) {
            Some(text) => other.line_text.as_deref() == Some(text),
            None => finding.line == other.line,
        };
        is_same_line
            && other.line.is_some()
            && finding.check == other.check
            && finding.file == other.file
    }
}

/// Returns the history of each finding, in the order in which they were first found.
pub fn standings(rounds: &[Round]) -> Vec<FindingHistory> {
    let mut all: Vec<FindingHistory> = Vec::new();
    for round in rounds {
        for finding in &round.findings.0 {
            let Some(id) = &finding.id else { continue };
            let known = all.iter().position(|one| one.id == *id);
            let at = known.unwrap_or_else(|| {
                all.push(FindingHistory {
                    id: id.clone(),
                    severity: finding.severity,
                    what: String::new(),
                    rounds: Vec::new(),
                    standing: Standing::New,
                });
                all.len() - 1
            });
            all[at].rounds.push(round.number);
            all[at].severity = finding.severity;
            all[at].what.clone_from(&finding.what);
        }
    }
    for one in &mut all {
        one.standing = standing(&one.rounds, rounds);
    }
    all
}

/// Returns the standing of a finding that was found in some of the rounds. Only the personas that found it count as having looked.
fn standing(found: &[u64], rounds: &[Round]) -> Standing {
    let finders = rounds.iter().filter(|round| found.contains(&round.number));
    let finders: Vec<&str> = finders.map(|round| &*round.persona).collect();
    let looked = |after: u64, before: u64| {
        let mut rounds = rounds.iter();
        rounds.any(|round| {
            (after + 1..before).contains(&round.number) && finders.contains(&&*round.persona)
        })
    };
    let last = rounds.last().map_or(0, |round| round.number);
    match found {
        [.., latest] if *latest < last => match looked(*latest, last + 1) {
            true => Standing::Gone,
            false => Standing::Unseen,
        },
        [.., before, latest] => match looked(*before, *latest) {
            true => Standing::BackAgain,
            false => Standing::Carried,
        },
        _ => Standing::New,
    }
}

/// Returns whether the rounds are stalled: the last one has material findings, and two earlier rounds of the same persona found
/// exactly these. One repetition is no stall: the revision may have missed the point.
pub fn is_stalled(rounds: &[Round]) -> bool {
    let Some((last, earlier)) = rounds.split_last() else {
        return false;
    };
    let material = |round: &Round| {
        let mut ids: Vec<String> = (round.findings.0.iter())
            .filter(|finding| finding.severity <= Severity::Medium)
            .filter_map(|finding| finding.id.clone())
            .collect();
        ids.sort();
        ids
    };
    let now = material(last);
    let same = |round: &&Round| round.persona == last.persona && material(round) == now;
    !now.is_empty() && earlier.iter().filter(same).count() >= 2
}

#[cfg(test)]
mod tests;
