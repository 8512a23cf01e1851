//! The transition that follows a summary: the table of the workflow as one function.

use claudex_loop::text;
use serde_json::Value as Json;

use crate::contract::{Decision, NextAction, PauseType, Stage, Status, Summary};
use crate::gates::{self, Gate};
use crate::questions::answer_key;
use crate::state::{Keys, Pipeline};
use crate::typestate::{BackAction, Transition};

/// The smallest share of the expected ThinkDeep calls without a question, in per cent.
const MIN_DEPTH_PERCENT: f64 = 40.0;
/// The smallest rise of the score without a question. A score has at most three decimals.
const MIN_GAIN: f64 = 1.9995;
/// The transition to another round of questions.
const BACK_TO_QUESTIONS: Transition = Transition::Back {
    action: BackAction::LoopQuestions,
};
/// The longest gap that a question quotes, in characters.
const MAX_GAP_CHARS: usize = 250;

/// Returns the transition that follows a summary, and the gaps that its gate names.
pub(crate) fn follows(pipeline: Pipeline<'_>, summary: &Summary) -> (Transition, Vec<String>) {
    let flags = &summary.flags;
    let transition = match (summary.stage, summary.status) {
        (Stage::Retrospective, _) => Transition::Complete,
        (_, Status::Failed) => Transition::Fail,
        (_, Status::Completed) => return completed(pipeline, summary),
        (_, Status::NeedsUserInput) if flags.pause_type == Some(PauseType::ExitCli) => {
            let reason = flags.block_reason.clone().unwrap_or_default();
            Transition::Wait { reason }
        }
        (stage, Status::NeedsUserInput) => match recorded_answer(pipeline, summary) {
            None => Transition::Ask,
            Some(Json::String(label)) => match summary.mapped_action(&label) {
                None => Transition::Repeat,
                action if stage == Stage::ResponseAnalysis => follow_action(action),
                _ if stage == Stage::ValidationGeneration => BACK_TO_QUESTIONS,
                _ => return completed(pipeline, summary),
            },
            Some(_) => Transition::Fail,
        },
    };
    (transition, Vec::new())
}

/// Returns the transition that follows a completed stage, and the gaps that its gate names.
pub(crate) fn completed(pipeline: Pipeline<'_>, summary: &Summary) -> (Transition, Vec<String>) {
    let gate = gate(pipeline, summary);
    let transition = match (summary.stage, summary.flags.validation_decision) {
        _ if !gate.is_open() => block(&gate),
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
    match action {
        None => Transition::Decide,
        Some(NextAction::Proceed) => Transition::Complete,
        Some(NextAction::LoopQuestions) => BACK_TO_QUESTIONS,
        Some(NextAction::LoopResearch) => Transition::Back {
            action: BackAction::LoopResearch,
        },
    }
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

/// Returns the transition that asks the user about the gaps of a gate.
fn block(gate: &Gate) -> Transition {
    let lines = gate.lines();
    let first = lines.first().map_or("", |gap| gap.trim_end_matches('.'));
    let mut gap = text::one_line(first, MAX_GAP_CHARS);
    if lines.len() > 1 {
        gap += &format!(" (and {} more)", lines.len() - 1);
    }
    let gate = gate.header.to_owned();
    Transition::Block { gate, gap }
}

/// Returns whether too few ThinkDeep calls were made, and the user has not accepted that in this round.
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
        BACK_TO_QUESTIONS
    }
}

/// Returns the answer recorded for the same question in this round, null if it was used again.
pub(crate) fn recorded_answer(pipeline: Pipeline<'_>, summary: &Summary) -> Option<Json> {
    let question = summary.flags.question_context.as_ref()?;
    let mut answers: Keys = pipeline.0.data("asked");
    let answer = answers.remove(&answer_key(pipeline, question))?;
    let may_repeat = pipeline.0.count("repeats") < pipeline.0.count("answered");
    (answer.is_null() || may_repeat).then_some(answer)
}
