//! The parts of the program that the machine file leaves to Rust: stops, the start, the lines of `status`, the next action.

use clap::{ArgMatches, Command};
use claudex_loop::behaviours::ask::Asked;
use claudex_loop::behaviours::{attempt, or_else, settle};
use claudex_loop::machine::LoopHandle;
use claudex_loop::program::exit::{Ended, Exit, Failure};
use claudex_loop::program::settings::Settings;
use claudex_loop::program::start::{StartFields, StartRequest};
use claudex_loop::program::{Extension, NextAction, ParsedVerb, Program, Variables};
use claudex_loop::{Refusal, Refused, Step, Timestamp, text};
use serde_json::json;

use crate::contract::Stage;
use crate::instruction::{overdue_warning, text_of};
use crate::state::{Pipeline, new_dispatch};
use crate::typestate::{
    AnyLoop, Asking, Choosing, Dispatched, Failed, Loop, OnStop, Phase, Recovering, Verb,
};
use crate::{commands, digest, questions, take_up};

/// The longest line, in characters.
const MAX_LINE_CHARS: usize = 200;

/// Behaves as the machine file and this file say.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Stages;

impl OnStop for Stages {
    fn dispatched(&self, held: Loop<Dispatched>) -> Result<Step<AnyLoop>, Refused<AnyLoop>> {
        settle(or_else(attempt(held), Loop::remind))
    }

    fn recovering(&self, held: Loop<Recovering>) -> Result<Step<AnyLoop>, Refused<AnyLoop>> {
        settle(or_else(attempt(held), Loop::remind))
    }

    fn asking_asks(&self, held: &Loop<Asking>) -> Result<Option<Asked>, String> {
        questions::asking(held.raw()).map(Some)
    }

    fn choosing_asks(&self, held: &Loop<Choosing>) -> Result<Option<Asked>, String> {
        Ok(Some(questions::choosing(held.raw())))
    }

    fn failed_asks(&self, held: &Loop<Failed>) -> Result<Option<Asked>, String> {
        Ok(Some(questions::failed(held.raw())))
    }
}

impl Extension for Stages {
    fn commands(&self) -> Vec<Command> {
        commands::all()
    }

    fn run(&self, program: &Program, name: &str, arguments: &ArgMatches) -> Option<Ended> {
        commands::run(program, name, arguments)
    }

    fn arguments(&self, command: Command) -> Command {
        take_up::arguments(command)
    }

    fn start(&self, request: &StartRequest<'_>) -> Result<StartFields, Failure> {
        take_up::before_start(request)?;
        let open = json!(new_dispatch(request.store.root(), 1));
        let created = json!(format!("{:.0}", request.now));
        Ok(StartFields {
            fields: vec![("open", open), ("created", created)],
            ..StartFields::default()
        })
    }

    fn before_take(&self, held: &mut dyn LoopHandle, verb: &ParsedVerb) -> Result<(), Failure> {
        let verb: &Verb = verb.typed();
        questions::record_answer(held.typed_mut(), &verb.clone().into())
            .map_err(|error| Failure::new(Exit::Internal, Refusal::Field(error)))
    }

    fn status(&self, held: &dyn LoopHandle) -> Vec<(&'static str, String)> {
        let pipeline = Pipeline(held.raw());
        let mut scores = Vec::new();
        for ((round, stage), summary) in pipeline.kept_summaries() {
            let decision = summary.flags.validation_decision;
            if let (Stage::ValidationGeneration, Some(decision)) = (stage, decision) {
                let score = summary.flags.validation_score;
                let score_text = score.map_or("no score".to_owned(), |score| score.to_string());
                scores.push(format!("round {round}: {score_text} ({decision})"));
            }
        }
        let (stage, round) = place(pipeline);
        let mut lines = vec![
            ("stage", stage),
            ("round", round),
            ("scores", scores.join("; ")),
            ("details", pipeline.open().details.join("; ")),
        ];
        lines.retain(|(_, line)| !line.is_empty());
        let shorten = |(name, line): (_, String)| (name, text::one_line(&line, MAX_LINE_CHARS));
        lines.into_iter().map(shorten).collect()
    }

    fn caveats(&self, held: &dyn LoopHandle, _: &Settings) -> Vec<String> {
        let is_open = held.typed::<AnyLoop>().phase() == Phase::Dispatched;
        let late = overdue_warning(Pipeline(held.raw())).filter(|_| is_open);
        late.into_iter().collect()
    }

    fn status_line(&self, held: &dyn LoopHandle) -> Option<String> {
        let (stage, round) = place(Pipeline(held.raw()));
        Some(format!("stage {stage}, round {round}"))
    }

    fn next_action(&self, held: &dyn LoopHandle) -> Option<NextAction> {
        let held: &AnyLoop = held.typed();
        let id = held.id();
        let pipeline = Pipeline(held.raw());
        let stage = format!("stage {} ({})", pipeline.stage().number(), pipeline.stage());
        let mut next = "run:\n    stages next".to_owned();
        let waits_for = match held.phase() {
            Phase::Completed | Phase::Cancelled => return None,
            Phase::Dispatched => format!("the agent, to report the summary of {stage}"),
            Phase::Recovering => format!("the agent, to check the files of {stage}"),
            Phase::Waiting => {
                next = format!(
                    "when it is done, type /stages:resume, or run:\n    stages resume {id}"
                );
                let reason = pipeline.0.text("next_step");
                format!("you: {}", reason.trim_end_matches('.'))
            }
            _ => match questions::current(held) {
                Ok(Some(asked)) => {
                    let options = asked.options.iter();
                    let labels: Vec<&str> = options.map(|one| one.label.as_str()).collect();
                    next = format!(
                        "answer in the dialog, or run:\n    stages answer {id} LABEL\nwith one of: {}",
                        labels.join(", ")
                    );
                    format!("your answer to “{}”", asked.question)
                }
                _ => "your answer".to_owned(),
            },
        };
        Some(NextAction::new(waits_for, next))
    }

    fn refusal_help(&self, held: &dyn LoopHandle, transition: &str) -> Option<String> {
        let decisions = Pipeline(held.raw()).decisions();
        let mut newest = decisions.iter().rev();
        let is_answer = |(key, _): &(&String, _)| !key.ends_with("_timestamp");
        let (key, value) = newest.find(is_answer).filter(|_| transition == "answer")?;
        let last = text::one_line(&format!("{key} = {}", value.as_str()?), MAX_LINE_CHARS);
        Some(format!(
            "nothing was changed; the last decision is {last}; for the instruction, run:\n    stages next"
        ))
    }

    fn context(&self, held: &dyn LoopHandle, _: &Settings, _: Timestamp) -> Variables {
        let text = text_of(held.typed());
        std::iter::once(("instruction".to_owned(), text.into())).collect()
    }

    fn on_enter(&self, held: &dyn LoopHandle, _: &Settings) -> Result<Vec<String>, String> {
        digest::write(Pipeline(held.raw()))
            .map(|()| Vec::new())
            .map_err(|error| format!("cannot write the digest of earlier rounds: {error}"))
    }
}

fn place(pipeline: Pipeline<'_>) -> (String, String) {
    let stage = pipeline.stage();
    let stage = format!("{} of 7, {stage}", stage.number());
    let round = format!("{} of {}", pipeline.round(), pipeline.0.count("max_rounds"));
    (stage, round)
}
