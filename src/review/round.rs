//! A round of review, from top to bottom: subject, prompt, reviewer, answer, evidence, findings files, journal.
//!
//! A review changes no field of the loop: it writes findings files, and two notes in the journal. The next stop reads them. A
//! review that is cut off leaves a loop in which the same command begins again.

use std::io;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use camino::Utf8PathBuf;
use jiff::Timestamp;
use miette::Diagnostic;
use thiserror::Error;

use super::cause::{Cause, CauseKind};
use super::digest::Digest;
use super::progress::{self, Progress};
use super::prompt::Prompt;
use super::reviewer::{Event, Request, Reviewer, Trace};
use super::runs::{self, Run, RunBegin, RunEnd, RunOutcome};
use super::subject::SubjectText;
use super::worktree::{CHANGED_DURING_REVIEW, WorktreeError, tree_id};
use super::{evidence, finding_history, findings_file};
use crate::digest::random_hex;
use crate::files::Folder;
use crate::machine::Raw;
use crate::message::MessageError;
use crate::process::limits::Limits;
use crate::store::{LoopId, RunLock, Store, StoreError};
use crate::text;

pub use crate::review::progress::{Listener, RoundEvent, watch};

/// The time for which our own interrupt may arrive after the reviewer's. A client that the user interrupts ends all its processes.
const INTERRUPT_GRACE: Duration = Duration::from_millis(500);

/// The file with the prompt of the newest run, for people, after the loop's id.
const PROMPT_FILE: &str = "-prompt.txt";

/// The report of a round.
#[derive(Debug)]
pub struct Report {
    /// Whether the round had its verdict before.
    pub was_reviewed: bool,
    /// The run, which has ended.
    pub run: Run,
    /// The findings file, which exists if there is a verdict.
    pub path: Utf8PathBuf,
}

impl Report {
    fn new(raw: &Raw, was_reviewed: bool, run: Run) -> Self {
        Self {
            was_reviewed,
            path: run.findings_path(raw.store(), raw.id()),
            run,
        }
    }
}

/// Reviews the round that a loop is in. A second process follows the run that is under way. A round that has its verdict is not
/// reviewed twice.
///
/// # Errors
/// Returns an error if the round cannot begin or be recorded. A reviewer that fails is a report.
pub fn run(
    prompt: &Prompt<'_>,
    limits: Limits,
    reviewer: &dyn Reviewer,
    listener: &mut Listener<'_>,
) -> Result<Report, RoundError> {
    let raw = prompt.raw;
    let spec = prompt.spec;
    let folder = (raw.store().open_loop_folder(raw.id()))
        .map_err(io_error("could not open the loop's folder"))?;

    let mut is_followed = false;
    let _lock = loop {
        if let Some(lock) = RunLock::try_take(&folder)? {
            break lock;
        }
        progress::watch(raw, usize::MAX, listener)?;
        is_followed = true;
    };
    let verdict =
        evidence::verdict(raw, spec).map_err(io_error("could not read the earlier runs"))?;
    if let Some(run) = verdict {
        return Ok(Report::new(raw, !is_followed, run));
    }
    if !is_followed {
        return perform(&folder, prompt, limits, reviewer, listener);
    }
    let round = raw.count(spec.round);
    let runs = runs::read(&raw.recent()?);
    match runs.into_iter().rfind(|run| run.is_of(raw, round)) {
        Some(last) if last.ended.is_some() => Ok(Report::new(raw, false, last)),
        _ => Err(RoundError::CutOff),
    }
}

/// Performs a run, step by step.
fn perform(
    folder: &Folder,
    prompt: &Prompt<'_>,
    limits: Limits,
    reviewer: &dyn Reviewer,
    listener: &mut Listener<'_>,
) -> Result<Report, RoundError> {
    let raw = prompt.raw;
    let spec = prompt.spec;
    let store = raw.store();
    // A follower must not see the lines of the previous run.
    let mut progress =
        Progress::begin(raw).map_err(io_error("could not write the progress file"))?;

    // Subject: one text and one snapshot of the work tree for the whole run.
    let subject = SubjectText::read(raw, spec, reviewer.runs_a_program())?;

    // Prompt.
    let plain = text::plain(&subject.text);
    let question = prompt.question(&plain, reviewer)?;
    let _ = store.write_beside(raw.id(), PROMPT_FILE, question.prompt.as_bytes());

    // Journal: the run begins.
    let persona = &prompt.persona.label;
    let round = raw.count(spec.round);
    let random = random_hex::<4>().map_err(io_error("could not name the run"))?;
    let began = RunBegin {
        run: format!("r{round}-{random}"),
        round,
        visit: raw.record().visit(),
        reviewer: reviewer.name().to_owned(),
        persona: persona.clone(),
        subject: Digest::from_bytes(subject.text.as_bytes()),
        tree: subject.tree.clone(),
    };
    subject.keep(raw, &began.run)?;
    store.note(raw.id(), runs::BEGAN, &began)?;
    let mut run = Run::new(began, Timestamp::now());

    // Reviewer and answer: one of four outcomes.
    let trace = Trace::default();
    let output = output_name(&run.began.run);
    let request = Request {
        prompt: &question.prompt,
        parts: &subject.parts,
        subject_name: &subject.name,
        trace: &trace,
        focus: prompt.persona.focus,
        root: store.root(),
        limits,
        output: Some((folder, &output)),
    };
    let name = reviewer.name();
    let mut is_stopped = listener(RoundEvent::Began { reviewer: name }).is_break();
    let mut watch = |event: Event<'_>| {
        let line = match event {
            Event::Line(text) => progress.reviewer_line(text),
            Event::Tick => None,
        };
        is_stopped |= listener(line.map_or(RoundEvent::Tick, RoundEvent::Reviewer)).is_break();
        if is_stopped {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let answer = question.ask(reviewer, &request, &mut watch);
    if let Err(cause) = &answer
        && !cause.kind.is_unreadable()
        && (is_stopped || is_interrupted(cause, listener))
    {
        return Err(RoundError::Interrupted);
    }
    let is_changed = |tree: &String| tree_id(store, None).is_some_and(|now| now != *tree);
    let work_tree_changed =
        reviewer.runs_a_program() && subject.tree.as_ref().is_some_and(is_changed);
    if work_tree_changed {
        progress.line(CHANGED_DURING_REVIEW);
        // A verdict is recorded before a cancellation.
        let _ = listener(RoundEvent::Line(CHANGED_DURING_REVIEW));
    }

    let mut ended = RunEnd {
        run: run.began.run.clone(),
        outcome: RunOutcome::Clean,
        verdict: None,
        cause: None,
        work_tree_changed,
        findings: None,
    };
    match answer {
        Err(cause) => {
            ended.outcome = if cause.kind.is_unreadable() {
                RunOutcome::Unreadable
            } else {
                RunOutcome::CouldNotRun
            };
            ended.cause = Some(cause);
        }
        Ok(mut findings) => {
            findings.0.extend_from_slice(&prompt.failed);
            if !findings.is_empty() {
                ended.outcome = RunOutcome::Findings;
            }

            // Evidence: a finding of an earlier round keeps its id.
            let earlier = evidence::history(raw, spec)
                .map_err(io_error("could not read the earlier rounds"))?;
            finding_history::assign_ids(&earlier, &mut findings, persona, subject.document());

            // Findings files.
            ended.findings = findings_file::write_of_phase(raw, spec, &findings)
                .map_err(io_error("could not write the findings"))?;
            findings_file::write(raw, &run.began, &findings)
                .map_err(io_error("could not write the findings"))?;
            ended.verdict = Some(findings);
        }
    }

    // Journal: the run ends.
    store.note(raw.id(), runs::ENDED, &ended)?;
    // A loop whose review just ended is not inactive.
    let _ = store.touch(raw.id());
    run.ended = Some(ended);
    run.end = Some(Timestamp::now());
    Ok(Report::new(raw, false, run))
}

/// Returns whether a signal that asks a program to end (HUP, INT, TERM) ended the reviewer, and the listener then cancels, too. A
/// client that handles the signal exits with 128 and its number.
fn is_interrupted(cause: &Cause, listener: &mut Listener<'_>) -> bool {
    let signal = match cause.kind {
        CauseKind::Crashed { signal } => signal,
        CauseKind::Failed { status } => status - 128,
        _ => return false,
    };
    let end = Instant::now() + INTERRUPT_GRACE;
    while [1, 2, 15].contains(&signal) && Instant::now() < end {
        if listener(RoundEvent::Tick).is_break() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    false
}

/// Returns the file that keeps the output of a reviewer's process.
pub fn output_path(store: &Store, id: &LoopId, run: &str) -> Utf8PathBuf {
    store.loop_folder(id).join(output_name(run))
}

fn output_name(run: &str) -> String {
    format!("output-{run}.txt")
}

/// The reason for which a round could not begin or be recorded.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RoundError {
    /// No changes to review.
    #[error("there is nothing to review: no {title}")]
    Nothing {
        /// The title of the changes.
        title: String,
    },
    /// The work tree cannot be read.
    #[error("{0}")]
    Worktree(#[from] WorktreeError),
    /// The round cannot begin before the user has done something.
    #[error("{message}")]
    Refused {
        /// The problem.
        message: String,
        /// The next step.
        help: String,
    },
    /// The run that was followed left no outcome.
    #[error("the review that was running was cut off before it ended")]
    CutOff,
    /// The listener cancelled the run.
    #[error("the review was interrupted")]
    Interrupted,
    /// The system refused.
    #[error("{what}: {source}", source = crate::text::shown(.source.to_string()))]
    Io {
        /// The attempt.
        what: String,
        /// The system's error.
        source: io::Error,
    },
    /// The journal could not be written.
    #[error("{0}")]
    Store(#[from] StoreError),
}

claudex_loop_engine::impl_diagnostic!(RoundError, |error| match error {
    RoundError::Nothing { .. } => {
        Some("change something first; files that git ignores are never part of a review".to_owned())
    }
    RoundError::Worktree(error) => help_of(error),
    RoundError::Store(error) => help_of(error),
    RoundError::Refused { help, .. } => Some(help.clone()),
    RoundError::CutOff | RoundError::Interrupted => Some("run the same command again".to_owned()),
    RoundError::Io { .. } => None,
});

impl From<MessageError> for RoundError {
    fn from(error: MessageError) -> Self {
        Self::Refused {
            message: error.to_string(),
            help: help_of(&error).unwrap_or_default(),
        }
    }
}

fn help_of(error: &dyn Diagnostic) -> Option<String> {
    error.help().map(|help| help.to_string())
}

/// Adds the attempt to an error of the system.
pub(super) fn io_error(what: impl Into<String>) -> impl FnOnce(io::Error) -> RoundError {
    let what = what.into();
    move |source| RoundError::Io { what, source }
}
