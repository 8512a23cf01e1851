//! The questions whose options depend on the summary or the files, and the record of answers.

use claudex_loop::behaviours::ask::{Answer, Asked, MAX_LABEL_CHARS, MAX_OPTIONS};
use claudex_loop::machine::{Raw, Refusal};
use claudex_loop::text;
use serde_json::json;

use crate::contract::{Keys, NextAction, Question, Stage, sha256};
use crate::record;
use crate::state::Pipeline;
use crate::typestate::{AnyLoop, ChooseMode, GoBackAction, Phase, Transition};

const MAX_REASON_CHARS: usize = 300;

/// Returns the question of the open stage's summary, or a sentence if the summary is gone.
pub(crate) fn stage_question(raw: &Raw) -> Result<Asked, String> {
    let pipeline = Pipeline(raw);
    let (summary, _) = pipeline.open_summary().ok_or(
        "the kept summary with the question is gone or was changed; restore the file, or cancel the pipeline",
    )?;
    let context = summary.flags.question_context.as_ref();
    let question = context.ok_or("the kept summary has no question")?;
    let mut options: Vec<Answer> = Vec::new();
    for option in question.options.iter().take(MAX_OPTIONS) {
        let line = text::one_line(&text::strip_hidden(&option.label), MAX_LABEL_CHARS);
        let label = line.replace('`', "'").trim().to_owned();
        if !label.is_empty() && options.iter().all(|known| known.label != label) {
            let transition = transition(&label, summary.mapped_action(&option.label));
            options.push(Answer::new(label, transition).description(&option.description));
        }
    }
    if options.is_empty() {
        let again = transition("Go on", None);
        options = vec![option("Go on", again, "Run the stage again."), pause()];
    }
    Ok(Asked::new(&question.question, &question.header, options))
}

/// Returns the transition of a label: that of its action, or the stage again.
fn transition(label: &str, action: Option<NextAction>) -> Transition {
    let answer = Some(label.to_owned());
    let action = match action {
        Some(NextAction::Proceed) => return Transition::GoOn { answer },
        Some(NextAction::LoopQuestions) => GoBackAction::LoopQuestions,
        Some(NextAction::LoopResearch) => GoBackAction::LoopResearch,
        None => {
            let answer = label.to_owned();
            return Transition::Tell { answer };
        }
    };
    Transition::GoBack { action, answer }
}

fn option(label: &str, transition: Transition, description: &str) -> Answer {
    Answer::new(label, transition).description(description)
}

fn pause() -> Answer {
    option("Pause", Transition::Pause, "Wait until you resume.")
}

/// Returns the key of the answer to a stage's question: the digest of its text and labels.
pub(crate) fn answer_key(pipeline: Pipeline<'_>, question: &Question) -> String {
    let labels = question.options.iter().map(|option| &option.label);
    let place = (pipeline.stage(), pipeline.round());
    let parts = json!([place, question.question, Vec::from_iter(labels)]);
    sha256(parts.to_string().as_bytes())
}

/// Returns the question for the mode of a round.
pub(crate) fn mode_question(raw: &Raw) -> Asked {
    use ChooseMode::{Advanced, Complete, Rapid, Standard};
    let modes = [
        (Complete, "Every perspective, and 27 ThinkDeep calls."),
        (Advanced, "Most perspectives, and 18 ThinkDeep calls."),
        (Standard, "The usual panel, without ThinkDeep calls."),
        (Rapid, "One perspective."),
    ];
    let tools: Keys = raw.data("mcp_availability");
    let is_available = tools.get("pal_available") == Some(&true.into());
    let options = modes
        .into_iter()
        .skip(if is_available { 0 } else { 2 })
        .map(|(mode, meaning)| option(&mode.to_string(), Transition::Choose { mode }, meaning));
    let question = raw.fill("How thorough should round {round} be?");
    Asked::new(question, "Analysis", options.collect())
}

/// Returns the question after a stage that failed, or whose summary is missing or broken.
pub(crate) fn failure_question(raw: &Raw) -> Asked {
    let pipeline = Pipeline(raw);
    let stage = pipeline.stage();
    let open = pipeline.open();
    let is_crash = !open.problem.is_empty();
    let mut options = vec![option("Retry", Transition::Retry, "Run the stage again.")];
    // A coordinator may write its summary after it was reported as missing.
    let written = pipeline.read_summary();
    let has_summary = written.is_some_and(|(_, reading)| reading.summary.is_some());
    if is_crash && has_summary || pipeline.has_artifacts() && !(is_crash && stage == Stage::Setup) {
        let meaning = "Accept the files that the stage wrote.";
        options.push(option("Use what is there", Transition::CheckFiles, meaning));
    }
    if [2, 4, 6].contains(&stage.number()) {
        options.push(option("Skip", Transition::Skip, "Go on without the stage."));
    }
    options.push(pause());

    let name = format!("Stage {} ({stage})", stage.number());
    if is_crash {
        options.truncate(2);
        let other = match options[1].transition {
            "check_files" => "use the files that it wrote",
            "skip" => "skip it",
            _ => "pause",
        };
        let question = format!("{name} {}. Run the stage again, or {other}?", open.problem);
        return Asked::new(question, "Crashed", options);
    }
    let line = text::one_line(&open.tell.join(" "), MAX_REASON_CHARS);
    let reason = line.trim_end_matches('.');
    let colon = if reason.is_empty() { "" } else { ": " };
    let question = format!("{name} failed{colon}{reason}. What now?");
    Asked::new(question, "Failed", options)
}

/// Returns the key under which an answer in a phase is recorded, or `None` if it is not recorded.
pub(crate) fn key(raw: &Raw, phase: Phase) -> Option<String> {
    let (key, is_once) = match phase {
        Phase::Asking | Phase::Deciding => ("stage_{stage}_round_{round}_question", false),
        Phase::Failed => ("recovery_stage_{stage}_round_{round}", false),
        Phase::Gated => ("gate_stage_{stage}_round_{round}", false),
        Phase::Choosing => ("analysis_mode_round_{round}", true),
        Phase::Shallow => ("thinkdeep_round_{round}", true),
        Phase::Breaker => ("circuit_breaker_round_{round}", true),
        Phase::Stuck => ("stagnation_round_{round}", true),
        _ => return None,
    };
    let key = raw.fill(key);
    let decided = Pipeline(raw).decisions();
    // A decision is never overwritten. A user who paused is asked a second time.
    let numbered = (1_u32..).map(|number| format!("{key}_{number}"));
    let once = is_once.then(|| key.clone()).into_iter();
    once.chain(numbered).find(|key| !decided.contains_key(key))
}

/// Writes the record and the dispatch before a transition of the user.
pub(crate) fn record_answer(held: &mut AnyLoop, next: &Transition) -> Result<(), Refusal> {
    let phase = held.phase();
    let pipeline = Pipeline(held.raw());
    let decision = key(held.raw(), phase).zip(value(next));
    let summary = pipeline.open_summary().map(|(summary, _)| summary);
    let mut open = record::dispatch_after(held, next, pipeline.open());
    if let Some((key, value)) = decision {
        record::note_decision(held, &key, &value)?;
        record::note(held, summary.as_ref(), next)?;
        let question = summary.and_then(|summary| summary.flags.question_context);
        if let Some(question) = question.filter(|_| phase == Phase::Asking) {
            // The same question is answered from this record.
            let mut answers = held.fields().asked.clone();
            answers.insert(answer_key(Pipeline(held.raw()), &question), json!(value));
            held.set_asked(&answers)?;
            if matches!(next, Transition::Tell { .. }) {
                open.answer = Some(json!({ "question": question.question, "answer": value }));
            }
        }
    }
    if let Transition::Choose { mode } = next {
        held.set_analysis_mode(&json!(mode.to_string()))?;
    }
    held.set_open(&open)
}

/// Returns the decision of a transition as it is recorded, or `None` if it decides nothing.
fn value(next: &Transition) -> Option<String> {
    use Transition::{Cancel, Choose, Further, GoBack, GoOn, Pause, Tell};
    match next {
        Pause | Cancel => None,
        Choose { mode } => Some(mode.to_string()),
        Further { decision } => Some(decision.to_string()),
        Tell { answer } => Some(answer.clone()),
        GoOn { answer } | GoBack { answer, .. } if answer.is_some() => answer.clone(),
        other => Some(<&str>::from(other.clone()).to_owned()),
    }
}
