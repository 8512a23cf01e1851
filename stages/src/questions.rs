//! The questions to the user: the coordinator's question, and those whose options depend on the files.

use claudex_loop::behaviours::ask::{self, Answer, Asked};
use claudex_loop::machine::Raw;
use claudex_loop::text;
use serde_json::Value as Json;

use crate::contract::{Digest, NextAction, Question, Stage};
use crate::follows::mapped;
use crate::state::{Keys, Pipeline};
use crate::typestate::{AnyLoop, ChooseMode, GoBackAction, Phase, Transition};

/// The longest label that the engine takes, in characters.
const MAX_LABEL_CHARS: usize = 80;
/// The most options that the engine takes.
const MAX_OPTIONS: usize = 12;
/// The longest reason that a question quotes, in characters.
const MAX_REASON_CHARS: usize = 300;

/// Returns the question of a pipeline's phase.
///
/// # Errors
/// Returns a sentence if it cannot be asked.
pub fn current(held: &AnyLoop) -> Result<Option<Asked>, String> {
    let raw = held.raw();
    let own = match held.phase() {
        Phase::Asking => asking(raw)?,
        Phase::Choosing => choosing(raw),
        Phase::Failed => failed(raw),
        Phase::Gated => gated(raw),
        _ => return ask::asked(raw),
    };
    ask::checked(raw, own).map(Some)
}

/// Returns the question of the open stage's summary.
///
/// # Errors
/// Returns a sentence if the summary is gone.
pub fn asking(raw: &Raw) -> Result<Asked, String> {
    let pipeline = Pipeline(raw);
    let summary = pipeline.open_summary().ok_or(
        "the kept summary with the question is gone or was changed; restore the file, or cancel the pipeline",
    )?;
    let stage = pipeline.stage();
    let Some(question) = &summary.flags.question_context else {
        return Err("the kept summary has no question".to_owned());
    };
    let mut options: Vec<Answer> = Vec::new();
    for option in &question.options {
        let label = plain_label(&option.label);
        if !label.is_empty()
            && options.len() < MAX_OPTIONS
            && options.iter().all(|known| known.label != label)
        {
            let action = mapped(&summary, &option.label);
            options.push(answer(&label, action, stage).description(&option.description));
        }
    }
    if options.is_empty() {
        let go_on = answer("Go on", None, stage);
        options = vec![go_on.description("Run the stage again."), pause()];
    }
    Ok(Asked::new(&question.question, &question.header, options))
}

/// Returns the answer of a label: its action, or the stage again.
fn answer(label: &str, action: Option<NextAction>, stage: Stage) -> Answer {
    let given = Some(label.to_owned());
    let transition = match (action, stage) {
        (Some(NextAction::Proceed), _) => Transition::GoOn { answer: given },
        (Some(NextAction::LoopQuestions), Stage::ResponseAnalysis) => {
            return back(label, GoBackAction::LoopQuestions);
        }
        (Some(NextAction::LoopResearch), Stage::ResponseAnalysis) => {
            return back(label, GoBackAction::LoopResearch);
        }
        (Some(NextAction::LoopQuestions), Stage::ValidationGeneration) => {
            Transition::GoAgain { answer: given }
        }
        _ => Transition::Tell {
            answer: label.to_owned(),
        },
    };
    Answer::new(label, transition)
}

/// Returns the answer that goes back to an earlier stage.
fn back(label: &str, action: GoBackAction) -> Answer {
    let answer = Some(label.to_owned());
    Answer::new(label, Transition::GoBack { action, answer })
}

/// Returns an answer with its meaning.
fn option(label: &str, transition: Transition, description: &str) -> Answer {
    Answer::new(label, transition).description(description)
}

fn pause() -> Answer {
    option("Pause", Transition::Pause, "Wait until you resume.")
}

/// Returns a label as a dialog can show it.
fn plain_label(label: &str) -> String {
    text::one_line(&text::plain(label), MAX_LABEL_CHARS)
        .replace('`', "'")
        .trim()
        .to_owned()
}

/// Returns the digest of a question's text and labels, which identifies it.
pub fn digest(question: &Question) -> Digest {
    let labels = question.options.iter().map(|option| option.label.as_str());
    let parts: Vec<&str> = std::iter::once(question.question.as_str())
        .chain(labels)
        .collect();
    Digest::from_bytes(parts.join("\0").as_bytes())
}

/// Returns the question for the mode of a round.
pub fn choosing(raw: &Raw) -> Asked {
    use ChooseMode::{Advanced, Complete, Rapid, Standard};
    let modes = [
        (
            Complete,
            "Ask from every perspective, with 27 ThinkDeep calls.",
        ),
        (
            Advanced,
            "Ask from most perspectives, with 18 ThinkDeep calls.",
        ),
        (Standard, "Ask the usual panel, without ThinkDeep calls."),
        (Rapid, "Ask from one perspective."),
    ];
    let available = raw.data::<Keys>("mcp_availability");
    let has_models = available.get("pal_available") == Some(&Json::Bool(true));
    let modes = &modes[if has_models { 0 } else { 2 }..];
    let options = modes.iter().map(|(mode, meaning)| {
        option(
            &mode.to_string(),
            Transition::Choose { mode: *mode },
            meaning,
        )
    });
    let question = format!("How thorough should round {} be?", raw.count("round"));
    Asked::new(question, "Analysis", options.collect())
}

/// Returns the question after a stage that failed, or whose summary is missing or broken.
pub fn failed(raw: &Raw) -> Asked {
    let pipeline = Pipeline(raw);
    let (stage, open) = (pipeline.stage(), pipeline.open());
    let is_crash = !open.problem.is_empty();
    let use_found = option(
        "Use what is there",
        Transition::UseFound,
        "Accept the files that the stage wrote.",
    );
    let skip = match stage {
        Stage::Research | Stage::Completion => Some("Go on without the stage."),
        Stage::ResponseAnalysis => Some("Go on without the stage and choose what comes next."),
        _ => None,
    };
    let skip = skip.map(|meaning| option("Skip", Transition::Skip, meaning));
    let mut options = vec![option("Retry", Transition::Retry, "Run the stage again.")];
    let may_use = pipeline.has_artifacts() && !(is_crash && stage == Stage::Setup);
    options.extend(may_use.then_some(use_found));
    options.extend(skip);
    options.push(pause());
    let name = format!("Stage {} ({stage})", stage.number());
    if !is_crash {
        let reason = text::one_line(&open.tell.join(" "), MAX_REASON_CHARS);
        let reason = reason.trim_end_matches('.');
        let colon = if reason.is_empty() { "" } else { ": " };
        let question = format!("{name} failed{colon}{reason}. What now?");
        return Asked::new(question, "Failed", options);
    }

    options.truncate(2);
    let other = match options[1].label.as_str() {
        "Use what is there" => "use the files that it wrote",
        "Skip" => "skip it",
        _ => "pause",
    };
    let question = format!("{name} {}. Run the stage again, or {other}?", open.problem);
    Asked::new(question, "Crashed", options)
}

/// Returns the question after a stage that did not pass its gate.
pub fn gated(raw: &Raw) -> Asked {
    let pipeline = Pipeline(raw);
    let stage = pipeline.stage();
    let header = match stage {
        Stage::ValidationGeneration => "PRD",
        _ => "Questions",
    };
    let options = vec![
        option("Again", Transition::Retry, "Run the stage again."),
        option(
            "Fixed by hand, check again",
            Transition::CheckAgain,
            "You have fixed the files.",
        ),
        pause(),
    ];
    let gaps = pipeline.open().tell;
    let first = gaps.first().map_or("", |gap| gap.trim_end_matches('.'));
    let more = match gaps.len() {
        0 | 1 => String::new(),
        count => format!(" (and {} more)", count - 1),
    };
    let number = stage.number();
    let question = format!("The files of stage {number} have gaps: {first}{more}. What now?");
    let question = text::one_line(&question, MAX_REASON_CHARS);
    Asked::new(question, header, options)
}

/// Returns the key under which an answer in a phase is recorded, or `None` if it is not recorded.
pub fn key(raw: &Raw, phase: Phase) -> Option<String> {
    let (stage, round) = (raw.count("stage"), raw.count("round"));
    let decided = raw.data::<Keys>("user_decisions");
    let numbered = |before: String| {
        let keys = (1_u32..).map(|number| format!("{before}_{number}"));
        keys.into_iter().find(|key| !decided.contains_key(key))
    };
    let once = |key: String| match decided.contains_key(&key) {
        false => Some(key),
        // A decision is never overwritten. A user who paused is asked a second time.
        true => numbered(key),
    };
    match phase {
        Phase::Asking | Phase::Deciding => {
            numbered(format!("stage_{stage}_round_{round}_question"))
        }
        Phase::Choosing => once(format!("analysis_mode_round_{round}")),
        Phase::Failed => numbered(format!("recovery_stage_{stage}_round_{round}")),
        Phase::Gated => numbered(format!("gate_stage_{stage}_round_{round}")),
        Phase::Shallow => once(format!("thinkdeep_round_{round}")),
        Phase::Breaker => once(format!("circuit_breaker_round_{round}")),
        Phase::Stuck => once(format!("stagnation_round_{round}")),
        Phase::Dispatched
        | Phase::Recovering
        | Phase::Waiting
        | Phase::Completed
        | Phase::Cancelled => None,
    }
}
