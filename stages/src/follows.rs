//! The transition that follows a summary: the table of the workflow as one function.

use crate::contract::{Decision, NextAction, PauseType, Stage, Status, Summary};
use crate::gates::Gate;

/// The transition that a summary leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// The stage is completed, and the next one begins.
    Complete,
    /// Stage 4: the answers suffice.
    Proceed,
    /// Stage 4: another round.
    Back(NextAction),
    /// Stage 4: the user chooses the next step.
    Decide,
    /// Stage 5: the requirements are ready, perhaps with conditions.
    Pass,
    /// Stage 5: another round.
    NotReady,
    /// Stage 5: the score hardly rose, so the user is asked.
    Stagnate,
    /// The files of the stage do not pass its gate.
    Block,
    /// Stage 3 made too few ThinkDeep calls.
    Doubt,
    /// The user works outside of the session, for this reason.
    Wait(String),
    /// The user is asked the question of the coordinator.
    Ask,
    /// The stage runs again with this recorded answer.
    Repeat(String),
    /// The stage failed.
    Fail,
}

impl Step {
    /// Returns whether the dispatch stays open for a decision of the user.
    pub(crate) fn keeps_dispatch(&self) -> bool {
        let asks = matches!(self, Self::Ask | Self::Block | Self::Doubt | Self::Decide);
        asks || matches!(self, Self::Wait(_) | Self::Fail)
    }
}

/// The circumstances that decide together with the summary.
#[derive(Debug, Clone, Default)]
pub struct Circumstances {
    /// The result of the gate after stage 3 or 5.
    pub gate: Gate,
    /// Whether the user has decided on this round's ThinkDeep calls.
    pub depth_decided: bool,
    /// Whether the score rose by less than 2 points, from round 2 on.
    pub stagnates: bool,
    /// The answer recorded for the same question in this round, and how often it was repeated.
    pub recorded: Option<(String, u32)>,
}

/// The smallest share of the expected ThinkDeep calls without a question, in per cent.
const MIN_DEPTH_PERCENT: f64 = 40.0;

/// Returns the step that follows a summary.
pub fn follows(summary: &Summary, around: &Circumstances) -> Step {
    let flags = &summary.flags;
    match (summary.stage, summary.status) {
        (Stage::Retrospective, _) => Step::Complete,
        (_, Status::Failed) => Step::Fail,
        (_, Status::Completed) => completed(summary, around),
        (_, Status::NeedsUserInput) if flags.pause_type == Some(PauseType::ExitCli) => {
            Step::Wait(flags.block_reason.clone().unwrap_or_default())
        }
        (_, Status::NeedsUserInput) => match &around.recorded {
            None => Step::Ask,
            Some((label, 0)) => match mapped(summary, label) {
                Some(action) => by_action(summary, action, around),
                None => Step::Repeat(label.clone()),
            },
            Some(_) => Step::Fail,
        },
    }
}

/// Returns the step that follows a completed stage.
pub fn completed(summary: &Summary, around: &Circumstances) -> Step {
    let flags = &summary.flags;
    match summary.stage {
        Stage::Setup | Stage::Research | Stage::Completion | Stage::Retrospective => Step::Complete,
        Stage::AnalysisQuestions if !around.gate.is_open() => Step::Block,
        Stage::AnalysisQuestions if is_shallow(summary) && !around.depth_decided => Step::Doubt,
        Stage::AnalysisQuestions => Step::Complete,
        Stage::ResponseAnalysis => match flags.next_action {
            None => Step::Decide,
            Some(action) => by_action(summary, action, around),
        },
        Stage::ValidationGeneration => match flags.validation_decision {
            Some(Decision::NotReady) if around.stagnates => Step::Stagnate,
            Some(Decision::NotReady) => Step::NotReady,
            None => Step::Fail,
            Some(_) if !around.gate.is_open() => Step::Block,
            Some(_) => Step::Pass,
        },
    }
}

/// Returns the step that an action leads to.
fn by_action(summary: &Summary, action: NextAction, around: &Circumstances) -> Step {
    match (summary.stage, action) {
        (Stage::ResponseAnalysis, NextAction::Proceed) => Step::Proceed,
        (Stage::ResponseAnalysis, action) => Step::Back(action),
        (Stage::ValidationGeneration, _) => Step::NotReady,
        _ => completed(summary, around),
    }
}

/// Returns the action that an answer maps to.
pub fn mapped(summary: &Summary, label: &str) -> Option<NextAction> {
    summary.flags.next_action_map.as_ref()?.get(label)
}

fn is_shallow(summary: &Summary) -> bool {
    let depth = summary.flags.depth();
    depth.is_some_and(|(_, share)| share < MIN_DEPTH_PERCENT)
}
