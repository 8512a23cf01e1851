//! Taskie, stateful: a plan, its tasks and their code, each reviewed until two clean reviews.

claudex_loop::machine!(taskie as typestate);

pub mod commands;
mod context;
mod entered;
pub mod files;
pub mod next;
pub mod rules;
mod stops;
mod summary;
mod work;

use claudex_loop::program::Program;

pub use typestate::{AnyLoop, Loop, OnStop, Phase};

/// Returns the program.
pub fn program() -> Program {
    typestate::extended_program(stops::Taskie, stops::Taskie)
        .with_commands(Some("new-plan"), "continue-plan")
}
