//! Findings across rounds: each has an id that stays, so that one can say which are new, carried, gone or back again.
//!
//! A finding repeats an earlier one if the reviewer names its id, if the same check found it, if it says the same but for
//! numbers, or if the same persona found it at the same place.

use serde::Serialize;

use super::findings::{Finding, Findings, Severity};

/// Most bytes of a document's line by which a later round finds a place again.
const MAX_LINE_BYTES: usize = 200;

/// A round that was reviewed.
#[derive(Debug, Clone)]
pub struct Round {
    /// From 1.
    pub number: u64,
    /// The persona's label.
    pub persona: String,
    /// What was found.
    pub findings: Findings,
}

/// How a finding stands after the last round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, strum::Display)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "lowercase")]
pub enum Standing {
    /// Found in the last round for the first time.
    New,
    /// Found in the last round, and in the one of the same persona before it.
    Carried,
    /// Found in the last round, and gone in between.
    #[strum(serialize = "back again")]
    BackAgain,
    /// A later round of the same persona did not find it.
    Gone,
    /// No later round of the same persona has looked.
    #[strum(serialize = "not looked at again")]
    Unseen,
}

/// A finding through the rounds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FindingHistory {
    /// Its id, such as `F3`.
    pub id: String,
    /// What it weighed when it was last found.
    pub severity: Severity,
    /// What it said then.
    pub what: String,
    /// The rounds that found it, oldest first; never empty.
    pub rounds: Vec<u64>,
    /// How it stands.
    pub standing: Standing,
}

/// How many findings stand how.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// See [`Standing::New`].
    pub new: usize,
    /// See [`Standing::Carried`].
    pub carried: usize,
    /// See [`Standing::BackAgain`].
    pub back_again: usize,
    /// See [`Standing::Gone`].
    pub gone: usize,
    /// See [`Standing::Unseen`].
    pub unseen: usize,
}

impl Tally {
    /// Counts.
    pub fn of(tracked: &[FindingHistory]) -> Self {
        let mut tally = Self::default();
        for finding in tracked {
            *match finding.standing {
                Standing::New => &mut tally.new,
                Standing::Carried => &mut tally.carried,
                Standing::BackAgain => &mut tally.back_again,
                Standing::Gone => &mut tally.gone,
                Standing::Unseen => &mut tally.unseen,
            } += 1;
        }
        tally
    }
}

impl std::fmt::Display for Tally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let parts = [
            (self.new, Standing::New),
            (self.carried, Standing::Carried),
            (self.back_again, Standing::BackAgain),
            (self.gone, Standing::Gone),
            (self.unseen, Standing::Unseen),
        ];
        let told: Vec<String> = parts
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, standing)| format!("{count} {standing}"))
            .collect();
        f.write_str(if told.is_empty() { "none" } else { "" })?;
        f.write_str(&told.join(", "))
    }
}

/// Gives each finding of a new round its id: that of the earlier finding that it repeats, else the next free one. Ids that a
/// reviewer made up are not kept. `document` is the text that was reviewed, or empty if it is no single document.
pub fn name(earlier: &[Round], new: &mut Findings, persona: &str, document: &str) {
    let lines = document.lines().map(str::trim);
    let lines: Vec<&str> = lines
        .map(|line| &line[..line.floor_char_boundary(MAX_LINE_BYTES)])
        .collect();
    let mut known: Vec<Known<'_>> = Vec::new();
    for round in earlier {
        for finding in &round.findings.0 {
            if let Some(id) = &finding.id {
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
    }
    let mut taken: Vec<Option<&Known<'_>>> = Vec::new();
    for finding in &mut new.0 {
        finding.line_text = line_text(finding, &lines);
        let named = finding.id.take().or_else(|| written(finding, &known));
        let by_id = known.iter().find(|one| Some(one.id) == named.as_deref());
        let words = words(&finding.what);
        let found = by_id
            .or_else(|| known.iter().find(|one| one.has_words(&words, finding)))
            .or_else(|| known.iter().find(|one| one.is_same_check(finding)))
            .filter(|one| !is_taken(&taken, one));
        taken.push(found);
    }
    // Only then: a finding in the same words has the better claim to an id than another one at its place.
    for (at, finding) in new.0.iter().enumerate() {
        if taken[at].is_none() {
            let repeats =
                |one: &&Known<'_>| one.persona == persona && one.is_at_place(finding, &lines);
            taken[at] = (known.iter().rev().filter(repeats)).find(|one| !is_taken(&taken, one));
        }
    }
    let number = |one: &Known<'_>| one.id.strip_prefix('F')?.parse::<u64>().ok();
    let mut free = known.iter().filter_map(number).max().unwrap_or(0);
    for (finding, found) in new.0.iter_mut().zip(taken) {
        finding.since = found.map(|one| one.since);
        finding.id = Some(match found {
            Some(one) => one.id.to_owned(),
            None => {
                free += 1;
                format!("F{free}")
            }
        });
    }
}

fn is_taken(taken: &[Option<&Known<'_>>], known: &Known<'_>) -> bool {
    taken.iter().flatten().any(|one| one.id == known.id)
}

/// Returns the id that a finding's text begins with, as a Markdown answer gives it: `F3: still no way back`. It is taken off
/// the text.
fn written(finding: &mut Finding, known: &[Known<'_>]) -> Option<String> {
    let (id, rest) = finding.what.split_once(": ")?;
    let id = known.iter().find(|one| one.id == id)?.id.to_owned();
    finding.what = rest.trim().to_owned();
    Some(id)
}

/// Returns the text of the reviewed document's line that a finding is about, if it has words.
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
        let (finding, text) = (self.finding, self.finding.line_text.as_deref());
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

/// Returns how each finding stands, in the order in which they were first found.
pub fn standings(rounds: &[Round]) -> Vec<FindingHistory> {
    let Some(last) = rounds.last() else {
        return Vec::new();
    };
    let has = |round: &Round, id: &str| {
        round
            .findings
            .0
            .iter()
            .any(|one| one.id.as_deref() == Some(id))
    };
    let mut all: Vec<FindingHistory> = Vec::new();
    for round in rounds {
        for finding in &round.findings.0 {
            let Some(id) = &finding.id else { continue };
            match all.iter_mut().find(|tracked| tracked.id == *id) {
                Some(tracked) => {
                    tracked.rounds.push(round.number);
                    tracked.severity = finding.severity;
                    tracked.what.clone_from(&finding.what);
                }
                None => all.push(FindingHistory {
                    id: id.clone(),
                    severity: finding.severity,
                    what: finding.what.clone(),
                    rounds: vec![round.number],
                    standing: Standing::New,
                }),
            }
        }
    }
    for tracked in &mut all {
        let finders: Vec<&str> = rounds
            .iter()
            .filter(|round| has(round, &tracked.id))
            .map(|round| round.persona.as_str())
            .collect();
        let latest = tracked.rounds.last().copied().unwrap_or_default();
        // Only whoever found it counts as having looked for it.
        let looked = |after: u64| {
            rounds
                .iter()
                .filter(move |round| round.number > after)
                .any(|round| finders.contains(&round.persona.as_str()))
        };
        tracked.standing = if latest < last.number {
            if looked(latest) {
                Standing::Gone
            } else {
                Standing::Unseen
            }
        } else if let [.., before, _] = tracked.rounds[..] {
            let between = rounds.iter().any(|round| {
                round.number > before
                    && round.number < latest
                    && finders.contains(&round.persona.as_str())
            });
            if between {
                Standing::BackAgain
            } else {
                Standing::Carried
            }
        } else {
            Standing::New
        };
    }
    all
}

/// Returns whether the rounds go nowhere: the last one found material findings, and exactly these were found by two earlier
/// rounds of the same persona already. That a review repeats itself once is no stall: the revision may have missed the point.
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
mod tests {
    use super::*;

    fn rounds(all: &[(&str, &[&str])]) -> Vec<Round> {
        let mut rounds: Vec<Round> = Vec::new();
        for (persona, found) in all {
            let finding = |what: &&str| Finding::new(Severity::High, *what);
            let mut findings = Findings(found.iter().map(finding).collect());
            name(&rounds, &mut findings, persona, "");
            let number = rounds.len() as u64 + 1;
            let persona = (*persona).to_owned();
            rounds.push(Round {
                number,
                persona,
                findings,
            });
        }
        rounds
    }

    fn ids(rounds: &[Round]) -> Vec<Vec<&str>> {
        let of = |round| -> Vec<&str> {
            let round: &Round = round;
            round
                .findings
                .0
                .iter()
                .filter_map(|one| one.id.as_deref())
                .collect()
        };
        rounds.iter().map(of).collect()
    }

    fn standing(rounds: &[Round], id: &str) -> Standing {
        standings(rounds)
            .into_iter()
            .find(|one| one.id == id)
            .unwrap()
            .standing
    }

    #[test]
    fn the_same_finding_keeps_its_id_though_numbers_and_case_change() {
        let all = rounds(&[
            ("a", &["No rollback for 3 steps", "no tests"]),
            ("a", &["no rollback for 2 steps.", "no limits"]),
        ]);
        assert_eq!(ids(&all), [["F1", "F2"], ["F1", "F3"]]);
        assert_eq!(all[1].findings.0[0].since, Some(1));
        assert_eq!(all[1].findings.0[1].since, None);
    }

    #[test]
    fn a_check_of_a_document_is_the_same_finding_in_other_words_and_one_of_a_file_is_not() {
        let check = |what: &str, file: Option<&str>| Finding {
            check: Some("ENG-OPEN".to_owned()),
            file: file.map(str::to_owned),
            ..Finding::new(Severity::High, what)
        };
        let mut all: Vec<Round> = Vec::new();
        for found in [
            vec![
                check("one question", None),
                check("a todo here", Some("a.rs")),
            ],
            vec![
                check("two questions", None),
                check("a todo there", Some("a.rs")),
            ],
        ] {
            let mut findings = Findings(found);
            name(&all, &mut findings, "a", "");
            let number = all.len() as u64 + 1;
            let persona = "a".to_owned();
            all.push(Round {
                number,
                persona,
                findings,
            });
        }
        assert_eq!(ids(&all), [["F1", "F2"], ["F1", "F3"]]);
    }

    #[test]
    fn a_reviewer_may_name_a_finding_and_may_not_make_ids_up() {
        let earlier = rounds(&[("a", &["no rollback"])]);
        let named = |id: &str| Finding {
            id: Some(id.to_owned()),
            ..Finding::new(Severity::Low, "still no way back")
        };
        let mut new = Findings(vec![named("F1"), named("F77"), named("F1")]);
        name(&earlier, &mut new, "a", "");
        let ids: Vec<_> = new.0.iter().filter_map(|one| one.id.as_deref()).collect();
        assert_eq!(
            ids,
            ["F1", "F2", "F3"],
            "each id once in a round, and no other than ours"
        );
    }

    #[test]
    fn an_id_may_stand_before_the_text_and_is_taken_off_it() {
        let earlier = rounds(&[("a", &["no rollback"])]);
        let finding = |what: &str| Finding::new(Severity::Low, what);
        let mut new = Findings(vec![
            finding("F1: still no way back"),
            finding("F9: is a name of theirs"),
        ]);
        name(&earlier, &mut new, "a", "");
        assert_eq!(new.0[0].what, "still no way back");
        assert_eq!(
            (new.0[0].id.as_deref(), new.0[0].since),
            (Some("F1"), Some(1))
        );
        assert_eq!(new.0[1].what, "F9: is a name of theirs");
        assert_eq!(new.0[1].id.as_deref(), Some("F2"));
    }

    #[test]
    fn standings_tell_what_happened_to_each() {
        let all = rounds(&[
            ("a", &["one", "two", "three"]),
            ("a", &["one", "two"]),
            ("b", &["four"]),
            ("a", &["two", "three", "five"]),
        ]);
        assert_eq!(standing(&all, "F1"), Standing::Gone);
        assert_eq!(
            standing(&all, "F2"),
            Standing::Carried,
            "b did not look for it"
        );
        assert_eq!(standing(&all, "F3"), Standing::BackAgain);
        assert_eq!(standing(&all, "F4"), Standing::Unseen);
        assert_eq!(standing(&all, "F5"), Standing::New);
        let tally = Tally::of(&standings(&all));
        assert_eq!(
            tally.to_string(),
            "1 new, 1 carried, 1 back again, 1 gone, 1 not looked at again"
        );
        assert_eq!(Tally::default().to_string(), "none");
        assert_eq!(standings(&[]), []);
    }

    #[test]
    fn the_same_findings_a_third_time_are_a_stall_and_flipping_is_too() {
        let same: (&str, &[&str]) = ("a", &["one", "two"]);
        assert!(!is_stalled(&rounds(&[same, same])));
        assert!(is_stalled(&rounds(&[same, same, same])));
        assert!(
            !is_stalled(&rounds(&[same, same, ("b", same.1)])),
            "another persona"
        );
        assert!(
            !is_stalled(&rounds(&[same, same, ("a", &["one"])])),
            "one was dealt with"
        );
        let flip: (&str, &[&str]) = ("a", &["three"]);
        assert!(is_stalled(&rounds(&[same, flip, same, flip, same])));
        let clean: (&str, &[&str]) = ("a", &[]);
        assert!(
            !is_stalled(&rounds(&[clean, clean, clean])),
            "nothing is no stall"
        );
    }

    /// Reviews documents one after the other; each review finds something else at one line, or at several.
    fn reworded(reviews: &[(&str, &str, &[u32])]) -> Vec<Round> {
        let mut all: Vec<Round> = Vec::new();
        for (persona, document, lines) in reviews {
            let number = all.len() as u64 + 1;
            let finding = |line: &u32| Finding {
                line: Some(*line),
                ..Finding::new(
                    Severity::High,
                    format!("{} says {}", line, "x".repeat(all.len() + 1)),
                )
            };
            let mut findings = Findings(lines.iter().map(finding).collect());
            name(&all, &mut findings, persona, document);
            all.push(Round {
                number,
                persona: (*persona).to_owned(),
                findings,
            });
        }
        all
    }

    #[test]
    fn reworded_finding_at_one_place_stalls() {
        let plan = "# Plan\nstep one\nstep two\n";
        let same = ("a", plan, &[2][..]);
        assert!(!is_stalled(&reworded(&[same, same])));
        assert!(is_stalled(&reworded(&[same, same, same])));
        let other = [same, same, ("b", plan, &[2][..])];
        assert_eq!(ids(&reworded(&other)), [["F1"], ["F1"], ["F2"]]);
        let elsewhere = [same, same, ("a", plan, &[3][..])];
        assert_eq!(ids(&reworded(&elsewhere)), [["F1"], ["F1"], ["F2"]]);
    }

    #[test]
    fn reworded_finding_follows_its_line() {
        let plan = "# Plan\nstep one\nstep two\n";
        let moved = "# Plan\nintroduction\nstep one\nstep two\n";
        let edited = "# Plan\nintroduction\nstep one, with a check\nstep two\n";
        let all = reworded(&[
            ("a", plan, &[2]),
            ("a", moved, &[2, 3]),
            ("a", edited, &[3]),
        ]);
        assert_eq!(ids(&all), [&["F1"][..], &["F2", "F1"], &["F1"]]);
    }

    #[test]
    fn same_words_win_over_same_place() {
        let finding = |what: &str, line| Finding {
            line: Some(line),
            ..Finding::new(Severity::High, what)
        };
        let mut first = Findings(vec![finding("no way back", 2)]);
        name(&[], &mut first, "a", "");
        let round = Round {
            number: 1,
            persona: "a".to_owned(),
            findings: first,
        };
        let mut new = Findings(vec![finding("no owner", 2), finding("no way back", 7)]);
        name(&[round], &mut new, "a", "");
        let ids: Vec<_> = new.0.iter().filter_map(|one| one.id.as_deref()).collect();
        assert_eq!(ids, ["F2", "F1"]);
    }
}
