//! The review runs of a loop, in its journal.
//!
//! A run is two notes: its begin (reviewer, persona, round, subject) and its end (outcome,
//! findings). Without an end, it is running or was interrupted. The findings in the journal count.

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

/// The note of a run's begin.
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
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunEnd {
    /// The time, which the journal keeps with the note.
    #[serde(skip)]
    pub at: Timestamp,
    /// The run's id.
    pub run: String,
    /// The outcome in a word, for readers of the journal.
    #[serde(skip_deserializing)]
    pub outcome: &'static str,
    /// The findings, if the reviewer gave a verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Findings>,
    /// The reason why the reviewer gave no verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
    /// Whether the work tree changed while the reviewer ran.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub work_tree_changed: bool,
    /// The findings file that the phase names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub findings: Option<FindingsFile>,
}

impl RunEnd {
    pub(super) fn new(
        run: &str,
        answer: Result<Findings, Cause>,
        work_tree_changed: bool,
        findings: Option<FindingsFile>,
    ) -> Self {
        Self {
            at: Timestamp::now(),
            run: run.to_owned(),
            outcome: match &answer {
                Ok(findings) if findings.is_empty() => "clean",
                Ok(_) => "findings",
                Err(cause) if cause.kind.is_unreadable() => "unreadable",
                Err(_) => "could-not-run",
            },
            cause: answer.as_ref().err().cloned(),
            verdict: answer.ok(),
            work_tree_changed,
            findings,
        }
    }
}

/// One run.
#[derive(Debug, Clone, Default)]
pub struct Run {
    /// The begin.
    pub began: RunBegin,
    /// The end.
    pub ended: RunEnd,
    /// Whether it was counted by a change of the loop.
    pub counted: bool,
}

impl Run {
    /// Returns the findings or the reason without a verdict; `None` means running or interrupted.
    pub fn outcome(&self) -> Option<Result<&[Finding], &Cause>> {
        let cause = self.ended.cause.as_ref();
        self.verdict().map(Ok).or(cause.map(Err))
    }

    /// Returns the findings, if the run gave a verdict.
    pub fn verdict(&self) -> Option<&[Finding]> {
        self.ended.verdict.as_deref()
    }

    /// Returns the number of findings of each severity, if the run gave a verdict.
    pub fn counts(&self) -> Option<Counts> {
        self.verdict().map(Counts::new)
    }

    /// Returns the findings; none without a verdict.
    pub fn findings(&self) -> &[Finding] {
        self.verdict().unwrap_or_default()
    }

    /// Returns the path of the phase's findings file, or else of the round's.
    pub fn findings_path(&self, store: &Store, id: &LoopId) -> Utf8PathBuf {
        match &self.ended.findings {
            Some(file) => file.path.clone(),
            None => findings_file::findings_path(store, id, self.began.round),
        }
    }
}

/// Returns the runs in a journal, oldest first. Invalid notes prove nothing and are ignored.
pub fn read(journal: &[Entry]) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for entry in journal {
        let mut earlier_runs = runs.iter_mut().rev();
        match entry {
            Entry::Change(change) => {
                let is_counted = |run: &&mut Run| Some(&run.began.run) == change.run.as_ref();
                if let Some(run) = earlier_runs.find(is_counted) {
                    run.counted = true;
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
                    && let Some(run) = earlier_runs.find(|run| run.began.run == ended.run)
                {
                    ended.at = note.at;
                    run.ended = ended;
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
pub fn has_lasting_failure(raw: &Raw) -> bool {
    let journal = raw.journal().unwrap_or_default();
    let newest = journal.iter().rev().find_map(Entry::change);
    read(&journal).last().is_some_and(|run| {
        newest.is_some_and(|change| change.run.as_ref() == Some(&run.began.run))
            && (run.ended.cause.as_ref()).is_some_and(|cause| cause.kind.is_lasting())
    })
}
