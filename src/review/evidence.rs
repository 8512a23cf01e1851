//! Evidence of a round's review.
//!
//! [`Reviewed`] is a run of this loop and round whose reviewer gave a verdict. [`Settled`] is a `Reviewed` whose subject is unchanged and that leaves nothing material open, or that has the reason
//! for rejecting open findings. Only this file makes either. If the user made evidence optional, a waived one replaces a
//! missing review; the journal and the summary name it.

use std::io;
use std::ops::Deref;
use std::time::{Duration, Instant};

use super::digest::Digest;
use super::findings::Findings;
use super::runs::{self, Run};
use super::{finding_history, subject, worktree};
use crate::machine::table::{Blocking, ReviewSpec};
use crate::machine::{EvidenceRecord, LoopFacts as _, Raw, Refusal, Requirement};

pub use crate::machine::EvidencePolicy;

/// The longest time for reading the work tree, to compare it with the reviewed one.
const TREE_TIMEOUT: Duration = Duration::from_secs(20);

/// A review of this round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reviewed(EvidenceRecord);

/// A review of this round that leaves nothing material open, of a subject that is unchanged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settled(Reviewed);

impl Reviewed {
    /// Returns the record for an edge.
    pub(crate) fn record(&self) -> &EvidenceRecord {
        &self.0
    }
}

impl Deref for Settled {
    type Target = Reviewed;

    fn deref(&self) -> &Reviewed {
        &self.0
    }
}

/// The reason for missing evidence, and the next step.
#[derive(Debug)]
pub struct Missing(String);

impl Missing {
    /// Converts it to the refusal of a transition.
    pub fn refusal(self, transition: &'static str, requirement: Requirement) -> Refusal {
        Refusal::Evidence {
            transition,
            requirement,
            problem: self.0,
        }
    }
}

impl From<io::Error> for Missing {
    fn from(error: io::Error) -> Self {
        Self(format!("could not read it: {error}"))
    }
}

/// The state of the round's review.
#[derive(Debug)]
pub enum Found {
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
    /// The last one could not run, or could not be read, and was not counted yet.
    Failed,
}

/// Returns the state of the round's review, for a stop, and the run that it comes from.
///
/// # Errors
/// Returns an error if the journal or the subject cannot be read.
pub fn inspect(raw: &Raw, spec: &ReviewSpec) -> io::Result<(Found, Option<String>)> {
    let round = Round::new(raw, spec)?;
    if round.is_running() {
        return Ok((Found::Running, None));
    }
    if let Some(run) = round.verdict() {
        let found = match round.settle(Some(run), None) {
            Ok(settled) if round.is_clean(run) => Found::Clean(settled),
            _ if finding_history::is_stalled(&round.verdicts(|_| true)?) => {
                Found::Stalled(round.reviewed(Some(run)))
            }
            _ => Found::Findings(round.reviewed(Some(run))),
        };
        return Ok((found, Some(run.began.run.clone())));
    }
    Ok(match round.failure() {
        Some((run, _)) if !run.counted => (Found::Failed, Some(run.began.run.clone())),
        None if raw.policy() == EvidencePolicy::Optional => {
            (Found::Findings(round.reviewed(None)), None)
        }
        _ => (Found::Nothing, None),
    })
}

/// Returns evidence that the round was reviewed.
///
/// # Errors
/// Returns the reason if there is none.
pub fn reviewed(raw: &Raw, spec: Option<&'static ReviewSpec>) -> Result<Reviewed, Missing> {
    let round = round_of(raw, spec)?;
    Ok(round.reviewed(round.demand()?))
}

/// Returns evidence that the round is settled.
///
/// # Errors
/// Returns the reason if it is not.
pub fn settled(
    raw: &Raw,
    spec: Option<&'static ReviewSpec>,
    rejecting: Option<String>,
) -> Result<Settled, Missing> {
    let round = round_of(raw, spec)?;
    round.settle(round.demand()?, rejecting)
}

fn round_of<'r>(raw: &'r Raw, spec: Option<&'r ReviewSpec>) -> Result<Round<'r>, Missing> {
    let no_review = || Missing("this phase has no review that could show it".to_owned());
    Ok(Round::new(raw, spec.ok_or_else(no_review)?)?)
}

/// Returns the rounds of a loop that were reviewed, oldest first, each as the run whose verdict counts.
///
/// # Errors
/// Returns an error if the journal cannot be read.
pub fn history(raw: &Raw, spec: &ReviewSpec) -> io::Result<Vec<Run>> {
    Round::new(raw, spec)?.verdicts(|_| true)
}

/// Returns whether this round had a clean review that no longer counts, because the subject has changed. It had none if it cannot
/// be read.
pub fn is_outdated(raw: &Raw, spec: &ReviewSpec) -> bool {
    let is_newest_outdated = |round: Round<'_>| {
        let newest = round.newest_verdict();
        newest.is_some_and(|run| round.is_outdated(run))
    };
    Round::new(raw, spec).is_ok_and(is_newest_outdated)
}

/// Returns whether this round has a verdict without a blocking finding. It has none if it cannot be read.
pub fn is_clean(raw: &Raw, spec: &ReviewSpec) -> bool {
    let has_clean = |round: Round<'_>| round.verdict().is_some_and(|run| round.is_clean(run));
    Round::new(raw, spec).is_ok_and(has_clean)
}

/// Returns the run of this round whose verdict counts.
pub(crate) fn verdict(raw: &Raw, spec: &ReviewSpec) -> io::Result<Option<Run>> {
    Ok(Round::new(raw, spec)?.verdict().cloned())
}

/// The round of a loop, with its runs.
struct Round<'r> {
    raw: &'r Raw,
    spec: &'r ReviewSpec,
    number: u64,
    /// The runs of its visit, and maybe earlier ones.
    runs: Vec<Run>,
    subject: Option<Digest>,
}

impl<'r> Round<'r> {
    fn new(raw: &'r Raw, spec: &'r ReviewSpec) -> io::Result<Self> {
        let journal = raw.recent().map_err(io::Error::other)?;
        Ok(Self {
            raw,
            spec,
            number: raw.count(spec.round),
            runs: runs::read(&journal),
            subject: subject::now(raw, spec)?.map(|bytes| Digest::from_bytes(&bytes)),
        })
    }

    fn is_running(&self) -> bool {
        self.raw.store().is_running(self.raw.id())
    }

    /// Returns the runs of the round, oldest first.
    fn own_runs(&self) -> impl DoubleEndedIterator<Item = &Run> {
        let is_own = |run: &&Run| run.is_of(self.raw, self.number);
        self.runs.iter().filter(is_own)
    }

    /// Returns the newest run of the round that gave a verdict.
    fn newest_verdict(&self) -> Option<&Run> {
        self.own_runs().rfind(|run| run.verdict().is_some())
    }

    /// Returns the newest verdict, if it counts.
    fn verdict(&self) -> Option<&Run> {
        self.newest_verdict().filter(|run| !self.is_outdated(run))
    }

    /// Returns whether a verdict has no blocking finding.
    fn is_clean(&self, run: &Run) -> bool {
        let findings = run.verdict();
        findings.is_some_and(|findings| findings.blocking(self.spec.blocking) == 0)
    }

    /// Returns whether a clean run looked at another text than the present one. If each review starts clean, it then
    /// counts for nothing, and another one is due.
    fn is_outdated(&self, run: &Run) -> bool {
        if !self.spec.fresh || !self.is_clean(run) {
            return false;
        }
        if self.subject.as_ref() != Some(&run.began.subject) {
            return true;
        }
        let until = Instant::now() + TREE_TIMEOUT;
        run.began.tree.is_some()
            && subject::has_changes(self.raw, self.spec)
            && worktree::tree_id(self.raw.store(), Some(until)) != run.began.tree
    }

    /// Returns the verdicts that count here, the newest of each round, oldest first: those of all rounds, or of this visit alone if
    /// each visit starts clean.
    fn verdicts(&self, counts: impl Fn(&Run) -> bool) -> io::Result<Vec<Run>> {
        let mut runs = if self.spec.fresh {
            self.own_runs().cloned().collect()
        } else {
            runs::read(&self.raw.journal().map_err(io::Error::other)?)
        };
        runs.retain(counts);
        Ok(runs::verdicts(runs).into_values().collect())
    }

    /// Returns the newest run of the round with its cause, if it failed.
    fn failure(&self) -> Option<(&Run, String)> {
        let newest = self.own_runs().next_back()?;
        Some((newest, newest.cause()?.to_string()))
    }

    /// Returns the run whose verdict counts, or `None` if the review is waived.
    fn demand(&self) -> Result<Option<&Run>, Missing> {
        let round = self.number;
        let why = if self.is_running() {
            format!("the review of round {round} is still running; follow it")
        } else if let Some(run) = self.verdict() {
            return Ok(Some(run));
        } else if self.raw.policy() == EvidencePolicy::Optional {
            return Ok(None);
        } else if let Some((_, cause)) = self.failure() {
            format!("the review of round {round} gave no verdict ({cause}); run it again")
        } else if self.newest_verdict().is_some() {
            format!("what round {round} reviewed was changed since; run the review again")
        } else {
            format!("round {round} was not reviewed yet; run the review first")
        };
        let program = self.raw.table().state.program;
        let review = format!("{program} review {}", self.raw.id());
        Err(Missing(format!("{why}:\n    {review}")))
    }

    /// Makes evidence of a run, or of a review that was waived.
    fn reviewed(&self, run: Option<&Run>) -> Reviewed {
        let subject = run.map_or(self.subject.as_ref(), |run| Some(&run.began.subject));
        Reviewed(EvidenceRecord {
            run: run.map(|run| run.began.run.clone()),
            findings: run.and_then(Run::findings_file).map(|file| file.number),
            subject: subject.map(ToString::to_string),
            waived: run.is_none(),
            ..EvidenceRecord::new(self.raw, Requirement::Reviewed, self.number)
        })
    }

    /// Makes settled evidence: the subject is unchanged, and nothing material is open or a reason is given.
    fn settle(&self, run: Option<&Run>, why: Option<String>) -> Result<Settled, Missing> {
        if run.is_some_and(|run| Some(&run.began.subject) != self.subject.as_ref()) {
            let subject = subject::title(self.raw, self.spec);
            return Err(Missing(format!(
                "{subject} was changed after the review of round {}; end your turn, and the next round reviews it",
                self.number
            )));
        }
        let verdict = run.and_then(Run::verdict);
        if let Some(finding) = verdict.and_then(Findings::unreviewed_lines) {
            return Err(Missing(format!(
                "{}; this cannot be rejected: deal with it and end your turn, and the next round reviews it",
                finding.what
            )));
        }
        // The findings of every round that reviewed exactly these bytes are open: a clean round of another persona does not settle a
        // plan that nobody edited.
        let is_same = |run: &Run| Some(&run.began.subject) == self.subject.as_ref();
        let verdicts = self.verdicts(is_same)?;
        let open = verdicts.iter().flat_map(|run| run.findings().to_vec());
        let open = Findings(open.collect()).counts();
        let unsettled = match self.spec.blocking {
            Blocking::Low | Blocking::Medium => open.material(),
            Blocking::High => open.high,
        };
        let why = why
            .map(|why| why.trim().to_owned())
            .filter(|why| !why.is_empty());
        if run.is_some() && unsettled > 0 && why.is_none() {
            return Err(Missing(format!(
                "findings are open ({open}) and what was reviewed is unchanged; deal with them and end your turn, or say \
                 why not: --rejecting \"<why>\""
            )));
        }
        let mut evidence = self.reviewed(run);
        evidence.0.kind = Requirement::Settled;
        // A reason for rejecting nothing is no caveat of the summary.
        evidence.0.rejecting = why.filter(|_| open.material() + open.low > 0);
        Ok(Settled(evidence))
    }
}
