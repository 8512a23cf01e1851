//! Stage pipelines: seven stages whose coordinators each report by a summary file.
//!
//! [`contract`] is the Summary Contract: the summary file, its rules, and the lenient reader. It uses nothing of the
//! pipeline. `report` takes a summary and `questions` an answer of the user; `follows` has the transition that comes
//! next, and `instruction` says it to the agent.

use serde_json::Value;
use state::{CountedSummaries, Keys, List, Open, Scalar};

claudex_loop::machine!(stages as typestate);

mod commands;
pub mod contract;
pub mod digest;
mod follows;
pub mod gates;
mod instruction;
mod questions;
mod record;
mod report;
mod state;
mod stops;
mod summary;
mod take_up;

use claudex_loop::Timestamp;
use claudex_loop::machine::LoopHandle;
use claudex_loop::program::exit::Failure;
use claudex_loop::program::settings::Settings;
use claudex_loop::program::start::{StartFields, StartRequest};
use claudex_loop::program::{Extension, NextAction, ParsedVerb, Program, Variables};

pub use typestate::{AnyLoop, Phase};

/// Creates the program: the commands of the machine file, and those of the pipeline.
pub fn program() -> Program {
    commands::add(typestate::extended_program(stops::Stages, stops::Stages))
}

impl Extension for stops::Stages {
    fn arguments(&self, command: clap::Command) -> clap::Command {
        take_up::arguments(command)
    }

    fn start(&self, request: StartRequest<'_>) -> Result<StartFields, Failure> {
        take_up::before_start(&request)?;
        let open = state::first_open(request.store.root(), 1, false);
        let open = serde_json::to_value(open).unwrap_or_default();
        Ok(StartFields {
            fields: vec![
                ("open", open),
                ("created", Value::from(format!("{:.0}", request.now))),
            ],
            ..StartFields::default()
        })
    }

    fn before_take(&self, held: &mut dyn LoopHandle, verb: &ParsedVerb) -> Result<(), Failure> {
        questions::record_verb(held.typed_mut(), verb.typed())
    }

    fn status(&self, held: &dyn LoopHandle) -> Vec<(&'static str, String)> {
        summary::status_lines(held.typed())
    }

    fn caveats(&self, held: &dyn LoopHandle, _: &Settings) -> Vec<String> {
        summary::caveats(held.typed())
    }

    fn status_line(&self, held: &dyn LoopHandle) -> Option<String> {
        Some(summary::status_line(held.typed()))
    }

    fn next_action(&self, held: &dyn LoopHandle) -> Option<NextAction> {
        summary::next_action(held.typed())
    }

    fn refusal_help(&self, held: &dyn LoopHandle, transition: &str) -> Option<String> {
        summary::refused(held.typed(), transition)
    }

    fn context(&self, held: &dyn LoopHandle, _: &Settings, _: Timestamp) -> Variables {
        let text = instruction::text_of(held.typed());
        std::iter::once(("instruction".to_owned(), text.into())).collect()
    }

    fn entered(&self, held: &dyn LoopHandle, _: &Settings) -> Result<Vec<String>, String> {
        digest::write(state::Pipeline(held.raw()))
            .map(|()| Vec::new())
            .map_err(|error| format!("cannot write the digest of earlier rounds: {error}"))
    }
}
