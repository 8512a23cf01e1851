//! The transition that follows a summary: the table of the workflow as one function.

use claudex_loop::program::LoopArgs;
use claudex_loop::text;
use serde_json::Value as Json;

use crate::contract::{Decision, NextAction, PauseType, Stage, Status, Summary};
use crate::gates::Gate;
use crate::typestate::{BackAction, Verb};

/// The circumstances that decide together with the summary.
#[derive(Default)]
pub(crate) struct Circumstances {
    /// The result of the gate after stage 3 or 5.
    pub(crate) gate: Gate,
    /// Whether the user has decided on this round's ThinkDeep calls.
    pub(crate) depth_decided: bool,
    /// Whether the score rose by less than 2 points, from round 2 on.
    pub(crate) stagnates: bool,
    /// The answer recorded for the same question in this round, null if it was used again.
    pub(crate) recorded: Option<Json>,
}

/// The smallest share of the expected ThinkDeep calls without a question, in per cent.
const MIN_DEPTH_PERCENT: f64 = 40.0;
/// The longest gap that a question quotes, in characters.
const MAX_GAP_CHARS: usize = 250;

/// Returns the transition that follows a summary.
pub(crate) fn follows(summary: &Summary, around: &Circumstances) -> Verb {
    let loop_args = LoopArgs::default();
    let is_exit = summary.flags.pause_type == Some(PauseType::ExitCli);
    match (summary.stage, summary.status) {
        (Stage::Retrospective, _) => Verb::Complete(loop_args),
        (_, Status::Failed) => Verb::Fail(loop_args),
        (_, Status::Completed) => completed(summary, around),
        (_, Status::NeedsUserInput) if is_exit => Verb::Wait {
            loop_args,
            reason: summary.flags.block_reason.clone().unwrap_or_default(),
        },
        (_, Status::NeedsUserInput) => match &around.recorded {
            None => Verb::Ask(loop_args),
            Some(Json::String(label)) => match mapped(summary, label) {
                Some(action) => by_action(summary, action, around),
                None => Verb::Repeat(loop_args),
            },
            Some(_) => Verb::Fail(loop_args),
        },
    }
}

/// Returns the transition that follows a completed stage.
pub(crate) fn completed(summary: &Summary, around: &Circumstances) -> Verb {
    let loop_args = LoopArgs::default();
    let flags = &summary.flags;
    match summary.stage {
        Stage::AnalysisQuestions if !around.gate.is_open() => block("Questions", &around.gate),
        Stage::AnalysisQuestions if is_shallow(summary) && !around.depth_decided => {
            Verb::Doubt(loop_args)
        }
        Stage::ResponseAnalysis => match flags.next_action {
            None => Verb::Decide(loop_args),
            Some(action) => by_action(summary, action, around),
        },
        Stage::ValidationGeneration => match flags.validation_decision {
            Some(Decision::NotReady) if around.stagnates => Verb::Stagnate(loop_args),
            Some(Decision::NotReady) => Verb::NotReady(loop_args),
            None => Verb::Fail(loop_args),
            Some(_) if !around.gate.is_open() => block("PRD", &around.gate),
            Some(_) => Verb::Pass(loop_args),
        },
        _ => Verb::Complete(loop_args),
    }
}

/// Returns the transition that asks the user about the gaps of a gate.
fn block(gate: &str, gaps: &Gate) -> Verb {
    let lines = gaps.lines();
    let first = lines.first().map_or("", |gap| gap.trim_end_matches('.'));
    let more = match lines.len() {
        0 | 1 => String::new(),
        count => format!(" (and {} more)", count - 1),
    };
    Verb::Block {
        loop_args: LoopArgs::default(),
        gate: gate.to_owned(),
        gap: text::one_line(first, MAX_GAP_CHARS) + &more,
    }
}

/// Returns the transition that an action leads to.
fn by_action(summary: &Summary, action: NextAction, around: &Circumstances) -> Verb {
    let loop_args = LoopArgs::default();
    let action = match (summary.stage, action) {
        (Stage::ResponseAnalysis, NextAction::Proceed) => return Verb::Proceed(loop_args),
        (Stage::ResponseAnalysis, NextAction::LoopQuestions) => BackAction::LoopQuestions,
        (Stage::ResponseAnalysis, NextAction::LoopResearch) => BackAction::LoopResearch,
        (Stage::ValidationGeneration, _) => return Verb::NotReady(loop_args),
        _ => return completed(summary, around),
    };
    Verb::Back { loop_args, action }
}

/// Returns the action that an answer maps to.
pub(crate) fn mapped(summary: &Summary, label: &str) -> Option<NextAction> {
    summary.flags.next_action_map.as_ref()?.get(label)
}

fn is_shallow(summary: &Summary) -> bool {
    let depth = summary.flags.depth();
    depth.is_some_and(|(_, share)| share < MIN_DEPTH_PERCENT)
}
