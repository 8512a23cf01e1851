//! Evidence of a round's review. Only this file makes it.
//!
//! [`Reviewed`] is a run of this loop and round with a verdict. [`Settled`] also has an unchanged
//! subject and no open material findings, or the reason for rejecting them. If the user made
//! evidence optional, a waiver replaces a missing review, and the summary names it.

use std::io;
use std::time::{Duration, Instant};

use super::findings::{Counts, Severity};
use super::runs::{self, Run};
use super::{finding_history, subject, worktree};
use crate::digest::sha256;
use crate::machine::table::ReviewSpec;
use crate::machine::{EvidenceRecord, LoopFacts as _, Raw, Refusal, Requirement};

pub use crate::machine::EvidencePolicy;

const TREE_TIMEOUT: Duration = Duration::from_secs(20);

/// A review of this round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reviewed(EvidenceRecord);

/// A review of this round of an unchanged subject, without open material findings.
#[derive(Debug, Clone, PartialEq, Eq, derive_more::Deref)]
pub struct Settled(Reviewed);

impl Reviewed {
    pub(crate) fn record(&self) -> &EvidenceRecord {
        &self.0
    }
}

fn unreadable(error: io::Error) -> String {
    format!("could not read it: {error}")
}

/// The state of the round's review.
#[derive(Debug)]
pub enum ReviewState {
    /// The reviewer found nothing, nothing material is open, and the subject is unchanged.
    Clean(Settled),
    /// The round was reviewed.
    Findings(Reviewed),
    /// The round was reviewed, and found the same as two earlier rounds of its persona.
    Stalled(Reviewed),
    /// No review of this round counts.
    Nothing,
    /// One is running.
    Running,
    /// The last one could not run or is unreadable, and was not counted yet.
    Failed,
}

/// Returns evidence that the round was reviewed, for a transition.
///
/// # Errors
/// Returns the refusal if there is none.
pub fn reviewed(
    raw: &Raw,
    transition: &'static str,
    spec: Option<&'static ReviewSpec>,
) -> Result<Reviewed, Refusal> {
    evidence(raw, transition, spec, |round, run| Ok(round.reviewed(run)))
}

/// Returns evidence that the round is settled, for a transition.
///
/// # Errors
/// Returns the refusal if it is not.
pub fn settled(
    raw: &Raw,
    transition: &'static str,
    spec: Option<&'static ReviewSpec>,
    rejecting: Option<String>,
) -> Result<Settled, Refusal> {
    evidence(raw, transition, spec, |round, run| {
        round.settle(run, rejecting)
    })
}

fn evidence<E>(
    raw: &Raw,
    transition: &'static str,
    spec: Option<&ReviewSpec>,
    make: impl FnOnce(&Round<'_>, Option<&Run>) -> Result<E, String>,
) -> Result<E, Refusal> {
    let attempt = || {
        let spec = spec.ok_or("this phase has no review that could show it")?;
        let round = Round::read(raw, spec).map_err(unreadable)?;
        make(&round, round.required_verdict()?)
    };
    attempt().map_err(|problem| Refusal::Evidence {
        transition,
        problem,
    })
}

/// The round of a loop: its runs and its current subject.
#[derive(Debug)]
pub struct Round<'r> {
    raw: &'r Raw,
    spec: &'r ReviewSpec,
    /// The runs of this visit, oldest first.
    runs: Vec<Run>,
    /// The digest of the subject, or `None` if the first of its files is missing.
    subject: Option<String>,
}

impl<'r> Round<'r> {
    /// Reads the round.
    ///
    /// # Errors
    /// Returns an error if the journal or the subject cannot be read.
    pub fn read(raw: &'r Raw, spec: &'r ReviewSpec) -> io::Result<Self> {
        let mut runs = runs::read(&raw.visit_journal().map_err(io::Error::other)?);
        let visit = raw.record().visit;
        let number = raw.count(spec.round);
        runs.retain(|run| {
            run.began.round == number && (visit.is_none() || run.began.visit == visit)
        });
        Ok(Self {
            raw,
            spec,
            runs,
            subject: subject::read_current(raw, spec)?.map(sha256),
        })
    }

    /// Returns the newest run.
    pub fn newest(&self) -> Option<&Run> {
        self.runs.last()
    }

    /// Returns the newest run with a verdict, unless it [`is_outdated`](Self::is_outdated).
    pub fn verdict(&self) -> Option<&Run> {
        let mut verdicts = self.runs.iter().rev().filter(|run| run.verdict().is_some());
        verdicts.next().filter(|run| !self.is_stale(run))
    }

    /// Returns whether the newest verdict was clean, but the subject has changed since.
    pub fn is_outdated(&self) -> bool {
        self.verdict().is_none() && self.runs.iter().any(|run| run.verdict().is_some())
    }

    /// Returns the verdicts that count, the newest of each round, oldest first: of all rounds, or
    /// only of this visit if each visit starts clean.
    ///
    /// # Errors
    /// Returns an error if the journal cannot be read.
    pub fn history(&self) -> io::Result<Vec<Run>> {
        self.verdicts(|_| true)
    }

    /// Returns the state of the review, for a stop, and the run that it comes from.
    ///
    /// # Errors
    /// Returns an error if the journal cannot be read.
    pub fn inspect(&self) -> io::Result<(ReviewState, Option<String>)> {
        if self.is_running() {
            return Ok((ReviewState::Running, None));
        }
        if let Some(run) = self.verdict() {
            let found = match self.settle(Some(run), None) {
                Ok(settled) if !self.blocks(run) => ReviewState::Clean(settled),
                _ if finding_history::is_stalled(&self.history()?) => {
                    ReviewState::Stalled(self.reviewed(Some(run)))
                }
                _ => ReviewState::Findings(self.reviewed(Some(run))),
            };
            return Ok((found, Some(run.began.run.clone())));
        }
        let failed = self.newest().filter(|run| run.ended.cause.is_some());
        Ok(match failed {
            Some(run) if !run.counted => (ReviewState::Failed, Some(run.began.run.clone())),
            None if self.is_optional() => (ReviewState::Findings(self.reviewed(None)), None),
            _ => (ReviewState::Nothing, None),
        })
    }

    fn is_running(&self) -> bool {
        self.raw.store().is_running(self.raw.id())
    }

    fn is_optional(&self) -> bool {
        self.raw.evidence_policy() == EvidencePolicy::Optional
    }

    /// Returns whether a finding of a verdict keeps the round from being clean.
    pub fn blocks(&self, run: &Run) -> bool {
        Counts::new(run.findings()).at_least(self.spec.blocking) > 0
    }

    /// Returns whether a run reviewed the subject as it is now.
    pub fn is_current(&self, run: &Run) -> bool {
        self.subject.as_ref() == Some(&run.began.subject)
    }

    /// Returns whether a clean run reviewed another text, and each review starts clean.
    fn is_stale(&self, run: &Run) -> bool {
        if !self.spec.fresh || self.blocks(run) {
            return false;
        }
        if !self.is_current(run) {
            return true;
        }
        let until = Instant::now() + TREE_TIMEOUT;
        run.began.tree.is_some()
            && subject::has_changes(self.raw, self.spec)
            && worktree::tree_id(self.raw.store(), Some(until)) != run.began.tree
    }

    fn verdicts(&self, counts: impl Fn(&Run) -> bool) -> io::Result<Vec<Run>> {
        let mut runs = if self.spec.fresh {
            self.runs.clone()
        } else {
            runs::read(&self.raw.journal().map_err(io::Error::other)?)
        };
        runs.retain(counts);
        Ok(runs::verdicts(runs).into_values().collect())
    }

    /// Returns the run whose verdict counts, or `None` if the review is waived.
    fn required_verdict(&self) -> Result<Option<&Run>, String> {
        let round = self.raw.count(self.spec.round);
        let why = if self.is_running() {
            format!("the review of round {round} is still running; follow it")
        } else if let Some(run) = self.verdict() {
            return Ok(Some(run));
        } else if self.is_optional() {
            return Ok(None);
        } else if let Some(cause) = self.newest().and_then(|run| run.ended.cause.as_ref()) {
            format!("the review of round {round} gave no verdict ({cause}); run it again")
        } else if self.is_outdated() {
            format!("what round {round} reviewed was changed since; run the review again")
        } else {
            format!("round {round} was not reviewed yet; run the review first")
        };
        let program = self.raw.table().state.program;
        let review = format!("{program} review {}", self.raw.id());
        Err(format!("{why}:\n    {review}"))
    }

    /// Makes evidence of a run or of a waived review.
    fn reviewed(&self, run: Option<&Run>) -> Reviewed {
        let subject = run.map_or(self.subject.as_ref(), |run| Some(&run.began.subject));
        Reviewed(EvidenceRecord {
            loop_id: self.raw.id().to_string(),
            round: self.raw.count(self.spec.round),
            revision: self.raw.record().revision,
            run: run.map(|run| run.began.run.clone()),
            findings: run.and_then(|run| Some(run.ended.findings.as_ref()?.number)),
            subject: subject.cloned(),
            waived: run.is_none(),
            ..EvidenceRecord::default()
        })
    }

    /// Makes settled evidence: no change and nothing material open, or a reason.
    fn settle(&self, run: Option<&Run>, why: Option<String>) -> Result<Settled, String> {
        if run.is_some_and(|run| !self.is_current(run)) {
            let subject = subject::title(self.raw, self.spec);
            let round = self.raw.count(self.spec.round);
            return Err(format!(
                "{subject} was changed after the review of round {round}; end your turn, and the next round reviews it"
            ));
        }
        // Findings of every round on exactly these bytes are open: another persona's clean round
        // does not settle an unedited plan.
        let verdicts = self
            .verdicts(|run| self.is_current(run))
            .map_err(unreadable)?;
        // A finding of several rounds counts once.
        let known = finding_history::standings(&verdicts);
        let open = Counts::new(known.iter().map(|one| &one.finding));
        // `min` is the heavier one: the findings that block, or at least medium ones.
        let unsettled = open.at_least(self.spec.blocking.min(Severity::Medium));
        let why = why
            .map(|why| why.trim().to_owned())
            .filter(|why| !why.is_empty());
        if run.is_some() && unsettled > 0 && why.is_none() {
            return Err(format!(
                "findings are open ({open}) and what was reviewed is unchanged; deal with them and end your turn, or say \
                 why not: --rejecting \"<why>\""
            ));
        }
        let mut evidence = self.reviewed(run);
        evidence.0.kind = Requirement::Settled;
        // Rejecting nothing is no caveat of the summary.
        evidence.0.rejecting = why.filter(|_| open.at_least(Severity::Low) > 0);
        Ok(Settled(evidence))
    }
}
