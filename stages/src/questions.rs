//! What the person is asked: the coordinator's question as its summary has it, and our own where their options depend on what is there.

use claudex_loop::behaviours::ask::{self, Answer, Asked};
use claudex_loop::machine::Raw;
use claudex_loop::text;
use serde_json::Value as Json;

use crate::contract::{Digest, NextAction, Question, Stage};
use crate::follows::mapped;
use crate::state::{Keys, Pipeline, key_artifacts};
use crate::typestate::{AnyLoop, ChooseMode, GoBackAction, Phase, Transition};

/// The longest label, in characters, and the most of them: what the engine takes.
const LABEL: usize = 80;
const MOST: usize = 12;
/// How much of what was found a question quotes, in characters.
const QUOTED: usize = 300;

/// Returns the question of the phase that a pipeline is in.
///
/// # Errors
/// Says why it cannot be asked.
pub fn of(held: &AnyLoop) -> Result<Option<Asked>, String> {
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
/// The summary is gone.
pub fn asking(raw: &Raw) -> Result<Asked, String> {
    let pipeline = Pipeline(raw);
    let summary = pipeline.open_summary().ok_or(
        "the summary with the question is not kept any more; give the pipeline up, or put the file back",
    )?;
    let stage = pipeline.stage();
    let Some(question) = &summary.flags.question_context else {
        return Err("the summary that is kept has no question".to_owned());
    };
    let mut options: Vec<Answer> = Vec::new();
    for option in &question.options {
        let label = plain_label(&option.label);
        if !label.is_empty()
            && options.len() < MOST
            && options.iter().all(|known| known.label != label)
        {
            let action = mapped(&summary, &option.label);
            options.push(answer(&label, action, stage).description(&option.description));
        }
    }
    if options.is_empty() {
        let go_on = answer("Go on", None, stage);
        options = vec![go_on.description("The stage runs again."), pause()];
    }
    Ok(Asked::new(&question.question, &question.header, options))
}

/// Returns the answer of a label: what it maps to, else the stage again.
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
    option("Pause", Transition::Pause, "It waits until you resume.")
}

/// Returns a label as a dialog can show it.
fn plain_label(label: &str) -> String {
    text::one_line(&text::plain(label), LABEL)
        .replace('`', "'")
        .trim()
        .to_owned()
}

/// Returns the digest by which a question is known again: its text and its labels.
pub fn digest(question: &Question) -> Digest {
    let labels = question.options.iter().map(|option| option.label.as_str());
    let parts: Vec<&str> = std::iter::once(question.question.as_str())
        .chain(labels)
        .collect();
    Digest::of(parts.join("\0").as_bytes())
}

/// Returns the question for the mode of a round.
pub fn choosing(raw: &Raw) -> Asked {
    use ChooseMode::{Advanced, Complete, Rapid, Standard};
    let modes = [
        (Complete, "Every perspective, and 27 calls to think deeply."),
        (Advanced, "Most perspectives, and 18 calls to think deeply."),
        (Standard, "The usual panel, without calls to think deeply."),
        (Rapid, "One perspective."),
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
    let question = format!("How deep does round {} go?", raw.count("round"));
    Asked::new(question, "Analysis", options.collect())
}

/// Returns the question after a stage that failed.
pub fn failed(raw: &Raw) -> Asked {
    let pipeline = Pipeline(raw);
    let (stage, open) = (pipeline.stage(), pipeline.open());
    let (what, header) = match open.crashed {
        true => ("left no summary that counts", "Crashed"),
        false => ("failed", "Failed"),
    };
    let key_artifacts = key_artifacts(stage, pipeline.round());
    let is_there = key_artifacts.iter().any(|path| pipeline.is_new(path));
    let mut options = vec![option("Retry", Transition::Retry, "The stage runs again.")];
    if stage == Stage::Setup || is_there {
        let meaning = "It counts as done if that is enough.";
        options.push(option("Use what is there", Transition::UseFound, meaning));
    }
    match stage {
        Stage::Research | Stage::Completion => {
            let meaning = "The next stage begins without it.";
            options.push(option("Skip", Transition::Skip, meaning));
        }
        Stage::ResponseAnalysis => {
            let proceed = Transition::GoOn {
                answer: Some("Proceed".to_owned()),
            };
            let questions = back("More questions", GoBackAction::LoopQuestions);
            let research = back("More research", GoBackAction::LoopResearch);
            options.extend([
                option("Proceed", proceed, "Stage 5 begins."),
                questions.description("Another round of questions."),
                research.description("Another round, with research first."),
            ]);
        }
        _ => {}
    }
    options.push(pause());
    let number = stage.number();
    let told = said(&open.tell);
    Asked::new(
        format!("Stage {number}, {stage}, {what}.{told} What now?"),
        header,
        options,
    )
}

/// Returns the question after a stage whose gate is closed.
pub fn gated(raw: &Raw) -> Asked {
    let pipeline = Pipeline(raw);
    let header = match pipeline.stage() {
        Stage::ValidationGeneration => "PRD",
        _ => "Questions",
    };
    let options = vec![
        option("Again", Transition::Retry, "The stage runs again."),
        option(
            "Mended, check again",
            Transition::Mended,
            "You mended it by hand.",
        ),
        pause(),
    ];
    let number = pipeline.stage().number();
    let told = said(&pipeline.open().tell);
    let question = format!("What stage {number} wrote lacks something.{told} What now?");
    Asked::new(question, header, options)
}

fn said(tell: &[String]) -> String {
    match tell.is_empty() {
        true => String::new(),
        false => format!(" {}", text::one_line(&tell.join(" "), QUOTED)),
    }
}

/// Returns the key under which an answer is recorded in a phase; `None`: what is decided there is not recorded.
pub fn key(raw: &Raw, phase: Phase) -> Option<String> {
    let (stage, round) = (raw.count("stage"), raw.count("round"));
    let decided = raw.data::<Keys>("user_decisions");
    let numbered = |before: String| {
        let keys = (1_u32..).map(|number| format!("{before}_{number}"));
        keys.into_iter().find(|key| !decided.contains_key(key))
    };
    let once = |key: String| match decided.contains_key(&key) {
        false => Some(key),
        // It is not written over: who paused and is asked again decides a second time.
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
