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
use claudex_loop::program::info::ProgramInfo;

pub use typestate::{AnyLoop, Loop, OnStop, Phase};

static INFO: ProgramInfo = ProgramInfo {
    start_command: Some("new-plan"),
    import_command: Some("continue-plan"),
    ..*typestate::INFO
};

/// Returns the program.
pub fn program() -> Program {
    Program {
        info: &INFO,
        ..typestate::extended_program(stops::Taskie, stops::Taskie)
    }
}
