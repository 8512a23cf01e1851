//! A loop's rounds: findings, duration, reviewers and caveats.

use jiff::Timestamp;
use serde::{Deserialize as _, Serialize};

use super::settings::ROUNDS_FIELD;
use crate::machine::{EdgeAt, EvidenceRecord, PhaseDeclaration as _, Raw, Table};
use crate::review::answer;
use crate::review::evidence::Round;
use crate::review::finding_history::{self, Standing};
use crate::review::findings::Counts;
use crate::review::personas::{persona, review_personas};
use crate::review::runs::{self, Run};
use crate::review::worktree::CHANGED_DURING_REVIEW;
use crate::review::{ReviewSpec, findings_file};
use crate::store::{ChangeEntry, Entry};
use crate::text;

/// A row of the table of rounds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RoundLine {
    /// The number, from 1.
    pub round: u64,
    /// The persona's label.
    pub persona: String,
    /// The findings, or `None` if there is no findings file.
    pub counts: Option<Counts>,
    /// The findings file, if the files have their own numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}

/// Returns the review of the present phase, or else of the first phase that reviews.
pub fn spec(raw: &Raw) -> Option<&'static ReviewSpec> {
    let mut phases = raw.table().phases.iter();
    let present = raw.phase_info().review();
    present.or_else(|| phases.find_map(|phase| phase.review()))
}

/// Returns the name of the current round, or its phase if findings files have their own numbers.
pub fn name(raw: &Raw, spec: &ReviewSpec) -> String {
    if spec.is_numbered() {
        format!("phase {}", raw.phase_info().name)
    } else {
        format!("round {}", raw.count(spec.round))
    }
}

/// Returns the round's name, with the last round if the machine has it: `round 2 of 3`.
pub fn full_name(raw: &Raw, spec: &ReviewSpec) -> String {
    let name = name(raw, spec);
    if spec.is_numbered() || raw.table().state.field(ROUNDS_FIELD).is_none() {
        return name;
    }
    format!("{name} of {}", raw.count(ROUNDS_FIELD))
}

/// Returns a row for each round, or for each findings file if these have their own numbers. A
/// reviewed round has its run's persona, because another version may declare others.
pub fn rounds(raw: &Raw) -> Vec<RoundLine> {
    let Some(spec) = spec(raw) else {
        return Vec::new();
    };
    let runs = runs(raw);
    let personas = review_personas(raw.table(), spec);
    let line = |round: u64, run: Option<&Run>, counts: Option<Counts>| {
        let label = run.map_or(persona(personas, round).label, |run| &run.began.persona);
        let file = run.and_then(|run| run.ended.findings.as_ref());
        RoundLine {
            round,
            persona: text::one_line(label, 100),
            counts,
            file: file.and_then(|file| file.path.file_name().map(text::printable)),
        }
    };
    if spec.is_numbered() {
        let with_file = runs.iter().filter(|run| run.ended.findings.is_some());
        let lines = with_file.map(|run| line(run.began.round, Some(run), run.counts()));
        return lines.collect();
    }
    let lines = (1..=raw.count(spec.round).min(1000)).map(|round| {
        let run = runs.iter().rfind(|run| run.began.round == round);
        let path = findings_file::findings_path(raw.store(), raw.id(), round);
        let file = raw.store().read(&path).ok();
        let counts = file.and_then(|file| run.and_then(Run::counts).or(counts_of(&file)));
        line(round, run, counts)
    });
    lines.collect()
}

/// Returns the verdicts that count in the current round, oldest first; none if unreadable.
pub fn counted_verdicts(raw: &Raw) -> Vec<Run> {
    let round = spec(raw).and_then(|spec| Round::read(raw, spec).ok());
    let history = round.and_then(|round| round.history().ok());
    history.unwrap_or_default()
}

/// Returns the fate of the findings of all rounds, or `None` if all of them are new.
pub fn summarize_standings(raw: &Raw) -> Option<String> {
    let standings = finding_history::standings(&counted_verdicts(raw));
    let are_new = standings.iter().all(|one| one.standing == Standing::New);
    (!are_new).then(|| finding_history::summary(&standings))
}

/// The outcome of a round without findings.
pub const CLEAN: &str = "no substantive findings";

pub(super) fn outcome(run: &Run) -> String {
    match run.outcome() {
        None => "not ended, or cut off".to_owned(),
        Some(Ok([])) => CLEAN.to_owned(),
        Some(Ok(findings)) => Counts::new(findings).to_string(),
        Some(Err(cause)) if cause.kind.is_unreadable() => format!("unreadable: {cause}"),
        Some(Err(cause)) => format!("could not run: {cause}"),
    }
}

/// Returns the counts of a findings file, or `None` if it is none.
pub fn counts_of(bytes: &[u8]) -> Option<Counts> {
    let findings = answer::read(std::str::from_utf8(bytes).ok()?).ok()?;
    Some(Counts::new(&findings))
}

/// Returns when a loop began: before its journal if it was imported.
pub(super) fn began(table: &Table, journal: &[Entry]) -> Option<Timestamp> {
    let mut changes = journal.iter().filter_map(Entry::change);
    let first = changes.next()?;
    let last = changes.next_back().unwrap_or(first);
    let field = table.state.fields.started;
    let started = field.and_then(|name| last.field(name)?.as_str()?.parse().ok());
    Some(started.unwrap_or(first.at))
}

pub(super) fn seconds_between(from: Timestamp, to: Timestamp) -> u64 {
    u64::try_from(to.as_second() - from.as_second()).unwrap_or_default()
}

/// Returns the seconds from the loop's start to now, or to its last change if it is over.
pub fn seconds(raw: &Raw) -> u64 {
    let journal = raw.journal().unwrap_or_default();
    let is_over = raw.phase_info().terminal;
    let last = journal.iter().filter_map(Entry::change).next_back();
    let until = last
        .filter(|_| is_over)
        .map_or_else(Timestamp::now, |last| last.at);
    began(raw.table(), &journal).map_or(0, |began| seconds_between(began, until))
}

pub(super) fn record(change: &ChangeEntry) -> Option<EvidenceRecord> {
    EvidenceRecord::deserialize(change.evidence.as_ref()?).ok()
}

/// Returns the edges with a change's transition and phases.
pub(super) fn edges_of(table: &'static Table, change: &ChangeEntry) -> Vec<EdgeAt> {
    let phase = |name: &Option<String>| table.phase_position(name.as_deref()?);
    let (Some(from), Some(to)) = (phase(&change.from), phase(&change.to)) else {
        return Vec::new();
    };
    let edges = table.edges_at(&change.what, from);
    edges.filter(|edge| edge.to == to).collect()
}

/// Returns the changes by which open findings were rejected, with their evidence, oldest first. A
/// loop that returns to the reviews drops its rejections.
fn rejections(journal: &[Entry]) -> Vec<(&ChangeEntry, EvidenceRecord)> {
    let mut rejected: Vec<(&ChangeEntry, EvidenceRecord)> = Vec::new();
    for change in journal.iter().filter_map(Entry::change) {
        rejected.retain(|(before, _)| change.from == change.to || change.to != before.from);
        let record = record(change).filter(|record| record.rejecting.is_some());
        rejected.extend(record.map(|record| (change, record)));
    }
    rejected
}

/// Returns whether open findings were rejected.
pub fn has_rejected(raw: &Raw) -> bool {
    !rejections(&raw.journal().unwrap_or_default()).is_empty()
}

/// Returns the caveats about the reviews, each a sentence.
pub fn caveats(raw: &Raw) -> Vec<String> {
    let journal = raw.journal().unwrap_or_default();
    let mut caveats = Vec::new();
    for (change, record) in rejections(&journal) {
        let place = format!("at `{}` (round {})", change.what, record.round);
        let why = text::one_line(&record.rejecting.unwrap_or_default(), 500);
        let caveat = format!("Findings that were open {place} were rejected: {why}");
        caveats.push(caveat);
    }
    let records = journal.iter().filter_map(Entry::change).filter_map(record);
    let unreviewed = records.filter(|record| record.waived);
    let mut waived: Vec<String> = unreviewed.map(|record| record.round.to_string()).collect();
    waived.dedup();
    if !waived.is_empty() {
        let rounds = waived.join(", ");
        let caveat = format!("Not reviewed (you made evidence optional): round {rounds}.");
        caveats.push(caveat);
    }
    let runs = runs::read(&journal);
    for pair in runs.windows(2) {
        let [from, to] = [0, 1].map(|at| text::one_line(&pair[at].began.reviewer, 60));
        let round = pair[1].began.round;
        if let Some(cause) = &pair[0].ended.cause
            && cause.kind.fails_over()
            && pair[1].verdict().is_some()
            && pair[0].began.round == round
            && from != to
        {
            let replaced = format!("{from} could not run, {to} reviewed instead: {cause}");
            caveats.push(format!(
                "Round {round}: {}.",
                replaced.trim_end_matches('.')
            ));
        }
    }
    for run in runs.iter().filter(|run| run.ended.work_tree_changed) {
        let round = run.began.round;
        caveats.push(format!("Round {round}: {CHANGED_DURING_REVIEW}."));
    }
    caveats
}

/// Returns the reviewers that gave verdicts, each once, in the order of their runs.
pub fn reviewers(raw: &Raw) -> String {
    let mut names: Vec<String> = Vec::new();
    for run in runs(raw) {
        if run.verdict().is_some() && !names.contains(&run.began.reviewer) {
            names.push(run.began.reviewer);
        }
    }
    names.join(", ")
}

/// Returns why the newest review that ended gave no verdict, without a full stop.
pub fn failure(raw: &Raw) -> Option<String> {
    let runs = runs(raw);
    let newest = runs.iter().rev().find_map(Run::outcome)?;
    let cause = newest.err()?.to_string();
    Some(cause.trim_end_matches(['.', ' ']).to_owned())
}

/// Returns the runs of a loop, oldest first.
pub fn runs(raw: &Raw) -> Vec<Run> {
    runs::read(&raw.journal().unwrap_or_default())
}
