//! The review runs of a loop, in its journal.
//!
//! A run is two notes: its begin (reviewer, persona, round, subject) and its end (outcome, digest of the findings JSON). A run
//! without an end is running or was cut off.

use camino::Utf8PathBuf;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::machine::Raw;
use crate::review::cause::Cause;
use crate::review::digest::Digest;
use crate::review::findings_file::{self, FindingsFile};
use crate::store::{Entry, LoopId, Store};

/// The note of a run's begin.
pub(super) const BEGAN: &str = "run-began";
/// The note of a run's end.
pub(super) const ENDED: &str = "run-ended";

/// The note of the begin of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunBegin {
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
    /// The digest of the subject.
    pub subject: Digest,
    /// Git's tree id of the work tree before the review, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<String>,
}

/// The note of the end of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunEnd {
    /// The run's id.
    pub run: String,
    /// The outcome.
    #[serde(flatten)]
    pub how: RunOutcome,
    /// Whether the work tree changed while the reviewer ran.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub work_tree_changed: bool,
    /// The findings file that the phase names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub findings: Option<FindingsFile>,
}

/// The outcome of a run.
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
    /// The reviewer could not run.
    CouldNotRun {
        /// The reason.
        cause: Cause,
    },
    /// The answer has no verdict.
    Unreadable {
        /// The reason.
        cause: Cause,
    },
}

impl RunOutcome {
    /// Returns the digest of the findings JSON, if the run gave a verdict.
    pub fn digest(&self) -> Option<&Digest> {
        match self {
            RunOutcome::Clean { digest } | RunOutcome::Findings { digest } => Some(digest),
            RunOutcome::CouldNotRun { .. } | RunOutcome::Unreadable { .. } => None,
        }
    }

    /// Returns the reason for which there is no verdict.
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
    /// The begin.
    pub began: RunBegin,
    /// The time of the begin.
    pub begin: Timestamp,
    /// The time of the end.
    pub end: Option<Timestamp>,
    /// The outcome, or `None` if the run is running or was cut off.
    pub ended: Option<RunOutcome>,
    /// Whether the work tree changed while the reviewer ran.
    pub work_tree_changed: bool,
    /// The findings file that the phase names.
    pub findings: Option<FindingsFile>,
    /// Whether a change of the loop was counted for it.
    pub counted: bool,
}

impl Run {
    /// Makes a run that began at this time.
    pub(super) fn new(began: RunBegin, begin: Timestamp) -> Self {
        Self {
            began,
            begin,
            end: None,
            ended: None,
            work_tree_changed: false,
            findings: None,
            counted: false,
        }
    }

    /// Adds the end.
    pub(super) fn end(&mut self, ended: RunEnd, end: Timestamp) {
        self.end = Some(end);
        self.ended = Some(ended.how);
        self.work_tree_changed = ended.work_tree_changed;
        self.findings = ended.findings;
    }

    /// Returns the digest of the findings JSON, if the run gave a verdict.
    pub fn digest(&self) -> Option<&Digest> {
        self.ended.as_ref().and_then(RunOutcome::digest)
    }

    /// Returns the findings file.
    pub fn findings_path(&self, store: &Store, id: &LoopId) -> Utf8PathBuf {
        let own = self.findings.as_ref().map(|file| file.path.clone());
        own.unwrap_or_else(|| findings_file::findings_path(store, id, self.began.round))
    }

    /// Returns whether the run is of this round, in the visit that the loop is in.
    pub fn is_of(&self, raw: &Raw, round: u64) -> bool {
        let visit = raw.record().visit();
        self.began.round == round && (visit.is_none() || self.began.visit == visit)
    }
}

/// Returns the runs in a journal, oldest first. Notes that are not valid are ignored: they prove nothing.
pub fn read(journal: &[Entry]) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for entry in journal {
        match entry {
            Entry::Change(change) => {
                let counted = change.run.as_ref();
                if let Some(run) = counted.and_then(|id| with_id(&mut runs, id)) {
                    run.counted = true;
                }
            }
            Entry::Note(note) => {
                if let Some(began) = entry.noted::<RunBegin>(BEGAN) {
                    runs.push(Run::new(began, note.at));
                } else if let Some(ended) = entry.noted::<RunEnd>(ENDED)
                    && let Some(run) = with_id(&mut runs, &ended.run)
                {
                    run.end(ended, note.at);
                }
            }
        }
    }
    runs
}

fn with_id<'r>(runs: &'r mut [Run], id: &str) -> Option<&'r mut Run> {
    runs.iter_mut().rfind(|run| run.began.run == id)
}

/// Returns whether the newest change was made for a review that would fail again at once.
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
