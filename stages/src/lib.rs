//! Stage pipelines: seven stages whose coordinators each report by a summary file.
//!
//! [`contract`] has the Summary Contract: the summary file, its rules and the lenient reader. It
//! does not depend on the pipeline. `report` takes a summary and the transition that follows,
//! `questions` takes an answer of the user, and `instruction` has the agent's next step.

use claudex_loop::program::Program;
use claudex_loop::program::info::ProgramInfo;
use contract::Keys;
use extension::Stages;
use serde_json::Value as Scalar;
use state::{CountedSummaries, List, Open};

claudex_loop::machine!(stages as typestate);

pub mod contract;
pub mod digest;
mod extension;
pub mod gates;
mod instruction;
mod questions;
mod record;
mod report;
mod state;
mod take_up;

pub use typestate::{AnyLoop, Phase};

static INFO: ProgramInfo = ProgramInfo {
    import_command: Some("take-up"),
    ..*typestate::INFO
};

/// Creates the program: the commands of the machine file, and those of the pipeline.
pub fn program() -> Program {
    Program {
        info: &INFO,
        ..typestate::extended_program(Stages, Stages)
    }
}
