//! The open instruction of a pipeline, as JSON and as text. It follows from the state alone, so it stays
//! the same until something changes.

use claudex_loop::behaviours::ask::Asked;
use claudex_loop::{Timestamp, text};
use serde_json::{Value as Json, json};

use crate::contract::Stage;
use crate::questions;
use crate::state::Pipeline;
use crate::typestate::{AnyLoop, Phase};
use crate::variables::{minutes, variables};

/// The round at which the user is warned.
const WARNING_ROUND: u32 = 5;

/// The instruction that is open.
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
    pub fn current(held: &AnyLoop) -> Result<Self, String> {
        let pipeline = Pipeline(held.raw());
        match held.phase() {
            Phase::Dispatched if pipeline.is_reported_next() => Ok(reported(pipeline)),
            Phase::Dispatched => Ok(dispatch(pipeline)),
            Phase::Recovering => Ok(recover(pipeline)),
            Phase::Waiting => Ok(stop(pipeline)),
            Phase::Completed | Phase::Cancelled => Ok(done(pipeline)),
            phase => ask(held, phase),
        }
    }
}

/// Returns the text of a pipeline's instruction, or the reason why there is none.
pub fn text_of(held: &AnyLoop) -> String {
    match Instruction::current(held) {
        Ok(instruction) => instruction.text,
        Err(problem) => {
            format!("The pipeline cannot continue: {problem}. Tell the user, and end your turn.\n")
        }
    }
}

/// Returns the warning that a dispatch is open for more than twice its time.
pub fn overdue(since: &str, stage: Stage) -> Option<String> {
    let since: Timestamp = since.parse().ok()?;
    let limit = minutes(stage)? * 2;
    let is_over = Timestamp::now().as_second() - since.as_second() > i64::from(limit) * 60;
    is_over.then(|| {
        let number = stage.number();
        format!("Stage {number} has been open for more than {limit} minutes, twice its time.")
    })
}

fn dispatch(pipeline: Pipeline<'_>) -> Instruction {
    let (stage, round) = (pipeline.stage(), pipeline.round());
    let since = pipeline.open_since();
    let open = pipeline.open();
    let mut tell = open.tell;
    if stage == Stage::AnalysisQuestions && round == WARNING_ROUND {
        let rounds = pipeline.0.count("max_rounds");
        tell.push(format!("Round {round} of {rounds} begins."));
    }
    tell.extend(overdue(&since, stage));

    let variables = variables(pipeline);
    let is_inline = stage == Stage::Setup;
    let who = match is_inline {
        true => "Do it yourself.",
        false => {
            "Start one subagent `coordinator` and give it the task and the variables, word for word."
        }
    };
    let task = task(pipeline);
    let values = [
        ("since", since.as_str()),
        ("who", who),
        ("notes", &notes(&tell, &open.details)),
        ("variables", &format!("{variables:#}")),
        ("task", &task),
    ];
    let template = include_str!("../messages/instructions/dispatch.md");
    let text = render(pipeline, template, &values);
    let mut json = json!({
        "instruction": "dispatch",
        "stage": stage.number(),
        "stage_name": stage.to_string(),
        "round": round,
        "inline": is_inline,
        "dispatch_id": pipeline.dispatch_id(),
        "summary_file": Pipeline::summary_file(stage),
        "timeout_minutes": minutes(stage),
        "task": task,
        "variables": variables,
        "open_since": since,
    });
    if !tell.is_empty() {
        json["tell"] = json!(tell);
    }
    Instruction { json, text }
}

/// Returns what the open stage is for, what it reads and writes, and when it is done.
fn task(pipeline: Pipeline<'_>) -> String {
    let template = match pipeline.stage() {
        Stage::Setup => include_str!("../messages/tasks/1-setup.md"),
        Stage::Research => include_str!("../messages/tasks/2-research.md"),
        Stage::AnalysisQuestions => include_str!("../messages/tasks/3-analysis-questions.md"),
        Stage::ResponseAnalysis => include_str!("../messages/tasks/4-response-analysis.md"),
        Stage::ValidationGeneration => include_str!("../messages/tasks/5-validation-generation.md"),
        Stage::Completion => include_str!("../messages/tasks/6-completion.md"),
        Stage::Retrospective => include_str!("../messages/tasks/7-retrospective.md"),
    };
    let draft = pipeline.0.text("draft_file");
    let draft = match draft.is_empty() {
        true => "The user's drafts are in `requirements/draft/*.md`, if there are any.".to_owned(),
        false => format!(
            "The user's draft is `{}`: read it first.",
            text::exact(draft)
        ),
    };
    let number = format!("{:03}", pipeline.round());
    render(pipeline, template, &[("nnn", &number), ("draft", &draft)])
}

/// Returns the instruction to report a summary that is already there.
fn reported(pipeline: Pipeline<'_>) -> Instruction {
    let file = Pipeline::summary_file(pipeline.stage());
    let template = include_str!("../messages/instructions/reported.md");
    Instruction {
        text: render(pipeline, template, &[]),
        json: json!({
            "instruction": "recover",
            "stage": pipeline.stage().number(),
            "found": [file],
            "missing": [],
            "run": format!("stages report {file}"),
        }),
    }
}

fn recover(pipeline: Pipeline<'_>) -> Instruction {
    let (found, missing) = pipeline.artifacts();
    let template = include_str!("../messages/instructions/recover.md");
    let lists = [("found", &*listed(&found)), ("missing", &*listed(&missing))];
    Instruction {
        text: render(pipeline, template, &lists),
        json: json!({
            "instruction": "recover",
            "stage": pipeline.stage().number(),
            "found": found,
            "missing": missing,
            "run": "stages recover",
        }),
    }
}

fn ask(held: &AnyLoop, phase: Phase) -> Result<Instruction, String> {
    let pipeline = Pipeline(held.raw());
    let asked = questions::current(held)?.ok_or("the phase has no question")?;
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
    // The questions that follow if the last option leads to more of them.
    if !more.is_empty() {
        json["more"] = json!(more);
    }
    json["answer"] = json!(answer);
    if !tell.is_empty() {
        json["tell"] = json!(tell);
    }

    let block = |call: &Json| format!("```json\n{:#}\n```\n", json!({ "questions": call }));
    let mut question = block(first);
    for call in more {
        question += "\nIf the answer is \"More…\", ask this next:\n\n";
        question += &block(call);
    }
    let values = [
        ("notes", &*notes(&tell, &[])),
        ("answer", &answer),
        ("question", &question),
    ];
    let template = include_str!("../messages/instructions/ask.md");
    let text = render(pipeline, template, &values);
    Ok(Instruction { json, text })
}

/// Returns the calls of AskUserQuestion that ask a question.
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

fn stop(pipeline: Pipeline<'_>) -> Instruction {
    let reason = pipeline.0.text("next_step");
    let resume = format!("stages resume {}", pipeline.0.id());
    let template = include_str!("../messages/instructions/stop.md");
    let values = [("resume", resume.as_str()), ("reason", &reason)];
    Instruction {
        text: render(pipeline, template, &values),
        json: json!({
            "instruction": "stop",
            "stage": pipeline.stage().number(),
            "reason": reason,
            "resume": resume,
        }),
    }
}

fn done(pipeline: Pipeline<'_>) -> Instruction {
    let summaries = pipeline.kept().into_values();
    let artifacts = summaries.flat_map(|summary| summary.artifacts);
    let mut artifacts: Vec<String> = artifacts.map(Into::into).collect();
    artifacts.sort();
    artifacts.dedup();
    Instruction {
        text: format!("The pipeline is over. Its files: {}.\n", listed(&artifacts)),
        json: json!({ "instruction": "done", "artifacts": artifacts }),
    }
}

/// Fills the placeholders of a template: those of each pipeline, then these. A value is not searched for
/// the placeholders before it.
fn render(pipeline: Pipeline<'_>, template: &str, values: &[(&str, &str)]) -> String {
    let stage = pipeline.stage();
    let common = [
        ("number", stage.number().to_string()),
        ("stage", stage.to_string()),
        ("round", pipeline.round().to_string()),
        ("summary", Pipeline::summary_file(stage)),
    ];
    let common = common.iter().map(|(name, value)| (*name, value.as_str()));
    let replace = |text: String, (name, value): (&str, &str)| {
        let placeholder = format!("{{{name}}}");
        text.replace(&placeholder, value)
    };
    let all = common.chain(values.iter().copied());
    all.fold(template.to_owned(), replace)
}

/// Returns the sentences for the user, and the findings in the last summary, as lines of an instruction.
fn notes(tell: &[String], details: &[String]) -> String {
    let mut notes = String::new();
    if !tell.is_empty() {
        notes += &format!("\nTell the user: {}\n", tell.join(" "));
    }
    if !details.is_empty() {
        notes += "\nThe last summary was taken with these corrections:\n\n";
        notes.extend(details.iter().map(|line| format!("- {line}\n")));
    }
    notes
}

fn listed(all: &[String]) -> String {
    match all.is_empty() {
        true => "nothing".to_owned(),
        false => all.join(", "),
    }
}
