//! Taking a summary, or what is there in place of one: what is kept of it, what it says is written into the state, and the transition that
//! follows is taken, all in one write. What is refused changes nothing.

use claudex_loop::Timestamp;
use claudex_loop::machine::guard::FieldError;
use claudex_loop::program::NotTaken;
use claudex_loop::program::exit::{Exit, Failure};
use serde_json::{Value as Json, json};

use crate::contract::{
    self, Context, Decision, Flags, Outcome, Reading, ResearchMethod, Round, Stage, Status, Summary,
};
use crate::follows::{self, Circumstances, Step, follows};
use crate::gates::{self, Gate};
use crate::instruction::found;
use crate::questions;
use crate::state::{Counted, Keys, Open, Pipeline, UserAnswer, key_artifacts};
use crate::typestate::{AnyLoop, BackAction, Phase, Verb};

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
        return on_a_persons_word(held);
    }
    under_way(&held)?;
    let pipeline = Pipeline(held.raw());
    let bytes = pipeline.file(&Pipeline::summary_file(pipeline.stage()));
    let reading = bytes.as_deref().map(|bytes| reading(pipeline, bytes));
    match (bytes, reading.as_ref().map(|reading| (&reading.outcome, reading))) {
        (Some(bytes), Some((Outcome::Taken(summary), reading))) => {
            taken(held, summary, &bytes, &contract::report(reading).lines())
        }
        (_, Some((Outcome::Crash, reading))) => recovered(held, &contract::report(reading).lines()),
        _ => recovered(held, &[]),
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

fn reading(pipeline: Pipeline<'_>, bytes: &[u8]) -> Reading {
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
    go(held, step, Some((summary, bytes)), tell)
}

/// Goes on with what a coordinator left that wrote no summary.
fn recovered(held: AnyLoop, lines: &[String]) -> Taken {
    let pipeline = Pipeline(held.raw());
    let stage = pipeline.stage();
    let (new, _) = found(pipeline);
    let summary = minimal(stage, pipeline.round(), &new);
    let around = circumstances(pipeline, &summary, true);
    let is_enough = stage == Stage::Retrospective || stage != Stage::Setup && is_enough(pipeline, &new);
    let step = match is_enough {
        true => follows::completed(&summary, &around),
        false => Step::Fail,
    };
    let mut tell: Vec<String> = lines.to_vec();
    tell.extend(said_by(&around.gate).into_iter().filter(|_| is_enough));
    // A person has not said yet that it may count.
    if matches!(step, Step::Fail | Step::Block) {
        return go(held, Step::Fail, None, tell);
    }
    tell.push(format!(
        "Stage {} left no summary; what it wrote counts.",
        stage.number()
    ));
    go(held, step, Some((&summary, summary.to_text().as_bytes())), tell)
}

/// Goes on with what is there, on a person's word: the summary as it lies there now, or as it counted, else what was found.
fn on_a_persons_word(held: AnyLoop) -> Taken {
    let pipeline = Pipeline(held.raw());
    let is_usable = |summary: &Summary| summary.status != Status::Failed;
    let bytes = pipeline.file(&Pipeline::summary_file(pipeline.stage()));
    let mended = bytes.and_then(|bytes| match reading(pipeline, &bytes).outcome {
        Outcome::Taken(summary) => Some((*summary, bytes)),
        Outcome::Crash | Outcome::Refused => None,
    });
    if let Some((summary, bytes)) = mended.filter(|(summary, _)| is_usable(summary)) {
        let around = circumstances(pipeline, &summary, true);
        let step = follows::completed(&summary, &around);
        return go(held, step, Some((&summary, &bytes)), said_by(&around.gate));
    }
    if let Some(summary) = pipeline.open_summary().filter(is_usable) {
        let around = circumstances(pipeline, &summary, true);
        let step = follows::completed(&summary, &around);
        return go(held, step, None, said_by(&around.gate));
    }
    let stage = pipeline.stage();
    let (new, missing) = found(pipeline);
    if stage != Stage::Setup && !is_enough(pipeline, &new) {
        let tell = vec![format!("Not there, or as it was before: {}.", missing.join(", "))];
        return go(held, Step::Fail, None, tell);
    }
    let summary = minimal(stage, pipeline.round(), &new);
    let around = circumstances(pipeline, &summary, true);
    let step = follows::completed(&summary, &around);
    let tell = said_by(&around.gate);
    go(held, step, Some((&summary, summary.to_text().as_bytes())), tell)
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
fn minimal(stage: Stage, round: Round, new: &[String]) -> Summary {
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
            let questions = file(&format!("working/QUESTIONS-{:03}.md", round.get()));
            gates::after_questions(questions.as_deref(), round, flags)
        }
        Stage::ValidationGeneration if is_done && flags.validation_decision != Some(Decision::NotReady) => {
            gates::after_validation(file("PRD.md").as_deref(), file("decision-log.md").as_deref())
        }
        _ => Gate::default(),
    };
    let decisions: Keys = pipeline.0.data("user_decisions");
    let asked: crate::state::AllAsked = pipeline.0.data("asked");
    let question = flags.question_context.as_ref().map(questions::digest);
    let same = |one: &&crate::state::AskedOnce| {
        (one.round, one.stage) == (round.get(), summary.stage.number())
            && Some(&one.digest) == question.as_ref()
    };
    Circumstances {
        gate,
        depth_decided: decisions.contains_key(&format!("thinkdeep_round_{}", round.get())),
        recorded: asked
            .iter()
            .find(same)
            .filter(|one| one.repeated > 0 || pipeline.0.count("repeats") < pipeline.0.count("answered"))
            .map(|one| (one.answer.clone(), one.repeated)),
    }
}

fn said_by(gate: &Gate) -> Vec<String> {
    let said =
        |one: &gates::GateFinding| format!("{}:{}: {} ({}).", one.file, one.line, one.message, one.help);
    gate.findings.iter().map(said).collect()
}

/// Writes what a summary says, and takes the transition that follows it.
fn go(mut held: AnyLoop, step: Step, summary: Option<(&Summary, &[u8])>, tell: Vec<String>) -> Taken {
    let pipeline = Pipeline(held.raw());
    let (stage, round, before) = (pipeline.stage(), pipeline.round(), pipeline.open());
    let mut open = match &step {
        Step::Repeat => {
            let answer = summary.and_then(|(summary, _)| {
                let (answer, _) = circumstances(pipeline, summary, false).recorded?;
                let question = summary.flags.question_context.as_ref()?.question.clone();
                Some(UserAnswer { question, answer })
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
    if let Some((summary, bytes)) = summary {
        let digest = pipeline.keep(bytes).map_err(|error| {
            let what = format!("the summary cannot be kept: {error}");
            Failure::plain(
                Exit::Internal,
                "claudex::report::keep",
                what,
                "make room or the folder writable, and do the same again",
            )
        })?;
        let mut counted = pipeline.counted();
        counted.push(Counted {
            round: round.get(),
            stage: stage.number(),
            digest: digest.clone(),
        });
        if stays {
            (open.summary, open.crashed) = (Some(digest), false);
        }
        held.set_counted(&counted)?;
        note_repeated(&mut held, summary, &step)?;
        note_flags(&mut held, summary, &step)?;
    }
    if step == Step::Fail {
        let is_crash = summary.is_none() && held.phase() == Phase::Dispatched;
        (open.crashed, open.summary) = (is_crash || open.crashed, open.summary.filter(|_| !is_crash));
        let mut errors = held.fields().error_log();
        errors.push(
            json!({ "timestamp": now(), "stage": stage.number(), "error": tell.join(" "), "recovery": null }),
        );
        held.set_error_log(&errors)?;
    }
    open.tell = tell;
    held.set_open(&open)?;
    held.add_text(&entry(stage, summary.map(|(summary, _)| summary), &step));
    Ok(verb(step).run(held)?)
}

fn now() -> String {
    format!("{:.0}", Timestamp::now())
}

/// Notes that a question was answered from the record.
fn note_repeated(held: &mut AnyLoop, summary: &Summary, step: &Step) -> Result<(), FieldError> {
    let Some(question) = summary
        .flags
        .question_context
        .as_ref()
        .filter(|_| *step != Step::Ask)
    else {
        return Ok(());
    };
    let round = Pipeline(held.raw()).round().get();
    let digest = questions::digest(question);
    let mut asked = held.fields().asked();
    let same = |one: &&mut crate::state::AskedOnce| {
        (one.round, one.stage) == (round, summary.stage.number()) && one.digest == digest
    };
    if let Some(one) = asked.iter_mut().find(same) {
        one.repeated += 1;
        held.set_asked(&asked)?;
    }
    Ok(())
}

/// Returns the entry of the log below the state.
fn entry(stage: Stage, summary: Option<&Summary>, step: &Step) -> String {
    let outcome = match (step, summary) {
        (Step::Fail, _) => "ERROR",
        (_, Some(summary)) if summary.flags.partial == Some(true) => "PARTIAL",
        (_, Some(summary)) if summary.status == Status::Completed => "SUCCESS",
        _ => "PARTIAL",
    };
    let told = summary.map_or_else(
        || "no summary".to_owned(),
        |summary| claudex_loop::text::one_line(&summary.summary, 200),
    );
    let artifacts = summary.into_iter().flat_map(|summary| &summary.artifacts);
    let artifacts: Vec<&str> = artifacts.map(|path| path.as_str()).collect();
    let outputs = if artifacts.is_empty() {
        "none".to_owned()
    } else {
        artifacts.join(", ")
    };
    format!(
        "### {} - Stage {}: {}\n- Action: {told}\n- Outcome: {outcome}\n- Key Outputs: {outputs}\n",
        now(),
        stage.number(),
        stage.checkpoint(),
    )
}

/// Writes what the flags say into the keys of schema 2.
fn note_flags(held: &mut AnyLoop, summary: &Summary, step: &Step) -> Result<(), FieldError> {
    let flags = &summary.flags;
    let standard = held.fields().open().standard;
    let stage = summary.stage;
    if let Some(mode) = flags.prd_mode {
        held.set_prd_mode(&json!(mode))?;
    }
    if let Some(mode) = flags.analysis_mode
        && matches!(stage, Stage::Setup | Stage::AnalysisQuestions)
        && !standard
    {
        held.set_analysis_mode(&json!(mode))?;
    }
    if let Some(preset) = &flags.panel_preset {
        held.set_panel_preset(&json!(preset))?;
    }
    if let Some(path) = &flags.panel_config_path {
        held.set_panel_config_path(&json!(path))?;
    }
    if let Some(count) = flags.panel_members_count {
        held.set_panel_members_count(&json!(count))?;
    }
    if stage == Stage::Setup {
        let is = |flag: Option<bool>| flag.unwrap_or_default();
        let tools = json!({
            "pal_available": is(flags.pal_available),
            "st_available": is(flags.st_available),
            "research_mcp": { "tavily": is(flags.research_mcp_tavily), "ref": is(flags.research_mcp_ref) },
        });
        held.set_mcp_availability(tools.as_object().unwrap_or(&Keys::new()))?;
    }
    let mut stages = held.fields().stages();
    let before = stages.get(key(stage)).and_then(Json::as_object).cloned();
    let mut known = before.unwrap_or_default();
    known.extend(of_stage(stage, flags, held.fields().round(), step));
    stages.insert(key(stage).to_owned(), Json::Object(known));
    held.set_stages(&stages)?;
    if summary.status != Status::Completed || *step == Step::Fail {
        return Ok(());
    }
    note_round(held, stage, flags)?;
    match stage {
        Stage::Completion => held.set_completed_at(&json!(now())),
        Stage::Retrospective => held.set_retrospective_completed_at(&json!(now())),
        _ => Ok(()),
    }
}

/// Returns a stage's key below `stages`.
fn key(stage: Stage) -> &'static str {
    match stage {
        Stage::Setup => "setup",
        Stage::Research => "research",
        Stage::AnalysisQuestions => "analysis_questions",
        Stage::ResponseAnalysis => "response_analysis",
        Stage::ValidationGeneration => "validation_prd",
        Stage::Completion => "completion",
        Stage::Retrospective => "retrospective",
    }
}

/// Returns what stands below a stage's key.
fn of_stage(stage: Stage, flags: &Flags, round: u64, step: &Step) -> Keys {
    let status = match step {
        Step::Fail => "failed",
        Step::Wait(_) => "waiting_for_user",
        Step::Ask | Step::Repeat | Step::Block | Step::Doubt => "in_progress",
        _ => "completed",
    };
    let mut known = vec![("status", json!(status)), ("timestamp", json!(now()))];
    let more = match stage {
        Stage::Research => vec![
            ("reports_analyzed", json!(flags.reports_analyzed)),
            ("research_gaps", json!(flags.research_gaps)),
        ],
        Stage::AnalysisQuestions => vec![
            ("round", json!(round)),
            ("questions_count", json!(flags.questions_count)),
            ("panel_members", json!(flags.panel_member_ids)),
            ("thinkdeep_calls", json!(flags.thinkdeep_calls)),
        ],
        Stage::ResponseAnalysis => vec![
            ("round", json!(round)),
            ("completion_rate", json!(flags.completion_rate)),
            ("gaps_found", json!(flags.gaps_found)),
        ],
        Stage::ValidationGeneration => vec![
            ("score", json!(flags.validation_score)),
            ("decision", json!(flags.validation_decision)),
            ("prd_mode", json!(flags.prd_mode)),
        ],
        _ => Vec::new(),
    };
    known.extend(more.into_iter().filter(|(_, value)| !value.is_null()));
    known
        .into_iter()
        .map(|(key, value)| (key.to_owned(), value))
        .collect()
}

/// Notes the questions of a round, and that they were answered.
fn note_round(held: &mut AnyLoop, stage: Stage, flags: &Flags) -> Result<(), FieldError> {
    let round = held.fields().round();
    let mut rounds = held.fields().rounds();
    let is_this = |one: &Json| one.get("round_number").and_then(Json::as_u64) == Some(round);
    match stage {
        Stage::AnalysisQuestions => {
            rounds.retain(|one| !is_this(one));
            rounds.push(json!({
                "round_number": round,
                "questions_file": format!("working/QUESTIONS-{round:03}.md"),
                "analysis_mode": flags.analysis_mode.map_or_else(|| held.fields().analysis_mode(), |mode| json!(mode)),
                "generated_at": now(),
                "answered_at": null,
                "questions_count": flags.questions_count,
                "gaps_identified": null,
            }));
        }
        Stage::ResponseAnalysis => {
            for one in rounds.iter_mut().filter(|one| is_this(one)) {
                if let Some(one) = one.as_object_mut() {
                    one.insert("answered_at".to_owned(), json!(now()));
                    one.insert("gaps_identified".to_owned(), json!(flags.gaps_found));
                }
            }
        }
        _ => return Ok(()),
    }
    held.set_rounds(&rounds)
}

/// Returns the transition of a step.
fn verb(step: Step) -> Verb {
    let (id, from_prompt) = (None, false);
    match step {
        Step::Complete => Verb::Complete { id, from_prompt },
        Step::Proceed => Verb::Proceed { id, from_prompt },
        Step::Back(contract::NextAction::LoopResearch) => Verb::Back {
            id,
            from_prompt,
            action: BackAction::LoopResearch,
        },
        Step::Back(_) => Verb::Back {
            id,
            from_prompt,
            action: BackAction::LoopQuestions,
        },
        Step::Decide => Verb::Decide { id, from_prompt },
        Step::Pass => Verb::Pass { id, from_prompt },
        Step::NotReady(score) => Verb::NotReady {
            id,
            from_prompt,
            score,
        },
        Step::Unscored => Verb::Unscored { id, from_prompt },
        Step::Block => Verb::Block { id, from_prompt },
        Step::Doubt => Verb::Doubt { id, from_prompt },
        Step::Wait(reason) => Verb::Wait {
            id,
            from_prompt,
            reason,
        },
        Step::Ask => Verb::Ask { id, from_prompt },
        Step::Repeat => Verb::Repeat { id, from_prompt },
        Step::Fail => Verb::Fail { id, from_prompt },
    }
}
