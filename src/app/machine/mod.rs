//! `machine`: look at a program's own machine, and at any machine.toml.
//!
//! Everything is said from the file's text through claudex-build; the program's own machine has its text compiled in.

pub mod coverage;

use camino::{Utf8Path, Utf8PathBuf};
use clap::Subcommand;
use claudex_build::model;

use super::exit::{Exit, Failure};
use super::out;
use crate::machine::Table;

/// `machine`
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Check a machine.toml; every finding with file, line and column
    Check {
        /// The file
        file: Utf8PathBuf,
    },
    /// Print fields, phases and transitions
    Show {
        /// A machine.toml [default: this program's own]
        file: Option<Utf8PathBuf>,
    },
    /// Print the graph as a Mermaid diagram
    Diagram {
        /// A machine.toml [default: this program's own]
        file: Option<Utf8PathBuf>,
    },
    /// Count the edges that were taken, in this project's loops or in tests
    Coverage(coverage::Arguments),
}

/// The machine that a program was built from.
#[derive(Debug, Clone, Copy)]
pub struct Own {
    /// The text of its machine file.
    pub source: &'static str,
    /// What was generated from it.
    pub table: &'static Table,
}

/// A machine that passed its checks, and where it comes from.
struct Subject {
    file: String,
    source: String,
    machine: model::Machine,
}

impl Subject {
    /// The machine of a file; without one, the program's own.
    fn load(file: Option<&Utf8Path>, own: &Own) -> Result<Self, Failure> {
        let (file, source) = match file {
            Some(file) => (file.to_string(), read(file)?),
            None => (own.table.file.to_owned(), own.source.to_owned()),
        };
        match claudex_build::check_source(&file, &source) {
            Ok(machine) => Ok(Self {
                file,
                source,
                machine,
            }),
            Err(diagnostics) => {
                let message = format!("{file}: {} findings, and no machine", diagnostics.list.len());
                Err(Failure::headed(Exit::Refused, message, diagnostics))
            }
        }
    }
}

fn read(file: &Utf8Path) -> Result<String, Failure> {
    fs_err::read_to_string(file).map_err(|error| {
        Failure::plain(
            Exit::Usage,
            "claudex::machine::read",
            error.to_string(),
            "give the path of a machine.toml, saved as UTF-8",
        )
    })
}

/// Runs a machine command.
///
/// # Errors
/// The file cannot be read, or its machine has findings.
pub fn run(command: Command, own: &Own) -> Result<Exit, Failure> {
    match command {
        Command::Coverage(arguments) => return coverage::run(&arguments, own),
        Command::Show { file } => {
            let subject = Subject::load(file.as_deref(), own)?;
            out::text(&claudex_build::spec(
                &subject.machine,
                &subject.source,
                &subject.file,
            ));
        }
        Command::Diagram { file } => {
            let subject = Subject::load(file.as_deref(), own)?;
            out::text(&claudex_build::draw(
                &subject.machine,
                claudex_build::Format::Mermaid,
                None,
            ));
        }
        Command::Check { file } => {
            let Subject { file, machine, .. } = Subject::load(Some(&file), own)?;
            out::line(&format!(
                "{file}: machine `{}` is well-formed: {} phases, {} transitions, {} edges",
                machine.name.value,
                machine.phases.len(),
                machine.transition_names().len(),
                machine.edges().len(),
            ));
        }
    }
    Ok(Exit::Complete)
}
