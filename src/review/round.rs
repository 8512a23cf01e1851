//! A round of review, from top to bottom: subject, prompt, reviewer, answer, evidence, findings files, journal.
//!
//! A review changes no field of the loop: it writes findings files, and two notes in the journal. The next stop reads them. A
//! review that is cut off leaves a loop in which the same command begins again.

use std::io;
use std::ops::ControlFlow;

use camino::Utf8PathBuf;
use jiff::Timestamp;
use miette::Diagnostic;
use thiserror::Error;

use super::evidence::Round;
use super::progress::{self, Progress};
use super::prompt::Prompt;
use super::reviewer::{Event, Request, Reviewer};
use super::runs::{self, Run, RunBegin, RunEnd};
use super::subject::SubjectText;
use super::worktree::{CHANGED_DURING_REVIEW, WorktreeError, tree_id};
use super::{finding_history, findings_file};
use crate::digest::{random_hex, sha256};
use crate::files::Folder;
use crate::machine::PhaseDeclaration as _;
use crate::message::MessageError;
use crate::process::limits::Limits;
use crate::store::{LoopId, Store, StoreError, lock_run};
use crate::text;

pub use super::progress::{Listener, RoundEvent, watch};

/// The file with the prompt of the newest run, for people, after the loop's id.
const PROMPT_FILE: &str = "-prompt.txt";

/// The report of a round.
#[derive(Debug)]
pub struct Report {
    /// Whether the round had its verdict before.
    pub was_reviewed: bool,
    /// The run, which has ended.
    pub run: Run,
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
    let folder = (raw.store().open_loop_folder(raw.id()))
        .map_err(io_error("could not open the loop's folder"))?;
    let mut is_followed = false;
    let _lock = loop {
        if let Some(lock) = lock_run(&folder)? {
            break lock;
        }
        progress::watch(raw, usize::MAX, listener)?;
        is_followed = true;
    };
    let round = Round::read(raw, prompt.spec).map_err(io_error("could not read the round"))?;
    let newest = round.newest().filter(|_| is_followed);
    // In a phase without a review, the user asks for each by hand.
    let is_by_hand = raw.table().phases[raw.phase()].review().is_none();
    match round.verdict().filter(|_| !is_by_hand).or(newest) {
        Some(run) if run.ended.is_some() => Ok(Report {
            was_reviewed: !is_followed,
            run: run.clone(),
        }),
        _ if is_followed => Err(RoundError::Failed {
            message: "the review that was running was cut off before it ended".to_owned(),
            help: Some("run the same command again".to_owned()),
        }),
        _ => perform(&folder, &round, prompt, limits, reviewer, listener),
    }
}

/// Performs a run, step by step.
fn perform(
    folder: &Folder,
    round: &Round<'_>,
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
    let question = prompt.question(&text::plain(&subject.text), reviewer)?;
    let _ = store.write_beside(raw.id(), PROMPT_FILE, question.prompt.as_bytes());

    // Journal: the run begins.
    let random = random_hex::<4>().map_err(io_error("could not name the run"))?;
    let number = raw.count(spec.round);
    let began = RunBegin {
        run: format!("r{number}-{random}"),
        round: number,
        visit: raw.record().visit(),
        reviewer: reviewer.name().to_owned(),
        persona: prompt.persona.label.clone(),
        subject: sha256(&subject.text),
        tree: subject.tree.clone(),
    };
    subject.keep(raw, &began.run)?;
    store.note(raw.id(), runs::BEGAN, &began)?;
    let mut run = Run::new(began, Timestamp::now());

    // Reviewer and answer: one of four outcomes.
    let output = output_name(&run.began.run);
    let request = Request {
        prompt: &question.prompt,
        subject: &subject,
        focus: prompt.persona.focus,
        root: store.root(),
        limits,
        output: Some((folder, &output)),
    };
    let mut is_stopped = listener(RoundEvent::Began(reviewer.name())).is_break();
    let mut watch = |event: Event<'_>| {
        let event = match event {
            Event::Line(line) => {
                progress.line(line);
                RoundEvent::Reviewer(line)
            }
            Event::Tick => RoundEvent::Tick,
        };
        is_stopped |= listener(event).is_break();
        if is_stopped {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let mut answer = reviewer.review(&request, &mut watch);
    is_stopped |= listener(RoundEvent::Tick).is_break();
    if let Err(cause) = &answer
        && is_stopped
        && !cause.kind.is_unreadable()
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

    let mut file = None;
    if let Ok(findings) = &mut answer {
        findings.0.extend(question.unreviewed);
        findings.0.extend_from_slice(&prompt.failed);

        // Evidence: a finding of an earlier round keeps its id.
        let earlier = round
            .history()
            .map_err(io_error("could not read the earlier rounds"))?;
        let persona = &run.began.persona;
        finding_history::assign_ids(&earlier, findings, persona, subject.document());

        // Findings files.
        file = findings_file::write_of_phase(raw, spec, findings)
            .and_then(|file| findings_file::write(raw, &run.began, findings).map(|()| file))
            .map_err(io_error("could not write the findings"))?;
    }

    // Journal: the run ends.
    let ended = RunEnd {
        run: run.began.run.clone(),
        outcome: answer.into(),
        work_tree_changed,
        findings: file,
    };
    store.note(raw.id(), runs::ENDED, &ended)?;
    // A loop whose review just ended is not inactive.
    let _ = store.touch(raw.id());
    run.ended = Some(ended);
    run.end = Some(Timestamp::now());
    Ok(Report {
        was_reviewed: false,
        run,
    })
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
    /// The round cannot begin before the user has done something.
    #[error("{message}")]
    Refused {
        /// The problem.
        message: String,
        /// The next step.
        help: String,
    },
    /// The listener cancelled the run.
    #[error("the review was interrupted")]
    Interrupted,
    /// The system refused, or another process ended too early.
    #[error("{message}")]
    Failed {
        /// The problem.
        message: String,
        /// The next step.
        help: Option<String>,
    },
}

claudex_loop_engine::impl_diagnostic!(RoundError, |error| match error {
    RoundError::Nothing { .. } => {
        Some("change something first; files that git ignores are never part of a review".to_owned())
    }
    RoundError::Refused { help, .. } => Some(help.clone()),
    RoundError::Interrupted => Some("run the same command again".to_owned()),
    RoundError::Failed { help, .. } => help.clone(),
});

impl RoundError {
    fn from_refusal(error: &dyn Diagnostic) -> Self {
        Self::Refused {
            message: error.to_string(),
            help: help_of(error).unwrap_or_default(),
        }
    }

    fn from_failure(error: &dyn Diagnostic) -> Self {
        Self::Failed {
            message: error.to_string(),
            help: help_of(error),
        }
    }
}

impl From<MessageError> for RoundError {
    fn from(error: MessageError) -> Self {
        Self::from_refusal(&error)
    }
}

impl From<WorktreeError> for RoundError {
    fn from(error: WorktreeError) -> Self {
        match error {
            WorktreeError::Io { .. } => Self::from_failure(&error),
            error => Self::from_refusal(&error),
        }
    }
}

impl From<StoreError> for RoundError {
    fn from(error: StoreError) -> Self {
        Self::from_failure(&error)
    }
}

fn help_of(error: &dyn Diagnostic) -> Option<String> {
    error.help().map(|help| help.to_string())
}

/// Adds the attempt to an error of the system.
pub(super) fn io_error(attempt: impl Into<String>) -> impl FnOnce(io::Error) -> RoundError {
    let attempt = attempt.into();
    move |source| RoundError::Failed {
        message: format!("{attempt}: {}", text::shown(source.to_string())),
        help: None,
    }
}
