//! What a loop has come to: the rounds with their findings, the time it took, and what has to be admitted.

use std::fmt;

use jiff::Timestamp;
use serde::Serialize;

pub use crate::app::words::elapsed;
use crate::machine::Claim;
use crate::plan::typestate::{DecisionSignal, REVIEWING_REVIEW};
use crate::plan::{AnyLoop, changes, closing};
use crate::review::findings::Counts;
use crate::review::look::while_it_ran;
use crate::review::personas::Personas;
use crate::review::runs::{self, How, Run};
use crate::review::track::{self, Standing, Tally};
use crate::review::{Digest, evidence, findings_file, twin};
use crate::store::{Entry, LoopId, Store, StoreError};
use crate::text;

/// A round, as the table shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RoundLine {
    /// From 1.
    pub round: u64,
    /// The persona's label.
    pub persona: String,
    /// The findings; None: there is no findings file.
    pub counts: Option<Counts>,
}

impl fmt::Display for RoundLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "- Round {} ({}): ", self.round, self.persona)?;
        match self.counts {
            Some(counts) => counts.fmt(f),
            None => f.write_str("no findings file"),
        }
    }
}

/// The table's lines, one for each round that was begun.
///
/// A round that was reviewed has the persona of its run; the configuration may have changed since.
pub fn rounds(held: &AnyLoop, personas: &Personas) -> Vec<RoundLine> {
    let raw = held.raw();
    let runs = runs(held);
    let of = |round| {
        let file = raw
            .store()
            .read(&twin::findings_path(raw.store(), raw.id(), round))
            .ok();
        let counts = file.and_then(|bytes| counts_of(&bytes));
        let run = runs.iter().rev().find(|run| run.began.round == round);
        RoundLine {
            round,
            persona: run.map_or_else(
                || personas.of_round(round).label.clone(),
                |run| text::one_line(&run.began.persona, 100),
            ),
            counts,
        }
    };
    (1..=held.fields().round().min(1000)).map(of).collect()
}

/// How the findings of all rounds stand, in words; None where nothing was found, and where all of it is new: the table has
/// the same numbers.
pub fn across(held: &AnyLoop) -> Option<String> {
    let rounds = evidence::history(held.raw(), &REVIEWING_REVIEW).ok()?;
    let standings = track::standings(&rounds);
    let first = standings.iter().all(|tracked| tracked.standing == Standing::New);
    (!first).then(|| Tally::of(&standings).to_string())
}

/// Most rounds that a table shows, and most numbers in a list of rounds.
const SHOWN: usize = 40;

/// The table of a message. Of a great many rounds the middle is left out: a message that the client would cut loses what
/// stands below the table, such as how to cancel the loop.
pub fn table(lines: &[RoundLine]) -> String {
    let mut rows: Vec<String> = lines.iter().map(ToString::to_string).collect();
    if rows.len() > SHOWN {
        let (first, last) = (SHOWN / 2, rows.len() - SHOWN / 2);
        let note = format!(
            "- (rounds {} to {last} are left out here; `claudex-loop status` shows them)",
            first + 1
        );
        rows.splice(first..last, [note]);
    }
    rows.join("\n")
}

/// `1, 2, 5`; of a great many, how many and between which.
fn listed(rounds: &[u64]) -> String {
    match rounds {
        [first, .., last] if rounds.len() > SHOWN => {
            format!("{} rounds between {first} and {last}", rounds.len())
        }
        _ => {
            let numbers: Vec<String> = rounds.iter().map(ToString::to_string).collect();
            format!("round {}", numbers.join(", "))
        }
    }
}

/// What a findings file counts; None: it cannot be read as one.
pub fn counts_of(bytes: &[u8]) -> Option<Counts> {
    match findings_file::parse(bytes) {
        Ok(findings_file::Verdict::Clean) => Some(Counts::default()),
        Ok(findings_file::Verdict::Findings(findings)) => Some(findings.counts()),
        Err(_) => None,
    }
}

/// Seconds since the loop's start: until now, or, where it is over, until its last change.
pub fn seconds(held: &AnyLoop, now: Timestamp) -> u64 {
    let fields = held.fields();
    let until = match held.phase().is_terminal() {
        true => fields.last_updated_at().parse().unwrap_or(now),
        false => now,
    };
    let started: i64 = fields
        .started_at_epoch()
        .parse()
        .unwrap_or_else(|_| until.as_second());
    u64::try_from(until.as_second() - started).unwrap_or_default()
}

/// Names the note that a reviewer's program changed while a session worked.
const REPLACED: &str = "reviewer-replaced";

/// Notes that a reviewer's program is not the one any more that the session's hook saw first: the summary says so.
///
/// # Errors
/// The journal cannot be written.
pub fn note_replaced(
    store: &Store,
    id: &LoopId,
    round: u64,
    reviewer: &str,
    program: &str,
) -> Result<(), StoreError> {
    let data = [
        ("round", round.into()),
        ("reviewer", reviewer.into()),
        ("program", program.into()),
    ];
    let data = data.map(|(name, value): (&str, serde_json::Value)| (name.to_owned(), value));
    store.note(id, REPLACED, data.into_iter().collect())
}

/// Returns the caveats of such notes.
fn replaced(journal: &[Entry]) -> impl Iterator<Item = String> {
    let notes = journal.iter().filter_map(|entry| match entry {
        Entry::Note(note) if note.note == REPLACED => Some(&note.data),
        _ => None,
    });
    notes.map(|data| {
        let text = |name: &str| data.get(name).and_then(|value| value.as_str()).unwrap_or("?");
        let round = data
            .get("round")
            .and_then(serde_json::Value::as_u64)
            .unwrap_or_default();
        let line = format!(
            "Round {round}: the program of {} was updated or replaced after the session began: {}.",
            text("reviewer"),
            text("program")
        );
        text::one_line(&line, 400)
    })
}

/// What a summary has to admit, each a sentence.
pub fn admissions(held: &AnyLoop, personas: &Personas) -> Vec<String> {
    let raw = held.raw();
    let Ok(journal) = raw.store().journal(raw.id()) else {
        return vec!["The journal cannot be read, so nothing stands behind this summary.".to_owned()];
    };
    let claims: Vec<(&str, Claim)> = journal
        .iter()
        .filter_map(|entry| match entry {
            Entry::Change(change) => {
                let claim = serde_json::from_value(change.evidence.clone()?).ok()?;
                Some((change.what.as_str(), claim))
            }
            Entry::Note(_) => None,
        })
        .collect();
    let mut admitted = Vec::new();
    for (what, claim) in &claims {
        if let Some(why) = claim.rejecting() {
            admitted.push(format!(
                "Findings that were open at `{what}` (round {}) were rejected: {}",
                claim.round(),
                text::one_line(why, 500)
            ));
        }
    }
    let waived: Vec<_> = claims.iter().filter(|(_, claim)| claim.is_waived()).collect();
    if !waived.is_empty() {
        let mut rounds: Vec<u64> = waived.iter().map(|(_, claim)| claim.round()).collect();
        rounds.dedup();
        admitted.push(format!(
            "Not reviewed (CLAUDEX_EVIDENCE=optional): {}.",
            listed(&rounds)
        ));
    }
    for run in runs(held).iter().filter(|run| !run.changed.is_empty()) {
        admitted.push(text::one_line(
            &format!("Round {}: {}.", run.began.round, while_it_ran(&run.changed)),
            1000,
        ));
    }
    admitted.extend(closing::noted(held, &journal));
    if let Some((_, settled)) = claims
        .iter()
        .rev()
        .find(|(what, _)| *what == "mark_done" || *what == "accept")
        && let Some(subject) = settled.subject()
    {
        let plan = held.fields().subject();
        let now = raw.read("{subject}").map(|bytes| Digest::of(&bytes));
        if now.ok().is_none_or(|now| now.as_str() != subject) {
            admitted.push(format!(
                "{plan} was changed after it was settled; that change was not reviewed."
            ));
        }
    }
    admitted.extend(replaced(&journal));
    admitted.extend(edited_when_clean(held));
    if held.fields().decision_signal() == DecisionSignal::NoMaterialFindings || is_clean_at_last(held) {
        let rejected = claims.iter().any(|(_, claim)| claim.rejecting().is_some());
        admitted.extend(unanswered(held, personas, rejected));
    }
    admitted
}

/// Whether the last review found nothing.
fn is_clean_at_last(held: &AnyLoop) -> bool {
    let runs = runs(held);
    let last = runs.iter().rfind(|run| run.ended.is_some());
    last.is_some_and(|run| matches!(run.ended, Some(How::Clean { .. })))
}

/// Why a loop was not settled whose last review found nothing: the plan is another one by now.
fn edited_when_clean(held: &AnyLoop) -> Option<String> {
    if held.fields().decision_signal() != DecisionSignal::MaxReached || !is_clean_at_last(held) {
        return None;
    }
    let runs = runs(held);
    let last = runs.iter().rfind(|run| run.ended.is_some())?;
    let now = held.raw().read("{subject}").ok()?;
    (Digest::of(&now) != last.began.subject).then(|| {
        format!(
            "Round {} found nothing, but {} was changed after it; that change was not reviewed.",
            last.began.round,
            held.fields().subject()
        )
    })
}

/// Material findings which nobody has looked at again, of a loop that counts as settled or whose last review found nothing: on the
/// very bytes that the last review saw, or from a point of view that no later round had. An edit answers a finding only as far as someone says so.
fn unanswered(held: &AnyLoop, personas: &Personas, rejected: bool) -> Vec<String> {
    let runs = runs(held);
    let verdicts: Vec<&Run> = runs
        .iter()
        .filter(|run| run.ended.as_ref().is_some_and(|how| how.digest().is_some()))
        .collect();
    let Some(last) = verdicts.last() else {
        return Vec::new();
    };
    let seen_by = |persona: &str| {
        let sees = |run: &Run| run.began.persona == persona && run.began.subject == last.began.subject;
        verdicts.iter().any(|run| sees(run))
    };
    let (unchanged, revised) = if changes::are_reviewed(held) {
        ("nothing was changed since", "the files were changed since")
    } else {
        ("the plan is unchanged since", "the plan was revised since")
    };
    let mut told = Vec::new();
    for line in rounds(held, personas) {
        let run = verdicts.iter().rev().find(|run| run.began.round == line.round);
        let (Some(run), Some(counts)) = (run, line.counts.filter(|counts| counts.material() > 0)) else {
            continue;
        };
        let found = format!("Round {} ({}) found {counts}", line.round, line.persona);
        if run.began.subject == last.began.subject {
            if !rejected {
                told.push(format!("{found}; {unchanged}, so they are open."));
            }
        } else if !seen_by(&run.began.persona) {
            told.push(format!(
                "{found}; {revised}, and no later round looked from that point of view."
            ));
        }
    }
    told
}

/// Who gave the verdicts of a loop, each once, in the order of their runs.
pub fn reviewers(held: &AnyLoop) -> String {
    let mut names: Vec<String> = Vec::new();
    for run in runs(held) {
        let gave_verdict = run.ended.as_ref().is_some_and(|how| how.digest().is_some());
        if gave_verdict && !names.contains(&run.began.reviewer) {
            names.push(run.began.reviewer);
        }
    }
    if names.is_empty() {
        "nobody".to_owned()
    } else {
        names.join(", ")
    }
}

/// The runs of a loop, oldest first.
pub fn runs(held: &AnyLoop) -> Vec<Run> {
    let raw = held.raw();
    raw.store()
        .journal(raw.id())
        .map(|journal| runs::read(&journal))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elapsed_has_the_three_forms() {
        assert_eq!(elapsed(0), "0s");
        assert_eq!(elapsed(59), "59s");
        assert_eq!(elapsed(60), "1m 0s");
        assert_eq!(elapsed(3599), "59m 59s");
        assert_eq!(elapsed(3600), "1h 0m");
        assert_eq!(elapsed(90_061), "25h 1m");
    }

    #[test]
    fn a_round_without_findings_file_says_so() {
        let line = RoundLine {
            round: 2,
            persona: "Ops and SRE review".to_owned(),
            counts: None,
        };
        assert_eq!(
            line.to_string(),
            "- Round 2 (Ops and SRE review): no findings file"
        );
    }

    #[test]
    fn a_table_of_a_great_many_rounds_stays_short() {
        let lines = |count| -> Vec<RoundLine> {
            let line = |round| RoundLine {
                round,
                persona: "Security and data-integrity review".to_owned(),
                counts: None,
            };
            (1..=count).map(line).collect()
        };
        assert_eq!(table(&lines(40)).lines().count(), 40);
        let long = table(&lines(1000));
        assert_eq!(long.lines().count(), 41);
        assert!(long.len() < 4000, "{}", long.len());
        let rows: Vec<&str> = long.lines().collect();
        assert!(rows[19].starts_with("- Round 20 (") && rows[21].starts_with("- Round 981 ("));
        assert_eq!(
            rows[20],
            "- (rounds 21 to 980 are left out here; `claudex-loop status` shows them)"
        );
        assert!(rows[40].starts_with("- Round 1000 ("));
        assert_eq!(listed(&[1, 2, 5]), "round 1, 2, 5");
        let many: Vec<u64> = (1..=1000).collect();
        assert_eq!(listed(&many), "1000 rounds between 1 and 1000");
    }
}
