//! The open instruction of a pipeline, as JSON and as text. It follows from the state alone.

use std::collections::BTreeSet;

use claudex_loop::behaviours::ask;
use claudex_loop::message::Render as _;
use claudex_loop::{Timestamp, template, text};
use serde_json::{Value as Json, json};

use crate::contract::{AnalysisMode, Keys, PrdMode, Reading, Stage};
use crate::extension::Stages;
use crate::state::{Pipeline, SUMMARIES, merge, summary_file};
use crate::typestate::{AnyLoop, OnStop as _, Phase};
use crate::{digest, questions};

const WARNING_ROUND: u32 = 5;
/// The most characters of the previous stage's context that a dispatch quotes.
const MAX_CONTEXT_CHARS: usize = 2_000;

pub(crate) struct Instruction {
    /// The instruction with its values: a kind, under `instruction`, and the values of that kind.
    pub(crate) json: Keys,
    /// The instruction as a text for the agent.
    pub(crate) text: String,
}

impl Instruction {
    /// Returns the instruction of a pipeline, or the reason why there is none.
    pub(crate) fn current(held: &AnyLoop) -> Result<Self, String> {
        let pipeline = Pipeline(held.raw());
        let stage = pipeline.stage();
        let is_usable = |(_, reading): (_, Reading)| reading.summary.is_some();
        let values = match held.phase() {
            Phase::Dispatched if pipeline.read_summary().is_some_and(is_usable) => {
                let found = [summary_file(stage)];
                json!({ "instruction": "recover", "found": found, "missing": [], "run": "stages report" })
            }
            Phase::Dispatched => dispatch(pipeline)?,
            Phase::Recovering => {
                let (found, missing) = pipeline.artifacts();
                json!({ "instruction": "recover", "found": found, "missing": missing, "run": "stages recover" })
            }
            Phase::Waiting => {
                let resume = format!("stages resume {}", held.id());
                let reason = &held.fields().next_step;
                let details = pipeline.open().details;
                json!({ "instruction": "stop", "reason": reason, "resume": resume, "details": details })
            }
            Phase::Completed | Phase::Cancelled => {
                let summaries = pipeline.kept_summaries().into_values();
                let artifacts = summaries.flat_map(|summary| summary.artifacts);
                let root = pipeline.0.root();
                // The report dropped those that are no files.
                let files = artifacts.filter(|path| root.join(path).is_file());
                json!({ "instruction": "done", "artifacts": BTreeSet::from_iter(files) })
            }
            phase => ask(held, phase)?,
        };
        let place = json!({
            "stage": stage.number(), "stage_name": stage, "round": pipeline.round(),
        });
        let mut json = merge([values, place]);
        let rendered = template!("../messages/instructions.md").render(&json);
        let text = rendered.map_err(|error| error.to_string())?;
        // The JSON has the values of these texts.
        json.remove("blocks");
        Ok(Self { json, text })
    }
}

/// Returns the text of a pipeline's instruction, or the reason why there is none.
pub(crate) fn text_of(held: &AnyLoop) -> String {
    let end = "Tell the user, and end your turn.";
    let stopped = |problem| format!("The pipeline cannot continue: {problem}. {end}\n");
    Instruction::current(held).map_or_else(stopped, |instruction| instruction.text)
}

/// Returns the warning that the open dispatch has taken more than twice its time.
pub(crate) fn overdue_warning(pipeline: Pipeline<'_>) -> Option<String> {
    let since: Timestamp = pipeline.open().since.parse().ok()?;
    let limit = pipeline.stage().minutes()? * 2;
    let is_over = Timestamp::now().as_second() - since.as_second() > limit * 60;
    let stage = format!("Stage {}", pipeline.stage().number());
    is_over.then(|| format!("{stage} has been open for more than {limit} minutes, twice its time."))
}

/// Returns the values of the instruction `dispatch`.
fn dispatch(pipeline: Pipeline<'_>) -> Result<Json, String> {
    let stage = pipeline.stage();
    let round = pipeline.round();
    let open = pipeline.open();
    let mut tell = open.tell;
    if stage == Stage::AnalysisQuestions && round == WARNING_ROUND {
        let rounds = pipeline.0.count("max_rounds");
        tell.push(format!("Round {round} of {rounds} begins."));
    }
    tell.extend(overdue_warning(pipeline));
    let variables = Json::Object(variables(pipeline));
    let task = template!("../messages/tasks.md").render(&json!({
        "stage": stage.number(),
        "draft_file": text::escape_hidden(pipeline.0.text("draft_file")),
        "round": round,
        "nnn": format!("{round:03}"),
        "summary_file": pipeline.summary_path(),
        "product_name": text::escape_hidden(pipeline.0.text("product_name")),
    }));
    Ok(json!({
        "instruction": "dispatch",
        "inline": stage == Stage::Setup,
        "dispatch_id": pipeline.dispatch_id(),
        "summary_file": pipeline.summary_path(),
        "root": pipeline.root_elsewhere(),
        "timeout_minutes": stage.minutes(),
        "task": task.map_err(|error| error.to_string())?,
        "variables": variables,
        "open_since": open.since,
        "tell": tell,
        "details": open.details,
        "blocks": [format!("{variables:#}")],
    }))
}

/// Returns the values of the instruction to ask the user.
fn ask(held: &AnyLoop, phase: Phase) -> Result<Json, String> {
    let open_question = ask::question(held.raw(), Stages.asks(held)?)?;
    let question = open_question.ok_or("the phase has no question")?;
    let calls = question.questions();
    let block = |call: &Json| format!("{:#}", json!({ "questions": call }));
    let open = &held.fields().open;
    // Without a summary they are its errors, which `status` has.
    let corrections = open.details.iter().filter(|_| open.problem.is_empty());
    Ok(json!({
        "instruction": "ask",
        "key": questions::key(held.raw(), phase).unwrap_or_default(),
        "questions": calls.first(),
        "more": calls[1..],
        "answer": format!("stages answer {} \"LABEL\"", held.id()),
        "tell": open.tell,
        "details": corrections.collect::<Vec<_>>(),
        "blocks": calls.iter().map(block).collect::<Vec<_>>(),
    }))
}

/// Returns the variables of the open dispatch. An unknown one has its default.
fn variables(pipeline: Pipeline<'_>) -> Keys {
    let stage = pipeline.stage();
    let open = pipeline.open();
    let all = json!({
        "SUMMARY_FILE": pipeline.summary_path(),
        "DISPATCH_ID": pipeline.dispatch_id(),
        "USER_ANSWER": open.answer,
    });
    let of_stage = match stage {
        Stage::Setup => return merge([all]),
        Stage::Research => json!({ "FOCUS": focus(pipeline).unwrap_or_default() }),
        Stage::ValidationGeneration => json!({ "SKIP_VALIDATION": open.skip_validation }),
        _ => Json::Null,
    };

    let round_mode: Option<AnalysisMode> = pipeline.0.data("analysis_mode");
    let mode = round_mode
        .filter(|_| !open.standard)
        .unwrap_or(AnalysisMode::Standard);
    let prd_mode: Option<PrdMode> = pipeline.0.data("prd_mode");
    let panel: Option<String> = pipeline.0.data("panel_config_path");
    let has_panel = |path: &String| !path.is_empty() && mode != AnalysisMode::Rapid;
    let tools: Json = pipeline.0.data("mcp_availability");
    let has_tool = |tool: &str| tools.pointer(tool) == Some(&Json::Bool(true));
    let of_coordinator = json!({
        "ROUND_NUMBER": pipeline.round(),
        "ANALYSIS_MODE": mode,
        "PRD_MODE": prd_mode.unwrap_or(PrdMode::New),
        "ENTRY_TYPE": if open.re_entry { "re_entry_after_user_input" } else { "first_entry" },
        "PAL_AVAILABLE": has_tool("/pal_available"),
        "ST_AVAILABLE": has_tool("/st_available"),
        "RESEARCH_MCP_AVAILABLE": has_tool("/research_mcp/tavily"),
        "PANEL_CONFIG_PATH": panel.filter(has_panel),
        "TIMEOUT_MINUTES": stage.minutes(),
        "PRIOR_CONTEXT": prior_context(pipeline).unwrap_or_default(),
        "PRIOR_SUMMARIES": prior_summaries(pipeline),
    });
    merge([all, of_coordinator, of_stage])
}

/// Returns the gaps for research, which is repeated only if stage 4 sent it back.
fn focus(pipeline: Pipeline<'_>) -> Option<Vec<String>> {
    let before = (pipeline.round() - 1, Stage::ResponseAnalysis);
    let summary = pipeline.kept_summaries().remove(&before)?;
    summary.flags.gap_descriptions
}

/// Returns the context from the previous stage. If it is cut, it names the file of the whole.
fn prior_context(pipeline: Pipeline<'_>) -> Option<String> {
    let stage = pipeline.stage().number();
    let counted = pipeline.counted_summaries();
    let before = counted.iter().rev().find(|one| one.stage != stage)?;
    let (summary, _) = pipeline.kept_summary(&before.digest)?;
    let mut context = summary.context?;
    if let Some((end, _)) = context.char_indices().nth(MAX_CONTEXT_CHARS) {
        context.truncate(end);
        context += &format!("… (all of it: {})", pipeline.kept_file(&before.digest));
    }
    Some(context)
}

/// Returns the paths of earlier summaries. From round 4 the digest replaces earlier rounds.
fn prior_summaries(pipeline: Pipeline<'_>) -> String {
    let round = pipeline.round();
    if round < 2 {
        return String::new();
    }
    let mut lines = Vec::new();
    let has_digest = digest::is_due(pipeline);
    if has_digest {
        let file = digest::FILE_NAME;
        lines.push(format!("rounds before {round}: {SUMMARIES}/{file}"));
    }
    for one in pipeline.counted_summaries() {
        if one.round == round || !has_digest {
            let file = text::printable(pipeline.kept_file(&one.digest));
            lines.push(format!("round {}, stage {}: {file}", one.round, one.stage));
        }
    }
    lines.join("\n")
}
