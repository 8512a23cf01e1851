//! Findings across rounds: each has an id that stays, so that one can say which are new, carried, gone or back again.
//!
//! A finding is the same as an earlier one if the reviewer names its id, else if the same check found it in the same file,
//! or if it says the same but for numbers. What a round means for the loop is not known here.

use serde::Serialize;

use super::findings::{Counts, Finding, Findings, Severity};

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

/// Gives each finding of a new round its id: that of the earlier finding that it is, else the next free one. Ids that a
/// reviewer made up are not kept.
pub fn name(earlier: &[Round], new: &mut Findings) {
    let mut known: Vec<(String, Key, u64)> = Vec::new();
    for round in earlier {
        for finding in &round.findings.0 {
            if let Some(id) = &finding.id
                && !known
                    .iter()
                    .any(|(other, key, _)| other == id && *key == Key::of(finding))
            {
                let since = known.iter().find(|(other, ..)| other == id);
                let since = since.map_or(round.number, |(_, _, since)| *since);
                known.push((id.clone(), Key::of(finding), since));
            }
        }
    }
    let number = |id: &str| {
        id.strip_prefix('F')
            .and_then(|number| number.parse::<u64>().ok())
    };
    let mut free = known
        .iter()
        .filter_map(|(id, ..)| number(id))
        .max()
        .unwrap_or(0)
        + 1;
    let mut taken: Vec<String> = Vec::new();
    for finding in &mut new.0 {
        let named = finding.id.take().or_else(|| written(finding, &known));
        let key = Key::of(finding);
        let by_id = known.iter().find(|(id, ..)| Some(id) == named.as_ref());
        let found = by_id
            .or_else(|| known.iter().find(|(_, known, _)| *known == key))
            .or_else(|| known.iter().find(|(_, known, _)| known.is_same_check(&key)))
            .filter(|(id, ..)| !taken.contains(id));
        let id = match found {
            Some((id, _, since)) => {
                finding.since = Some(*since);
                id.clone()
            }
            None => {
                finding.since = None;
                free += 1;
                format!("F{}", free - 1)
            }
        };
        taken.push(id.clone());
        finding.id = Some(id);
    }
}

/// Returns the id that a finding's text begins with, as a Markdown answer gives it: `F3: still no way back`. It is taken off
/// the text.
fn written(finding: &mut Finding, known: &[(String, Key, u64)]) -> Option<String> {
    let (id, rest) = finding.what.split_once(": ")?;
    let id = known.iter().find(|(other, ..)| other == id)?.0.clone();
    finding.what = rest.trim().to_owned();
    Some(id)
}

/// What makes two findings the same one.
#[derive(Debug, PartialEq, Eq)]
struct Key {
    check: Option<String>,
    file: Option<String>,
    words: String,
}

impl Key {
    fn of(finding: &Finding) -> Self {
        let plain = |character: char| match character {
            character if character.is_alphabetic() => character,
            _ => ' ',
        };
        let words: String = finding.what.to_lowercase().chars().map(plain).collect();
        Self {
            check: finding.check.clone(),
            file: finding.file.clone(),
            words: words.split_whitespace().collect::<Vec<_>>().join(" "),
        }
    }

    /// Returns whether the same check of a document found both: it speaks once in a review, with other words as the document
    /// changes. One of many files may speak often in the same file.
    fn is_same_check(&self, other: &Self) -> bool {
        self.check.is_some()
            && self.file.is_none()
            && self.check == other.check
            && other.file.is_none()
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

/// Returns what is material among those that stand.
pub fn open(tracked: &[FindingHistory]) -> Counts {
    let open = |tracked: &&FindingHistory| tracked.standing != Standing::Gone;
    let of = |severity| {
        tracked
            .iter()
            .filter(open)
            .filter(|one| one.severity == severity)
            .count()
    };
    Counts {
        high: of(Severity::High),
        medium: of(Severity::Medium),
        low: of(Severity::Low),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rounds(all: &[(&str, &[&str])]) -> Vec<Round> {
        let mut rounds: Vec<Round> = Vec::new();
        for (persona, found) in all {
            let finding = |what: &&str| Finding::new(Severity::High, *what);
            let mut findings = Findings(found.iter().map(finding).collect());
            name(&rounds, &mut findings);
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
            name(&all, &mut findings);
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
        name(&earlier, &mut new);
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
        name(&earlier, &mut new);
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
        assert_eq!(open(&standings(&all)).high, 4);
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
}
