//! `report` and `recover`: a summary, or what is there without one, is kept, written into the state, and
//! its transition is taken, all in one write. A refusal changes nothing.

use claudex_loop::program::exit::{Exit, Failure};
use claudex_loop::program::{App as _, LoopArgs, NotTaken};
use serde_json::json;

use crate::contract::{
    self, Context, Decision, Outcome, Reading, ResearchMethod, Stage, Status, Summary,
};
use crate::follows::{self, Circumstances, Step, follows};
use crate::gates::{self, Gate};
use crate::instruction::found;
use crate::state::{AllAsked, Counted, Keys, Open, Pipeline, UserAnswer, key_artifacts};
use crate::typestate::{AnyLoop, BackAction, Phase, Stages, Verb};
use crate::{questions, record};

type Taken = Result<AnyLoop, NotTaken<AnyLoop>>;

/// Takes the bytes of the open stage's summary.
///
/// # Errors
/// It does not count, no coordinator is under way, or the store refused.
pub fn report(held: AnyLoop, bytes: &[u8], name: &str) -> Taken {
    under_way(&held)?;
    let reading = reading(Pipeline(held.raw()), bytes);
    let lines = contract::report(&reading).lines();
    match &reading.outcome {
        Outcome::Refused => Err(not_counted(name, &reading).into()),
        Outcome::Crash => recovered(held, &lines),
        Outcome::Taken(summary) => taken(held, summary, bytes, &lines),
    }
}

/// Looks what a coordinator left that has ended without a report: its summary where it counts, else its key artifacts.
///
/// # Errors
/// Nothing is to be looked at, or the store refused.
pub fn recover(held: AnyLoop) -> Taken {
    if held.phase() == Phase::Recovering {
        return on_users_word(held);
    }
    under_way(&held)?;
    let pipeline = Pipeline(held.raw());
    let Some(bytes) = pipeline.file(&Pipeline::summary_file(pipeline.stage())) else {
        return recovered(held, &[]);
    };
    let reading = reading(pipeline, &bytes);
    let lines = contract::report(&reading).lines();
    match &reading.outcome {
        Outcome::Taken(summary) => taken(held, summary, &bytes, &lines),
        Outcome::Crash => recovered(held, &lines),
        Outcome::Refused => recovered(held, &[]),
    }
}

fn under_way(held: &AnyLoop) -> Result<(), Failure> {
    if held.phase() == Phase::Dispatched {
        return Ok(());
    }
    let (id, phase) = (held.id(), held.phase());
    Err(refused(
        format!("pipeline {id} has no coordinator under way: it is in phase {phase}"),
        "nothing was changed; what is to be done:\n    stages next",
    ))
}

fn refused(message: String, help: &str) -> Failure {
    Failure::plain(Exit::Refused, "claudex::report", message, help)
}

/// Reads a summary, and compares it with the open dispatch.
pub(crate) fn reading(pipeline: Pipeline<'_>, bytes: &[u8]) -> Reading {
    let root = pipeline.0.root();
    let context = Context {
        project: Some(&root),
        dispatch: Some(&pipeline.dispatch()),
    };
    contract::read(bytes, &context)
}

fn not_counted(name: &str, reading: &Reading) -> Failure {
    let why = contract::report(reading).lines();
    refused(
        format!("{name} does not count:\n{}", why.join("\n")),
        "nothing was changed; have the coordinator write its summary anew, or, when it has ended without one:\n    stages recover",
    )
}

/// Takes a summary that counts.
fn taken(held: AnyLoop, summary: &Summary, bytes: &[u8], lines: &[String]) -> Taken {
    let is_done = summary.status == Status::Completed;
    let around = circumstances(Pipeline(held.raw()), summary, is_done);
    let step = follows(summary, &around);
    let mut tell: Vec<String> = lines.to_vec();
    let flags = &summary.flags;
    if flags.timeout == Some(true) || flags.partial == Some(true) {
        let steps = flags.completed_steps.clone().unwrap_or_default();
        tell.push(format!(
            "Stage {} is done in part: {}.",
            summary.stage.number(),
            steps.join(", ")
        ));
    }
    if summary.status == Status::Failed {
        tell.push(summary.summary.clone());
    }
    tell.extend(said_by(&around.gate));
    go(held, step, Some((summary, Some(bytes))), tell)
}

/// Goes on with the files of a coordinator that left no summary.
fn recovered(held: AnyLoop, lines: &[String]) -> Taken {
    let pipeline = Pipeline(held.raw());
    let stage = pipeline.stage();
    let (new, _) = found(pipeline);
    let mut tell = lines.to_vec();
    let is_last = stage == Stage::Retrospective;
    if stage == Stage::Setup || !(is_last || is_enough(pipeline, &new)) {
        return go(held, Step::Fail, None, tell);
    }
    let summary = minimal(stage, pipeline.round(), &new);
    let (step, said) = as_done(pipeline, &summary);
    tell.extend(said);
    // The user has not said yet that it may count.
    if matches!(step, Step::Fail | Step::Block) {
        return go(held, Step::Fail, None, tell);
    }
    let number = stage.number();
    tell.push(format!(
        "Stage {number} left no summary; what it wrote counts."
    ));
    let text = summary.to_text();
    go(held, step, Some((&summary, Some(text.as_bytes()))), tell)
}

/// Goes on with what is there, on the user's word: the summary in its file, else the one that
/// counted, else one for the files that are new.
fn on_users_word(held: AnyLoop) -> Taken {
    let pipeline = Pipeline(held.raw());
    let stage = pipeline.stage();
    let (new, missing) = found(pipeline);
    let in_file = || {
        let bytes = pipeline.file(&Pipeline::summary_file(stage))?;
        match reading(pipeline, &bytes).outcome {
            Outcome::Taken(summary) => Some((*summary, Some(bytes))),
            Outcome::Crash | Outcome::Refused => None,
        }
    };
    let counted = || Some((pipeline.open_summary()?, None));
    let made = || {
        let summary = minimal(stage, pipeline.round(), &new);
        let bytes = summary.to_text().into_bytes();
        (stage == Stage::Setup || is_enough(pipeline, &new)).then_some((summary, Some(bytes)))
    };
    let is_usable = |one: &(Summary, Option<Vec<u8>>)| one.0.status != Status::Failed;
    let usable = in_file().filter(is_usable);
    let usable = usable.or_else(|| counted().filter(is_usable)).or_else(made);
    let Some((summary, bytes)) = usable else {
        let missing = missing.join(", ");
        let tell = vec![format!("Not there, or as it was before: {missing}.")];
        return go(held, Step::Fail, None, tell);
    };
    let (step, said) = as_done(pipeline, &summary);
    go(held, step, Some((&summary, bytes.as_deref())), said)
}

/// Returns what follows a stage that is done, and what its gate says.
fn as_done(pipeline: Pipeline<'_>, summary: &Summary) -> (Step, Vec<String>) {
    let around = circumstances(pipeline, summary, true);
    (follows::completed(summary, &around), said_by(&around.gate))
}

/// Returns whether the new key artifacts say that the stage was done. Stage 2 writes one of two.
fn is_enough(pipeline: Pipeline<'_>, new: &[String]) -> bool {
    let stage = pipeline.stage();
    match stage {
        Stage::Research => !new.is_empty(),
        _ => !new.is_empty() && new.len() == key_artifacts(stage, pipeline.round()).len(),
    }
}

/// Makes the summary of a stage that left none.
fn minimal(stage: Stage, round: u32, new: &[String]) -> Summary {
    let mut summary = Summary::new(
        stage,
        Status::Completed,
        "Recovered: the coordinator left no summary.",
    );
    summary.artifacts = new.iter().map(Into::into).collect();
    let flags = &mut summary.flags;
    (flags.round_number, flags.recovered) = (Some(round), Some(true));
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

/// Looks at what decides besides the summary.
fn circumstances(pipeline: Pipeline<'_>, summary: &Summary, is_done: bool) -> Circumstances {
    let round = pipeline.round();
    let file = |path: &str| pipeline.file(&format!("requirements/{path}"));
    let flags = &summary.flags;
    let gate = match summary.stage {
        Stage::AnalysisQuestions if is_done => {
            let questions = file(&format!("working/QUESTIONS-{round:03}.md"));
            gates::after_questions(questions.as_deref(), round, flags)
        }
        Stage::ValidationGeneration
            if is_done && flags.validation_decision != Some(Decision::NotReady) =>
        {
            gates::after_validation(
                file("PRD.md").as_deref(),
                file("decision-log.md").as_deref(),
            )
        }
        _ => Gate::default(),
    };
    let decisions: Keys = pipeline.0.data("user_decisions");
    let asked: AllAsked = pipeline.0.data("asked");
    let question = flags.question_context.as_ref().map(questions::digest);
    let may_repeat = pipeline.0.count("repeats") < pipeline.0.count("answered");
    let recorded = asked.into_iter().find(|one| {
        (one.round, one.stage) == (round, summary.stage.number())
            && Some(&one.digest) == question.as_ref()
    });
    Circumstances {
        gate,
        depth_decided: decisions.contains_key(&format!("thinkdeep_round_{round}")),
        recorded: recorded
            .filter(|one| one.repeated > 0 || may_repeat)
            .map(|one| (one.answer, one.repeated)),
    }
}

fn said_by(gate: &Gate) -> Vec<String> {
    let said = |one: &gates::GateFinding| {
        format!("{}:{}: {} ({}).", one.file, one.line, one.message, one.help)
    };
    gate.findings.iter().map(said).collect()
}

/// Writes what a summary says, and takes the transition that follows it. A summary without bytes has counted before.
fn go(
    mut held: AnyLoop,
    step: Step,
    summary: Option<(&Summary, Option<&[u8]>)>,
    tell: Vec<String>,
) -> Taken {
    let pipeline = Pipeline(held.raw());
    let (stage, round, before) = (pipeline.stage(), pipeline.round(), pipeline.open());
    let mut open = match &step {
        Step::Repeat(answer) => {
            let asked = summary.and_then(|(summary, _)| summary.flags.question_context.as_ref());
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
        Step::Ask | Step::Fail | Step::Block | Step::Doubt | Step::Decide => before,
        _ => pipeline.opened(),
    };
    let stays = matches!(
        step,
        Step::Wait(_) | Step::Ask | Step::Fail | Step::Block | Step::Doubt | Step::Decide
    );
    if let Some((summary, Some(bytes))) = summary {
        let digest = pipeline.keep(bytes).map_err(|error| {
            let message = format!("the summary cannot be kept: {error}");
            let help = "make room or the folder writable, and do the same again";
            Failure::plain(Exit::Internal, "claudex::report::keep", message, help)
        })?;
        let mut counted = pipeline.counted();
        counted.push(Counted {
            round,
            stage: stage.number(),
            digest: digest.clone(),
        });
        if stays {
            (open.summary, open.crashed) = (Some(digest), false);
        }
        held.set_counted(&counted)?;
        record::note_repeated(&mut held, summary, &step)?;
    }
    if let Some((summary, _)) = summary {
        record::note_flags(&mut held, summary, &step)?;
    }
    if step == Step::Fail {
        let is_crash = summary.is_none() && held.phase() == Phase::Dispatched;
        (open.crashed, open.summary) =
            (is_crash || open.crashed, open.summary.filter(|_| !is_crash));
        let mut errors = held.fields().error_log.clone();
        let error = match tell.is_empty() {
            true => "No summary was left.".to_owned(),
            false => tell.join(" "),
        };
        errors.push(
            json!({ "timestamp": record::now(), "stage": stage.number(), "error": error, "recovery": null }),
        );
        held.set_error_log(&errors)?;
    }
    record::note_sections(&mut held, &step)?;
    open.tell = tell;
    held.set_open(&open)?;
    held.add_text(&record::entry(
        stage,
        summary.map(|(summary, _)| summary),
        &step,
    ));
    Ok(Stages::take(verb(step), held)?)
}

/// Returns the transition of a step.
fn verb(step: Step) -> Verb {
    let loop_args = LoopArgs::default();
    match step {
        Step::Complete => Verb::Complete(loop_args),
        Step::Proceed => Verb::Proceed(loop_args),
        Step::Back(contract::NextAction::LoopResearch) => Verb::Back {
            loop_args,
            action: BackAction::LoopResearch,
        },
        Step::Back(_) => Verb::Back {
            loop_args,
            action: BackAction::LoopQuestions,
        },
        Step::Decide => Verb::Decide(loop_args),
        Step::Pass => Verb::Pass(loop_args),
        Step::NotReady(score) => Verb::NotReady { loop_args, score },
        Step::Unscored => Verb::Unscored(loop_args),
        Step::Block => Verb::Block(loop_args),
        Step::Doubt => Verb::Doubt(loop_args),
        Step::Wait(reason) => Verb::Wait { loop_args, reason },
        Step::Ask => Verb::Ask(loop_args),
        Step::Repeat(_) => Verb::Repeat(loop_args),
        Step::Fail => Verb::Fail(loop_args),
    }
}
