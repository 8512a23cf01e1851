//! The open instruction of a pipeline, as JSON and as text. It follows from the state alone, so it stays
//! the same until something changes.

use std::collections::BTreeSet;

use camino::Utf8PathBuf;
use claudex_loop::behaviours::ask::Asked;
use claudex_loop::message::{Message, Render as _};
use claudex_loop::{Timestamp, text};
use serde_json::{Value as Json, json};

use crate::contract::Stage;
use crate::questions;
use crate::state::Pipeline;
use crate::typestate::{AnyLoop, Phase};
use crate::variables::variables;

/// The round at which the user is warned.
const WARNING_ROUND: u32 = 5;

/// A template of the folder `messages`.
macro_rules! template {
    ($name:literal) => {
        Message {
            name: $name,
            text: include_str!(concat!("../messages/", $name)),
        }
    };
}
pub(crate) use template;

/// The instruction that is open.
pub(crate) struct Instruction {
    /// The instruction with its values: a kind, under `instruction`, and what belongs to it.
    pub(crate) json: Json,
    /// The instruction as a text for the agent.
    pub(crate) text: String,
}

impl Instruction {
    /// Returns the instruction of a pipeline, or the reason why there is none.
    pub(crate) fn current(held: &AnyLoop) -> Result<Self, String> {
        let pipeline = Pipeline(held.raw());
        let stage = pipeline.stage().number();
        let (template, json) = match held.phase() {
            Phase::Dispatched if has_summary(pipeline) => {
                let file = pipeline.summary_file();
                let run = format!("stages report {file}");
                let json = json!({
                    "instruction": "recover", "stage": stage, "found": [file], "missing": [], "run": run,
                });
                (template!("instructions/reported.md"), json)
            }
            Phase::Dispatched => return dispatch(pipeline),
            Phase::Recovering => {
                let (found, missing) = pipeline.artifacts();
                let run = "stages recover";
                let json = json!({
                    "instruction": "recover", "stage": stage, "found": found, "missing": missing, "run": run,
                });
                (template!("instructions/recover.md"), json)
            }
            Phase::Waiting => {
                let reason = pipeline.0.text("next_step");
                let resume = format!("stages resume {}", held.id());
                let json = json!({
                    "instruction": "stop", "stage": stage, "reason": reason, "resume": resume,
                });
                (template!("instructions/stop.md"), json)
            }
            Phase::Completed | Phase::Cancelled => {
                let json = json!({ "instruction": "done", "artifacts": all_artifacts(pipeline) });
                (template!("instructions/done.md"), json)
            }
            phase => return ask(held, phase),
        };
        Self::new(pipeline, template, json, &[])
    }

    /// Creates an instruction whose template names the values of its JSON, the stage, and these facts.
    fn new(
        pipeline: Pipeline<'_>,
        template: Message,
        json: Json,
        facts: &[(&str, Json)],
    ) -> Result<Self, String> {
        let mut all = json.as_object().cloned().unwrap_or_default();
        all.insert("stage_name".to_owned(), json!(pipeline.stage().to_string()));
        all.extend(
            facts
                .iter()
                .map(|(name, value)| ((*name).to_owned(), value.clone())),
        );
        let text = template.render(&all).map_err(|error| error.to_string())?;
        Ok(Self { json, text })
    }
}

/// Returns the text of a pipeline's instruction, or the reason why there is none.
pub(crate) fn text_of(held: &AnyLoop) -> String {
    match Instruction::current(held) {
        Ok(instruction) => instruction.text,
        Err(problem) => {
            format!("The pipeline cannot continue: {problem}. Tell the user, and end your turn.\n")
        }
    }
}

/// Returns the warning that the open dispatch has taken more than twice its time.
pub(crate) fn overdue(pipeline: Pipeline<'_>) -> Option<String> {
    let since: Timestamp = pipeline.open_since().parse().ok()?;
    let limit = pipeline.stage().minutes()? * 2;
    let is_over = Timestamp::now().as_second() - since.as_second() > limit * 60;
    let number = pipeline.stage().number();
    is_over.then(|| {
        format!("Stage {number} has been open for more than {limit} minutes, twice its time.")
    })
}

fn dispatch(pipeline: Pipeline<'_>) -> Result<Instruction, String> {
    let stage = pipeline.stage();
    let round = pipeline.round();
    let open = pipeline.open();
    let mut tell = open.tell;
    if stage == Stage::AnalysisQuestions && round == WARNING_ROUND {
        let rounds = pipeline.0.count("max_rounds");
        tell.push(format!("Round {round} of {rounds} begins."));
    }
    tell.extend(overdue(pipeline));

    let variables = variables(pipeline);
    let facts = [
        ("variables_text", json!(format!("{variables:#}"))),
        ("tell", json!(tell)),
        ("details", json!(open.details)),
    ];
    let mut json = json!({
        "instruction": "dispatch",
        "stage": stage.number(),
        "stage_name": stage.to_string(),
        "round": round,
        "inline": stage == Stage::Setup,
        "dispatch_id": pipeline.dispatch_id(),
        "summary_file": pipeline.summary_file(),
        "timeout_minutes": stage.minutes(),
        "task": task(pipeline)?,
        "variables": variables,
        "open_since": pipeline.open_since(),
    });
    if !tell.is_empty() {
        json["tell"] = json!(tell);
    }
    let template = template!("instructions/dispatch.md");
    Instruction::new(pipeline, template, json, &facts)
}

/// Returns what the open stage is for, what it reads and writes, and when it is done.
fn task(pipeline: Pipeline<'_>) -> Result<String, String> {
    let template = match pipeline.stage() {
        Stage::Setup => template!("tasks/1-setup.md"),
        Stage::Research => template!("tasks/2-research.md"),
        Stage::AnalysisQuestions => template!("tasks/3-analysis-questions.md"),
        Stage::ResponseAnalysis => template!("tasks/4-response-analysis.md"),
        Stage::ValidationGeneration => template!("tasks/5-validation-generation.md"),
        Stage::Completion => template!("tasks/6-completion.md"),
        Stage::Retrospective => template!("tasks/7-retrospective.md"),
    };
    let draft = pipeline.0.text("draft_file");
    let facts = json!({
        "draft": template!("tasks/draft.md")
            .render(&json!({ "draft_file": text::exact(draft) }))
            .map_err(|error| error.to_string())?,
        "round": pipeline.round(),
        "nnn": format!("{:03}", pipeline.round()),
        "summary_file": pipeline.summary_file(),
    });
    template.render(&facts).map_err(|error| error.to_string())
}

fn ask(held: &AnyLoop, phase: Phase) -> Result<Instruction, String> {
    let pipeline = Pipeline(held.raw());
    let asked = questions::current(held)?.ok_or("the phase has no question")?;
    let tell = pipeline.open().tell;
    let calls = calls(&asked);
    let as_text = |call: &Json| format!("{:#}", json!({ "questions": call }));
    let texts: Vec<String> = calls.iter().map(as_text).collect();
    let facts = [("calls", json!(texts)), ("tell", json!(tell))];

    let mut json = json!({
        "instruction": "ask",
        "stage": pipeline.stage().number(),
        "round": pipeline.round(),
        "key": questions::key(held.raw(), phase).unwrap_or_default(),
        "questions": calls.first(),
        "answer": format!("stages answer {} LABEL", held.id()),
    });
    // The questions that follow if the last option leads to more of them.
    if let [_, more @ ..] = &*calls
        && !more.is_empty()
    {
        json["more"] = json!(more);
    }
    if !tell.is_empty() {
        json["tell"] = json!(tell);
    }
    let template = template!("instructions/ask.md");
    Instruction::new(pipeline, template, json, &facts)
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

/// Returns whether the summary of the open dispatch is there and can be reported.
fn has_summary(pipeline: Pipeline<'_>) -> bool {
    let written = pipeline.written();
    written.is_some_and(|(_, reading)| reading.summary().is_some())
}

/// Returns the artifacts of all stages.
fn all_artifacts(pipeline: Pipeline<'_>) -> BTreeSet<Utf8PathBuf> {
    let summaries = pipeline.kept().into_values();
    summaries.flat_map(|summary| summary.artifacts).collect()
}
