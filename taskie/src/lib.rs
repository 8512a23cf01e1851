//! Taskie, stateful: a plan is written, cut into tasks, and built task by task. Each step is
//! reviewed until two reviews in a row are clean.
//!
//! | module     | subject                                                              |
//! |------------|----------------------------------------------------------------------|
//! | `files`    | the files of a plan's directory, as types                            |
//! | `rules`    | the structure rules S1 to S10                                        |
//! | `work`     | the agent's work in a phase, the transition, and what was reviewed   |
//! | `stops`    | the stops that `machine.toml` leaves to Rust                         |
//! | `entered`  | the work on entering a phase                                         |
//! | `next`     | the next step of a new session: the decision table                   |
//! | `commands` | the commands of the user and of the agent                            |
//! | `summary`  | the lines of `status` about a plan                                   |
//! | `context`  | the variables of the messages                                        |
//! | `demo`     | the command that runs `demo.sh`, a whole plan by a script            |

claudex_loop::machine!(taskie as typestate);

pub mod commands;
mod context;
mod demo;
mod entered;
pub mod files;
pub mod next;
pub mod rules;
mod stops;
mod summary;
mod work;

use claudex_loop::Timestamp;
use claudex_loop::machine::LoopHandle;
use claudex_loop::program::settings::Settings;
use claudex_loop::program::{Extension, NextAction, Program, Variables};

pub use typestate::{AnyLoop, Loop, OnStop, Phase};

/// Returns the program.
pub fn program() -> Program {
    commands::add(typestate::extended_program(stops::Taskie, stops::Taskie))
        .takes_up("continue-plan")
        .begins_with("new-plan")
        .command(demo::command, demo::demo)
}

impl Extension for stops::Taskie {
    fn context(&self, held: &dyn LoopHandle, _: &Settings, _: Timestamp) -> Variables {
        context::variables(held.raw())
    }

    fn entered(&self, held: &dyn LoopHandle, _: &Settings) -> Result<Vec<String>, String> {
        entered::entered(held.raw())
    }

    fn caveats(&self, held: &dyn LoopHandle, _: &Settings) -> Vec<String> {
        summary::lines(held.raw())
    }

    fn next_action(&self, held: &dyn LoopHandle) -> Option<NextAction> {
        summary::next_action(held.raw())
    }
}
