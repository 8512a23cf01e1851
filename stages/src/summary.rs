//! What `status` says of a pipeline besides its fields: what is awaited and from whom, the scores, the decisions and the last summary.

use claudex_loop::program::NextAction;
use claudex_loop::text;

use crate::contract::Stage;
use crate::instruction::overdue;
use crate::state::Pipeline;
use crate::typestate::{AnyLoop, Phase};

/// The most decisions that are shown, and the longest line, in characters.
const SHOWN: usize = 10;
const LINE: usize = 200;

/// Says what is awaited, and what is done next.
pub fn next_action(held: &AnyLoop) -> Option<NextAction> {
    let waits_for = match held.phase() {
        Phase::Dispatched => "the coordinator’s summary, from the agent",
        Phase::Recovering => "a look at what is there, from the agent",
        Phase::Waiting => "the person’s work, and their resume",
        Phase::Completed | Phase::Cancelled => return None,
        _ => "an answer, from the person",
    };
    let next = match held.phase() {
        Phase::Waiting => format!(
            "a person lets it go on with:\n    stages resume {}",
            held.id()
        ),
        _ => "the one instruction that is due:\n    stages next".to_owned(),
    };
    Some(NextAction::new(waits_for, next))
}

/// Returns the lines of `status`.
pub fn of(held: &AnyLoop) -> Vec<(&'static str, String)> {
    let pipeline = Pipeline(held.raw());
    let mut scores = Vec::new();
    for ((round, stage), summary) in pipeline.kept() {
        if stage == Stage::ValidationGeneration {
            let flags = summary.flags;
            let score = flags
                .validation_score
                .map_or("none".to_owned(), |score| score.to_string());
            let decision = flags
                .validation_decision
                .map(|decision| decision.to_string());
            scores.push(format!(
                "round {round}: {score} ({})",
                decision.unwrap_or_default()
            ));
        }
    }
    let mut decided = decisions(held);
    decided.reverse();
    decided.truncate(SHOWN);
    let last = pipeline.counted().pop().and_then(|one| {
        let summary = pipeline.kept_summary(&one.digest)?.summary;
        Some(format!(
            "stage {}, round {}: {summary}",
            one.stage, one.round
        ))
    });
    let stage = pipeline.stage();
    let lines = [
        ("stage", format!("{} of 7, {stage}", stage.number())),
        (
            "round",
            format!("{} of {}", pipeline.round(), held.fields().max_rounds),
        ),
        ("scores", scores.join("; ")),
        ("decisions", decided.join("; ")),
        ("last summary", last.unwrap_or_default()),
    ];
    let written = lines.into_iter().filter(|(_, line)| !line.is_empty());
    written
        .map(|(name, line)| (name, text::one_line(&line, LINE)))
        .collect()
}

/// Says what `status` has to admit.
pub fn caveats(held: &AnyLoop) -> Vec<String> {
    let pipeline = Pipeline(held.raw());
    let is_open = held.phase() == Phase::Dispatched;
    let late = overdue(&pipeline.open_since(), pipeline.stage()).filter(|_| is_open);
    late.into_iter().collect()
}

/// Says what was decided already where an answer comes that nothing asks for.
pub fn refused(held: &AnyLoop, transition: &str) -> Option<String> {
    let last = decisions(held).pop().filter(|_| transition == "answer")?;
    Some(format!(
        "nothing was changed; decided is: {}; what is to be done:\n    stages next",
        text::one_line(&last, LINE)
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
