//! Stage pipelines: seven stages whose coordinators report by a summary file, and the program that reads them.
//!
//! | module        | subject                                                                                             |
//! |---------------|-----------------------------------------------------------------------------------------------------|
//! | [`contract`]  | the Summary Contract: what a summary file is, each rule, and what is read where one is broken       |
//! | [`gates`]     | what stages 3 and 5 wrote                                                                           |
//! | [`kept`], [`digest`] | the summaries that counted, and the digest of earlier rounds                                   |
//! | [`state`]     | what the state document holds, and what is read from it                                             |
//! | [`follows`]   | what follows a summary                                                                              |
//! | [`report`]    | taking a summary, or what is there in place of one                                                  |
//! | `record`      | what is written of a summary                                                                        |
//! | [`questions`], [`answers`] | what the person is asked, and what is written with the answer                          |
//! | [`instruction`], [`variables`] | what is to be done now, and what a coordinator is told                             |
//! | [`notes`]     | the digest as a file beside the summaries                                                           |
//! | [`stops`]     | what a stop does where `machine.toml` leaves it to Rust                                             |
//! | [`summary`]   | what `status` says besides every machine's                                                          |
//! | [`take_up`]   | a state document that another program wrote                                                         |
//! | [`commands`]  | what the agent calls and people type, besides every machine's                                       |
//! | `anew`        | `start --anew`                                                                                      |
//! | `demo`        | `demo.sh`, the whole pipeline by a script                                                           |
//!
//! `contract` uses nothing of the pipeline.

use serde_json::Value;
use state::{AllAsked, AllCounted, Keys, List, Open, Scalar};

claudex_loop::machine!(stages as typestate);

mod anew;
pub mod answers;
pub mod commands;
pub mod contract;
mod demo;
pub mod digest;
pub mod follows;
pub mod gates;
pub mod instruction;
pub mod kept;
pub mod notes;
pub mod questions;
mod record;
pub mod report;
pub mod state;
pub mod stops;
pub mod summary;
pub mod take_up;
pub mod variables;

use claudex_loop::Timestamp;
use claudex_loop::program::exit::Failure;
use claudex_loop::program::settings::Settings;
use claudex_loop::program::start::{StartFields, StartRequest};
use claudex_loop::program::{Extension, NextAction, Program, Variables};
use typestate::Verb;

pub use typestate::{AnyLoop, Phase};

/// Puts the program together: what follows from the machine file, and what only this one has.
pub fn program() -> Program<typestate::Stages> {
    commands::add(typestate::program(stops::Stages)).extend(stops::Stages)
}

impl Extension<typestate::Stages> for stops::Stages {
    fn arguments(&self, command: clap::Command) -> clap::Command {
        anew::arguments(command)
    }

    fn start(&self, request: StartRequest<'_>) -> Result<StartFields, Failure> {
        anew::before_start(&request)?;
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
        answers::taking(held, verb)
    }

    fn status(&self, held: &AnyLoop) -> Vec<(&'static str, String)> {
        summary::of(held)
    }

    fn caveats(&self, held: &AnyLoop, _: &Settings) -> Vec<String> {
        summary::caveats(held)
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
        let pipeline = state::Pipeline(held.raw());
        notes::write(pipeline, held.phase().is_terminal())
            .map(|()| Vec::new())
            .map_err(|error| format!("cannot write beside the summaries: {error}"))
    }
}
