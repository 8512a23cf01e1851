//! `machine`: checks machine files, draws them, and prints their JSON Schema for editors.

use camino::{Utf8Path, Utf8PathBuf};
use clap::{ArgMatches, Command, FromArgMatches, Subcommand};
use claudex_build::model::Machine;
use claudex_loop::program::exit::{CommandResult, Exit, Failure};
use claudex_loop::program::{Group, out};
use claudex_loop::{files, text};
use serde_json::{Value, json};

use super::typestate::DIAGRAM;

#[derive(Debug, Subcommand)]
enum Machines {
    /// Check machine files; print every finding with its file, line and column
    Check {
        /// Machine files
        #[arg(required = true, value_name = "FILE")]
        files: Vec<Utf8PathBuf>,
    },
    /// Draw the graph as a Mermaid flowchart
    Diagram {
        /// A machine file [default: the plan loop's]
        file: Option<Utf8PathBuf>,
    },
    /// Print the JSON Schema of machine files, for editors
    Schema,
}

pub(super) fn command() -> Command {
    Machines::augment_subcommands(
        Command::new("machine")
            .about("Check and draw machine files")
            .subcommand_required(true)
            .arg_required_else_help(true)
            .display_order(Group::SetUp.place()),
    )
}

/// Runs the subcommand. Exits with 1 if a file has findings, and with 2 if one cannot be read.
pub(super) fn run(matches: &ArgMatches) -> CommandResult {
    let command = Machines::from_arg_matches(matches)?;

    let mut exit = Exit::Complete;
    match command {
        Machines::Check { files } => {
            for file in files {
                match load(&file)? {
                    Some(machine) => out::line(&format!(
                        "{}: machine `{}` is well-formed: {} phases, {} transitions, {} edges",
                        display_name(&file),
                        machine.name,
                        machine.phases.len(),
                        machine.first_entries().len(),
                        machine.edges().len(),
                    )),
                    None => exit = Exit::Refused,
                }
            }
        }
        Machines::Diagram { file: None } => out::text(DIAGRAM),
        Machines::Diagram { file: Some(file) } => match load(&file)? {
            Some(machine) => out::text(&claudex_build::diagram(&machine)),
            None => exit = Exit::Refused,
        },
        Machines::Schema => {
            let schema = serde_json::from_str::<Value>(&claudex_build::schema());
            let mut schema = schema.expect("the schema is JSON");
            schema["$schema"] = json!("http://json-schema.org/draft-07/schema#");
            schema["title"] = json!("machine.toml of claudex-loop");
            out::json(&schema);
        }
    }
    Ok(exit)
}

/// Reads and checks a machine file. Prints its findings, and returns `None` if it has any.
fn load(file: &Utf8Path) -> Result<Option<Machine>, Failure> {
    let name = display_name(file);
    let source = files::read_to_string(file).map_err(|error| {
        let reason = text::one_line(&error.to_string(), 400);
        let help = "name a regular file of UTF-8 text";
        Failure::with_help(Exit::Usage, format!("cannot read {name}: {reason}"), help)
    })?;
    let checked = claudex_build::check_source(&name, &source)
        .map_err(|found| found.cargo_lines().for_each(|line| out::note(&line)));
    Ok(checked.ok())
}

fn display_name(file: &Utf8Path) -> String {
    text::pasteable(&text::shown(file))
}
