//! Decides what follows a summary: the facts' table as one function. It moves nothing.

use crate::contract::{Decision, NextAction, PauseType, Stage, Status, Summary};
use crate::gates::Gate;

/// The transition that a summary leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// The stage is done: the next one.
    Complete,
    /// Stage 4: the answers suffice.
    Proceed,
    /// Stage 4: another round.
    Back(NextAction),
    /// Stage 4: the person says where to.
    Decide,
    /// Stage 5: the requirements are ready, perhaps with conditions.
    Pass,
    /// Stage 5: another round; the score in thousandths.
    NotReady(u64),
    /// Stage 5: another round, without a score.
    Unscored,
    /// The gate does not let the stage pass.
    Block,
    /// Stage 3 made too few of the calls to think deeply.
    Doubt,
    /// The person works outside of the session, for this reason.
    Wait(String),
    /// The person is asked.
    Ask,
    /// The stage runs again with this answer, which is recorded.
    Repeat(String),
    /// The stage failed.
    Fail,
}

/// Holds what the table looks at besides the summary.
#[derive(Debug, Clone, Default)]
pub struct Circumstances {
    /// What the gate behind stages 3 and 5 found.
    pub gate: Gate,
    /// Whether the person has decided on this round's calls to think deeply.
    pub depth_decided: bool,
    /// The answer that is recorded for the same question in the same round, and how often it was given again.
    pub recorded: Option<(String, u32)>,
}

/// Below this share of the calls that were expected the person is asked, in per cent.
const LEAST_DEPTH: f64 = 40.0;

/// Returns what follows a summary.
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

/// Returns what follows a stage that is done, or whose summary counts as if it were.
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
        Stage::ValidationGeneration => match (flags.validation_decision, flags.validation_score) {
            (Some(Decision::NotReady), Some(score)) => Step::NotReady(thousandths(score)),
            (Some(Decision::NotReady), None) => Step::Unscored,
            (None, _) => Step::Fail,
            (Some(_), _) if !around.gate.is_open() => Step::Block,
            (Some(_), _) => Step::Pass,
        },
    }
}

/// Returns what an action leads to from a stage.
fn by_action(summary: &Summary, action: NextAction, around: &Circumstances) -> Step {
    match (summary.stage, action) {
        (Stage::ResponseAnalysis, NextAction::Proceed) => Step::Proceed,
        (Stage::ResponseAnalysis, action) => Step::Back(action),
        (Stage::ValidationGeneration, _) => Step::Unscored,
        _ => completed(summary, around),
    }
}

/// Returns the action that an answer maps to, where the stage may name it.
pub fn mapped(summary: &Summary, label: &str) -> Option<NextAction> {
    summary.flags.next_action_map.as_ref()?.of(label)
}

fn is_shallow(summary: &Summary) -> bool {
    summary
        .flags
        .depth()
        .is_some_and(|(_, share)| share < LEAST_DEPTH)
}

/// Returns a score of 20 in thousandths; in the state 0 stands for none.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it is between 0 and 20"
)]
fn thousandths(score: f64) -> u64 {
    ((score * 1000.0).round() as u64).max(1)
}
