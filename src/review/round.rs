//! A round of review, top to bottom: subject, prompt, reviewer, answer, evidence, files, journal.
//!
//! A review changes no field. It writes findings files, and two notes in the journal for the next
//! stop. After an interrupted review, the same command begins again.

use camino::Utf8PathBuf;
use jiff::Timestamp;

use super::cause::{Cause, CauseKind};
use super::evidence::Round;
use super::findings::Findings;
use super::progress::{self, Progress};
use super::prompt::Prompt;
use super::reviewer::{Request, Reviewer};
use super::round_error::io_error;
use super::runs::{self, Run, RunBegin, RunEnd};
use super::subject::SubjectText;
use super::worktree::{CHANGED_DURING_REVIEW, tree_id};
use super::{finding_history, findings_file};
use crate::digest::{random_hex, sha256};
use crate::files::Folder;
use crate::machine::{PhaseDeclaration as _, Raw};
use crate::store::{LoopId, Store, lock_run};
use crate::text;

pub use super::progress::{Listener, RoundEvent, watch};
pub use super::round_error::RoundError;

/// The end of the name of the newest run's prompt, which is kept for people.
const PROMPT_FILE: &str = "-prompt.txt";

/// The report of a round.
#[derive(Debug)]
pub struct Report {
    /// Whether the round already had its verdict.
    pub was_reviewed: bool,
    /// The run, which has ended.
    pub run: Run,
}

/// Reviews the round of a loop. A second process follows the current run. A round with a verdict is
/// not reviewed again.
///
/// # Errors
/// Returns an error if the round cannot begin or be recorded. A reviewer that fails is a report.
pub fn run(
    prompt: &Prompt<'_>,
    reviewer: &Reviewer,
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
    // Another process may have reviewed since the journal was read.
    raw.forget_journal();
    let round = Round::read(raw, prompt.spec).map_err(io_error("could not read the round"))?;
    let newest = round.newest().filter(|_| is_followed);
    // In a phase without a review, the user requests each review.
    let is_by_hand = raw.phase_info().review().is_none();
    match round.verdict().filter(|_| !is_by_hand).or(newest) {
        Some(run) if run.outcome().is_some() => Ok(Report {
            was_reviewed: !is_followed,
            run: run.clone(),
        }),
        // The loop may have changed meanwhile.
        _ if is_followed => Err(RoundError::CutOff),
        _ => perform(&folder, &round, prompt, reviewer, listener),
    }
}

fn perform(
    folder: &Folder,
    round: &Round<'_>,
    prompt: &Prompt<'_>,
    reviewer: &Reviewer,
    listener: &mut Listener<'_>,
) -> Result<Report, RoundError> {
    let raw = prompt.raw;
    // A follower must not see the lines of the previous run.
    let mut progress =
        Progress::begin(folder).map_err(io_error("could not write the progress file"))?;
    let subject = SubjectText::read(raw, prompt.spec, reviewer.runs_a_program())?;
    let earlier = (round.history()).map_err(io_error("could not read the earlier rounds"))?;
    let prompt_text = prompt.render(&text::strip_hidden(&subject.text), &earlier)?;
    let _ = (raw.store()).write_beside(raw.id(), PROMPT_FILE, prompt_text.as_bytes());
    let began = begin(prompt, reviewer, &subject)?;

    let output = output_path(raw.store(), raw.id(), &began.run);
    let request = Request {
        prompt: &prompt_text,
        subject: &subject,
        focus: prompt.persona.focus,
        root: raw.store().root(),
        output: output.file_name().map(|name| (folder, name)),
    };
    let mut answer = ask(reviewer, &request, &mut progress, listener)?;
    let work_tree_changed = reviewer.runs_a_program() && is_changed(raw, &subject);
    if work_tree_changed {
        progress.line(CHANGED_DURING_REVIEW);
        // A verdict is recorded before a cancellation.
        let _ = listener(RoundEvent::Line(CHANGED_DURING_REVIEW));
    }

    let mut file = None;
    if let Ok(findings) = &mut answer {
        findings.extend_from_slice(&prompt.failed);
        // Some reviewers name the one document that they read.
        for finding in findings.iter_mut() {
            finding.file = finding.file.take().filter(|file| !subject.is_named(file));
        }
        finding_history::assign_ids(&earlier, findings, &began.persona, subject.document());
        file = findings_file::write(raw, prompt.spec, &began, findings)
            .map_err(io_error("could not write the findings"))?;
    }
    let ended = RunEnd::new(&began.run, answer, work_tree_changed, file);
    raw.note(runs::ENDED, &ended)?;
    // A loop whose review just ended is not inactive.
    let _ = raw.store().touch(raw.id());
    Ok(Report {
        was_reviewed: false,
        run: Run {
            began,
            ended,
            counted: false,
        },
    })
}

/// Keeps the subject, and records the begin of the run.
fn begin(
    prompt: &Prompt<'_>,
    reviewer: &Reviewer,
    subject: &SubjectText,
) -> Result<RunBegin, RoundError> {
    let raw = prompt.raw;
    let random = random_hex::<4>().map_err(io_error("could not name the run"))?;
    let number = raw.count(prompt.spec.round);
    let began = RunBegin {
        at: Timestamp::now(),
        run: format!("r{number}-{random}"),
        round: number,
        visit: raw.record().visit,
        reviewer: reviewer.name.clone(),
        persona: prompt.persona.label.to_owned(),
        subject: sha256(&subject.text),
        tree: subject.tree.clone(),
    };
    subject.keep(raw, &began.run)?;
    raw.note(runs::BEGAN, &began)?;
    Ok(began)
}

/// Returns the reviewer's findings, or the reason why it gave no verdict.
fn ask(
    reviewer: &Reviewer,
    request: &Request<'_>,
    progress: &mut Progress,
    listener: &mut Listener<'_>,
) -> Result<Result<Findings, Cause>, RoundError> {
    // A listener that cancels does so again at the next event.
    let _ = listener(RoundEvent::Line(&format!("reviewer: {}", reviewer.shown)));
    let answer = reviewer.review(request, &mut |event| {
        if let RoundEvent::Reviewer(line) = event {
            progress.line(line);
        }
        listener(event)
    });
    let is_cancelled = listener(RoundEvent::Tick).is_break();
    match &answer {
        Err(cause) if cause.kind == CauseKind::Stopped => Err(RoundError::INTERRUPTED),
        Err(cause) if is_cancelled && !cause.kind.is_unreadable() => Err(RoundError::INTERRUPTED),
        _ => Ok(answer),
    }
}

/// Returns whether the work tree is not as it was when the subject was read.
fn is_changed(raw: &Raw, subject: &SubjectText) -> bool {
    let tree = subject.tree.as_ref();
    tree.is_some_and(|tree| tree_id(raw.store(), None).is_some_and(|now| now != *tree))
}

/// Returns the file with the output of a reviewer's process.
pub fn output_path(store: &Store, id: &LoopId, run: &str) -> Utf8PathBuf {
    store.loop_folder(id).join(format!("output-{run}.txt"))
}
