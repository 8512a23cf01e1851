//! The review runs of a loop, as the journal tells them.
//!
//! A run is two notes: that it began (who reviews which round of what) and how it ended (outcome, digest of the JSON
//! findings JSON). A run that began and never ended was cut off. This file reads and writes those notes; what they are worth as
//! evidence is decided in `evidence`.

use std::collections::HashMap;

use camino::Utf8PathBuf;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::machine::Raw;
use crate::review::reviewer::Cause;
use crate::review::{Digest, findings_json};
use crate::store::{Entry, LoopId, Store, StoreError};

/// The note of a run's begin.
const BEGAN: &str = "run-began";
/// The note of a run's end.
const ENDED: &str = "run-ended";

/// What the note of a run's begin holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunBegin {
    /// The run's id, unique within the loop.
    pub run: String,
    /// The round under review.
    pub round: u64,
    /// The visit under review, by the change with which it began; `None` where an earlier version of the engine made that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub visit: Option<u64>,
    /// The reviewer's name.
    pub reviewer: String,
    /// The persona's label.
    pub persona: String,
    /// The digest of what is reviewed.
    pub subject: Digest,
    /// Git's tree id of the work tree before the review, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<String>,
}

/// What the note of a run's end holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunEnd {
    /// The run's id.
    pub run: String,
    /// How it ended.
    #[serde(flatten)]
    pub how: RunOutcome,
    /// Whether the work tree changed while the reviewer ran.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub work_tree_changed: bool,
    /// The files and commands that the reviewer opened, as far as its client tells.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub opened: Vec<String>,
    /// The findings file of its own, where the phase names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub findings: Option<FindingsFile>,
}

/// A findings file that a phase names (`findings_file`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FindingsFile {
    /// What stands for `{n}`.
    pub number: u64,
    /// The file.
    pub path: Utf8PathBuf,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub enum RunOutcome {
    /// The reviewer found nothing.
    Clean {
        /// The digest of the findings JSON.
        digest: Digest,
    },
    /// The reviewer found something.
    Findings {
        /// The digest of the findings JSON.
        digest: Digest,
    },
    /// It could not run.
    CouldNotRun {
        /// Why.
        cause: Cause,
    },
    /// What it said holds no verdict.
    Unreadable {
        /// Why.
        cause: Cause,
    },
}

impl RunOutcome {
    /// Returns the digest of the findings JSON, where the run gave a verdict.
    pub fn digest(&self) -> Option<&Digest> {
        match self {
            RunOutcome::Clean { digest } | RunOutcome::Findings { digest } => Some(digest),
            RunOutcome::CouldNotRun { .. } | RunOutcome::Unreadable { .. } => None,
        }
    }

    /// Returns the cause, where it gave none.
    pub fn cause(&self) -> Option<&Cause> {
        match self {
            RunOutcome::Clean { .. } | RunOutcome::Findings { .. } => None,
            RunOutcome::CouldNotRun { cause } | RunOutcome::Unreadable { cause } => Some(cause),
        }
    }
}

/// One run.
#[derive(Debug, Clone)]
pub struct Run {
    /// How it began.
    pub began: RunBegin,
    /// Says when it began.
    pub begin: Timestamp,
    /// Says when it ended.
    pub end: Option<Timestamp>,
    /// How it ended; None: it is running, or was cut off.
    pub ended: Option<RunOutcome>,
    /// Whether the work tree changed while the reviewer ran.
    pub work_tree_changed: bool,
    /// The findings file of its own, where the phase names one.
    pub findings: Option<FindingsFile>,
    /// Whether a change of the loop was counted for it.
    pub counted: bool,
}

impl Run {
    /// Returns the file in which people read what it found.
    pub fn findings_path(&self, store: &Store, id: &LoopId) -> Utf8PathBuf {
        let own = self.findings.as_ref().map(|file| file.path.clone());
        own.unwrap_or_else(|| findings_json::findings_path(store, id, self.began.round))
    }

    /// Returns whether it is of the visit that a loop is in, whose round this is.
    pub fn is_of(&self, raw: &Raw, round: u64) -> bool {
        let visit = raw.record().visit();
        self.began.round == round && (visit.is_none() || self.began.visit == visit)
    }
}

/// Returns the runs that a journal tells of, oldest first. Notes that cannot be read are passed over: they prove nothing.
pub fn read(journal: &[Entry]) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    // The first of two that bear one id has it.
    let mut known: HashMap<String, usize> = HashMap::new();
    for entry in journal {
        match entry {
            Entry::Note(note) if note.note == BEGAN => {
                if let Ok(began) = RunBegin::deserialize(&note.data) {
                    known.entry(began.run.clone()).or_insert(runs.len());
                    runs.push(Run {
                        began,
                        begin: note.at,
                        end: None,
                        ended: None,
                        work_tree_changed: false,
                        findings: None,
                        counted: false,
                    });
                }
            }
            Entry::Note(note) if note.note == ENDED => {
                if let Ok(ended) = RunEnd::deserialize(&note.data)
                    && let Some(run) = known.get(&ended.run).and_then(|at| runs.get_mut(*at))
                    && run.ended.is_none()
                {
                    run.end = Some(note.at);
                    run.ended = Some(ended.how);
                    run.work_tree_changed = ended.work_tree_changed;
                    run.findings = ended.findings;
                }
            }
            Entry::Note(_) => {}
            Entry::Change(change) => {
                let run = change.run.as_ref().and_then(|run| known.get(run));
                if let Some(run) = run.and_then(|at| runs.get_mut(*at)) {
                    run.counted = true;
                }
            }
        }
    }
    runs
}

/// Returns whether the newest change was made for a review that would fail again if it began at once.
pub fn is_parked(raw: &Raw) -> bool {
    let journal = raw.journal().unwrap_or_default();
    let newest = journal.iter().rev().find_map(Entry::change);
    let newest = newest.and_then(|change| change.run.clone());
    read(&journal).last().is_some_and(|run| {
        let cause = run.ended.as_ref().and_then(RunOutcome::cause);
        newest.is_some_and(|newest| newest == run.began.run)
            && cause.is_some_and(|cause| cause.kind.is_lasting())
    })
}

/// Notes that a run began.
///
/// # Errors
/// The journal cannot be written.
pub(crate) fn began(store: &Store, id: &LoopId, began: &RunBegin) -> Result<(), StoreError> {
    store.note(id, BEGAN, began)
}

/// Notes how a run ended.
///
/// # Errors
/// The journal cannot be written.
pub(crate) fn ended(store: &Store, id: &LoopId, ended: &RunEnd) -> Result<(), StoreError> {
    store.note(id, ENDED, ended)
}
