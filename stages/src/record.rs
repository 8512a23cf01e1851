//! The record of a summary in the state document: the keys of schema 2, and the log below them.

use claudex_loop::machine::FieldError;
use claudex_loop::text;
use serde_json::{Value as Json, json};

use crate::contract::{Flags, Stage, Status, Summary};
use crate::gates;
use crate::state::{Keys, Open, Pipeline, now};
use crate::typestate::{AnyLoop, Phase, Verb};

type Noted = Result<(), FieldError>;

/// Records the result of the open stage: its summary, or the failure, and an entry of the log.
pub(crate) fn note(
    held: &mut AnyLoop,
    summary: Option<&Summary>,
    verb: &Verb,
    open: &Open,
) -> Noted {
    let stage = Pipeline(held.raw()).stage();
    if let Some(summary) = summary {
        note_flags(held, summary, verb)?;
    }
    if matches!(verb, Verb::Fail(_)) {
        note_failure(held, open)?;
    }
    if stage == Stage::ValidationGeneration && matches!(verb, Verb::Pass(_) | Verb::Block { .. }) {
        note_sections(held)?;
    }
    held.add_text(&entry(stage, summary, verb));
    Ok(())
}

fn note_failure(held: &mut AnyLoop, open: &Open) -> Noted {
    let stage = held.fields().stage;
    let error = match open.problem.as_str() {
        "" => "The stage failed".to_owned(),
        problem => format!("Stage {stage} {problem}"),
    };
    let lines = [vec![error], open.tell.clone(), open.details.clone()].concat();
    let mut errors = held.fields().error_log.clone();
    errors.push(json!({
        "timestamp": now(),
        "stage": stage,
        "error": lines.join(": "),
        "recovery": null,
    }));
    held.set_error_log(&errors)
}

/// Returns the entry of the log below the state.
fn entry(stage: Stage, summary: Option<&Summary>, verb: &Verb) -> String {
    let is_success = summary.is_some_and(|summary| {
        summary.status == Status::Completed && summary.flags.partial != Some(true)
    });
    let outcome = match verb {
        Verb::Fail(_) => "ERROR",
        _ if is_success => "SUCCESS",
        _ => "PARTIAL",
    };
    let summary_text = summary.map_or("no summary", |summary| &summary.summary);
    let action = text::one_line(summary_text, 200);
    let artifacts = summary.into_iter().flat_map(|summary| &summary.artifacts);
    let mut outputs: Vec<&str> = artifacts.map(|path| path.as_str()).collect();
    if outputs.is_empty() {
        outputs.push("none");
    }
    format!(
        "### {} - Stage {}: {}\n- Action: {action}\n- Outcome: {outcome}\n- Key Outputs: {}\n",
        now(),
        stage.number(),
        stage.checkpoint(),
        outputs.join(", ")
    )
}

/// Writes the flags into the keys of schema 2.
fn note_flags(held: &mut AnyLoop, summary: &Summary, verb: &Verb) -> Noted {
    let flags = &summary.flags;
    let stage = summary.stage;
    if let Some(mode) = flags.prd_mode {
        held.set_prd_mode(&json!(mode))?;
    }
    let sets_mode = matches!(stage, Stage::Setup | Stage::AnalysisQuestions);
    if let Some(mode) = flags.analysis_mode
        && sets_mode
        && !held.fields().open.standard
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
        let is = |flag: Option<bool>| Json::from(flag.unwrap_or_default());
        let research =
            json!({ "tavily": is(flags.research_mcp_tavily), "ref": is(flags.research_mcp_ref) });
        held.set_mcp_availability(&Keys::from_iter([
            ("pal_available".to_owned(), is(flags.pal_available)),
            ("st_available".to_owned(), is(flags.st_available)),
            ("research_mcp".to_owned(), research),
        ]))?;
    }
    let (status, is_written) = match verb {
        Verb::Fail(_) => ("failed", false),
        Verb::Wait { .. } => ("waiting_for_user", false),
        Verb::Ask(_) | Verb::Repeat(_) => ("in_progress", false),
        Verb::Block { .. } | Verb::Doubt(_) => ("in_progress", true),
        _ => ("completed", true),
    };
    note_stage(held, stage, status, stage_values(stage, flags, held))?;
    if !is_written {
        return Ok(());
    }
    note_round(held, stage, flags)?;
    match stage {
        Stage::Completion => held.set_completed_at(&json!(now())),
        Stage::Retrospective => held.set_retrospective_completed_at(&json!(now())),
        _ => Ok(()),
    }
}

/// Records the effect of a user's decision on the open stage, and on the failure that it answers.
pub(crate) fn note_decision(held: &mut AnyLoop, verb: &Verb, value: &str) -> Noted {
    let phase = held.phase();
    let pipeline = Pipeline(held.raw());
    let stage = pipeline.stage();
    let summary = pipeline.open_summary();
    if phase == Phase::Failed {
        let mut errors = held.fields().error_log.clone();
        let is_of_stage = |error: &&mut Json| error["stage"] == stage.number();
        if let Some(error) = errors.last_mut().filter(is_of_stage) {
            error["recovery"] = json!(value);
            held.set_error_log(&errors)?;
        }
    }
    // The gate has not checked stage 3 yet.
    let is_checked = !(phase == Phase::Asking && stage == Stage::AnalysisQuestions);
    // After a skip of stage 4 the user chooses the next step.
    let was_skipped = phase == Phase::Deciding && summary.is_none();
    let status = match verb {
        Verb::Skip(_) => "skipped",
        Verb::GoOn { .. } | Verb::GoBack { .. } | Verb::GoAgain { .. } | Verb::Accept(_)
            if is_checked && !was_skipped =>
        {
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

fn note_stage(held: &mut AnyLoop, stage: Stage, status: &str, values: Json) -> Noted {
    let key = match stage {
        Stage::Completion => "completion".to_owned(),
        _ => stage.checkpoint().to_ascii_lowercase(),
    };
    let mut stages = held.fields().stages.clone();
    let mut known = match stages.remove(&key) {
        Some(Json::Object(known)) => known,
        _ => Keys::new(),
    };
    known.insert("status".to_owned(), json!(status));
    known.insert("timestamp".to_owned(), json!(now()));
    if let Json::Object(values) = values {
        known.extend(values.into_iter().filter(|(_, value)| !value.is_null()));
    }
    stages.insert(key, Json::Object(known));
    held.set_stages(&stages)
}

/// Records the status of each section of the requirements.
fn note_sections(held: &mut AnyLoop) -> Noted {
    let Some(requirements) = Pipeline(held.raw()).file("requirements/PRD.md") else {
        return Ok(());
    };
    let mut known = held.fields().prd_sections.clone();
    known.extend(gates::sections(&requirements).map(|(key, status)| (key, json!(status))));
    held.set_prd_sections(&known)
}

/// Returns the values below the key of a stage, null if they are unknown.
fn stage_values(stage: Stage, flags: &Flags, held: &AnyLoop) -> Json {
    let round = held.fields().round;
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
            // No summary names the other modes of a validation.
            "validation_mode": held.fields().open.skip_validation.then_some("skipped"),
        }),
        _ => Json::Null,
    }
}

/// Records the questions of a round, and when they were answered.
fn note_round(held: &mut AnyLoop, stage: Stage, flags: &Flags) -> Noted {
    let round = held.fields().round;
    let mut rounds = held.fields().rounds.clone();
    let is_this = |one: &Json| one["round_number"] == round;
    match stage {
        Stage::AnalysisQuestions => {
            let mode = flags.analysis_mode.map(|mode| json!(mode));
            rounds.retain(|one| !is_this(one));
            rounds.push(json!({
                "round_number": round,
                "questions_file": format!("working/QUESTIONS-{round:03}.md"),
                "analysis_mode": mode.unwrap_or(held.fields().analysis_mode.clone()),
                "generated_at": now(),
                "answered_at": null,
                "questions_count": flags.questions_count,
                "gaps_identified": null,
            }));
        }
        Stage::ResponseAnalysis => {
            for one in rounds.iter_mut().filter(|one| is_this(one)) {
                one["answered_at"] = json!(now());
                one["gaps_identified"] = json!(flags.gaps_found);
            }
        }
        _ => return Ok(()),
    }
    held.set_rounds(&rounds)
}
