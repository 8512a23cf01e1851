//! `report` and `recover`: keep a summary, record it in the state, and take the transition that follows,
//! all in one write. A refusal changes nothing.

use claudex_loop::program::exit::{Exit, Failure};
use claudex_loop::program::{LoopArgs, NotTaken, TypedApp as _};
use claudex_loop::store::{Entry, REFUSED};
use claudex_loop::text;
use serde_json::json;

use crate::contract::{
    Decision, NextAction, Outcome, Reading, ResearchMethod, Stage, Status, Summary,
};
use crate::follows::{self, Circumstances, Step, follows};
use crate::gates::{self, Gate};
use crate::state::{AnsweredQuestions, CountedSummary, Keys, Open, Pipeline, UserAnswer};
use crate::typestate::{AnyLoop, BackAction, Phase, Stages, Verb};
use crate::{questions, record};

/// The longest refusal that is kept, in characters.
const MAX_DETAIL_CHARS: usize = 500;

type ReportResult = Result<AnyLoop, NotTaken<AnyLoop>>;

/// The step of a report, with what is recorded beside it.
#[derive(Debug, Default)]
struct Report<'s> {
    summary: Option<&'s Summary>,
    /// The bytes of a summary that has not counted yet.
    bytes: Option<&'s [u8]>,
    /// The reason why there is no summary.
    problem: &'static str,
    /// The sentences for the user.
    tell: Vec<String>,
    /// The findings in the summary.
    details: Vec<String>,
}

/// Takes the bytes of the open stage's summary.
///
/// # Errors
/// Returns an error if the summary does not count, no stage is open, or the store refused.
pub fn report(held: AnyLoop, bytes: &[u8], name: &str) -> ReportResult {
    require_open(&held)?;
    let reading = Pipeline(held.raw()).reading(bytes);
    if reading.outcome != Outcome::Refused {
        return take_reading(held, &reading, bytes);
    }
    let why = reading.findings.lenient_lines();
    let failure = refused(
        format!("{name} does not count:\n{}", why.join("\n")),
        "nothing was changed; have the coordinator write its summary again, or, if it has ended without one:\n    stages recover",
    );
    refuse(held, failure)
}

/// Refuses a report. The second refusal of a dispatch asks the user, so that an agent cannot report for ever.
///
/// # Errors
/// Returns the failure if it is the first one.
pub(crate) fn refuse(held: AnyLoop, failure: Failure) -> ReportResult {
    if held.phase() != Phase::Dispatched || !was_refused(Pipeline(held.raw())) {
        return Err(failure.into());
    }
    let details = vec![text::one_line(&failure.to_string(), MAX_DETAIL_CHARS)];
    fail(
        held,
        "twice reported a summary that does not count",
        details,
    )
}

/// Returns whether a report was refused since the open dispatch began.
fn was_refused(pipeline: Pipeline<'_>) -> bool {
    let journal = pipeline.0.journal().unwrap_or_default();
    let is_report = |entry: &Entry| {
        let note = entry.noted::<Keys>(REFUSED);
        note.is_some_and(|note| note.get("tried") == Some(&json!("report")))
    };
    let is_of_dispatch = |entry: &&Entry| {
        let change = entry.change();
        change.is_none_or(|change| ["remind", "bind"].contains(&change.what.as_str()))
    };
    let mut newest = journal.iter().rev().take_while(is_of_dispatch);
    newest.any(is_report)
}

/// Takes what a coordinator left that has ended without a report: its summary, or else its files.
///
/// # Errors
/// Returns an error if no stage is open or the store refused.
pub fn recover(held: AnyLoop) -> ReportResult {
    if held.phase() == Phase::Recovering {
        return accept_files(held);
    }
    require_open(&held)?;
    let pipeline = Pipeline(held.raw());
    let Some(bytes) = pipeline.file(&Pipeline::summary_file(pipeline.stage())) else {
        return take_files(held, "ended without a summary", Vec::new());
    };
    let reading = pipeline.reading(&bytes);
    match reading.outcome {
        Outcome::Refused => take_files(held, "ended without a new summary", Vec::new()),
        _ => take_reading(held, &reading, &bytes),
    }
}

/// Returns an error if no stage is open.
///
/// # Errors
/// Returns an error that names the phase.
pub(crate) fn require_open(held: &AnyLoop) -> Result<(), Failure> {
    if held.phase() == Phase::Dispatched {
        return Ok(());
    }
    let (id, phase) = (held.id(), held.phase());
    Err(refused(
        format!("pipeline {id} has no open stage: it is in phase {phase}"),
        "nothing was changed; for the instruction, run:\n    stages next",
    ))
}

fn refused(message: String, help: &str) -> Failure {
    Failure::plain(Exit::Refused, "claudex::report", message, help)
}

/// Takes a summary that counts, or the files beside one that cannot be read.
fn take_reading(held: AnyLoop, reading: &Reading, bytes: &[u8]) -> ReportResult {
    let details = reading.findings.lenient_lines();
    let Outcome::Taken(summary) = &reading.outcome else {
        return take_files(held, "left a broken summary", details);
    };
    let is_done = summary.status == Status::Completed;
    let around = circumstances(Pipeline(held.raw()), summary, is_done);
    let step = follows(summary, &around);
    let mut tell = Vec::new();
    let flags = &summary.flags;
    if flags.timeout == Some(true) || flags.partial == Some(true) {
        let number = summary.stage.number();
        let steps = flags.completed_steps.clone().unwrap_or_default();
        tell.push(match steps.is_empty() {
            true => format!("Stage {number} is only partly done."),
            false => format!("Stage {number} is only partly done: {}.", steps.join(", ")),
        });
    }
    if summary.status == Status::Failed {
        tell.push(summary.summary.clone());
    }
    tell.extend(gap_lines(&around.gate));
    let report = Report {
        summary: Some(summary),
        bytes: Some(bytes),
        tell,
        details,
        ..Report::default()
    };
    go(held, step, report)
}

/// Asks the user about a stage without a summary.
fn fail(held: AnyLoop, problem: &'static str, details: Vec<String>) -> ReportResult {
    let report = Report {
        problem,
        details,
        ..Report::default()
    };
    go(held, Step::Fail, report)
}

/// Takes the files of a coordinator that left no summary, if they show that the stage was done. Stage 5 always
/// asks: its summary may have said NOT_READY. Stage 7 never does.
fn take_files(held: AnyLoop, problem: &'static str, details: Vec<String>) -> ReportResult {
    let pipeline = Pipeline(held.raw());
    let stage = pipeline.stage();
    let may_count = match stage {
        Stage::Retrospective => true,
        Stage::Setup | Stage::ValidationGeneration => false,
        _ => pipeline.has_artifacts(),
    };
    if !may_count {
        return fail(held, problem, details);
    }
    let summary = minimal_summary(pipeline);
    let around = circumstances(pipeline, &summary, true);
    let step = follows::completed(&summary, &around);
    // The user has not accepted the files yet.
    if matches!(step, Step::Fail | Step::Block) {
        return fail(held, problem, details);
    }
    let mut tell = gap_lines(&around.gate);
    let number = stage.number();
    tell.push(format!(
        "Stage {number} {problem}; the files that it wrote were used."
    ));
    let text = summary.to_text();
    let report = Report {
        summary: Some(&summary),
        bytes: Some(text.as_bytes()),
        tell,
        details,
        ..Report::default()
    };
    go(held, step, report)
}

/// Takes what the user accepted: the summary in its file, else the one that counted, else one for the new files.
fn accept_files(held: AnyLoop) -> ReportResult {
    let pipeline = Pipeline(held.raw());
    let in_file = || {
        let bytes = pipeline.file(&Pipeline::summary_file(pipeline.stage()))?;
        match pipeline.reading(&bytes).outcome {
            Outcome::Taken(summary) => Some((*summary, Some(bytes))),
            Outcome::Crash | Outcome::Refused => None,
        }
    };
    let counted = || Some((pipeline.open_summary()?, None));
    let made = || {
        let summary = minimal_summary(pipeline);
        let bytes = summary.to_text().into_bytes();
        pipeline.has_artifacts().then_some((summary, Some(bytes)))
    };
    let is_usable = |one: &(Summary, Option<Vec<u8>>)| one.0.status != Status::Failed;
    let usable = in_file().filter(is_usable);
    let usable = usable.or_else(|| counted().filter(is_usable)).or_else(made);
    let Some((summary, bytes)) = usable else {
        let (_, missing) = pipeline.artifacts();
        let missing = missing.join(", ");
        let report = Report {
            tell: vec![format!("These files are missing or unchanged: {missing}.")],
            ..Report::default()
        };
        return go(held, Step::Fail, report);
    };
    let around = circumstances(pipeline, &summary, true);
    let report = Report {
        summary: Some(&summary),
        bytes: bytes.as_deref(),
        tell: gap_lines(&around.gate),
        ..Report::default()
    };
    go(held, follows::completed(&summary, &around), report)
}

/// Returns the summary of a stage that left none, for its new files.
fn minimal_summary(pipeline: Pipeline<'_>) -> Summary {
    let (new, _) = pipeline.artifacts();
    let stage = pipeline.stage();
    let told = "Recovered: the coordinator left no summary.";
    let mut summary = Summary::new(stage, Status::Completed, told);
    summary.artifacts = new.iter().map(Into::into).collect();
    let flags = &mut summary.flags;
    flags.round_number = Some(pipeline.round());
    flags.recovered = Some(true);
    match stage {
        Stage::Research => {
            let is_agenda = |path: &String| path.ends_with("RESEARCH-AGENDA.md");
            flags.research_method = Some(match new.iter().any(is_agenda) {
                true => ResearchMethod::Manual,
                false => ResearchMethod::AutoMcp,
            });
        }
        Stage::ValidationGeneration => flags.validation_decision = Some(Decision::Conditional),
        _ => {}
    }
    summary
}

/// Returns the circumstances that decide together with a summary.
fn circumstances(pipeline: Pipeline<'_>, summary: &Summary, is_done: bool) -> Circumstances {
    let round = pipeline.round();
    let file = |path: &str| pipeline.file(&format!("requirements/{path}"));
    let flags = &summary.flags;
    let is_ready = flags.validation_decision != Some(Decision::NotReady);
    let gate = match summary.stage {
        Stage::AnalysisQuestions if is_done => {
            let questions = file(&format!("working/QUESTIONS-{round:03}.md"));
            gates::after_questions(questions.as_deref(), round, flags)
        }
        Stage::ValidationGeneration if is_done && is_ready => {
            let requirements = file("PRD.md");
            gates::after_validation(requirements.as_deref(), file("decision-log.md").as_deref())
        }
        _ => Gate::default(),
    };
    let is_last_round = u64::from(round) >= pipeline.0.count("max_rounds");
    let scores = flags.validation_score.zip(pipeline.last_score());
    // A score has at most three decimals.
    let gained_little = scores.is_some_and(|(score, last)| score - last < 1.9995);

    let decisions: Keys = pipeline.0.data("user_decisions");
    let asked: AnsweredQuestions = pipeline.0.data("asked");
    let question = flags.question_context.as_ref().map(questions::digest);
    let may_repeat = pipeline.0.count("repeats") < pipeline.0.count("answered");
    let recorded = asked.into_iter().find(|one| {
        (one.round, one.stage) == (round, summary.stage.number())
            && Some(&one.digest) == question.as_ref()
    });
    Circumstances {
        gate,
        depth_decided: decisions.contains_key(&format!("thinkdeep_round_{round}")),
        stagnates: round >= 2 && !is_last_round && gained_little,
        recorded: recorded
            .filter(|one| one.repeated > 0 || may_repeat)
            .map(|one| (one.answer, one.repeated)),
    }
}

/// Returns a sentence for each finding of a gate.
fn gap_lines(gate: &Gate) -> Vec<String> {
    let line = |one: &gates::GateFinding| {
        format!("{}:{}: {} ({}).", one.file, one.line, one.message, one.help)
    };
    // What blocks comes first.
    let mut findings: Vec<_> = gate.findings.iter().collect();
    findings.sort_by_key(|one| !one.blocking);
    findings.into_iter().map(line).collect()
}

/// Records a report and takes its transition.
fn go(mut held: AnyLoop, step: Step, report: Report<'_>) -> ReportResult {
    let pipeline = Pipeline(held.raw());
    let (stage, round) = (pipeline.stage(), pipeline.round());
    let mut open = dispatch_after(pipeline, &step, report.summary);
    if let Some((summary, bytes)) = report.summary.zip(report.bytes) {
        let digest = pipeline.keep(bytes).map_err(|error| {
            let message = format!("cannot keep the summary: {error}");
            let help = "make room or the folder writable, and run the command again";
            Failure::plain(Exit::Internal, "claudex::report::keep", message, help)
        })?;
        let mut counted = pipeline.counted();
        counted.push(CountedSummary {
            round,
            stage: stage.number(),
            digest: digest.clone(),
        });
        if step.keeps_dispatch() {
            open.summary = Some(digest);
        }
        held.set_counted(&counted)?;
        record::note_repeated(&mut held, summary, &step)?;
    }
    if let Some(summary) = report.summary {
        record::note_flags(&mut held, summary, &step)?;
    }
    if step == Step::Fail {
        record::note_failure(&mut held, report.problem, &report.tell, &report.details)?;
    }
    record::note_sections(&mut held, &step)?;
    if !report.problem.is_empty() {
        open.summary = None;
    }
    report.problem.clone_into(&mut open.problem);
    open.tell = report.tell;
    open.details = report.details;
    held.set_open(&open)?;
    held.set_stage_status(&json!(record::stage_status(stage, &step)))?;
    held.add_text(&record::entry(stage, report.summary, &step));
    Ok(Stages::take(verb(step), held)?)
}

/// Returns the dispatch after a step: the open one if the user is asked, else a new one.
fn dispatch_after(pipeline: Pipeline<'_>, step: &Step, summary: Option<&Summary>) -> Open {
    let before = pipeline.open();
    match step {
        Step::Repeat(answer) => {
            let asked = summary.and_then(|summary| summary.flags.question_context.as_ref());
            let answer = asked.map(|asked| UserAnswer {
                question: asked.question.clone(),
                answer: answer.clone(),
            });
            Open {
                answer,
                skip_validation: before.skip_validation,
                ..pipeline.opened()
            }
        }
        Step::Wait(_) => Open {
            re_entry: true,
            answer: None,
            ..before
        },
        step if step.keeps_dispatch() => before,
        _ => pipeline.opened(),
    }
}

/// Returns the transition of a step.
fn verb(step: Step) -> Verb {
    let loop_args = LoopArgs::default();
    match step {
        Step::Complete => Verb::Complete(loop_args),
        Step::Proceed => Verb::Proceed(loop_args),
        Step::Back(action) => Verb::Back {
            loop_args,
            action: match action {
                NextAction::LoopResearch => BackAction::LoopResearch,
                _ => BackAction::LoopQuestions,
            },
        },
        Step::Decide => Verb::Decide(loop_args),
        Step::Pass => Verb::Pass(loop_args),
        Step::NotReady => Verb::NotReady(loop_args),
        Step::Stagnate => Verb::Stagnate(loop_args),
        Step::Block => Verb::Block(loop_args),
        Step::Doubt => Verb::Doubt(loop_args),
        Step::Wait(reason) => Verb::Wait { loop_args, reason },
        Step::Ask => Verb::Ask(loop_args),
        Step::Repeat(_) => Verb::Repeat(loop_args),
        Step::Fail => Verb::Fail(loop_args),
    }
}
