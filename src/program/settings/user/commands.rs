//! The commands of the user's file.

use std::collections::BTreeMap;

use toml::Spanned;

use super::super::Settings;
use super::super::origin::Source;
use super::super::tables::CommandTable;
use super::super::values::{AllowedLine, Name, texts};
use crate::process::configured::ConfiguredCommand;

/// Adds the commands of the tables.
pub(super) fn apply(
    tables: BTreeMap<Spanned<Name>, CommandTable>,
    source: &Source<'_>,
    settings: &mut Settings,
) {
    for (name, table) in tables {
        let name = name.into_inner().0;
        let prefix = format!("commands.{name}.");
        let mut taker = source.taker(&mut settings.origins, &prefix);
        let mut command = ConfiguredCommand {
            program: String::new(),
            arguments: Vec::new(),
            environment: Vec::new(),
            timeout: ConfiguredCommand::USUAL_TIMEOUT,
        };
        taker.take("program", Some(table.program), |it| command.program = it.0);
        taker.take("arguments", table.arguments, |it| {
            command.arguments = texts(it)
        });
        taker.take("environment", table.environment, |it| {
            command.environment = texts(it);
        });
        taker.take("timeout", table.timeout, |it| command.timeout = it.0);
        settings.commands.insert(name, command);
    }
}

/// Adds the lines that may run to verify the work.
pub(super) fn allow(
    lines: Option<Spanned<Vec<AllowedLine>>>,
    source: &Source<'_>,
    settings: &mut Settings,
) {
    let mut taker = source.taker(&mut settings.origins, "");
    taker.take("allow_commands", lines, |lines| {
        settings.allow_commands = texts(lines);
    });
}
