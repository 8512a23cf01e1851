//! The one instruction that is due, as JSON and as text. It follows from the state alone, so it is the
//! same if it is asked for again.

use claudex_loop::Timestamp;
use claudex_loop::behaviours::ask::Asked;
use serde_json::{Value as Json, json};

use crate::contract::Stage;
use crate::questions;
use crate::state::{Pipeline, key_artifacts};
use crate::typestate::{AnyLoop, Phase};
use crate::variables::{minutes, variables};

/// The round with which half of the rounds are over.
const WARNED: u32 = 5;

/// The one thing that is to be done.
#[derive(Debug, Clone, PartialEq)]
pub struct Instruction {
    /// The instruction with its values: a kind, under `instruction`, and what belongs to it.
    pub json: Json,
    /// The instruction as a text for the agent.
    pub text: String,
}

impl Instruction {
    /// Returns the instruction of a pipeline.
    ///
    /// # Errors
    /// Returns a sentence if its question cannot be asked.
    pub fn of(held: &AnyLoop) -> Result<Self, String> {
        let pipeline = Pipeline(held.raw());
        match held.phase() {
            Phase::Dispatched => Ok(dispatch(pipeline)),
            Phase::Recovering => Ok(recover(pipeline)),
            Phase::Waiting => Ok(stop(pipeline)),
            Phase::Completed | Phase::Cancelled => Ok(done(pipeline)),
            phase => ask(held, phase),
        }
    }
}

/// The user is asked.
fn ask(held: &AnyLoop, phase: Phase) -> Result<Instruction, String> {
    let pipeline = Pipeline(held.raw());
    let asked = questions::of(held)?.ok_or("the phase asks nothing")?;
    let calls = calls(&asked);
    let (first, more) = calls.split_first().ok_or("the question has no options")?;
    let answer = format!("stages answer {} LABEL", held.id());
    let tell = pipeline.open().tell;

    let mut json = json!({
        "instruction": "ask",
        "stage": pipeline.stage().number(),
        "round": pipeline.round(),
        "key": questions::key(held.raw(), phase).unwrap_or_default(),
        "questions": first,
    });
    // What follows if the last option leads to more of them.
    if !more.is_empty() {
        json["more"] = json!(more);
    }
    json["answer"] = json!(answer);
    let text = told(&tell) + &put(first, more);
    Ok(Instruction {
        json: with_tell(json, tell),
        text: text + &format!("\nThe person can also run in a terminal:\n\n    {answer}\n"),
    })
}

/// The turn ends, and the user is told why.
fn stop(pipeline: Pipeline<'_>) -> Instruction {
    let stage = pipeline.stage().number();
    let reason = pipeline.0.text("next_step");
    let resume = format!("stages resume {}", pipeline.0.id());
    Instruction {
        text: format!(
            "Stage {stage} waits for the person: {reason}\n\nTell them so, and end your turn. When it is done, the person runs:\n\n    {resume}\n"
        ),
        json: json!({ "instruction": "stop", "stage": stage, "reason": reason, "resume": resume }),
    }
}

/// The program looks at what the stage wrote.
fn recover(pipeline: Pipeline<'_>) -> Instruction {
    let stage = pipeline.stage().number();
    let (found, missing) = found(pipeline);
    Instruction {
        text: format!(
            "What stage {stage} wrote is to be looked at. New: {}. Missing: {}. Run:\n\n    stages recover\n",
            listed(&found),
            listed(&missing)
        ),
        json: json!({ "instruction": "recover", "stage": stage, "found": found, "missing": missing }),
    }
}

/// Nothing is left to do.
fn done(pipeline: Pipeline<'_>) -> Instruction {
    let artifacts = artifacts(pipeline);
    Instruction {
        text: format!("The pipeline is over. It wrote: {}.\n", listed(&artifacts)),
        json: json!({ "instruction": "done", "artifacts": artifacts }),
    }
}

/// Adds the sentences for the user, if there are any.
fn with_tell(mut json: Json, tell: Vec<String>) -> Json {
    if !tell.is_empty() {
        json["tell"] = json!(tell);
    }
    json
}

/// Returns the calls of AskUserQuestion that put a question.
fn calls(asked: &Asked) -> Vec<Json> {
    let option = |(label, what): (&str, &str)| json!({ "label": label, "description": what });
    let call = |options: Vec<(&str, &str)>| {
        json!([{
            "question": asked.question,
            "header": asked.header,
            "multiSelect": false,
            "options": options.into_iter().map(option).collect::<Vec<_>>(),
        }])
    };
    asked.dialogs().into_iter().map(call).collect()
}

fn put(first: &Json, more: &[Json]) -> String {
    let block = |call: &Json| format!("```json\n{:#}\n```\n", json!({ "questions": call }));
    let mut text = format!(
        "Put exactly this question to the person with AskUserQuestion, and do nothing else with the answer:\n\n{}",
        block(first)
    );
    for call in more {
        text += &format!(
            "\nIf the answer is “More…”, go on with this one:\n\n{}",
            block(call)
        );
    }
    text
}

fn told(tell: &[String]) -> String {
    match tell.is_empty() {
        true => String::new(),
        false => format!("Tell the person: {} ", tell.join(" ")),
    }
}

fn listed(all: &[String]) -> String {
    match all.is_empty() {
        true => "nothing".to_owned(),
        false => all.join(", "),
    }
}

/// Returns the key artifacts of the open stage that are new, and the others.
pub fn found(pipeline: Pipeline<'_>) -> (Vec<String>, Vec<String>) {
    let all = key_artifacts(pipeline.stage(), pipeline.round());
    all.into_iter().partition(|path| pipeline.is_new(path))
}

/// Returns all that the summaries that counted name, each once.
fn artifacts(pipeline: Pipeline<'_>) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for summary in pipeline.kept().into_values() {
        let paths = summary.artifacts.into_iter().map(Into::into);
        all.extend(paths.collect::<Vec<String>>());
    }
    all.sort();
    all.dedup();
    all
}

/// A stage begins, or its coordinator is under way.
fn dispatch(pipeline: Pipeline<'_>) -> Instruction {
    let (stage, round) = (pipeline.stage(), pipeline.round());
    let mut tell = pipeline.open().tell;
    if stage == Stage::AnalysisQuestions && round == WARNED {
        let rounds = pipeline.0.count("max_rounds");
        tell.push(format!("Round {WARNED} of {rounds} begins."));
    }
    let since = pipeline.open_since();
    tell.extend(overdue(&since, stage));

    let variables = variables(pipeline);
    let is_inline = stage == Stage::Setup;
    let who = match is_inline {
        true => "Do it yourself",
        false => "Have one subagent `coordinator` do it",
    };
    let (number, file) = (stage.number(), Pipeline::summary_file(stage));
    let text = format!(
        "Stage {number}, {stage}, round {round}, is open since {since}. {}{who}, with these variables:\n\n```json\n{:#}\n```\n\n\
         When it has ended, run the first line; if it left no summary, the second:\n\n    stages report {file}\n    stages recover\n",
        told(&tell),
        variables,
    );
    let json = json!({
        "instruction": "dispatch",
        "stage": number,
        "stage_name": stage.to_string(),
        "round": round,
        "inline": is_inline,
        "dispatch_id": pipeline.dispatch_id(),
        "summary_file": file,
        "timeout_minutes": minutes(stage),
        "variables": variables,
        "open_since": since,
    });
    Instruction {
        json: with_tell(json, tell),
        text,
    }
}

/// Says that a dispatch is open for twice its time.
pub fn overdue(since: &str, stage: Stage) -> Option<String> {
    let since: Timestamp = since.parse().ok()?;
    let most = i64::from(minutes(stage)?) * 2 * 60;
    (Timestamp::now().as_second() - since.as_second() > most).then(|| {
        format!(
            "Stage {} is open for more than twice its time.",
            stage.number()
        )
    })
}

/// Returns the text of a pipeline's instruction, or why there is none.
pub fn text_of(held: &AnyLoop) -> String {
    match Instruction::of(held) {
        Ok(instruction) => instruction.text,
        Err(problem) => {
            format!("The pipeline cannot go on: {problem}. Tell the person, and end your turn.\n")
        }
    }
}
