//! What is to be done now: exactly one instruction, as JSON and as text. It follows from the state alone, so it is the same when it is
//! asked for again.

use claudex_loop::behaviours::ask::Asked;
use claudex_loop::{Timestamp, text};
use serde::Serialize;
use serde_json::{Map, Value as Json, json};

use crate::contract::{AnalysisMode, Stage};
use crate::state::{Counted, Keys, Pipeline, key_artifacts};
use crate::typestate::{AnyLoop, Phase};
use crate::variables::{Known, minutes, variables};
use crate::{notes, questions};

/// The round with which half of the rounds are over.
const WARNED: u64 = 5;
/// The most of the stage before that a dispatch quotes, in characters.
const QUOTED: usize = 2_000;

/// Says what is to be done.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "instruction", rename_all = "snake_case")]
pub enum Instruction {
    /// A stage begins, or its coordinator is under way.
    Dispatch {
        /// The stage's number.
        stage: u8,
        /// Its name.
        stage_name: String,
        /// The round.
        round: u32,
        /// Says that the main agent does it itself.
        inline: bool,
        /// The dispatch.
        dispatch_id: String,
        /// Where the summary goes.
        summary_file: String,
        /// How long it may take.
        timeout_minutes: Option<u32>,
        /// What the coordinator is told.
        variables: Map<String, Json>,
        /// When it was dispatched.
        open_since: String,
        /// What the person is told, each a sentence.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tell: Vec<String>,
    },
    /// The person is asked.
    Ask {
        /// The stage's number.
        stage: u8,
        /// The round.
        round: u32,
        /// The key under which the answer is recorded.
        key: String,
        /// The question, as AskUserQuestion takes it.
        questions: Json,
        /// What follows where its last option leads to more of them.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        more: Vec<Json>,
        /// The command by which a person answers in a terminal.
        answer: String,
        /// What the person is told, each a sentence.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tell: Vec<String>,
    },
    /// The turn ends, and the person is told why.
    Stop {
        /// The stage's number.
        stage: u8,
        /// Why.
        reason: String,
        /// What goes on.
        resume: String,
    },
    /// What is there is looked at.
    Recover {
        /// The stage's number.
        stage: u8,
        /// Key artifacts that are new.
        found: Vec<String>,
        /// Those that are not there, or as they were.
        missing: Vec<String>,
    },
    /// Nothing is left to do.
    Done {
        /// What was written.
        artifacts: Vec<String>,
    },
}

impl Instruction {
    /// Returns the instruction of a pipeline.
    ///
    /// # Errors
    /// Says why its question cannot be asked.
    pub fn of(held: &AnyLoop) -> Result<Self, String> {
        let raw = held.raw();
        let pipeline = Pipeline(raw);
        let (stage, round) = (pipeline.stage().number(), pipeline.round());
        Ok(match held.phase() {
            Phase::Dispatched => dispatch(pipeline),
            Phase::Recovering => {
                let (found, missing) = found(pipeline);
                Self::Recover {
                    stage,
                    found,
                    missing,
                }
            }
            Phase::Waiting => Self::Stop {
                stage,
                reason: raw.text("next_step"),
                resume: format!("stages resume {}", raw.id()),
            },
            Phase::Completed | Phase::Cancelled => Self::Done {
                artifacts: artifacts(pipeline),
            },
            phase => {
                let asked = questions::of(held)?.ok_or("the phase asks nothing")?;
                let mut calls = calls(&asked).into_iter();
                Self::Ask {
                    stage,
                    round,
                    key: questions::key(raw, phase).unwrap_or_default(),
                    questions: calls.next().unwrap_or_default(),
                    more: calls.collect(),
                    answer: format!("stages answer {} LABEL", raw.id()),
                    tell: pipeline.open().tell,
                }
            }
        })
    }

    /// Returns it as a text for the agent.
    pub fn text(&self) -> String {
        match self {
            Self::Dispatch {
                stage,
                stage_name,
                round,
                inline,
                summary_file,
                variables,
                open_since,
                tell,
                ..
            } => {
                let who = match inline {
                    true => "Do it yourself",
                    false => "Have one subagent `coordinator` do it",
                };
                let variables = Json::from(variables.clone());
                let told = told(tell);
                format!(
                    "Stage {stage}, {stage_name}, round {round}, is open since {open_since}. {told}{who}, with these variables:\n\n```json\n{variables:#}\n```\n\n\
                     When it has ended, run the first line; if it left no summary, the second:\n\n    stages report {summary_file}\n    stages recover\n"
                )
            }
            Self::Ask {
                questions,
                more,
                answer,
                tell,
                ..
            } => {
                let text = told(tell) + &put(questions, more);
                text + &format!("\nThe person can also run in a terminal:\n\n    {answer}\n")
            }
            Self::Stop {
                stage,
                reason,
                resume,
            } => format!(
                "Stage {stage} waits for the person: {reason}\n\nTell them so, and end your turn. When it is done, the person runs:\n\n    {resume}\n"
            ),
            Self::Recover {
                stage,
                found,
                missing,
            } => format!(
                "What stage {stage} wrote is to be looked at. New: {}. Missing: {}. Run:\n\n    stages recover\n",
                listed(found),
                listed(missing)
            ),
            Self::Done { artifacts } => {
                format!("The pipeline is over. It wrote: {}.\n", listed(artifacts))
            }
        }
    }
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

fn dispatch(pipeline: Pipeline<'_>) -> Instruction {
    let (stage, round) = (pipeline.stage(), pipeline.round());
    let open = pipeline.open();
    let mut tell = open.tell;
    if stage == Stage::AnalysisQuestions && u64::from(round) == WARNED {
        tell.push(format!(
            "Round {WARNED} of {} begins.",
            pipeline.0.count("max_rounds")
        ));
    }
    let known = known(pipeline);
    let since = pipeline.open_since();
    if let Some(late) = overdue(&since, stage) {
        tell.push(late);
    }
    Instruction::Dispatch {
        stage: stage.number(),
        stage_name: stage.to_string(),
        round,
        inline: stage == Stage::Setup,
        dispatch_id: known.dispatch_id.clone(),
        summary_file: known.summary_file.clone(),
        timeout_minutes: minutes(stage),
        variables: variables(stage, &known),
        open_since: since,
        tell,
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

/// Collects what the variables are made of.
fn known(pipeline: Pipeline<'_>) -> Known {
    let raw = pipeline.0;
    let (stage, round, open) = (pipeline.stage(), pipeline.round(), pipeline.open());
    let tools: Keys = raw.data("mcp_availability");
    let is_there = |value: Option<&Json>| value == Some(&Json::Bool(true));
    let word = |field: &str| raw.data::<Json>(field).as_str().map(str::to_owned);
    let counted = pipeline.counted();
    let kept = pipeline.kept();
    let mode = match open.standard {
        true => Some(AnalysisMode::Standard),
        false => word("analysis_mode").and_then(|mode| mode.parse().ok()),
    };
    let before = counted.iter().rev().find(|one| one.stage != stage.number());
    let prior = before
        .and_then(|one| pipeline.kept_summary(&one.digest)?.context)
        .unwrap_or_default();
    // Research runs in a later round only after stage 4 sent it back.
    let last = Some(round - 1).filter(|_| stage == Stage::Research);
    let focus = last.and_then(|last| {
        kept.get(&(last, Stage::ResponseAnalysis))?
            .flags
            .gap_descriptions
            .clone()
    });
    Known {
        round,
        mode,
        prd_mode: word("prd_mode").and_then(|mode| mode.parse().ok()),
        re_entry: open.re_entry,
        pal: is_there(tools.get("pal_available")),
        st: is_there(tools.get("st_available")),
        research: is_there(tools.get("research_mcp").and_then(|mcp| mcp.get("tavily"))),
        panel_config_path: word("panel_config_path").filter(|path| !path.is_empty()),
        summary_file: Pipeline::summary_file(stage),
        dispatch_id: pipeline.dispatch_id(),
        prior_context: cut(
            prior.trim(),
            before.map(|one| pipeline.kept_file(&one.digest).to_string()),
        ),
        prior_summaries: prior_summaries(pipeline, &counted),
        answer: open.answer,
        focus: focus.unwrap_or_default(),
        skip_validation: open.skip_validation,
    }
}

fn cut(context: &str, file: Option<String>) -> String {
    match (context.char_indices().nth(QUOTED), file) {
        (Some((at, _)), Some(file)) => format!("{}… (all of it: {file})", &context[..at]),
        _ => context.to_owned(),
    }
}

/// Lists the summaries before, by where they are kept; from round 4 on the digest stands for those of earlier rounds.
fn prior_summaries(pipeline: Pipeline<'_>, counted: &[Counted]) -> String {
    let round = pipeline.round();
    if round < 2 {
        return String::new();
    }
    let mut lines = Vec::new();
    let has_digest = notes::digest_is_due(pipeline);
    if has_digest {
        lines.push(format!("rounds before {round}: {}", notes::DIGEST));
    }
    let shown = counted
        .iter()
        .filter(|one| one.round == round || !has_digest);
    lines.extend(shown.map(|one| {
        format!(
            "round {}, stage {}: {}",
            one.round,
            one.stage,
            text::shown(pipeline.kept_file(&one.digest))
        )
    }));
    lines.join("\n")
}

/// Returns the text of a pipeline's instruction, or why there is none.
pub fn text_of(held: &AnyLoop) -> String {
    match Instruction::of(held) {
        Ok(instruction) => instruction.text(),
        Err(problem) => {
            format!("The pipeline cannot go on: {problem}. Tell the person, and end your turn.\n")
        }
    }
}
