//! What `status` says of a pipeline besides every machine's: its stage and round, scores, decisions, the last summary; and what it waits
//! for and what comes next.

use claudex_loop::program::NextAction;

use crate::AnyLoop;
use crate::contract::Stage;
use crate::instruction::awaited;
use crate::state::{Keys, Pipeline};

/// Returns the lines, each with its name.
pub fn of(held: &AnyLoop) -> Vec<(&'static str, String)> {
    let raw = held.raw();
    let pipeline = Pipeline(raw);
    let stage = pipeline.stage();
    let mut lines = vec![
        ("stage", format!("{} of 7, {stage}", stage.number())),
        (
            "round",
            format!("{} of {}", pipeline.round().get(), raw.count("max_rounds")),
        ),
    ];
    let kept = pipeline.kept();
    let validations = kept
        .iter()
        .filter(|((_, stage), _)| *stage == Stage::ValidationGeneration);
    let scores: Vec<String> = validations
        .filter_map(|((round, _), summary)| {
            Some(format!(
                "round {}: {}",
                round.get(),
                summary.flags.validation_score?.get()
            ))
        })
        .collect();
    if !scores.is_empty() {
        lines.push(("scores", scores.join(", ")));
    }
    let decisions: Keys = raw.data("user_decisions");
    let decided = decisions.iter().filter(|(key, _)| !key.ends_with("_timestamp"));
    let decided: Vec<String> = decided
        .map(|(key, value)| {
            format!(
                "{key}: {}",
                value.as_str().map_or_else(|| value.to_string(), str::to_owned)
            )
        })
        .collect();
    if !decided.is_empty() {
        lines.push(("decisions", decided.join(", ")));
    }
    let last = pipeline.counted();
    if let Some(last) = last.last() {
        let said = pipeline.kept_summary(&last.digest).map(|summary| summary.summary);
        lines.push((
            "last summary",
            format!(
                "stage {}, round {}: {}",
                last.stage,
                last.round,
                said.unwrap_or_default()
            ),
        ));
    }
    lines
}

/// Says what a pipeline waits for, and from whom; the instruction has the rest.
pub fn next_action(held: &AnyLoop) -> Option<NextAction> {
    let next = match held.phase().is_terminal() {
        true => return None,
        false => "the instruction that is due:\n    stages next",
    };
    Some(NextAction::new(awaited(held.phase()), next))
}
