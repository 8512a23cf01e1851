//! `machine check`: every finding of every file at once, as pictures for people or as JSON for editors.

use camino::Utf8PathBuf;
use serde::Serialize;

use super::load::{Subject, Trouble};
use crate::program::exit::Exit;
use crate::program::info::ProgramInfo;
use crate::program::out;

/// `machine check`
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Machine files; - is stdin
    #[arg(required = true, value_name = "FILE")]
    files: Vec<Utf8PathBuf>,
    /// Print the findings as a JSON array: file, line, column, end_line, end_column, code, message, help
    #[arg(long)]
    json: bool,
}

/// A finding for programs.
#[derive(Serialize)]
struct Finding {
    file: String,
    /// From 1, as are the other numbers; columns count characters.
    line: usize,
    column: usize,
    end_line: usize,
    end_column: usize,
    code: String,
    message: String,
    help: Option<String>,
}

/// Checks each file; exit 0 if all are machines, 1 if one has findings, 2 if one cannot be read.
pub(super) fn run(arguments: &Arguments, own: &super::Own) -> Exit {
    let mut exit = Exit::Complete;
    let mut all = Vec::new();
    for file in &arguments.files {
        let trouble = match Subject::of(file) {
            Ok(subject) => {
                if !arguments.json {
                    out::line(&summary(&subject));
                }
                continue;
            }
            Err(trouble) => trouble,
        };
        exit = match (&trouble, exit) {
            (Trouble::Unreadable { .. }, _) | (_, Exit::Usage) => Exit::Usage,
            _ => Exit::Refused,
        };
        if arguments.json {
            all.extend(findings(trouble));
        } else {
            trouble.failure().print(&ProgramInfo::of(own.table));
        }
    }
    if arguments.json {
        out::json(&all);
    }
    exit
}

fn summary(subject: &Subject) -> String {
    let machine = &subject.machine;
    format!(
        "{}: machine `{}` is well-formed: {} phases, {} transitions, {} edges",
        subject.file,
        machine.name.value,
        machine.phases.len(),
        machine.transition_names().len(),
        machine.edges().len(),
    )
}

fn findings(trouble: Trouble) -> Vec<Finding> {
    match trouble {
        Trouble::Unreadable { file, reason } => vec![Finding {
            file,
            line: 1,
            column: 1,
            end_line: 1,
            end_column: 1,
            code: "claudex::machine::read".to_owned(),
            message: reason,
            help: None,
        }],
        Trouble::Found(diagnostics) => diagnostics
            .places()
            .map(|(found, start, end)| Finding {
                file: diagnostics.name.clone(),
                line: start.line,
                column: start.column,
                end_line: end.line,
                end_column: end.column,
                code: found.code.to_owned(),
                message: found.to_string(),
                help: found
                    .help
                    .as_deref()
                    .map(claudex_build::diagnostic::one_line),
            })
            .collect(),
    }
}
