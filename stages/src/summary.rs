//! The lines that `status` shows of a pipeline beside its fields, and what the pipeline waits for.

use claudex_loop::program::NextAction;
use claudex_loop::text;

use crate::contract::Stage;
use crate::instruction::overdue;
use crate::questions;
use crate::state::Pipeline;
use crate::typestate::{AnyLoop, Phase};

/// The most decisions that are shown.
const MAX_DECISIONS: usize = 10;
/// The longest line, in characters.
const MAX_LINE_CHARS: usize = 200;

/// Returns what the pipeline waits for, and what comes next.
pub fn next_action(held: &AnyLoop) -> Option<NextAction> {
    let (id, pipeline) = (held.id(), Pipeline(held.raw()));
    let stage = format!("stage {} ({})", pipeline.stage().number(), pipeline.stage());
    let next = "run:\n    stages next";
    Some(match held.phase() {
        Phase::Completed | Phase::Cancelled => return None,
        Phase::Dispatched => {
            NextAction::new(format!("the agent, to report the summary of {stage}"), next)
        }
        Phase::Recovering => {
            NextAction::new(format!("the agent, to check the files of {stage}"), next)
        }
        Phase::Waiting => {
            let reason = pipeline.0.text("next_step");
            let reason = reason.trim_end_matches('.');
            let resume =
                format!("when it is done, type /stages:resume, or run:\n    stages resume {id}");
            NextAction::new(format!("you: {reason}"), resume)
        }
        _ => match questions::current(held) {
            Ok(Some(asked)) => {
                let labels = asked.options.iter().map(|one| one.label.as_str());
                let labels: Vec<&str> = labels.collect();
                let answer = format!(
                    "answer in the dialog, or run:\n    stages answer {id} LABEL\nwith one of: {}",
                    labels.join(", ")
                );
                NextAction::new(format!("your answer to “{}”", asked.question), answer)
            }
            _ => NextAction::new("your answer", next),
        },
    })
}

/// Returns the lines of `status`.
pub fn status_lines(held: &AnyLoop) -> Vec<(&'static str, String)> {
    let pipeline = Pipeline(held.raw());
    let mut scores = Vec::new();
    for ((round, stage), summary) in pipeline.kept() {
        let flags = summary.flags;
        if let (Stage::ValidationGeneration, Some(decision)) = (stage, flags.validation_decision) {
            let score = flags.validation_score.map(|score| score.to_string());
            let score = score.unwrap_or("no score".to_owned());
            scores.push(format!("round {round}: {score} ({decision})"));
        }
    }
    let mut decided = decisions(held);
    decided.reverse();
    decided.truncate(MAX_DECISIONS);
    let last = pipeline.counted().pop().and_then(|one| {
        let summary = pipeline.kept_summary(&one.digest)?.summary;
        Some(format!(
            "stage {}, round {}: {summary}",
            one.stage, one.round
        ))
    });
    let lines = [
        ("stage", stage_line(pipeline)),
        ("round", round_line(pipeline)),
        ("scores", scores.join("; ")),
        ("decisions", decided.join("; ")),
        ("last summary", last.unwrap_or_default()),
        ("details", pipeline.open().details.join("; ")),
    ];
    let written = lines.into_iter().filter(|(_, line)| !line.is_empty());
    written
        .map(|(name, line)| (name, text::one_line(&line, MAX_LINE_CHARS)))
        .collect()
}

/// Returns the stage and the round for the status line.
pub fn status_line(held: &AnyLoop) -> String {
    let pipeline = Pipeline(held.raw());
    format!(
        "stage {}, round {}",
        stage_line(pipeline),
        round_line(pipeline)
    )
}

fn stage_line(pipeline: Pipeline<'_>) -> String {
    let stage = pipeline.stage();
    format!("{} of 7, {stage}", stage.number())
}

fn round_line(pipeline: Pipeline<'_>) -> String {
    format!("{} of {}", pipeline.round(), pipeline.0.count("max_rounds"))
}

/// Returns the warnings of `status`.
pub fn caveats(held: &AnyLoop) -> Vec<String> {
    let pipeline = Pipeline(held.raw());
    let is_open = held.phase() == Phase::Dispatched;
    let late = overdue(&pipeline.open_since(), pipeline.stage()).filter(|_| is_open);
    late.into_iter().collect()
}

/// Returns the last decision as help for an answer that nothing asks for.
pub fn refused(held: &AnyLoop, transition: &str) -> Option<String> {
    let last = decisions(held).pop().filter(|_| transition == "answer")?;
    Some(format!(
        "nothing was changed; the last decision is {}; for the instruction, run:\n    stages next",
        text::one_line(&last, MAX_LINE_CHARS)
    ))
}

/// Returns the decisions, oldest first.
fn decisions(held: &AnyLoop) -> Vec<String> {
    let all = &held.fields().user_decisions;
    let decided = all.iter().filter(|(key, _)| !key.ends_with("_timestamp"));
    decided
        .filter_map(|(key, value)| Some(format!("{key} = {}", value.as_str()?)))
        .collect()
}
