//! The record of a transition in the state document: the keys of schema 2, and the log below them.

use claudex_loop::message::Render as _;
use claudex_loop::{Refusal, template, text};
use serde_json::{Value as Json, json};

use crate::contract::{Flags, Stage, Status, Summary};
use crate::gates;
use crate::state::{Open, Pipeline, merge, new_dispatch, now};
use crate::typestate::{AnyLoop, Phase, Transition};

type RecordResult = Result<(), Refusal>;
type Setter = fn(&mut AnyLoop, &Json) -> RecordResult;

/// The flags that are keys of the state, and their setters.
const KEYS: [(&str, Setter); 5] = [
    ("analysis_mode", AnyLoop::set_analysis_mode),
    ("prd_mode", AnyLoop::set_prd_mode),
    ("panel_preset", AnyLoop::set_panel_preset),
    ("panel_config_path", AnyLoop::set_panel_config_path),
    ("panel_members_count", AnyLoop::set_panel_members_count),
];

/// Records the effect of a transition on the open stage.
pub(crate) fn note(
    held: &mut AnyLoop,
    summary: Option<&Summary>,
    next: &Transition,
) -> RecordResult {
    let stage = Pipeline(held.raw()).stage();
    let (Some(status), _) = effect(held, next) else {
        return Ok(());
    };
    let flags = summary.map_or_else(Flags::default, |summary| summary.flags.clone());
    note_flags(held, stage, &flags)?;
    note_stage(held, stage, status, &flags)?;
    let has_result = matches!(next, Transition::Block { .. } | Transition::Doubt);
    match stage {
        _ if status != "completed" && !has_result => Ok(()),
        Stage::AnalysisQuestions | Stage::ResponseAnalysis => note_round(held, stage, &flags),
        Stage::ValidationGeneration => {
            let requirements = held.raw().read("requirements/PRD.md");
            let mut known = held.fields().prd_sections.clone();
            known.extend(gates::section_statuses(&requirements.unwrap_or_default()));
            held.set_prd_sections(&known)
        }
        Stage::Completion => held.set_completed_at(&json!(now())),
        Stage::Retrospective => held.set_retrospective_completed_at(&json!(now())),
        Stage::Setup | Stage::Research => Ok(()),
    }
}

/// Returns the new status of the open stage, if it changes, and whether the dispatch stays open, so
/// that its summary can still count.
fn effect(held: &AnyLoop, next: &Transition) -> (Option<&'static str>, bool) {
    use Transition::{
        Ask, Back, Block, Cancel, CheckFiles, Complete, Decide, Doubt, Fail, GoBack, GoOn, Pause,
        Repeat, Skip, Stagnate, Wait,
    };
    let stage = Pipeline(held.raw()).stage();
    let is_answer = held.phase() == Phase::Asking;
    let has_summary = held.fields().open.summary.is_some();
    let completed = Some("completed");
    match next {
        Fail => (Some("failed"), true),
        Wait { .. } => (Some("waiting_for_user"), true),
        Ask | Block { .. } | Doubt => (Some("in_progress"), true),
        Repeat => (Some("in_progress"), false),
        // The user chooses the step after stage 4.
        Skip => (Some("skipped"), stage == Stage::ResponseAnalysis),
        // The gate has not checked stage 3 yet.
        GoOn { .. } if is_answer && stage == Stage::AnalysisQuestions => (None, true),
        GoOn { .. } | GoBack { .. } if !has_summary => (None, false),
        Complete | Back { .. } | Stagnate | GoOn { .. } | GoBack { .. } => (completed, false),
        Decide => (completed, true),
        CheckFiles | Cancel | Pause => (None, true),
        _ => (None, false),
    }
}

/// Returns the open dispatch if its summary can still count, or else a new one.
pub(crate) fn dispatch_after(held: &AnyLoop, next: &Transition, before: Open) -> Open {
    use Transition::{Force, Pause, Repeat, Resume, Retry, Standard, Tell, Wait};
    let pipeline = Pipeline(held.raw());
    let (_, stays_open) = effect(held, next);
    let mut open = if stays_open {
        before.clone()
    } else {
        new_dispatch(&pipeline.0.root(), pipeline.round())
    };
    match next {
        Pause => open.re_entry = false,
        Wait { .. } => {
            open.re_entry = true;
            open.answer = None;
        }
        Resume | Retry => {
            open.re_entry = before.re_entry && matches!(next, Resume);
            open.answer = before.answer;
            open.skip_validation = before.skip_validation;
        }
        Repeat | Tell { .. } => open.skip_validation = before.skip_validation,
        Standard => open.standard = true,
        Force => open.skip_validation = true,
        _ => {}
    }
    open
}

/// Writes the flags that are keys of the state.
fn note_flags(held: &mut AnyLoop, stage: Stage, flags: &Flags) -> RecordResult {
    let values = json!(flags);
    let sets_mode = matches!(stage, Stage::Setup | Stage::AnalysisQuestions);
    let keeps_mode = !sets_mode || held.fields().open.standard;
    for (name, set) in KEYS {
        let value = values.get(name);
        if let Some(value) = value.filter(|_| name != "analysis_mode" || !keeps_mode) {
            set(held, value)?;
        }
    }
    if stage != Stage::Setup {
        return Ok(());
    }
    let is = |flag: Option<bool>| flag.unwrap_or_default();
    held.set_mcp_availability(&merge([json!({
        "pal_available": is(flags.pal_available),
        "st_available": is(flags.st_available),
        "research_mcp": { "tavily": is(flags.research_mcp_tavily), "ref": is(flags.research_mcp_ref) },
    })]))
}

pub(crate) fn note_failure(held: &mut AnyLoop, open: &Open) -> RecordResult {
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

/// Records a decision of the user, also in the failure that it answers.
pub(crate) fn note_decision(held: &mut AnyLoop, key: &str, value: &str) -> RecordResult {
    let now = now();
    let mut decisions = held.fields().user_decisions.clone();
    decisions.insert(key.to_owned(), json!(value));
    decisions.insert(format!("{key}_timestamp"), json!(now));
    held.set_user_decisions(&decisions)?;
    held.add_text(&format!("- {now}: {key} is {value}"));
    let mut errors = held.fields().error_log.clone();
    let newest = errors.last_mut().and_then(Json::as_object_mut);
    if let Some(error) = newest.filter(|_| held.phase() == Phase::Failed) {
        error.insert("recovery".to_owned(), json!(value));
    }
    held.set_error_log(&errors)
}

/// Returns the entry of the log for a report.
pub(crate) fn entry(stage: Stage, summary: Option<&Summary>, next: &Transition) -> String {
    let is_success = |summary: &Summary| {
        summary.status == Status::Completed && summary.flags.partial != Some(true)
    };
    let outcome = match next {
        Transition::Fail => "ERROR",
        _ if summary.is_some_and(is_success) => "SUCCESS",
        _ => "PARTIAL",
    };
    let text = summary.map_or("no summary", |summary| &summary.summary);
    let facts = json!({
        "time": now(),
        "stage": stage.number(),
        "checkpoint": stage.checkpoint(),
        "action": text::one_line(text, 200),
        "outcome": outcome,
        "outputs": summary.map(|summary| &summary.artifacts),
    });
    template!("../messages/log.md")
        .render(&facts)
        .unwrap_or_default()
}

/// Writes the status of a stage and the flags that the state has below its key.
fn note_stage(held: &mut AnyLoop, stage: Stage, status: &str, flags: &Flags) -> RecordResult {
    let fields = held.fields();
    let mut stages = fields.stages.clone();
    let before = stages.remove(stage.state_key()).unwrap_or_default();
    let mut known = merge([before, json!({ "status": status, "timestamp": now() })]);
    if matches!(stage, Stage::AnalysisQuestions | Stage::ResponseAnalysis) {
        known.insert("round".to_owned(), json!(fields.round));
    }
    // No summary names the other modes of a validation.
    if stage == Stage::ValidationGeneration && fields.open.skip_validation {
        known.insert("validation_mode".to_owned(), json!("skipped"));
    }
    let values = json!(flags);
    for name in stage.state_flags() {
        // A flag of an earlier round does not stay.
        let (key, flag) = name.split_once('=').unwrap_or((name, name));
        known.insert(key.to_owned(), json!(values.get(flag)));
    }
    stages.insert(stage.state_key().to_owned(), Json::Object(known));
    held.set_stages(&stages)
}

/// Records the questions of a round, or when they were answered.
fn note_round(held: &mut AnyLoop, stage: Stage, flags: &Flags) -> RecordResult {
    let round = held.fields().round;
    let mut rounds = held.fields().rounds.clone();
    let is_this = |one: &Json| one["round_number"] == round;
    if stage == Stage::AnalysisQuestions {
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
    } else if let Some(one) = rounds.iter_mut().find(|one| is_this(one)) {
        one["answered_at"] = json!(now());
        one["gaps_identified"] = json!(flags.gaps_found);
    }
    held.set_rounds(&rounds)
}
