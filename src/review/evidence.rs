//! Evidence: what a loop can show for its round.
//!
//! [`Reviewed`] is a run of this loop and round whose reviewer gave a verdict, and whose findings JSON still has the digest
//! that the journal noted. [`Settled`] is a `Reviewed` whose subject is unchanged and which leaves nothing material
//! open, or comes with the reason for rejecting what is open. Nothing outside this file can make either.
//!
//! Where the person made evidence optional a waived one is made where there is no review; the journal and the summary say so.

use std::io;
use std::ops::Deref;
use std::time::{Duration, Instant};

use camino::Utf8PathBuf;

use crate::machine::EvidenceRecord;
use crate::machine::{Raw, Refusal, Requirement};
use crate::review::copy;
use crate::review::finding_history;
use crate::review::findings::{Counts, Finding, Findings};
use crate::review::findings_json::{self, FindingsJson};
use crate::review::portion::UNREVIEWED;
use crate::review::runs::{self, Run, RunOutcome};
use crate::review::subject;
use crate::review::{Blocking, Digest, ReviewSpec};

pub use crate::machine::evidence_record::EvidencePolicy;

/// How long reading the work tree may take, to compare it with what was reviewed.
const TREE_TIMEOUT: Duration = Duration::from_secs(20);

/// A review of this round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reviewed {
    record: EvidenceRecord,
    findings: Findings,
}

/// A review of this round that leaves nothing material open, of a subject that is unchanged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settled(Reviewed);

impl Reviewed {
    /// Returns what the reviewer found; empty where the review was waived.
    pub fn findings(&self) -> &Findings {
        &self.findings
    }

    /// Returns the run that it comes from.
    pub fn run(&self) -> Option<&str> {
        self.record.run.as_deref()
    }

    /// Returns whether there was no review at all (`CLAUDEX_EVIDENCE=optional`).
    pub fn is_waived(&self) -> bool {
        self.record.waived
    }

    /// Returns what it says to an edge.
    pub(crate) fn record(&self) -> &EvidenceRecord {
        &self.record
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
    #[display("round {round} was not reviewed yet; run the review first:\n    {review}")]
    NotReviewed {
        /// The round.
        round: u64,
        /// The command that reviews it.
        review: String,
    },
    /// One is running.
    #[display("the review of round {round} is still running; follow it:\n    {review}")]
    Running {
        /// The round.
        round: u64,
        /// The command that reviews it.
        review: String,
    },
    /// There are findings, and no review of this loop wrote them.
    #[display(
        "round {round} was not reviewed yet: {file} is there, and no review of this loop wrote it; run the review first:\n    \
         {review}", file = crate::text::shown(file)
    )]
    Unexplained {
        /// The round.
        round: u64,
        /// The findings, in the loop's folder.
        file: String,
        /// The command that reviews it.
        review: String,
    },
    /// The last one failed.
    #[display("the review of round {round} gave no verdict ({cause}); run it again:\n    {review}")]
    Failed {
        /// The round.
        round: u64,
        /// Why.
        cause: String,
        /// The command that reviews it.
        review: String,
    },
    /// The findings were edited after the run.
    #[display(
        "the findings of round {round} are not those of its run any more; run the review again:\n    {review}"
    )]
    Tampered {
        /// The round.
        round: u64,
        /// The command that reviews it.
        review: String,
    },
    /// What was reviewed has changed.
    #[display(
        "{subject} was changed after the review of round {round}; end your turn, and the next round reviews it"
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
    /// The subject is longer than a review takes.
    #[display(
        "{what}; this cannot be rejected: deal with it and end your turn, and the next round reviews it"
    )]
    Unreviewed {
        /// The finding that names the lines.
        what: String,
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

/// Returns what the round shows, for a stop.
///
/// # Errors
/// The journal, the subject or a findings JSON is there and cannot be read.
pub fn inspect(raw: &Raw, spec: &ReviewSpec) -> io::Result<Found> {
    let round = Round::of(raw, spec)?;
    if round.is_running() {
        return Ok(Found::Running);
    }
    if let Some((run, findings_json)) = round.verdict()? {
        let reviewed = round.reviewed(run, findings_json);
        if blocking(spec, &reviewed.findings) == 0
            && let Ok(settled) = round.settle(reviewed.clone(), None)
        {
            return Ok(Found::Clean(settled));
        }
        return Ok(if finding_history::is_stalled(&round.history()?) {
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
    } else if raw.policy() == EvidencePolicy::Optional {
        return Ok(Found::Findings(round.waived()));
    }
    Ok(Found::Nothing)
}

/// Returns the findings of this round that no run explains, if there are any. They count for nothing; the next review replaces
/// them.
///
/// # Errors
/// The journal or the subject is there and cannot be read.
pub fn unexplained(raw: &Raw, spec: &ReviewSpec) -> io::Result<Option<Utf8PathBuf>> {
    Ok(Round::of(raw, spec)?.unexplained())
}

/// Returns evidence that the round was reviewed.
///
/// # Errors
/// What is missing.
pub fn reviewed(raw: &Raw, spec: Option<&'static ReviewSpec>) -> Result<Reviewed, Missing> {
    let round = Round::of(raw, spec.ok_or(Missing::NoReview)?).map_err(Missing::Unreadable)?;
    round.demand()
}

/// Returns evidence that the round is settled.
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

/// Returns the rounds of a loop that were reviewed, oldest first, each with the verdict that counts.
///
/// # Errors
/// The journal or a findings JSON cannot be read.
pub fn history(raw: &Raw, spec: &ReviewSpec) -> io::Result<Vec<finding_history::Round>> {
    Round::of(raw, spec)?.history()
}

/// Returns whether this round has a verdict, and nothing in it that blocks. What cannot be read has not.
pub fn is_clean(raw: &Raw, spec: &ReviewSpec) -> bool {
    let of_verdict = |round: Round<'_>| {
        let verdict = round.verdict().ok().flatten();
        verdict.is_some_and(|(_, json)| blocking(spec, &json.findings) == 0)
    };
    Round::of(raw, spec).is_ok_and(of_verdict)
}

/// Returns whether this round had a clean review that no longer counts, because what was reviewed has changed. What cannot be
/// read had none.
pub fn is_outdated(raw: &Raw, spec: &ReviewSpec) -> bool {
    let of_verdict = |round: Round<'_>| {
        let newest = round.newest_verdict().ok().flatten();
        newest.is_some_and(|(run, json)| round.is_outdated(run, &json))
    };
    Round::of(raw, spec).is_ok_and(of_verdict)
}

/// Returns the run of this round whose verdict counts, with what it said.
///
/// # Errors
/// The journal or a findings JSON cannot be read.
pub(crate) fn verdict(raw: &Raw, spec: &ReviewSpec) -> io::Result<Option<(Run, FindingsJson)>> {
    Ok(Round::of(raw, spec)?
        .verdict()?
        .map(|(run, findings_json)| (run.clone(), findings_json)))
}

/// Returns how many of these keep a round from being clean.
pub fn blocking(spec: &ReviewSpec, findings: &Findings) -> usize {
    let counts = findings.counts();
    let unreviewed = unreviewed_lines(findings);
    match spec.blocking {
        Blocking::Low => counts.material() + counts.low,
        Blocking::Medium => counts.material(),
        Blocking::High => counts.high + usize::from(unreviewed.is_some()),
    }
}

/// Returns the finding that names the lines that were not reviewed.
fn unreviewed_lines(findings: &Findings) -> Option<&Finding> {
    let mut all = findings.0.iter();
    all.find(|finding| finding.check.as_deref() == Some(UNREVIEWED))
}

/// A loop's round with its runs.
struct Round<'r> {
    raw: &'r Raw,
    spec: &'r ReviewSpec,
    number: u64,
    /// Those of its visit are among them, and maybe earlier ones.
    runs: Vec<Run>,
    subject: Option<Digest>,
}

impl<'r> Round<'r> {
    fn of(raw: &'r Raw, spec: &'r ReviewSpec) -> io::Result<Self> {
        let journal = raw.recent().map_err(io::Error::other)?;
        Ok(Self {
            raw,
            spec,
            number: raw.count(spec.round),
            runs: runs::read(&journal),
            subject: subject::digest(raw, spec)?,
        })
    }

    fn is_running(&self) -> bool {
        self.raw.store().is_running(self.raw.id())
    }

    fn of_round(&self) -> impl DoubleEndedIterator<Item = &Run> {
        let is_of = |run: &&Run| run.is_of(self.raw, self.number);
        self.runs.iter().filter(is_of)
    }

    /// Returns the newest run of the round that gave a verdict and whose findings JSON is untouched.
    fn verdict(&self) -> io::Result<Option<(&Run, FindingsJson)>> {
        let newest = self.newest_verdict()?;
        Ok(newest.filter(|(run, json)| !self.is_outdated(run, json)))
    }

    fn newest_verdict(&self) -> io::Result<Option<(&Run, FindingsJson)>> {
        for run in self.of_round().rev() {
            if let Some(findings_json) = self.json_of(run)? {
                return Ok(Some((run, findings_json)));
            }
        }
        Ok(None)
    }

    /// Returns whether a clean run looked at something else than what is there now. Where each review starts clean, it then
    /// counts for nothing, and another one is due.
    fn is_outdated(&self, run: &Run, findings_json: &FindingsJson) -> bool {
        if !self.spec.fresh || blocking(self.spec, &findings_json.findings) > 0 {
            return false;
        }
        let is_same_tree = |reviewed: &String| {
            let until = Instant::now() + TREE_TIMEOUT;
            copy::tree_id(self.raw.store(), Some(until)).as_ref() == Some(reviewed)
        };
        let reviewed = run.began.tree.as_ref();
        let reviewed = reviewed.filter(|_| subject::has_changes(self.raw, self.spec));
        self.subject.as_ref() != Some(&run.began.subject) || !reviewed.is_none_or(is_same_tree)
    }

    fn json_of(&self, run: &Run) -> io::Result<Option<FindingsJson>> {
        let findings_json = FindingsJson::of_run(self.raw.store(), self.raw.id(), run)?;
        Ok(findings_json.filter(|findings_json| {
            findings_json.run == run.began.run
                && findings_json.round == run.began.round
                && findings_json.loop_id == self.raw.id().as_str()
                && findings_json.subject == run.began.subject
        }))
    }

    /// Returns the runs of all rounds whose findings count here.
    fn counting(&self) -> io::Result<Vec<Run>> {
        match self.spec.fresh {
            true => Ok(self.of_round().cloned().collect()),
            false => self.all(),
        }
    }

    /// Returns the runs of all rounds.
    fn all(&self) -> io::Result<Vec<Run>> {
        let journal = self.raw.journal().map_err(io::Error::other)?;
        Ok(runs::read(&journal))
    }

    /// Returns every round with a verdict, oldest first.
    fn history(&self) -> io::Result<Vec<finding_history::Round>> {
        let mut rounds: Vec<finding_history::Round> = Vec::new();
        for run in self.counting()?.iter().rev() {
            let number = run.began.round;
            if rounds.iter().any(|round| round.number == number) {
                continue;
            }
            if let Some(findings_json) = self.json_of(run)? {
                rounds.push(finding_history::Round {
                    number,
                    persona: findings_json.persona,
                    findings: findings_json.findings,
                });
            }
        }
        rounds.sort_by_key(|round| round.number);
        Ok(rounds)
    }

    /// Returns the newest run of the round, if it failed.
    fn failure(&self) -> Option<&Run> {
        self.of_round()
            .next_back()
            .filter(|run| run.ended.as_ref().is_some_and(|how| how.cause().is_some()))
    }

    fn demand(&self) -> Result<Reviewed, Missing> {
        let program = self.raw.table().state.program;
        let (round, review) = (self.number, format!("{program} review {}", self.raw.id()));
        if self.is_running() {
            return Err(Missing::Running { round, review });
        }
        if let Some((run, findings_json)) = self.verdict().map_err(Missing::Unreadable)? {
            return Ok(self.reviewed(run, findings_json));
        }
        if self.raw.policy() == EvidencePolicy::Optional {
            return Ok(self.waived());
        }
        if let Some(cause) = self
            .failure()
            .and_then(|run| run.ended.as_ref())
            .and_then(RunOutcome::cause)
        {
            return Err(Missing::Failed {
                round,
                cause: cause.to_string(),
                review,
            });
        }
        let told = self
            .of_round()
            .any(|run| run.ended.as_ref().is_some_and(|how| how.digest().is_some()));
        Err(if told {
            Missing::Tampered { round, review }
        } else if let Some(file) = self.unexplained() {
            let file = file.file_name().unwrap_or_default().to_owned();
            Missing::Unexplained {
                round,
                file,
                review,
            }
        } else {
            Missing::NotReviewed { round, review }
        })
    }

    /// Returns the round's findings where no run of it was ever noted: someone else wrote them.
    fn unexplained(&self) -> Option<Utf8PathBuf> {
        if self.of_round().next().is_some() {
            return None;
        }
        let noted = || {
            let all = self.all().unwrap_or_default();
            all.iter().any(|run| run.began.round == self.number)
        };
        let (store, id) = (self.raw.store(), self.raw.id());
        [
            findings_json::findings_path(store, id, self.number),
            findings_json::json_path(store, id, self.number),
        ]
        .into_iter()
        .find(|path| {
            store
                .folder_of(path)
                .is_ok_and(|(folder, name)| folder.has(&name))
        })
        .filter(|_| !noted())
    }

    fn record(&self, kind: Requirement) -> EvidenceRecord {
        EvidenceRecord {
            subject: self.subject.as_ref().map(ToString::to_string),
            ..EvidenceRecord::of(self.raw, kind, self.number)
        }
    }

    fn reviewed(&self, run: &Run, findings_json: FindingsJson) -> Reviewed {
        Reviewed {
            record: EvidenceRecord {
                run: Some(run.began.run.clone()),
                findings: run.findings.as_ref().map(|file| file.number),
                subject: Some(run.began.subject.to_string()),
                ..self.record(Requirement::Reviewed)
            },
            findings: findings_json.findings,
        }
    }

    fn waived(&self) -> Reviewed {
        Reviewed {
            record: EvidenceRecord {
                waived: true,
                ..self.record(Requirement::Reviewed)
            },
            findings: Findings::default(),
        }
    }

    /// From reviewed to settled: the subject unchanged, nothing material open, or a reason given.
    fn settle(&self, reviewed: Reviewed, rejecting: Option<String>) -> Result<Settled, Missing> {
        let unchanged = reviewed.is_waived()
            || self.subject.as_ref().map(Digest::as_str) == reviewed.record.subject.as_deref();
        if !unchanged {
            return Err(Missing::Changed {
                subject: subject::shown(self.raw, self.spec),
                round: self.number,
            });
        }
        if let Some(finding) = unreviewed_lines(&reviewed.findings) {
            let what = finding.what.clone();
            return Err(Missing::Unreviewed { what });
        }
        let rejecting = rejecting
            .map(|why| why.trim().to_owned())
            .filter(|why| !why.is_empty());
        let open = self.open().map_err(Missing::Unreadable)?;
        let unsettled = match self.spec.blocking {
            Blocking::Low | Blocking::Medium => open.material(),
            Blocking::High => open.high,
        };
        if !reviewed.is_waived() && unsettled > 0 && rejecting.is_none() {
            return Err(Missing::Open { counts: open });
        }
        // A reason for rejecting nothing is no admission for the summary.
        let rejecting = rejecting.filter(|_| open.material() + open.low > 0);
        Ok(Settled(Reviewed {
            record: EvidenceRecord {
                kind: Requirement::Settled,
                rejecting,
                ..reviewed.record
            },
            findings: reviewed.findings,
        }))
    }

    /// Returns what is open on the subject as it is now: the findings of every round that reviewed exactly these bytes, unless each visit
    /// starts clean. A plan that nobody touched cannot be settled by another persona's clean round.
    fn open(&self) -> io::Result<Counts> {
        let mut open = Counts::default();
        let mut seen: Vec<u64> = Vec::new();
        for run in self.counting()?.iter().rev() {
            if Some(&run.began.subject) != self.subject.as_ref() || seen.contains(&run.began.round)
            {
                continue;
            }
            if let Some(findings_json) = self.json_of(run)? {
                seen.push(run.began.round);
                let counts = findings_json.findings.counts();
                open.high += counts.high;
                open.medium += counts.medium;
                open.low += counts.low;
            }
        }
        Ok(open)
    }
}
