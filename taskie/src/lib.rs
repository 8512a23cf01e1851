//! Taskie, stateful: a plan is written, cut into tasks, and built task by task; each step is reviewed until two reviews in a row are
//! clean.
//!
//! | room      | subject                                                           |
//! |-----------|-------------------------------------------------------------------|
//! | `files`   | what lies in a plan's directory, as types                         |
//! | `rules`   | the structure rules S1 to S10                                     |
//! | `next`    | where a session takes up: the decision table                     |
//! | `stops`   | what a stop does where `machine.toml` leaves it to Rust           |
//! | `commands` | what people type, and what the agent calls, besides every machine's |
//! | `summary` | what `status` says besides every machine's |
//! | `context` | what the messages can name besides the fields                     |
//! | `demo` | a sample project that goes all the way, with a scripted agent |

claudex_loop::machine!(taskie as typestate);

pub mod commands;
pub mod context;
mod demo;
pub mod files;
pub mod next;
pub mod rules;
pub mod stops;
pub mod summary;

use claudex_loop::Timestamp;
use claudex_loop::program::settings::Settings;
use claudex_loop::program::{Extension, NextAction, Program, Variables};

pub use typestate::{AnyLoop, Loop, OnStop, Phase};

/// Puts the program together: what follows from the machine file, and what only this one has.
pub fn program() -> Program<typestate::Taskie> {
    commands::add(typestate::program(stops::Taskie))
        .takes_up("continue-plan")
        .begins_with("new-plan")
        .command(demo::command, demo::run)
        .extend(stops::Taskie)
}

impl Extension<typestate::Taskie> for stops::Taskie {
    /// Hides `personas`, because there is one persona.
    fn arguments(&self, command: clap::Command) -> clap::Command {
        command.mut_subcommand("personas", |personas| personas.hide(true))
    }

    fn context(&self, held: &AnyLoop, settings: &Settings, now: Timestamp) -> Variables {
        context::of(held, settings, now)
    }

    fn entered(&self, held: &AnyLoop, settings: &Settings) -> Result<Vec<String>, String> {
        stops::entered(held, settings)
    }

    fn caveats(&self, held: &AnyLoop, settings: &Settings) -> Vec<String> {
        summary::of(held, settings)
    }

    fn next_action(&self, held: &AnyLoop) -> Option<NextAction> {
        summary::next_action(held)
    }
}
