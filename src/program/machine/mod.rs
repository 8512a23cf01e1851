//! `machine`: look at a program's own machine, and at any machine.toml.
//!
//! Everything is said from the file's text through claudex-build; the program's own machine has its text compiled in.
//! One file per command.

mod check;
pub mod coverage;
mod diagram;
mod diff;
mod edge;
mod explain;
mod load;
mod show;

use clap::Subcommand;

use super::exit::{Exit, Failure};
use super::out;
use crate::machine::Table;

use load::Subject;

/// `machine`
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Print fields, phases and transitions
    Show(show::Arguments),
    /// Check machine files; every finding at once, in its line
    Check(check::Arguments),
    /// Draw the graph
    Diagram(diagram::Arguments),
    /// Say what a phase or a transition is, and what can happen there
    Explain(explain::Arguments),
    /// Count the edges that were taken, in this project's loops or in tests
    Coverage(coverage::Arguments),
    /// Say what a change of a machine means for loops on disk; exit 0 where it is safe, 7 or 8 where it is not
    Diff(diff::Arguments),
    /// Print the JSON Schema of machine files, for editors
    ///
    /// With `#:schema machine.schema.json` as the first line of a machine.toml, editors that know Taplo complete and
    /// check it while it is written.
    Schema,
}

/// The machine that a program was built from.
#[derive(Debug, Clone, Copy)]
pub struct Own {
    /// The text of its machine file.
    pub source: &'static str,
    /// What was generated from it.
    pub table: &'static Table,
}

/// Runs a machine command.
///
/// # Errors
/// A file cannot be read, its machine has findings, or it has no phase and no transition of the name asked for.
pub fn run(command: Command, own: &Own) -> Result<Exit, Failure> {
    match command {
        Command::Show(arguments) => show::run(&arguments, own),
        Command::Check(arguments) => Ok(check::run(&arguments, own)),
        Command::Diagram(arguments) => diagram::run(&arguments, own),
        Command::Explain(arguments) => explain::run(&arguments, own),
        Command::Coverage(arguments) => coverage::run(&arguments, own),
        Command::Diff(arguments) => diff::run(&arguments, own),
        Command::Schema => {
            out::text(&claudex_build::schema());
            Ok(Exit::Complete)
        }
    }
}
