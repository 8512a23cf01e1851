//! Stage pipelines: seven stages whose coordinators each report by a summary file.
//!
//! | module | subject |
//! |---|---|
//! | [`contract`] | the Summary Contract: the summary file, its rules, and the lenient reader |
//! | [`gates`] | the gates after stages 3 and 5 |
//! | [`kept`], [`digest`], [`notes`] | the kept summaries, and the digest of earlier rounds |
//! | [`state`] | the data fields of the state document |
//! | [`follows`] | the transition that follows a summary |
//! | [`report`], `record` | the commands `report` and `recover`, and the record of a summary |
//! | [`questions`], [`answers`] | the questions to the user, and the record of the answers |
//! | [`instruction`], [`variables`] | the open instruction, and the variables of a coordinator |
//! | [`stops`] | the stops that `machine.toml` leaves to Rust |
//! | [`summary`] | the lines of `status` |
//! | [`commands`], `take_up`, `anew`, `demo` | the other commands |
//!
//! `contract` uses nothing of the pipeline.

use serde_json::Value;
use state::{AnsweredQuestions, CountedSummaries, Keys, List, Open, Scalar};

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
mod take_up;
pub mod variables;

use claudex_loop::program::Program;
use claudex_loop::program::start::StartFields;

pub use typestate::{AnyLoop, Phase};

/// Creates the program: the commands of the machine file, and those of the pipeline.
pub fn program() -> Program<typestate::Stages> {
    let program = typestate::program(stops::Stages)
        .taking(answers::record_verb)
        .arguments(anew::arguments)
        .start(|request| {
            anew::before_start(&request)?;
            let open = state::first_open(request.store.root(), 1, false);
            let open = serde_json::to_value(open).unwrap_or_default();
            Ok(StartFields {
                fields: vec![
                    ("open", open),
                    ("stage_status", Value::from("in_progress")),
                    ("created", Value::from(format!("{:.0}", request.now))),
                ],
                ..StartFields::default()
            })
        })
        .status(summary::status_lines)
        .caveats(|held, _| summary::caveats(held))
        .next_action(summary::next_action)
        .status_line(summary::status_line)
        .refused(summary::refused)
        .context(|held, _, _| {
            let text = instruction::text_of(held);
            std::iter::once(("instruction".to_owned(), text.into())).collect()
        })
        .entered(|held, _| {
            let pipeline = state::Pipeline(held.raw());
            let written = notes::write(pipeline, held.phase().is_terminal());
            written
                .map(|()| Vec::new())
                .map_err(|error| format!("cannot write the digest of earlier rounds: {error}"))
        });
    commands::add(program)
}
