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

use claudex_loop::program::Program;

pub use typestate::{AnyLoop, Loop, OnStop, Phase};

/// Puts the program together: what follows from the machine file, and what only this one has.
pub fn program() -> Program<typestate::Taskie> {
    let program = typestate::program(stops::Taskie)
        .context(context::of)
        .entered(stops::entered)
        .caveats(summary::of)
        .next_action(summary::next_action);
    commands::add(program)
        .takes_up("continue-plan")
        .begins_with("new-plan")
        // There is one persona.
        .arguments(|command| command.mut_subcommand("personas", |personas| personas.hide(true)))
        .command(demo::command, demo::run)
}
