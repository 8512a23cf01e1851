//! The review runs of a loop, in its journal.
//!
//! A run is two notes: its begin (reviewer, persona, round, subject) and its end (outcome, findings). A run without an end is
//! running or was cut off. The findings that count are those in the journal; the files are for people.

use std::collections::BTreeMap;

use camino::Utf8PathBuf;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::cause::Cause;
use super::findings::{Counts, Finding, Findings};
use super::findings_file::{self, FindingsFile};
use crate::machine::Raw;
use crate::store::{Entry, LoopId, Store};

/// The note of a run's begin.
pub(super) const BEGAN: &str = "run-began";
/// The note of a run's end.
pub(super) const ENDED: &str = "run-ended";

/// The note of the begin of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunBegin {
    /// The time, which the journal keeps with the note.
    #[serde(skip)]
    pub at: Timestamp,
    /// The run's id, unique within the loop.
    pub run: String,
    /// The round under review.
    pub round: u64,
    /// The revision of the change that began the visit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub visit: Option<u64>,
    /// The reviewer's name.
    pub reviewer: String,
    /// The persona's label.
    pub persona: String,
    /// The SHA-256 digest of the subject.
    pub subject: String,
    /// Git's tree id of the work tree before the review, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<String>,
}

/// The note of the end of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunEnd {
    /// The time, which the journal keeps with the note.
    #[serde(skip)]
    pub at: Timestamp,
    /// The run's id.
    pub run: String,
    /// The outcome.
    pub outcome: RunOutcome,
    /// The findings, if the reviewer gave a verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Findings>,
    /// The reason for which the reviewer gave no verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
    /// Whether the work tree changed while the reviewer ran.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub work_tree_changed: bool,
    /// The findings file that the phase names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub findings: Option<FindingsFile>,
}

/// The outcome of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunOutcome {
    /// The reviewer found nothing.
    Clean,
    /// The reviewer found something.
    Findings,
    /// The reviewer could not run.
    CouldNotRun,
    /// The answer has no verdict.
    Unreadable,
}

impl RunEnd {
    /// Makes the end of a run with this answer.
    pub(super) fn new(run: &str, answer: Result<Findings, Cause>) -> Self {
        let outcome = match &answer {
            Ok(findings) if findings.is_empty() => RunOutcome::Clean,
            Ok(_) => RunOutcome::Findings,
            Err(cause) if cause.kind.is_unreadable() => RunOutcome::Unreadable,
            Err(_) => RunOutcome::CouldNotRun,
        };
        Self {
            at: Timestamp::default(),
            run: run.to_owned(),
            outcome,
            cause: answer.as_ref().err().cloned(),
            verdict: answer.ok(),
            work_tree_changed: false,
            findings: None,
        }
    }
}

/// One run.
#[derive(Debug, Clone, Default)]
pub struct Run {
    /// The begin.
    pub began: RunBegin,
    /// The end, or `None` if the run is running or was cut off.
    pub ended: Option<RunEnd>,
    /// Whether a change of the loop was counted for it.
    pub counted: bool,
}

impl Run {
    /// Returns the outcome, if the run has ended.
    pub fn outcome(&self) -> Option<RunOutcome> {
        Some(self.ended.as_ref()?.outcome)
    }

    /// Returns the findings, if the run gave a verdict.
    pub fn verdict(&self) -> Option<&[Finding]> {
        self.ended.as_ref()?.verdict.as_deref()
    }

    /// Returns the number of findings of each severity, if the run gave a verdict.
    pub fn counts(&self) -> Option<Counts> {
        self.verdict().map(Counts::new)
    }

    /// Returns the findings; none without a verdict.
    pub fn findings(&self) -> &[Finding] {
        self.verdict().unwrap_or_default()
    }

    /// Returns the reason for which the run gave no verdict.
    pub fn cause(&self) -> Option<&Cause> {
        self.ended.as_ref()?.cause.as_ref()
    }

    /// Returns whether the work tree changed while the reviewer ran.
    pub fn work_tree_changed(&self) -> bool {
        self.ended.as_ref().is_some_and(|end| end.work_tree_changed)
    }

    /// Returns the findings file that the phase names.
    pub fn findings_file(&self) -> Option<&FindingsFile> {
        self.ended.as_ref()?.findings.as_ref()
    }

    /// Returns the findings file.
    pub fn findings_path(&self, store: &Store, id: &LoopId) -> Utf8PathBuf {
        let usual = || findings_file::findings_path(store, id, self.began.round);
        self.findings_file()
            .map_or_else(usual, |file| file.path.clone())
    }
}

/// Returns the runs in a journal, oldest first. Notes that are not valid are ignored: they prove nothing.
pub fn read(journal: &[Entry]) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for entry in journal {
        let position = |id: &str| runs.iter().rposition(|run| run.began.run == id);
        match entry {
            Entry::Change(change) => {
                if let Some(at) = change.run.as_deref().and_then(position) {
                    runs[at].counted = true;
                }
            }
            Entry::Note(note) => {
                if let Some(mut began) = entry.note_data::<RunBegin>(BEGAN) {
                    began.at = note.at;
                    runs.push(Run {
                        began,
                        ..Run::default()
                    });
                } else if let Some(mut ended) = entry.note_data::<RunEnd>(ENDED)
                    && let Some(at) = position(&ended.run)
                {
                    ended.at = note.at;
                    runs[at].ended = Some(ended);
                }
            }
        }
    }
    runs
}

/// Returns the newest run with a verdict of each round.
pub fn verdicts(runs: Vec<Run>) -> BTreeMap<u64, Run> {
    let reviewed = runs.into_iter().filter(|run| run.verdict().is_some());
    reviewed.map(|run| (run.began.round, run)).collect()
}

/// Returns whether the newest change was made for a review that would fail again at once.
pub fn is_parked(raw: &Raw) -> bool {
    let journal = raw.journal().unwrap_or_default();
    let newest = journal.iter().rev().find_map(Entry::change);
    read(&journal).last().is_some_and(|run| {
        newest.is_some_and(|change| change.run.as_ref() == Some(&run.began.run))
            && run.cause().is_some_and(|cause| cause.kind.is_lasting())
    })
}
