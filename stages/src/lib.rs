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
use claudex_loop::program::exit::Failure;
use claudex_loop::program::settings::Settings;
use claudex_loop::program::start::{StartFields, StartRequest};
use claudex_loop::program::{Extension, NextAction, Program, Variables};
use typestate::Verb;

pub use typestate::{AnyLoop, Phase};

/// Creates the program: the commands of the machine file, and those of the pipeline.
pub fn program() -> Program {
    commands::add(typestate::extended_program(stops::Stages, stops::Stages))
}

impl Extension<typestate::Stages> for stops::Stages {
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

    fn before_take(&self, held: &mut AnyLoop, verb: &Verb) -> Result<(), Failure> {
        questions::record_verb(held, verb)
    }

    fn status(&self, held: &AnyLoop) -> Vec<(&'static str, String)> {
        summary::status_lines(held)
    }

    fn caveats(&self, held: &AnyLoop, _: &Settings) -> Vec<String> {
        summary::caveats(held)
    }

    fn status_line(&self, held: &AnyLoop) -> Option<String> {
        Some(summary::status_line(held))
    }

    fn next_action(&self, held: &AnyLoop) -> Option<NextAction> {
        summary::next_action(held)
    }

    fn refusal_help(&self, held: &AnyLoop, transition: &str) -> Option<String> {
        summary::refused(held, transition)
    }

    fn context(&self, held: &AnyLoop, _: &Settings, _: Timestamp) -> Variables {
        let text = instruction::text_of(held);
        std::iter::once(("instruction".to_owned(), text.into())).collect()
    }

    fn entered(&self, held: &AnyLoop, _: &Settings) -> Result<Vec<String>, String> {
        digest::write(state::Pipeline(held.raw()))
            .map(|()| Vec::new())
            .map_err(|error| format!("cannot write the digest of earlier rounds: {error}"))
    }
}
