//! The record of a summary in the state document: the keys of schema 2, and the log below them.

use claudex_loop::Timestamp;
use claudex_loop::machine::FieldError;
use claudex_loop::text;
use serde_json::{Value as Json, json};

use crate::contract::{Flags, Stage, Status, Summary};
use crate::follows::Step;
use crate::gates;
use crate::questions;
use crate::state::{AnsweredQuestion, Keys, Pipeline};
use crate::typestate::{AnyLoop, Phase, Verb};

/// Returns the time as the document writes it.
pub(crate) fn now() -> String {
    format!("{:.0}", Timestamp::now())
}

/// Returns the `stage_status` after a step.
pub(crate) fn stage_status(stage: Stage, step: &Step) -> &'static str {
    match step {
        Step::Fail => "failed",
        Step::Wait(_) => "waiting_for_user",
        Step::Complete if stage == Stage::Retrospective => "completed",
        _ => "in_progress",
    }
}

/// Notes a failure in the log of errors.
pub(crate) fn note_failure(
    held: &mut AnyLoop,
    problem: &str,
    tell: &[String],
    details: &[String],
) -> Result<(), FieldError> {
    let stage = Pipeline(held.raw()).stage();
    let mut error = vec![format!("Stage {} {problem}", stage.number())];
    if problem.is_empty() {
        error = vec!["The stage failed".to_owned()];
    }
    error.extend([tell, details].concat());
    let mut errors = held.fields().error_log.clone();
    errors.push(json!({
        "timestamp": now(),
        "stage": stage.number(),
        "error": error.join(": "),
        "recovery": null,
    }));
    held.set_error_log(&errors)
}

/// Notes that a question was answered from the record.
pub(crate) fn note_repeated(
    held: &mut AnyLoop,
    summary: &Summary,
    step: &Step,
) -> Result<(), FieldError> {
    let Some(question) = summary
        .flags
        .question_context
        .as_ref()
        .filter(|_| *step != Step::Ask)
    else {
        return Ok(());
    };
    let round = Pipeline(held.raw()).round();
    let digest = questions::digest(question);
    let mut asked = held.fields().asked.clone();
    let same = |one: &&mut AnsweredQuestion| {
        (one.round, one.stage) == (round, summary.stage.number()) && one.digest == digest
    };
    if let Some(one) = asked.iter_mut().find(same) {
        one.repeated += 1;
        held.set_asked(&asked)?;
    }
    Ok(())
}

/// Returns the entry of the log below the state.
pub(crate) fn entry(stage: Stage, summary: Option<&Summary>, step: &Step) -> String {
    let outcome = match (step, summary) {
        (Step::Fail, _) => "ERROR",
        (_, Some(summary)) if summary.flags.partial == Some(true) => "PARTIAL",
        (_, Some(summary)) if summary.status == Status::Completed => "SUCCESS",
        _ => "PARTIAL",
    };
    let told = summary.map_or("no summary", |summary| summary.summary.as_str());
    let told = text::one_line(told, 200);
    let artifacts = summary.into_iter().flat_map(|summary| &summary.artifacts);
    let artifacts: Vec<&str> = artifacts.map(|path| path.as_str()).collect();
    let outputs = match artifacts.as_slice() {
        [] => "none".to_owned(),
        artifacts => artifacts.join(", "),
    };
    let (number, checkpoint) = (stage.number(), stage.checkpoint());
    format!(
        "### {} - Stage {number}: {checkpoint}\n- Action: {told}\n- Outcome: {outcome}\n- Key Outputs: {outputs}\n",
        now(),
    )
}

/// Writes what the flags say into the keys of schema 2.
pub(crate) fn note_flags(
    held: &mut AnyLoop,
    summary: &Summary,
    step: &Step,
) -> Result<(), FieldError> {
    let flags = &summary.flags;
    let standard = held.fields().open.standard;
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
    let status = match step {
        Step::Fail => "failed",
        Step::Wait(_) => "waiting_for_user",
        Step::Ask | Step::Repeat(_) | Step::Block | Step::Doubt => "in_progress",
        _ => "completed",
    };
    note_stage(held, stage, status, stage_values(stage, flags, held))?;
    if matches!(
        step,
        Step::Fail | Step::Wait(_) | Step::Ask | Step::Repeat(_)
    ) {
        return Ok(());
    }
    note_round(held, stage, flags)?;
    match stage {
        Stage::Completion => held.set_completed_at(&json!(now())),
        Stage::Retrospective => held.set_retrospective_completed_at(&json!(now())),
        _ => Ok(()),
    }
}

/// Notes the effect of a user's decision on the open stage, and on the failure that it answers.
pub(crate) fn note_decision(
    held: &mut AnyLoop,
    verb: &Verb,
    value: &str,
) -> Result<(), FieldError> {
    let phase = held.phase();
    let pipeline = Pipeline(held.raw());
    let stage = pipeline.stage();
    let summary = pipeline.open_summary();
    if phase == Phase::Failed {
        let mut errors = held.fields().error_log.clone();
        let is_it = |error: &&mut Json| error.get("stage") == Some(&json!(stage.number()));
        if let Some(Json::Object(error)) = errors.last_mut().filter(is_it) {
            error.insert("recovery".to_owned(), json!(value));
            held.set_error_log(&errors)?;
        }
    }
    let status = match verb {
        // The gate has not checked the stage yet.
        Verb::GoOn { .. } if phase == Phase::Asking && stage == Stage::AnalysisQuestions => {
            return Ok(());
        }
        Verb::Skip { .. } => "skipped",
        // The stage was skipped, and the user chooses the next step.
        _ if phase == Phase::Deciding && summary.is_none() => return Ok(()),
        Verb::GoOn { .. } | Verb::GoBack { .. } | Verb::GoAgain { .. } | Verb::Accept { .. } => {
            "completed"
        }
        _ => return Ok(()),
    };
    note_stage(held, stage, status, Json::Null)?;
    match summary.filter(|_| phase == Phase::Asking) {
        Some(summary) => note_round(held, stage, &summary.flags),
        None => Ok(()),
    }
}

/// Writes the status and other values below the key of a stage.
fn note_stage(
    held: &mut AnyLoop,
    stage: Stage,
    status: &str,
    values: Json,
) -> Result<(), FieldError> {
    let mut stages = held.fields().stages.clone();
    let mut known = match stages.remove(&key(stage)) {
        Some(Json::Object(known)) => known,
        _ => Keys::new(),
    };
    known.insert("status".to_owned(), json!(status));
    known.insert("timestamp".to_owned(), json!(now()));
    if let Json::Object(values) = values {
        known.extend(values.into_iter().filter(|(_, value)| !value.is_null()));
    }
    stages.insert(key(stage), Json::Object(known));
    held.set_stages(&stages)
}

/// Notes the status of each section of the requirements after stage 5.
pub(crate) fn note_sections(held: &mut AnyLoop, step: &Step) -> Result<(), FieldError> {
    let pipeline = Pipeline(held.raw());
    let is_written =
        matches!(step, Step::Pass | Step::Block) && pipeline.stage() == Stage::ValidationGeneration;
    let Some(requirements) = pipeline.file("requirements/PRD.md").filter(|_| is_written) else {
        return Ok(());
    };
    let mut known = held.fields().prd_sections.clone();
    known.extend(gates::sections(&requirements).map(|(key, status)| (key, json!(status))));
    held.set_prd_sections(&known)
}

/// Returns the key of a stage below `stages`.
fn key(stage: Stage) -> String {
    match stage {
        Stage::Completion => "completion".to_owned(),
        _ => stage.checkpoint().to_ascii_lowercase(),
    }
}

/// Returns the values below the key of a stage, null if they are unknown.
fn stage_values(stage: Stage, flags: &Flags, held: &AnyLoop) -> Json {
    let round = held.fields().round;
    // No summary names the other modes of a validation.
    let validation_mode = held.fields().open.skip_validation.then_some("skipped");
    match stage {
        Stage::Research => json!({
            "reports_analyzed": flags.reports_analyzed,
            "research_gaps": flags.research_gaps,
        }),
        Stage::AnalysisQuestions => json!({
            "round": round,
            "questions_count": flags.questions_count,
            "panel_members": flags.panel_member_ids,
            "thinkdeep_calls": flags.thinkdeep_calls,
        }),
        Stage::ResponseAnalysis => json!({
            "round": round,
            "completion_rate": flags.completion_rate,
            "gaps_found": flags.gaps_found,
        }),
        Stage::ValidationGeneration => json!({
            "score": flags.validation_score,
            "decision": flags.validation_decision,
            "prd_mode": flags.prd_mode,
            "validation_mode": validation_mode,
        }),
        _ => Json::Null,
    }
}

/// Notes the questions of a round, and when they were answered.
fn note_round(held: &mut AnyLoop, stage: Stage, flags: &Flags) -> Result<(), FieldError> {
    let round = held.fields().round;
    let mut rounds = held.fields().rounds.clone();
    let is_this = |one: &Json| one.get("round_number").and_then(Json::as_u64) == Some(round);
    match stage {
        Stage::AnalysisQuestions => {
            rounds.retain(|one| !is_this(one));
            rounds.push(json!({
                "round_number": round,
                "questions_file": format!("working/QUESTIONS-{round:03}.md"),
                "analysis_mode": flags.analysis_mode.map_or_else(|| held.fields().analysis_mode.clone(), |mode| json!(mode)),
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
