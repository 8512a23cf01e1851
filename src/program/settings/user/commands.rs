//! The commands of the user's file.

use std::collections::BTreeMap;

use toml::Spanned;

use super::super::Settings;
use super::super::origin::Source;
use super::super::tables::CommandTable;
use super::super::values::{AllowedLine, Name};
use crate::process::configured::ConfiguredCommand;

/// Adds the commands of the tables.
pub(super) fn apply(
    tables: BTreeMap<Spanned<Name>, CommandTable>,
    source: &Source<'_>,
    settings: &mut Settings,
) {
    for (name, table) in tables {
        let name = name.into_inner().0;
        let mut taker = source.taker(&mut settings.origins, format!("commands.{name}."));
        let Some(program) = taker.take("program", Some(table.program)) else {
            continue;
        };
        let mut command = ConfiguredCommand {
            program: program.0,
            arguments: Vec::new(),
            environment: Vec::new(),
            timeout: ConfiguredCommand::USUAL_TIMEOUT,
        };
        if let Some(arguments) = taker.take("arguments", table.arguments) {
            command.arguments = arguments.into_iter().map(|one| one.0).collect();
        }
        if let Some(names) = taker.take("environment", table.environment) {
            command.environment = names.into_iter().map(|one| one.0).collect();
        }
        if let Some(timeout) = taker.take("timeout", table.timeout) {
            command.timeout = timeout.0;
        }
        settings.commands.insert(name, command);
    }
}

/// Adds the lines that may run to verify the work.
pub(super) fn allow(
    lines: Option<Spanned<Vec<AllowedLine>>>,
    source: &Source<'_>,
    settings: &mut Settings,
) {
    let mut taker = source.taker(&mut settings.origins, String::new());
    if let Some(lines) = taker.take("allow_commands", lines) {
        settings.allow_commands = lines.into_iter().map(|line| line.0).collect();
    }
}
