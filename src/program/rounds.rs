//! What a loop's rounds have come to: who found what, how long it took, and what has to be admitted.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize as _, Serialize};

use super::settings::MAX_ROUNDS;
pub use super::words::elapsed;
use crate::files::MAX_BYTES;
use crate::machine::{EvidenceRecord, Raw};
use crate::review::answer::{self, Verdict};
use crate::review::finding_history::{self, Standing};
use crate::review::findings::Counts;
use crate::review::personas::Personas;
use crate::review::runs::{self, Run, RunOutcome};
use crate::review::worktree::CHANGED_DURING_REVIEW;
use crate::review::{ReviewSpec, evidence, findings_json};
use crate::store::{ChangeEntry, Entry, LoopId, Store};
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
    /// The findings file, where the files count on their own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}

impl fmt::Display for RoundLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.file {
            Some(file) => write!(f, "- {file} ({}): ", self.persona)?,
            None => write!(f, "- Round {} ({}): ", self.round, self.persona)?,
        }
        match self.counts {
            Some(counts) => counts.fmt(f),
            None => f.write_str("no findings file"),
        }
    }
}

/// Returns what is reviewed of a loop: in its phase, else in the first phase of its machine that reviews.
pub fn spec(raw: &Raw) -> Option<&'static ReviewSpec> {
    let phases = raw.table().phases;
    phases[raw.phase()]
        .review
        .or_else(|| phases.iter().find_map(|phase| phase.review))
}

/// Names what is reviewed in a loop's phase: its round, as `round 2`; where its findings files count on their own, the phase.
pub fn named(raw: &Raw, spec: &ReviewSpec) -> String {
    match spec.is_numbered() {
        true => format!("phase {}", raw.table().phases[raw.phase()].stored),
        false => format!("round {}", raw.count(spec.round)),
    }
}

/// The same with the last round where the machine has such a field, as `round 2 of 3`.
pub fn of_most(raw: &Raw, spec: &ReviewSpec) -> String {
    let named = named(raw, spec);
    match raw
        .table()
        .field(MAX_ROUNDS)
        .filter(|_| !spec.is_numbered())
    {
        Some(field) => format!("{named} of {}", raw.count(field.name)),
        None => named,
    }
}

/// Returns the table's lines, one for each round that was begun; where findings files count on their own, one for each of these.
///
/// A round that was reviewed has the persona of its run; the configuration may have changed since.
pub fn rounds(raw: &Raw, personas: &Personas) -> Vec<RoundLine> {
    let Some(spec) = spec(raw) else {
        return Vec::new();
    };
    let (store, runs) = (raw.store(), runs(raw));
    if spec.is_numbered() {
        let of = |run: &Run| {
            let path = &run.findings.as_ref()?.path;
            Some(RoundLine {
                round: run.began.round,
                persona: text::one_line(&run.began.persona, 100),
                counts: counts_of_run(store, raw.id(), run),
                file: Some(text::shown(path.file_name()?)),
            })
        };
        return runs.iter().filter_map(of).collect();
    }
    let folder = store.open_loop_folder(raw.id()).ok();
    let of = |round| {
        let name = findings_json::findings_name(round);
        let file = folder
            .as_ref()
            .and_then(|folder| folder.read(&name, MAX_BYTES).ok());
        let run = runs.iter().rev().find(|run| run.began.round == round);
        RoundLine {
            round,
            persona: run.map_or_else(
                || personas.of_round(round).label.clone(),
                |run| text::one_line(&run.began.persona, 100),
            ),
            counts: file.and_then(|bytes| counts_of(&bytes)),
            file: None,
        }
    };
    (1..=raw.count(spec.round).min(1000)).map(of).collect()
}

/// Returns how the findings of all rounds stand, in words; `None` where nothing was found, and where all of it is new: the table
/// has the same numbers.
pub fn across(raw: &Raw) -> Option<String> {
    let rounds = evidence::history(raw, spec(raw)?).ok()?;
    let standings = finding_history::standings(&rounds);
    let first = standings
        .iter()
        .all(|tracked| tracked.standing == Standing::New);
    (!first).then(|| finding_history::summary(&standings))
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
            "- (rounds {} to {last} are left out here; `status` shows them)",
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

/// Counts what a run found, by its findings file.
pub fn counts_of_run(store: &Store, id: &LoopId, run: &Run) -> Option<Counts> {
    if let Some(RunOutcome::Clean { .. }) = run.ended {
        return Some(Counts::default());
    }
    let bytes = store.read(&run.findings_path(store, id)).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    // The last line of a file of its own is for people.
    let end = text.rfind("\nVERDICT: ").filter(|_| run.findings.is_some());
    counts_of(text[..end.unwrap_or(text.len())].as_bytes())
}

/// Counts what a findings file has; None: it cannot be read as one.
pub fn counts_of(bytes: &[u8]) -> Option<Counts> {
    match answer::read(std::str::from_utf8(bytes).ok()?).ok()? {
        Verdict::Clean => Some(Counts::default()),
        Verdict::Findings(findings) => Some(findings.counts()),
    }
}

/// Returns the seconds since the loop's start: until now, or, where it is over, until its last change.
pub fn seconds(raw: &Raw, now: Timestamp) -> u64 {
    let journal = raw.journal().unwrap_or_default();
    let mut changes = journal.iter().filter_map(|entry| match entry {
        Entry::Change(change) => Some(change.at),
        Entry::Note(_) => None,
    });
    let Some(first) = changes.next() else {
        return 0;
    };
    let until = match raw.table().phases[raw.phase()].terminal {
        true => changes.next_back().unwrap_or(first),
        false => now,
    };
    // A loop that was imported began before its journal.
    let began = raw.table().state.fields.started_epoch;
    let began = began.and_then(|field| i64::try_from(raw.count(field)).ok());
    let began = began.filter(|began| *began > 0);
    u64::try_from(until.as_second() - began.unwrap_or(first.as_second())).unwrap_or_default()
}

/// Returns the evidence that transitions were taken with, by transition, oldest first.
pub fn records(journal: &[Entry]) -> Vec<(&str, EvidenceRecord)> {
    let changes = journal.iter().filter_map(Entry::change);
    changes
        .filter_map(|change| Some((change.what.as_str(), record(change)?)))
        .collect()
}

/// Returns the evidence that a change was made with.
pub(super) fn record(change: &ChangeEntry) -> Option<EvidenceRecord> {
    EvidenceRecord::deserialize(change.evidence.as_ref()?).ok()
}

/// Returns the evidence by which open findings were rejected, by transition, oldest first. Who brings a loop back to the reviews that it
/// had left has it go on with them: nothing is rejected there any more.
pub fn rejections(journal: &[Entry]) -> Vec<(&str, EvidenceRecord)> {
    let mut standing: Vec<(&ChangeEntry, EvidenceRecord)> = Vec::new();
    for change in journal.iter().filter_map(Entry::change) {
        standing.retain(|(rejected, _)| change.from == change.to || change.to != rejected.from);
        let record = record(change).filter(|record| record.rejecting.is_some());
        standing.extend(record.map(|record| (change, record)));
    }
    let named = standing.into_iter();
    named
        .map(|(change, record)| (change.what.as_str(), record))
        .collect()
}

/// Returns what has to be admitted of any loop's reviews, each a sentence.
pub fn caveats(raw: &Raw, journal: &[Entry]) -> Vec<String> {
    let records = records(journal);
    let mut admitted = Vec::new();
    for (what, record) in rejections(journal) {
        if let Some(why) = &record.rejecting {
            admitted.push(format!(
                "Findings that were open at `{what}` (round {}) were rejected: {}",
                record.round,
                text::one_line(why, 500)
            ));
        }
    }
    let waived: Vec<_> = records.iter().filter(|(_, record)| record.waived).collect();
    if !waived.is_empty() {
        let mut rounds: Vec<u64> = waived.iter().map(|(_, record)| record.round).collect();
        rounds.dedup();
        let info = super::info::ProgramInfo::of(raw.table());
        admitted.push(format!(
            "Not reviewed ({}=optional): {}.",
            info.variable("EVIDENCE"),
            listed(&rounds)
        ));
    }
    let history = spec(raw).and_then(|spec| evidence::history(raw, spec).ok());
    for round in history.unwrap_or_default() {
        let findings = round.findings.0.iter();
        let unreviewed = findings.filter(|one| one.is_of_unreviewed_lines());
        admitted.extend(unreviewed.map(|one| format!("Round {}: {}.", round.number, one.what)));
    }
    let runs = runs::read(journal);
    for pair in runs.windows(2) {
        let [failed, instead] = pair else { continue };
        let cause = failed.ended.as_ref().and_then(RunOutcome::cause);
        let how = instead.ended.as_ref();
        if let Some(cause) = cause.filter(|cause| cause.kind.falls_over())
            && how.is_some_and(|how| how.digest().is_some())
            && instead.began.round == failed.began.round
            && instead.began.reviewer != failed.began.reviewer
        {
            admitted.push(format!(
                "Round {}: {} could not run, {} reviewed instead: {}.",
                failed.began.round,
                text::one_line(&failed.began.reviewer, 60),
                text::one_line(&instead.began.reviewer, 60),
                cause.to_string().trim_end_matches('.')
            ));
        }
    }
    for run in runs.iter().filter(|run| run.work_tree_changed) {
        admitted.push(format!(
            "Round {}: {CHANGED_DURING_REVIEW}.",
            run.began.round
        ));
    }
    admitted
}

/// Names who gave the verdicts of a loop, each once, in the order of their runs.
pub fn reviewers(raw: &Raw) -> String {
    let mut names: Vec<String> = Vec::new();
    for run in runs(raw) {
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

/// Returns the runs of a loop, oldest first.
pub fn runs(raw: &Raw) -> Vec<Run> {
    raw.journal()
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
            file: None,
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
                file: None,
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
            "- (rounds 21 to 980 are left out here; `status` shows them)"
        );
        assert!(rows[40].starts_with("- Round 1000 ("));
        assert_eq!(listed(&[1, 2, 5]), "round 1, 2, 5");
        let many: Vec<u64> = (1..=1000).collect();
        assert_eq!(listed(&many), "1000 rounds between 1 and 1000");
    }
}
