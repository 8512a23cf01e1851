//! Evidence: what a loop can show for its round.
//!
//! [`Reviewed`] is a run of this loop and round whose reviewer gave a verdict, and whose JSON twin still has the digest
//! that the journal noted. [`Settled`] is a `Reviewed` whose subject is unchanged and which leaves nothing material
//! open, or comes with the reason for rejecting what is open. Nothing outside this file can make either.
//!
//! With `CLAUDEX_EVIDENCE=optional` a waived one is made where there is no review; the journal and the summary say so.

use std::io;
use std::ops::Deref;
use std::sync::OnceLock;

use camino::Utf8PathBuf;

use crate::machine::claim::{Claim, Grounds};
use crate::machine::{Actor, Raw, Refusal, Requirement};
use crate::review::findings::{Counts, Findings};
use crate::review::runs::{self, How, Run};
use crate::review::track;
use crate::review::twin::{self, Twin};
use crate::review::{Digest, ReviewSpec};

/// The environment variable that decides whether a round counts without a review: `required` (default) or `optional`.
pub const EVIDENCE_ENV: &str = "CLAUDEX_EVIDENCE";

/// Whether a round counts without a review.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    /// It does not.
    Required,
    /// It does, and the summary says so.
    Optional,
}

/// The policy where the environment says nothing; the application sets it once, from the person's configuration.
static USUAL: OnceLock<Policy> = OnceLock::new();

impl Policy {
    /// Reads a value of [`EVIDENCE_ENV`]. Anything but `optional` is `required`: a typo must not open the gate.
    pub fn parse(value: &str) -> Self {
        match value.trim() {
            "optional" => Policy::Optional,
            _ => Policy::Required,
        }
    }

    /// Reads what the environment says, where it says anything.
    fn from_env() -> Option<Self> {
        let value = std::env::var(EVIDENCE_ENV).ok()?;
        (!value.trim().is_empty()).then(|| Self::parse(&value))
    }

    /// The policy of this process: the environment's, else the application's, else `required`.
    pub fn current() -> Self {
        Self::from_env()
            .or_else(|| USUAL.get().copied())
            .unwrap_or(Policy::Required)
    }

    /// The policy for who holds a loop. What an agent's own environment says waives nothing: it can set that for every
    /// command, and the person behind it did not. The hook's and a person's counts.
    pub fn of(actor: Actor) -> Self {
        match actor {
            Actor::Agent => USUAL.get().copied().unwrap_or(Policy::Required),
            Actor::Hook | Actor::Person => Self::current(),
        }
    }

    /// Makes this the policy of the process where the environment says nothing. Only the first call counts: what a loop is
    /// judged by does not change under it.
    pub fn make_usual(self) {
        let _ = USUAL.set(self);
    }
}

/// A review of this round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reviewed {
    claim: Claim,
    findings: Findings,
}

/// A review of this round that leaves nothing material open, of a subject that is unchanged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settled(Reviewed);

impl Reviewed {
    /// What the reviewer found; empty where the review was waived.
    pub fn findings(&self) -> &Findings {
        &self.findings
    }

    /// The run that it comes from.
    pub fn run(&self) -> Option<&str> {
        self.claim.run()
    }

    /// Whether there was no review at all (`CLAUDEX_EVIDENCE=optional`).
    pub fn is_waived(&self) -> bool {
        self.claim.is_waived()
    }

    /// What it says to an edge.
    pub(crate) fn claim(&self) -> &Claim {
        &self.claim
    }
}

impl Deref for Settled {
    type Target = Reviewed;

    fn deref(&self) -> &Reviewed {
        &self.0
    }
}

/// What a look at the round's reviews found.
#[derive(Debug)]
pub enum Found {
    /// The reviewer found nothing, nothing material is open, and the subject is unchanged.
    Clean(Settled),
    /// The round was reviewed.
    Findings(Reviewed),
    /// The round was reviewed, and it found what earlier rounds of the same persona have found again and again.
    Stalled(Reviewed),
    /// No review of this round counts.
    Nothing,
    /// One is running.
    Running,
    /// The last one failed and was not counted yet.
    Failed {
        /// Its run.
        run: String,
    },
}

/// Why there is no evidence.
#[derive(Debug, derive_more::Display)]
pub enum Missing {
    /// No review of this round has ended with a verdict.
    #[display("round {round} was not reviewed yet; run the review first:\n    claudex-loop review {id}")]
    NotReviewed {
        /// The round.
        round: u64,
        /// The loop.
        id: String,
    },
    /// One is running.
    #[display("the review of round {round} is still running; follow it:\n    claudex-loop review {id}")]
    Running {
        /// The round.
        round: u64,
        /// The loop.
        id: String,
    },
    /// There are findings, and no review of this loop wrote them.
    #[display(
        "round {round} was not reviewed yet: {file} is there, and no review of this loop wrote it; run the review first:\n    \
         claudex-loop review {id}", file = crate::text::shown(file)
    )]
    Unexplained {
        /// The round.
        round: u64,
        /// The findings, in the loop's folder.
        file: String,
        /// The loop.
        id: String,
    },
    /// The last one failed.
    #[display(
        "the review of round {round} gave no verdict ({cause}); run it again:\n    claudex-loop review {id}"
    )]
    Failed {
        /// The round.
        round: u64,
        /// Why.
        cause: String,
        /// The loop.
        id: String,
    },
    /// The findings were edited after the run.
    #[display(
        "the findings of round {round} are not those of its run any more; run the review again:\n    claudex-loop review {id}"
    )]
    Tampered {
        /// The round.
        round: u64,
        /// The loop.
        id: String,
    },
    /// What was reviewed has changed.
    #[display(
        "{subject} was changed after the review of round {round}; end your turn, and the next round reviews it", subject = crate::text::shown(subject)
    )]
    Changed {
        /// What was reviewed.
        subject: String,
        /// The round.
        round: u64,
    },
    /// Material findings are open.
    #[display(
        "findings are open ({counts}) and what was reviewed is unchanged; deal with them and end your turn, or say why not: \
         --rejecting \"<why>\""
    )]
    Open {
        /// How many.
        counts: Counts,
    },
    /// The phase has no review.
    #[display("this phase has no review that could show it")]
    NoReview,
    /// The system refused.
    #[display("could not read it: {_0}")]
    Unreadable(io::Error),
}

impl Missing {
    /// As the refusal of a transition.
    pub fn refusal(self, transition: &'static str, requirement: Requirement) -> Refusal {
        Refusal::Evidence {
            transition,
            requirement,
            problem: self.to_string(),
        }
    }
}

/// What the round shows, for a stop.
///
/// # Errors
/// The journal, the subject or a twin is there and cannot be read.
pub fn look(raw: &Raw, spec: &ReviewSpec) -> io::Result<Found> {
    let round = Round::of(raw, spec)?;
    if round.is_running() {
        return Ok(Found::Running);
    }
    if let Some((run, twin)) = round.verdict()? {
        let reviewed = round.reviewed(run, twin);
        if reviewed.findings.is_empty()
            && let Ok(settled) = round.settle(reviewed.clone(), None)
        {
            return Ok(Found::Clean(settled));
        }
        return Ok(if track::is_stalled(&round.history()?) {
            Found::Stalled(reviewed)
        } else {
            Found::Findings(reviewed)
        });
    }
    if let Some(failed) = round.failure() {
        if !failed.counted {
            return Ok(Found::Failed {
                run: failed.began.run.clone(),
            });
        }
    } else if Policy::of(raw.actor()) == Policy::Optional {
        return Ok(Found::Findings(round.waived()));
    }
    Ok(Found::Nothing)
}

/// The findings of this round that no run explains, if there are any. They count for nothing; the next review replaces them.
///
/// # Errors
/// The journal or the subject is there and cannot be read.
pub fn unexplained(raw: &Raw, spec: &ReviewSpec) -> io::Result<Option<Utf8PathBuf>> {
    Ok(Round::of(raw, spec)?.unexplained())
}

/// Evidence that the round was reviewed.
///
/// # Errors
/// What is missing.
pub fn reviewed(raw: &Raw, spec: Option<&'static ReviewSpec>) -> Result<Reviewed, Missing> {
    let round = Round::of(raw, spec.ok_or(Missing::NoReview)?).map_err(Missing::Unreadable)?;
    round.demand()
}

/// Evidence that the round is settled.
///
/// # Errors
/// What is missing.
pub fn settled(
    raw: &Raw,
    spec: Option<&'static ReviewSpec>,
    rejecting: Option<String>,
) -> Result<Settled, Missing> {
    let round = Round::of(raw, spec.ok_or(Missing::NoReview)?).map_err(Missing::Unreadable)?;
    round.settle(round.demand()?, rejecting)
}

/// The rounds of a loop that were reviewed, oldest first, each with the verdict that counts.
///
/// # Errors
/// The journal or a twin cannot be read.
pub fn history(raw: &Raw, spec: &ReviewSpec) -> io::Result<Vec<track::Round>> {
    Round::of(raw, spec)?.history()
}

/// The run of this round whose verdict counts, with what it said.
///
/// # Errors
/// The journal or a twin cannot be read.
pub(crate) fn verdict(raw: &Raw, spec: &ReviewSpec) -> io::Result<Option<(Run, Twin)>> {
    Ok(Round::of(raw, spec)?
        .verdict()?
        .map(|(run, twin)| (run.clone(), twin)))
}

/// A loop's round with its runs.
struct Round<'r> {
    raw: &'r Raw,
    spec: &'r ReviewSpec,
    number: u64,
    runs: Vec<Run>,
    subject: Option<Digest>,
}

impl<'r> Round<'r> {
    fn of(raw: &'r Raw, spec: &'r ReviewSpec) -> io::Result<Self> {
        let journal = raw.store().journal(raw.id()).map_err(io::Error::other)?;
        let subject = match raw.read(spec.subject) {
            Ok(bytes) => Some(Digest::of(&bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        Ok(Self {
            raw,
            spec,
            number: raw.count(spec.round),
            runs: runs::read(&journal),
            subject,
        })
    }

    fn is_running(&self) -> bool {
        self.raw.store().is_running(self.raw.id())
    }

    fn of_round(&self) -> impl DoubleEndedIterator<Item = &Run> {
        self.runs.iter().filter(|run| run.began.round == self.number)
    }

    /// The newest run of the round that gave a verdict and whose twin is untouched.
    fn verdict(&self) -> io::Result<Option<(&Run, Twin)>> {
        for run in self.of_round().rev() {
            if let Some(twin) = self.twin_of(run)? {
                return Ok(Some((run, twin)));
            }
        }
        Ok(None)
    }

    fn twin_of(&self, run: &Run) -> io::Result<Option<Twin>> {
        let Some(digest) = run.ended.as_ref().and_then(How::digest) else {
            return Ok(None);
        };
        let twin = Twin::read(self.raw.store(), self.raw.id(), run.began.round, digest)?;
        Ok(twin.filter(|twin| {
            twin.run == run.began.run
                && twin.round == run.began.round
                && twin.loop_id == self.raw.id().as_str()
                && twin.subject == run.began.subject
        }))
    }

    /// Every round with a verdict, oldest first.
    fn history(&self) -> io::Result<Vec<track::Round>> {
        let mut rounds: Vec<track::Round> = Vec::new();
        for run in self.runs.iter().rev() {
            let number = run.began.round;
            if rounds.iter().any(|round| round.number == number) {
                continue;
            }
            if let Some(twin) = self.twin_of(run)? {
                rounds.push(track::Round {
                    number,
                    persona: twin.persona,
                    findings: twin.findings,
                });
            }
        }
        rounds.sort_by_key(|round| round.number);
        Ok(rounds)
    }

    /// The newest run of the round, if it failed.
    fn failure(&self) -> Option<&Run> {
        self.of_round()
            .next_back()
            .filter(|run| run.ended.as_ref().is_some_and(|how| how.cause().is_some()))
    }

    fn demand(&self) -> Result<Reviewed, Missing> {
        let (round, id) = (self.number, self.raw.id().to_string());
        if self.is_running() {
            return Err(Missing::Running { round, id });
        }
        if let Some((run, twin)) = self.verdict().map_err(Missing::Unreadable)? {
            return Ok(self.reviewed(run, twin));
        }
        if Policy::of(self.raw.actor()) == Policy::Optional {
            return Ok(self.waived());
        }
        if let Some(cause) = self
            .failure()
            .and_then(|run| run.ended.as_ref())
            .and_then(How::cause)
        {
            return Err(Missing::Failed {
                round,
                cause: cause.to_string(),
                id,
            });
        }
        let told = self
            .of_round()
            .any(|run| run.ended.as_ref().is_some_and(|how| how.digest().is_some()));
        Err(if told {
            Missing::Tampered { round, id }
        } else if let Some(file) = self.unexplained() {
            let file = file.file_name().unwrap_or_default().to_owned();
            Missing::Unexplained { round, file, id }
        } else {
            Missing::NotReviewed { round, id }
        })
    }

    /// The round's findings where no run of it was ever noted: someone else wrote them.
    fn unexplained(&self) -> Option<Utf8PathBuf> {
        if self.of_round().next().is_some() {
            return None;
        }
        let (store, id) = (self.raw.store(), self.raw.id());
        [
            twin::findings_path(store, id, self.number),
            twin::twin_path(store, id, self.number),
        ]
        .into_iter()
        .find(|path| {
            store
                .folder_of(path)
                .is_ok_and(|(folder, name)| folder.has(&name))
        })
    }

    fn grounds(&self, kind: Requirement) -> Grounds {
        Grounds {
            kind,
            loop_id: self.raw.id().to_string(),
            run: None,
            round: self.number,
            revision: self.raw.record().revision(),
            subject: self.subject.as_ref().map(ToString::to_string),
            rejecting: None,
            waived: false,
        }
    }

    fn reviewed(&self, run: &Run, twin: Twin) -> Reviewed {
        let grounds = Grounds {
            run: Some(run.began.run.clone()),
            subject: Some(run.began.subject.to_string()),
            ..self.grounds(Requirement::Reviewed)
        };
        Reviewed {
            claim: Claim::new(grounds),
            findings: twin.findings,
        }
    }

    fn waived(&self) -> Reviewed {
        let grounds = Grounds {
            waived: true,
            ..self.grounds(Requirement::Reviewed)
        };
        Reviewed {
            claim: Claim::new(grounds),
            findings: Findings::default(),
        }
    }

    /// From reviewed to settled: the subject unchanged, nothing material open, or a reason given.
    fn settle(&self, reviewed: Reviewed, rejecting: Option<String>) -> Result<Settled, Missing> {
        let unchanged =
            reviewed.is_waived() || self.subject.as_ref().map(Digest::as_str) == reviewed.claim.subject();
        if !unchanged {
            return Err(Missing::Changed {
                subject: self.raw.fill(self.spec.subject),
                round: self.number,
            });
        }
        let rejecting = rejecting
            .map(|why| why.trim().to_owned())
            .filter(|why| !why.is_empty());
        let open = self.open().map_err(Missing::Unreadable)?;
        if !reviewed.is_waived() && open.material() > 0 && rejecting.is_none() {
            return Err(Missing::Open { counts: open });
        }
        // A reason for rejecting nothing is no admission for the summary.
        let rejecting = rejecting.filter(|_| open.material() + open.low > 0);
        let grounds = Grounds {
            kind: Requirement::Settled,
            run: reviewed.claim.run().map(str::to_owned),
            subject: reviewed.claim.subject().map(str::to_owned),
            rejecting,
            waived: reviewed.is_waived(),
            ..self.grounds(Requirement::Settled)
        };
        Ok(Settled(Reviewed {
            claim: Claim::new(grounds),
            findings: reviewed.findings,
        }))
    }

    /// What is open on the subject as it is now: the findings of every round that reviewed exactly these bytes. A plan
    /// that nobody touched cannot be settled by another persona's clean round.
    fn open(&self) -> io::Result<Counts> {
        let mut open = Counts::default();
        let mut seen: Vec<u64> = Vec::new();
        for run in self.runs.iter().rev() {
            if Some(&run.began.subject) != self.subject.as_ref() || seen.contains(&run.began.round) {
                continue;
            }
            if let Some(twin) = self.twin_of(run)? {
                seen.push(run.began.round);
                let counts = twin.findings.counts();
                open.high += counts.high;
                open.medium += counts.medium;
                open.low += counts.low;
            }
        }
        Ok(open)
    }
}
