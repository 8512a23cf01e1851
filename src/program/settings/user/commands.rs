//! The commands of the user's file.

use std::collections::BTreeMap;
use std::ops::Range;

use super::super::findings::Finding;
use super::super::leaf::{At, Table};
use super::super::origin::Source;
use super::super::tables::CommandTable;
use super::super::{Settings, names, programs};
use crate::behaviours::verify;
use crate::process::configured::ConfiguredCommand;
use crate::text;

/// Takes the tables as commands.
pub(super) fn apply(
    tables: BTreeMap<At<String>, Table<CommandTable>>,
    source: &Source<'_>,
    settings: &mut Settings,
    found: &mut Vec<Finding>,
) {
    for (name, Table(table)) in tables {
        if let Some((message, help)) = names::problem(&name.value, &[]) {
            let finding = Finding::new("claudex::config::name", name.span.clone(), message);
            found.push(finding.label("not a name").help(help));
            continue;
        }
        let before = found.len();
        problems(&table, found);
        let Some(program) = table.program else {
            let message = format!("the command `{}` has no `program`", name.value);
            let finding = Finding::new("claudex::config::value", name.span.clone(), message);
            found.push(finding.label("`program` is missing here").help(
                "say which one: program = \"/absolute/path\", or a name that is found in PATH",
            ));
            continue;
        };
        if found.len() > before {
            continue;
        }
        let mut note = |key: &str, span: &Range<usize>| {
            settings.origins.note(
                format!("commands.{}.{key}", name.value),
                source.user(span.start),
            );
        };
        note("program", &program.span);
        let mut command = ConfiguredCommand {
            program: program.value,
            arguments: Vec::new(),
            environment: Vec::new(),
            timeout: ConfiguredCommand::USUAL_TIMEOUT,
        };
        if let Some(given) = table.arguments {
            note("arguments", &given.span);
            command.arguments = given.value;
        }
        if let Some(given) = table.environment {
            note("environment", &given.span);
            command.environment = given.value;
        }
        if let Some(given) = table.timeout {
            note("timeout", &given.span);
            command.timeout = given.value.0;
        }
        settings.commands.insert(name.value, command);
    }
}

/// Takes the lines that may run to verify the work.
pub(super) fn allow(
    lines: Option<At<Vec<At<String>>>>,
    source: &Source<'_>,
    settings: &mut Settings,
    found: &mut Vec<Finding>,
) {
    let Some(lines) = lines else { return };
    let origin = source.user(lines.span.start);
    settings.origins.note("allow_commands", origin);
    for line in lines.value {
        match verify::line_problem(&line.value) {
            Some(problem) => {
                let shown = text::one_line(&text::shown(&line.value), 60);
                let message = format!("the command `{shown}` {problem}");
                let finding = Finding::new("claudex::config::value", line.span, message);
                found.push(
                    finding
                        .label("here")
                        .help("write one line of visible characters"),
                );
            }
            None => settings.allow_commands.push(line.value),
        }
    }
}

/// What in a table cannot be.
fn problems(table: &CommandTable, found: &mut Vec<Finding>) {
    let mut wrong = |span: &Range<usize>, problem: Option<(String, &str)>| {
        if let Some((message, help)) = problem {
            let finding = Finding::new("claudex::config::value", span.clone(), message);
            found.push(finding.label("here").help(help));
        }
    };
    if let Some(given) = &table.program {
        wrong(&given.span, programs::program_problem(&given.value));
    }
    if let Some(given) = &table.arguments {
        wrong(&given.span, programs::argument_problem(&given.value));
    }
    for name in table.environment.iter().flat_map(|given| &given.value) {
        let span = table
            .environment
            .as_ref()
            .map_or(0..0, |given| given.span.clone());
        wrong(&span, programs::variable_problem(name));
    }
    if let Some(given) = &table.timeout {
        wrong(&given.span, programs::timeout_problem(given.value.0));
    }
}
