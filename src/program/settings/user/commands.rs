//! The commands of the user's file.

use std::collections::BTreeMap;
use std::ops::Range;

use super::super::findings::Finding;
use super::super::leaf::{At, Table};
use super::super::origin::Source;
use super::super::tables::CommandTable;
use super::super::{Settings, names, programs};
use crate::process::configured::ConfiguredCommand;

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
