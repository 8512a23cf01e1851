//! `report` and `recover`: keep a summary, record it in the state, and take the transition that follows,
//! all in one write. A refusal changes nothing.

use camino::{Utf8Path, Utf8PathBuf};
use claudex_loop::program::exit::{Exit, Failure};
use claudex_loop::program::{App as _, LoopArgs, NotTaken, loops};
use claudex_loop::store::{Entry, REFUSED};
use claudex_loop::text;
use serde_json::json;

use crate::answers::{dispatch_after, keeps_dispatch};
use crate::contract::{Decision, Outcome, Reading, ResearchMethod, Stage, Status, Summary};
use crate::follows::{self, Circumstances, follows};
use crate::gates::{self, Gate};
use crate::state::{AnsweredQuestions, CountedSummary, Keys, Pipeline, UserAnswer};
use crate::typestate::{AnyLoop, Phase, Stages, Verb};
use crate::{questions, record};

/// The longest refusal that is kept, in characters.
const MAX_DETAIL_CHARS: usize = 500;
/// The help of a report that cannot be taken.
const RECOVER_HELP: &str =
    "nothing was changed; if the coordinator has ended without a summary:\n    stages recover";

type ReportResult = Result<AnyLoop, NotTaken<AnyLoop>>;

/// The facts that are recorded beside a transition.
#[derive(Default)]
struct Report {
    summary: Option<Summary>,
    /// The bytes of a summary that has not counted yet.
    bytes: Option<Vec<u8>>,
    /// The recorded answer with which the stage runs again.
    answer: Option<UserAnswer>,
    /// The reason why there is no summary.
    problem: &'static str,
    /// The sentences for the user.
    tell: Vec<String>,
    /// The findings in the summary.
    details: Vec<String>,
}

/// Takes the summary of the open stage. The second refusal of a dispatch asks the user, so that an agent
/// cannot report for ever.
pub(crate) fn report(held: AnyLoop, path: Option<&Utf8PathBuf>) -> ReportResult {
    require_open(&held)?;
    let pipeline = Pipeline(held.raw());
    match read(pipeline, path) {
        Ok((bytes, reading)) => take_reading(held, reading, bytes),
        Err(failure) if was_refused(pipeline) => {
            let problem = "twice reported a summary that does not count";
            let details = text::one_line(&failure.to_string(), MAX_DETAIL_CHARS);
            fail(held, problem, vec![details])
        }
        Err(failure) => Err(failure.into()),
    }
}

/// Reads the file that is reported, which must be the summary of the open stage.
fn read(pipeline: Pipeline<'_>, path: Option<&Utf8PathBuf>) -> Result<(Vec<u8>, Reading), Failure> {
    let expected = pipeline.summary_file();
    let path = match path {
        Some(path) => path_from_root(&pipeline.0.root(), path)?,
        None => expected.clone(),
    };
    let bytes = pipeline
        .file(&path)
        .ok_or_else(|| not_read(&path, "there is no such file in the project"))?;
    let reading = pipeline.reading(&bytes);
    if reading.outcome == Outcome::Refused {
        let name = text::shown(&path);
        let why = reading.findings.lenient_lines().join("\n");
        return Err(refused(
            format!("{name} does not count:\n{why}"),
            "nothing was changed; have the coordinator write its summary again, or, if it has ended without one:\n    stages recover",
        ));
    }
    // Another file that names no stage would be taken for the summary of the open stage.
    if path != expected {
        let why = format!("the summary of the open stage is {expected}");
        return Err(not_read(&path, &why));
    }
    Ok((bytes, reading))
}

/// Returns a path from the project's root.
fn path_from_root(root: &Utf8Path, path: &Utf8Path) -> Result<String, Failure> {
    // Instructions name paths from the root, whatever the agent's folder is.
    let is_below_root = !path.is_absolute() && root.join(path).is_file();
    let full = match is_below_root {
        true => root.join(path),
        false => loops::here()?.join(path),
    };
    let inside = full.strip_prefix(root);
    let inside = inside.map_err(|_| not_read(path.as_str(), "it is outside the project"))?;
    Ok(inside.to_string())
}

fn not_read(path: &str, why: &str) -> Failure {
    let path = text::shown(path);
    refused(format!("{path} cannot be taken: {why}"), RECOVER_HELP)
}

fn refused(message: String, help: &str) -> Failure {
    Failure::plain(Exit::Refused, "claudex::report", message, help)
}

/// Returns an error if no stage is open.
fn require_open(held: &AnyLoop) -> Result<(), Failure> {
    if held.phase() == Phase::Dispatched {
        return Ok(());
    }
    let (id, phase) = (held.id(), held.phase());
    Err(refused(
        format!("pipeline {id} has no open stage: it is in phase {phase}"),
        "nothing was changed; for the instruction, run:\n    stages next",
    ))
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
pub(crate) fn recover(held: AnyLoop) -> ReportResult {
    if held.phase() == Phase::Recovering {
        return accept_files(held);
    }
    require_open(&held)?;
    match Pipeline(held.raw()).written() {
        None => take_files(held, "ended without a summary", Vec::new()),
        Some((_, reading)) if reading.outcome == Outcome::Refused => {
            take_files(held, "ended without a new summary", Vec::new())
        }
        Some((bytes, reading)) => take_reading(held, reading, bytes),
    }
}

/// Takes a summary that counts, or the files beside one that cannot be read.
fn take_reading(held: AnyLoop, reading: Reading, bytes: Vec<u8>) -> ReportResult {
    let details = reading.findings.lenient_lines();
    let Some(summary) = reading.summary() else {
        return take_files(held, "left a broken summary", details);
    };
    let is_done = summary.status == Status::Completed;
    let around = circumstances(Pipeline(held.raw()), &summary, is_done);
    let verb = follows(&summary, &around);
    let flags = &summary.flags;
    let mut tell = Vec::new();
    if flags.timeout == Some(true) || flags.partial == Some(true) {
        let number = summary.stage.number();
        let steps = flags.completed_steps.clone().unwrap_or_default();
        let colon = if steps.is_empty() { "" } else { ": " };
        let steps = steps.join(", ");
        tell.push(format!("Stage {number} is only partly done{colon}{steps}."));
    }
    if summary.status == Status::Failed {
        tell.push(summary.summary.clone());
    }
    tell.extend(gap_lines(&around.gate));
    let question = flags.question_context.as_ref();
    let is_repeat = matches!(verb, Verb::Repeat(_));
    let answer = question.zip(around.recorded).filter(|_| is_repeat);
    let answer = answer.map(|(asked, (answer, _))| UserAnswer {
        question: asked.question.clone(),
        answer,
    });
    let report = Report {
        summary: Some(summary),
        bytes: Some(bytes),
        answer,
        tell,
        details,
        ..Report::default()
    };
    go(held, verb, report)
}

/// Asks the user about a stage without a summary.
fn fail(held: AnyLoop, problem: &'static str, details: Vec<String>) -> ReportResult {
    let report = Report {
        problem,
        details,
        ..Report::default()
    };
    go(held, Verb::Fail(LoopArgs::default()), report)
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
    let summary = minimal_summary(pipeline);
    let around = circumstances(pipeline, &summary, true);
    let verb = follows::completed(&summary, &around);
    // The user has not accepted the files yet.
    if !may_count || matches!(verb, Verb::Fail(_) | Verb::Block(_)) {
        return fail(held, problem, details);
    }
    let mut tell = gap_lines(&around.gate);
    let number = stage.number();
    tell.push(format!(
        "Stage {number} {problem}; the files that it wrote were used."
    ));
    let report = Report {
        bytes: Some(summary.to_text().into_bytes()),
        summary: Some(summary),
        tell,
        details,
        ..Report::default()
    };
    go(held, verb, report)
}

/// Takes what the user accepted: the summary in its file, else the one that counted, else one for the new files.
fn accept_files(held: AnyLoop) -> ReportResult {
    let pipeline = Pipeline(held.raw());
    let is_usable = |summary: &Summary| summary.status != Status::Failed;
    let written = pipeline.written().and_then(|(bytes, reading)| {
        let summary = reading.summary().filter(is_usable)?;
        Some((summary, Some(bytes)))
    });
    let counted = || Some((pipeline.open_summary().filter(is_usable)?, None));
    let minimal = || {
        let summary = minimal_summary(pipeline);
        let bytes = summary.to_text().into_bytes();
        pipeline.has_artifacts().then_some((summary, Some(bytes)))
    };
    let Some((summary, bytes)) = written.or_else(counted).or_else(minimal) else {
        let (_, missing) = pipeline.artifacts();
        let missing = missing.join(", ");
        let report = Report {
            tell: vec![format!("These files are missing or unchanged: {missing}.")],
            ..Report::default()
        };
        return go(held, Verb::Fail(LoopArgs::default()), report);
    };
    let around = circumstances(pipeline, &summary, true);
    let verb = follows::completed(&summary, &around);
    let report = Report {
        summary: Some(summary),
        bytes,
        tell: gap_lines(&around.gate),
        ..Report::default()
    };
    go(held, verb, report)
}

/// Returns the summary of a stage that left none, for its new files.
fn minimal_summary(pipeline: Pipeline<'_>) -> Summary {
    let (new, _) = pipeline.artifacts();
    let stage = pipeline.stage();
    let what = "Recovered: the coordinator left no summary.";
    let mut summary = Summary::new(stage, Status::Completed, what);
    let flags = &mut summary.flags;
    flags.round_number = Some(pipeline.round());
    flags.recovered = Some(true);
    if stage == Stage::Research {
        let has_agenda = new.iter().any(|path| path.ends_with("RESEARCH-AGENDA.md"));
        flags.research_method = Some(match has_agenda {
            true => ResearchMethod::Manual,
            false => ResearchMethod::AutoMcp,
        });
    }
    if stage == Stage::ValidationGeneration {
        flags.validation_decision = Some(Decision::Conditional);
    }
    summary.artifacts = new.into_iter().map(Into::into).collect();
    summary
}

/// Returns the circumstances that decide together with a summary.
fn circumstances(pipeline: Pipeline<'_>, summary: &Summary, is_done: bool) -> Circumstances {
    let round = pipeline.round();
    let flags = &summary.flags;
    let is_last_round = u64::from(round) >= pipeline.0.count("max_rounds");
    let scores = flags.validation_score.zip(pipeline.last_score());
    // A score has at most three decimals.
    let gained_little = scores.is_some_and(|(score, last)| score - last < 1.9995);

    let decisions: Keys = pipeline.0.data("user_decisions");
    let asked: AnsweredQuestions = pipeline.0.data("asked");
    let question = flags.question_context.as_ref().map(questions::digest);
    let may_repeat = pipeline.0.count("repeats") < pipeline.0.count("answered");
    let recorded = asked.into_iter().find(|one| {
        let is_of_stage = (one.round, one.stage) == (round, summary.stage.number());
        is_of_stage && Some(&one.digest) == question.as_ref()
    });
    Circumstances {
        gate: match is_done {
            true => gate(pipeline, summary),
            false => Gate::default(),
        },
        depth_decided: decisions.contains_key(&format!("thinkdeep_round_{round}")),
        stagnates: round >= 2 && !is_last_round && gained_little,
        recorded: recorded
            .filter(|one| one.repeated > 0 || may_repeat)
            .map(|one| (one.answer, one.repeated)),
    }
}

/// Returns the result of the gate after a stage.
fn gate(pipeline: Pipeline<'_>, summary: &Summary) -> Gate {
    let round = pipeline.round();
    let flags = &summary.flags;
    let file = |path: &str| pipeline.file(&format!("requirements/{path}"));
    match summary.stage {
        Stage::AnalysisQuestions => {
            let questions = file(&format!("working/QUESTIONS-{round:03}.md"));
            gates::after_questions(questions.as_deref(), round, flags)
        }
        Stage::ValidationGeneration if flags.validation_decision != Some(Decision::NotReady) => {
            let requirements = file("PRD.md");
            gates::after_validation(requirements.as_deref(), file("decision-log.md").as_deref())
        }
        _ => Gate::default(),
    }
}

/// Returns a sentence for each finding of a gate. What blocks comes first.
fn gap_lines(gate: &Gate) -> Vec<String> {
    let mut findings: Vec<_> = gate.findings.iter().collect();
    findings.sort_by_key(|one| !one.blocking);
    let line = |one: &gates::GateFinding| {
        format!("{}:{}: {} ({}).", one.file, one.line, one.message, one.help)
    };
    findings.into_iter().map(line).collect()
}

/// Records a report and takes its transition.
fn go(mut held: AnyLoop, verb: Verb, report: Report) -> ReportResult {
    let pipeline = Pipeline(held.raw());
    let stage = pipeline.stage();
    let mut open = dispatch_after(pipeline, held.phase(), &verb);
    if let Some(bytes) = &report.bytes {
        let digest = pipeline.keep(bytes).map_err(|error| {
            let message = format!("cannot keep the summary: {error}");
            let help = "make room or the folder writable, and run the command again";
            Failure::plain(Exit::Internal, "claudex::report::keep", message, help)
        })?;
        let mut counted = pipeline.counted();
        counted.push(CountedSummary {
            round: pipeline.round(),
            stage: stage.number(),
            digest: digest.clone(),
        });
        if keeps_dispatch(&verb) {
            open.summary = Some(digest);
        }
        held.set_counted(&counted)?;
    }
    if let Some(summary) = &report.summary {
        if report.bytes.is_some() && !matches!(verb, Verb::Ask(_)) {
            record::note_repeated(&mut held, summary)?;
        }
        record::note_flags(&mut held, summary, &verb)?;
    }
    if matches!(verb, Verb::Fail(_)) {
        let error = match report.problem {
            "" => "The stage failed".to_owned(),
            problem => format!("Stage {} {problem}", stage.number()),
        };
        let lines = [vec![error], report.tell.clone(), report.details.clone()].concat();
        record::note_failure(&mut held, &lines)?;
    }
    record::note_sections(&mut held, &verb)?;
    report.problem.clone_into(&mut open.problem);
    open.answer = report.answer.or(open.answer);
    open.tell = report.tell;
    open.details = report.details;
    held.set_open(&open)?;
    held.set_stage_status(&json!(record::stage_status(stage, &verb)))?;
    held.add_text(&record::entry(stage, report.summary.as_ref(), &verb));
    Ok(Stages::take(verb, held)?)
}
