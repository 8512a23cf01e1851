//! `machine`: checks machine files, draws them, and prints their schema.

use std::io::{self, Read as _};

use camino::{Utf8Path, Utf8PathBuf};
use clap::{ArgMatches, Command, FromArgMatches, Subcommand};
use claudex_build::diagnostic::{self, CODE_PREFIX, Diagnostic, Diagnostics};
use claudex_build::model::Machine;
use claudex_loop::program::exit::{Exit, Failure};
use claudex_loop::program::info::ProgramInfo;
use claudex_loop::program::{Group, out};
use claudex_loop::{files, text};
use serde_json::{Value, json};

use super::typestate::DIAGRAM;

/// The code of the finding about a file that cannot be read.
const UNREADABLE: &str = "read";
/// Upper limit for what is read from stdin, in bytes. The checks refuse far less.
const MAX_STDIN_BYTES: u64 = 16 * 1024 * 1024;

/// Check and draw machine files
#[derive(Debug, Subcommand)]
enum Machines {
    /// Check machine files; print every finding with its file, line and column
    Check {
        /// Machine files; - is stdin
        #[arg(required = true, value_name = "FILE")]
        files: Vec<Utf8PathBuf>,
        /// Print the findings as a JSON array: file, line, column, end_line, end_column, code,
        /// message, help
        #[arg(long)]
        json: bool,
    },
    /// Draw the graph as a Mermaid flowchart
    Diagram {
        /// A machine file; - is stdin [default: the plan loop's]
        file: Option<Utf8PathBuf>,
    },
    /// Print the JSON Schema of machine files, for editors
    Schema,
}

/// Returns the subcommand.
pub fn command() -> Command {
    Machines::augment_subcommands(
        Command::new("machine")
            .about("Check and draw machine files")
            .subcommand_required(true)
            .arg_required_else_help(true)
            .display_order(Group::SetUp.place()),
    )
}

/// Runs the subcommand.
///
/// # Errors
/// Returns an error if the arguments are wrong.
pub fn run(_: &'static ProgramInfo, matches: &ArgMatches) -> Result<Exit, Failure> {
    let command = Machines::from_arg_matches(matches).map_err(|error| Failure::usage(&error))?;

    match command {
        Machines::Check { files, json } => return Ok(check(&files, json)),
        Machines::Diagram { file: None } => out::text(DIAGRAM),
        Machines::Diagram { file: Some(file) } => return Ok(draw(&file)),
        Machines::Schema => out::json(&super::schema::schema()),
    }
    Ok(Exit::Complete)
}

/// Checks each file. Exits with 0 if all are machines, 1 if one has findings, 2 if one cannot be
/// read.
fn check(files: &[Utf8PathBuf], json: bool) -> Exit {
    let mut exit = Exit::Complete;
    let mut findings = Vec::new();

    for file in files {
        match load(file) {
            Ok(machine) if !json => out::line(&summary(file, &machine)),
            Ok(_) => {}
            Err(found) => {
                if exit != Exit::Usage {
                    exit = exit_of(&found);
                }
                if json {
                    findings.extend(to_json(&found));
                } else {
                    print(&found);
                }
            }
        }
    }

    if json {
        out::json(&findings);
    }
    exit
}

/// Prints the diagram of a file.
fn draw(file: &Utf8Path) -> Exit {
    match load(file) {
        Ok(machine) => {
            out::text(&claudex_build::diagram(&machine));
            Exit::Complete
        }
        Err(found) => {
            print(&found);
            exit_of(&found)
        }
    }
}

/// Returns the line about a valid machine.
fn summary(file: &Utf8Path, machine: &Machine) -> String {
    format!(
        "{}: machine `{}` is well-formed: {} phases, {} transitions, {} edges",
        display_name(file),
        machine.name.value,
        machine.phases.len(),
        machine.transition_names().len(),
        machine.edges().len(),
    )
}

fn exit_of(found: &Diagnostics) -> Exit {
    match found.list.iter().any(|finding| finding.code == UNREADABLE) {
        true => Exit::Usage,
        false => Exit::Refused,
    }
}

/// Prints one line for each finding on stderr.
fn print(found: &Diagnostics) {
    for line in found.cargo_lines() {
        out::note(&line);
    }
}

/// Returns the findings for other programs. Lines and columns count from 1, columns in characters.
fn to_json(found: &Diagnostics) -> impl Iterator<Item = Value> {
    found.places().map(|(finding, start, end)| {
        json!({
            "file": found.name,
            "line": start.line,
            "column": start.column,
            "end_line": end.line,
            "end_column": end.column,
            "code": format!("{CODE_PREFIX}{}", finding.code),
            "message": finding.to_string(),
            "help": finding.help.as_deref().map(diagnostic::one_line),
        })
    })
}

/// Reads and checks a machine file, or stdin if `file` is `-`.
fn load(file: &Utf8Path) -> Result<Machine, Diagnostics> {
    let name = display_name(file);
    let refused = |finding: Diagnostic, source: &[u8]| Diagnostics {
        name: name.clone(),
        source: String::from_utf8_lossy(source).into_owned(),
        list: vec![finding],
    };

    let bytes = read(file).map_err(|error| {
        let reason = match error.kind() {
            io::ErrorKind::NotFound => "no such file".to_owned(),
            io::ErrorKind::IsADirectory => "is a folder".to_owned(),
            _ => text::one_line(&error.to_string(), 400),
        };
        refused(Diagnostic::new(UNREADABLE, 0..0, reason), b"")
    })?;
    let source = std::str::from_utf8(&bytes).map_err(|error| {
        let start = error.valid_up_to();
        let span = start..start + char::REPLACEMENT_CHARACTER.len_utf8();
        let finding = Diagnostic::new("encoding", span, "not UTF-8");
        refused(finding.help("save the file as UTF-8"), &bytes)
    })?;
    claudex_build::check_source(&name, source)
}

/// Reads a file or stdin. Does not wait for a pipe or a device at the path.
fn read(file: &Utf8Path) -> io::Result<Vec<u8>> {
    if file != "-" {
        return files::read(file);
    }
    let mut bytes = Vec::new();
    io::stdin()
        .lock()
        .take(MAX_STDIN_BYTES)
        .read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Returns the name of a file in messages.
fn display_name(file: &Utf8Path) -> String {
    if file == "-" {
        "stdin".to_owned()
    } else {
        text::pasteable(&text::shown(file))
    }
}
