//! The rules for the time after the stage: the pause, its question, and the next step.
//!
//! Each function corrects the summary as a lenient reader takes it.

use super::question::is_same_label;
use super::rule::{Collector, Lenient, Rule, quote};
use super::words::{Decision, NextAction, PauseType, Stage, Status};
use super::{Dispatch, Summary};

const PAUSE_TYPE: &str = "/flags/pause_type";
const DECISION: &str = "/flags/validation_decision";

/// Checks that a pause is with needs-user-input and in a stage that may pause.
pub(super) fn check_pause(summary: &mut Summary, findings: &mut Collector) {
    let is_written = findings.has_flag("pause_type");
    let pause = summary.flags.pause_type.take();
    let waits = summary.status == Status::NeedsUserInput;
    if summary.stage == Stage::Retrospective && (waits || is_written) {
        let path = if is_written { PAUSE_TYPE } else { "/status" };
        findings.add(Rule::PauseStage, path, "");
        if waits {
            summary.status = Status::Completed;
        }
    } else if waits {
        if !is_written {
            findings.add(Rule::PauseStatus, "/status", "`pause_type` is missing");
        }
        let by_content = if findings.has_flag("question_context") {
            PauseType::Interactive
        } else {
            PauseType::ExitCli
        };
        summary.flags.pause_type = pause.or(Some(by_content));
    } else if pause.is_some() {
        let detail = format!("the status is {}", summary.status);
        findings.add(Rule::PauseStatus, PAUSE_TYPE, detail);
    }

    if summary.flags.pause_type == Some(PauseType::Interactive) {
        return;
    }
    summary.flags.question_context = None;
    summary.flags.next_action_map = None;
    // Else the pause type itself is the finding.
    let is_exit = !is_written || pause == Some(PauseType::ExitCli);
    for flag in ["question_context", "next_action_map"] {
        if is_exit && findings.has_flag(flag) {
            findings.add(Rule::QuestionStray, &format!("/flags/{flag}"), "");
        }
    }
}

pub(super) fn check_reason(summary: &mut Summary, findings: &mut Collector) {
    let flags = &mut summary.flags;
    let reason = flags.block_reason.as_deref().unwrap_or_default();
    if flags.pause_type.is_none() || !reason.trim().is_empty() {
        return;
    }
    let has_wrong_type = findings.has_flag("block_reason") && flags.block_reason.is_none();
    if !has_wrong_type && findings.flags.contains_key("block_reason") {
        findings.add(Rule::NoBlockReason, "/flags/block_reason", "");
    } else if !has_wrong_type {
        findings.add(Rule::NoBlockReason, PAUSE_TYPE, "");
    }
    let reason = match summary.summary.trim() {
        "" => "the stage waits and gives no reason",
        reason => reason,
    };
    flags.block_reason = Some(reason.to_owned());
}

/// Checks the question of an interactive pause and the actions of its answers.
pub(super) fn check_question(summary: &mut Summary, findings: &mut Collector) {
    let stage = summary.stage;
    let flags = &mut summary.flags;
    if flags.pause_type != Some(PauseType::Interactive) {
        return;
    }
    if !findings.has_flag("question_context") {
        findings.add(Rule::NoQuestion, PAUSE_TYPE, "");
    }
    let question = flags.question_context.get_or_insert_default();
    if question.question.is_empty() {
        let reason = flags.block_reason.as_deref().unwrap_or_default();
        reason.trim().clone_into(&mut question.question);
    }
    if question.header.is_empty() {
        stage.header().clone_into(&mut question.header);
    }
    let Some(map) = &mut flags.next_action_map else {
        return;
    };
    map.retain(|label, action| {
        let path = format!("/flags/next_action_map/{label}");
        let mut options = question.options.iter();
        let is_label = options.any(|option| is_same_label(&option.label, label));
        if !is_label {
            findings.add(Rule::MapLabel, &path, quote(label));
        }
        is_label && action.is_none_or(|action| check_action(action, stage, &path, findings))
    });
}

fn check_action(action: NextAction, stage: Stage, path: &str, findings: &mut Collector) -> bool {
    let stages: &[u8] = match action {
        NextAction::LoopQuestions => &[4, 5],
        NextAction::LoopResearch => &[4],
        NextAction::Proceed => &[2, 3, 4],
    };
    let is_allowed = stages.contains(&stage.number());
    if !is_allowed {
        findings.add(Rule::ActionStage, path, format!("found {action}"));
    }
    is_allowed
}

pub(super) fn check_next(summary: &mut Summary, findings: &mut Collector) {
    const NEXT_ACTION: &str = "/flags/next_action";
    let stage = summary.stage;
    let action = summary.flags.next_action;
    summary.flags.next_action =
        action.filter(|action| check_action(*action, stage, NEXT_ACTION, findings));
    let is_completed = summary.status == Status::Completed;
    if stage == Stage::ResponseAnalysis && is_completed && !findings.has_flag("next_action") {
        findings.add(Rule::NoNextAction, NEXT_ACTION, "");
    }
}

/// Checks the decision of stage 5 and its score.
pub(super) fn check_decision(
    summary: &mut Summary,
    dispatch: Option<&Dispatch>,
    findings: &mut Collector,
) {
    let is_validation = summary.stage == Stage::ValidationGeneration;
    let flags = &mut summary.flags;
    let decided = flags.validation_decision;
    let by_score = flags.validation_score.map(Decision::from_score);
    if is_validation && dispatch.is_some_and(|dispatch| dispatch.skip_validation) {
        if decided == Some(Decision::NotReady) {
            let detail = "validation was skipped, expected CONDITIONAL";
            findings.add(Rule::DecisionScore, DECISION, detail);
        }
        flags.validation_decision = Some(Decision::Conditional);
        flags.validation_score = None;
    } else if let (Some(decided), Some(by_score)) = (decided, by_score) {
        if decided != by_score {
            let detail = format!("expected {by_score}, found {decided}");
            findings.add(Rule::DecisionScore, DECISION, detail);
        }
        flags.validation_decision = Some(decided.min(by_score));
    }
    if !is_validation || summary.status != Status::Completed || decided.is_some() {
        return;
    }

    let loops = flags.next_action == Some(NextAction::LoopQuestions);
    let by_action = loops.then_some(Decision::NotReady);
    flags.validation_decision = flags.validation_decision.or(by_score).or(by_action);
    if flags.validation_decision.is_none() {
        *findings.add(Rule::NoDecision, DECISION, "") = Lenient::Crash;
    } else if !findings.has_flag("validation_decision") {
        findings.add(Rule::NoDecision, DECISION, "");
    }
}
