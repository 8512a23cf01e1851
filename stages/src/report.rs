//! `report` and `recover`: they record a summary and take the transition that follows, in one
//! write. The workflow's table is at the end: the transition for each summary.

use claudex_loop::program::ChangeResult;
use claudex_loop::program::attempts::REFUSED;
use claudex_loop::program::exit::{Exit, Failure};
use claudex_loop::store::Entry;
use claudex_loop::text;
use serde_json::{Value as Json, json};

use crate::contract::{
    Decision, Keys, NextAction, PauseType, Reading, ResearchMethod, Stage, Status, Summary, sha256,
};
use crate::gates::{self, Gate};
use crate::questions::answer_key;
use crate::record;
use crate::state::{CountedSummary, Open, Pipeline, Taken};
use crate::typestate::{AnyLoop, BackAction, Phase, Transition};

const MAX_DETAIL_CHARS: usize = 500;
const RECOVER_HELP: &str = "nothing was changed; have the coordinator write its summary again, or, if it has ended without one:\n    stages recover";
/// The smallest share of the expected ThinkDeep calls without a question, in per cent.
const MIN_DEPTH_PERCENT: f64 = 40.0;
/// The smallest rise of the score without a question. A score has at most three decimals.
const MIN_GAIN: f64 = 1.9995;
const MAX_GAP_CHARS: usize = 250;

/// Takes the summary of the open stage. The second refusal asks the user, or an agent could loop.
pub(crate) fn report(held: AnyLoop) -> ChangeResult<AnyLoop> {
    require_open(&held)?;
    let pipeline = Pipeline(held.raw());
    let file = text::printable(pipeline.summary_path());
    let (problem, refusal) = match pipeline.read_summary() {
        None => {
            let refusal = format!("cannot take {file}: the file is missing");
            ("was reported twice without a summary", refusal)
        }
        Some((_, reading)) if reading.is_refused => {
            let findings = reading.lenient_lines().join("\n");
            let refusal = format!("{file} does not count:\n{findings}");
            ("twice reported a summary that does not count", refusal)
        }
        Some((bytes, reading)) => return take_reading(held, reading, bytes),
    };
    if !was_refused(pipeline) {
        return Err(Failure::refuse(refusal, RECOVER_HELP));
    }
    let details = vec![text::one_line(&refusal, MAX_DETAIL_CHARS)];
    take_next(held, Transition::Fail, None, problem, Vec::new(), details)
}

fn require_open(held: &AnyLoop) -> Result<(), Failure> {
    let phase = held.phase();
    if phase == Phase::Dispatched {
        return Ok(());
    }
    let id = held.id();
    let problem = format!("pipeline {id} has no open stage: it is in phase {phase}");
    let help = "nothing was changed; for the instruction, run:\n    stages next";
    Err(Failure::refuse(problem, help))
}

fn was_refused(pipeline: Pipeline<'_>) -> bool {
    let journal = pipeline.0.journal().unwrap_or_default();
    let is_of_report = |note: Json| note["tried"] == "report";
    let is_report = |entry: &Entry| entry.note_data(REFUSED).is_some_and(is_of_report);
    let is_of_dispatch = |entry: &&Entry| {
        let change = entry.change();
        change.is_none_or(|change| ["remind", "bind"].contains(&change.what.as_str()))
    };
    let mut newest = journal.iter().rev().take_while(is_of_dispatch);
    newest.any(is_report)
}

/// Takes the results of a coordinator that ended without a report: its summary, or else its files.
pub(crate) fn recover(held: AnyLoop) -> ChangeResult<AnyLoop> {
    if held.phase() == Phase::Recovering {
        return accept_files(held);
    }
    require_open(&held)?;
    let problem = match Pipeline(held.raw()).read_summary() {
        None => "ended without a summary",
        Some((_, reading)) if reading.is_refused => "ended without a new summary",
        Some((bytes, reading)) => return take_reading(held, reading, bytes),
    };
    take_files(held, problem, Vec::new())
}

/// Takes a summary that counts, or the files beside one that cannot be read.
fn take_reading(held: AnyLoop, reading: Reading, bytes: Vec<u8>) -> ChangeResult<AnyLoop> {
    let details = reading.lenient_lines();
    let Some(summary) = reading.summary else {
        return take_files(held, "left a broken summary", details);
    };
    let (next, gaps) = next_transition(Pipeline(held.raw()), &summary);
    let flags = &summary.flags;
    let mut tell = Vec::new();
    if flags.timeout == Some(true) || flags.partial == Some(true) {
        let number = summary.stage.number();
        let steps = flags.completed_steps.as_deref().unwrap_or_default();
        let colon = if steps.is_empty() { "" } else { ": " };
        let steps = steps.join(", ");
        tell.push(format!("Stage {number} is only partly done{colon}{steps}."));
    }
    if summary.status == Status::Failed {
        tell.push(summary.summary.clone());
    }
    tell.extend(gaps);
    take_next(held, next, Some((summary, bytes)), "", tell, details)
}

/// Takes the files of a coordinator that left no summary, if they show that the stage was
/// done. Stage 5 always asks, because its summary may have been NOT_READY. Stage 7 never does.
fn take_files(held: AnyLoop, problem: &str, details: Vec<String>) -> ChangeResult<AnyLoop> {
    let pipeline = Pipeline(held.raw());
    let stage = pipeline.stage();
    let may_count = match stage {
        Stage::Retrospective => true,
        Stage::Setup | Stage::ValidationGeneration => false,
        _ => pipeline.has_artifacts(),
    };
    let minimal = minimal_summary(pipeline);
    let (next, mut tell) = after_completed(pipeline, &minimal.0);
    // The user has not accepted the files yet.
    if !may_count || matches!(next, Transition::Fail | Transition::Block { .. }) {
        return take_next(held, Transition::Fail, None, problem, Vec::new(), details);
    }
    let number = stage.number();
    tell.push(format!(
        "Stage {number} {problem}; the files that it wrote were used."
    ));
    take_next(held, next, Some(minimal), "", tell, details)
}

/// Takes the accepted result: the summary in its file, else the counted one, else the new files.
fn accept_files(held: AnyLoop) -> ChangeResult<AnyLoop> {
    let pipeline = Pipeline(held.raw());
    let is_usable = |(summary, _): &Taken| summary.status != Status::Failed;
    let file = pipeline.read_summary();
    let written = file.and_then(|(bytes, reading)| reading.summary.zip(Some(bytes)));
    let mut results = [written, pipeline.open_summary()].into_iter().flatten();
    let minimal = || pipeline.has_artifacts().then(|| minimal_summary(pipeline));
    let Some(result) = results.find(is_usable).or_else(minimal) else {
        let missing = pipeline.artifacts().1.join(", ");
        let line = format!("These files are missing or unchanged: {missing}.");
        return take_next(held, Transition::Fail, None, "", vec![line], Vec::new());
    };
    let (next, tell) = after_completed(pipeline, &result.0);
    take_next(held, next, Some(result), "", tell, Vec::new())
}

/// Returns the summary of a stage that left none, for its new files.
fn minimal_summary(pipeline: Pipeline<'_>) -> Taken {
    let (new, _) = pipeline.artifacts();
    let stage = pipeline.stage();
    let text = "Recovered: the coordinator left no summary.";
    let mut summary = Summary::new(stage, Status::Completed, text);
    let flags = &mut summary.flags;
    flags.round_number = Some(pipeline.round());
    flags.recovered = Some(true);
    let has_agenda = new.iter().any(|path| path.ends_with("RESEARCH-AGENDA.md"));
    match stage {
        Stage::Research if has_agenda => flags.research_method = Some(ResearchMethod::Manual),
        Stage::Research => flags.research_method = Some(ResearchMethod::AutoMcp),
        Stage::ValidationGeneration => flags.validation_decision = Some(Decision::Conditional),
        _ => {}
    }
    summary.artifacts = new.into_iter().map(Into::into).collect();
    let bytes = summary.to_text().into_bytes();
    (summary, bytes)
}

/// Records a summary, or the problem of a lost one, and takes the transition that follows. `tell`
/// is for the user, `details` are for `status`.
fn take_next(
    mut held: AnyLoop,
    next: Transition,
    taken: Option<Taken>,
    problem: &str,
    tell: Vec<String>,
    details: Vec<String>,
) -> ChangeResult<AnyLoop> {
    let stage = Pipeline(held.raw()).stage();
    let mut before = held.fields().open.clone();
    if let Some((_, bytes)) = &taken {
        before.summary = Some(count_summary(&mut held, bytes)?);
    }
    let pipeline = Pipeline(held.raw());
    let mut open = Open {
        problem: problem.to_owned(),
        tell,
        details,
        ..record::dispatch_after(&held, &next, before)
    };
    let summary = taken.as_ref().map(|(summary, _)| summary);
    let question = summary.and_then(|summary| summary.flags.question_context.as_ref());
    if let Some(question) = question.filter(|_| !matches!(next, Transition::Ask)) {
        let key = answer_key(pipeline, question);
        let mut answers = held.fields().asked.clone();
        // An answer is used again once.
        let recorded = answers.get_mut(&key).map(Json::take);
        if matches!(next, Transition::Repeat) {
            open.answer = Some(json!({ "question": question.question, "answer": recorded }));
        }
        held.set_asked(&answers)?;
    }
    record::note(&mut held, summary, &next)?;
    if matches!(next, Transition::Fail) {
        record::note_failure(&mut held, &open)?;
    }
    held.add_text(&record::entry(stage, summary, &next));
    held.set_open(&open)?;
    Ok(held.take_transition(next))
}

/// Keeps a summary in the loop's folder, and counts it for its stage and round. Returns its digest.
fn count_summary(held: &mut AnyLoop, bytes: &[u8]) -> Result<String, Failure> {
    let pipeline = Pipeline(held.raw());
    let digest = sha256(bytes);
    let folder = pipeline.0.store().open_folder();
    folder
        .and_then(|folder| folder.make_subfolder(format!("{}/kept", held.id())))
        .and_then(|kept| kept.replace(&format!("{digest}.md"), bytes))
        .map_err(|error| {
            let message = format!("cannot keep the summary: {error}");
            let help = "make room or the folder writable, and run the command again";
            Failure::with_help(Exit::Internal, message, help)
        })?;
    let mut counted = pipeline.counted_summaries();
    if counted.iter().all(|one| one.digest != digest) {
        counted.push(CountedSummary {
            round: pipeline.round(),
            stage: pipeline.stage().number(),
            digest: digest.clone(),
        });
        held.set_counted(&counted)?;
    }
    Ok(digest)
}

/// Returns the transition that follows a summary, and the gaps that its gate names.
fn next_transition(pipeline: Pipeline<'_>, summary: &Summary) -> (Transition, Vec<String>) {
    let flags = &summary.flags;
    let transition = match (summary.stage, summary.status) {
        (Stage::Retrospective, _) => Transition::Complete,
        (_, Status::Failed) => Transition::Fail,
        (_, Status::Completed) => return after_completed(pipeline, summary),
        (_, Status::NeedsUserInput) if flags.pause_type == Some(PauseType::ExitCli) => {
            let reason = flags.block_reason.clone().unwrap_or_default();
            Transition::Wait { reason }
        }
        (stage, Status::NeedsUserInput) => match recorded_answer(pipeline, summary) {
            None => Transition::Ask,
            Some(Json::String(label)) => match summary.mapped_action(&label) {
                None => Transition::Repeat,
                _ if stage < Stage::ResponseAnalysis => return after_completed(pipeline, summary),
                action => follow_action(action),
            },
            Some(_) => {
                let tell = "it asked again what you have answered";
                return (Transition::Fail, vec![tell.to_owned()]);
            }
        },
    };
    (transition, Vec::new())
}

/// Returns the transition that follows a completed stage, and the gaps that its gate names.
fn after_completed(pipeline: Pipeline<'_>, summary: &Summary) -> (Transition, Vec<String>) {
    let gate = gate(pipeline, summary);
    let transition = match (summary.stage, summary.flags.validation_decision) {
        _ if !gate.is_open() => block_on_gaps(&gate),
        (Stage::AnalysisQuestions, _) if is_shallow(pipeline, summary) => Transition::Doubt,
        (Stage::ResponseAnalysis, _) => follow_action(summary.flags.next_action),
        (Stage::ValidationGeneration, Some(Decision::NotReady)) => another_round(pipeline, summary),
        (Stage::ValidationGeneration, None) => Transition::Fail,
        _ => Transition::Complete,
    };
    (transition, gate.lines())
}

/// Returns the transition of stage 4 for a next action.
fn follow_action(action: Option<NextAction>) -> Transition {
    let action = match action {
        None => return Transition::Decide,
        Some(NextAction::Proceed) => return Transition::Complete,
        Some(NextAction::LoopQuestions) => BackAction::LoopQuestions,
        Some(NextAction::LoopResearch) => BackAction::LoopResearch,
    };
    Transition::Back { action }
}

fn gate(pipeline: Pipeline<'_>, summary: &Summary) -> Gate {
    let round = pipeline.round();
    let flags = &summary.flags;
    let file = |path: &str| pipeline.0.read(&format!("requirements/{path}")).ok();
    match (summary.stage, flags.validation_decision) {
        (Stage::AnalysisQuestions, _) => {
            let questions = file(&format!("working/QUESTIONS-{round:03}.md"));
            gates::after_questions(questions.as_deref(), round, flags)
        }
        (Stage::ValidationGeneration, Some(Decision::Ready | Decision::Conditional)) => {
            let requirements = file("PRD.md");
            gates::after_validation(requirements.as_deref(), file("decision-log.md").as_deref())
        }
        _ => Gate::default(),
    }
}

fn block_on_gaps(gate: &Gate) -> Transition {
    let lines = gate.lines();
    let first = lines.first().map_or("", |gap| gap.trim_end_matches('.'));
    let mut gap = text::one_line(first, MAX_GAP_CHARS);
    if lines.len() > 1 {
        gap += &format!(" (and {} more)", lines.len() - 1);
    }
    let gate = gate.header.to_owned();
    Transition::Block { gate, gap }
}

/// Returns whether too few ThinkDeep calls were made, and the user did not accept that.
fn is_shallow(pipeline: Pipeline<'_>, summary: &Summary) -> bool {
    let key = format!("thinkdeep_round_{}", pipeline.round());
    let is_decided = pipeline.decisions().contains_key(&key);
    let depth = summary.flags.depth();
    depth.is_some_and(|(_, share)| share < MIN_DEPTH_PERCENT) && !is_decided
}

/// Returns the transition after requirements that are not ready.
fn another_round(pipeline: Pipeline<'_>, summary: &Summary) -> Transition {
    let validations = pipeline.kept_summaries().into_iter().rev();
    let mut scores = validations.filter_map(|((_, stage), Summary { flags, .. })| {
        let is_not_ready = flags.validation_decision == Some(Decision::NotReady);
        let is_validation = stage == Stage::ValidationGeneration && is_not_ready;
        flags.validation_score.filter(|_| is_validation)
    });
    let gain = summary.flags.validation_score.zip(scores.next());
    let stagnates = gain.is_some_and(|(score, last)| score - last < MIN_GAIN);
    let round = u64::from(pipeline.round());
    if stagnates && round >= 2 && round < pipeline.0.count("max_rounds") {
        Transition::Stagnate
    } else {
        follow_action(Some(NextAction::LoopQuestions))
    }
}

/// Returns the answer recorded for the same question in this round, null if it was used again.
fn recorded_answer(pipeline: Pipeline<'_>, summary: &Summary) -> Option<Json> {
    let question = summary.flags.question_context.as_ref()?;
    let mut answers: Keys = pipeline.0.data("asked");
    let answer = answers.remove(&answer_key(pipeline, question))?;
    let may_repeat = pipeline.0.count("repeats") < pipeline.0.count("answered");
    (answer.is_null() || may_repeat).then_some(answer)
}
