//! Shell completions, generated from the same description that the arguments are parsed by.

use clap::Command;
use clap_complete::Shell;

use super::exit::{Exit, Failure};
use super::info::ProgramInfo;
use super::out;

/// What people see of the command line: without what is hidden, which the generators would offer all the same.
fn visible(command: &Command) -> Command {
    let mut seen = Command::new(command.get_name().to_owned())
        .disable_help_subcommand(command.is_disable_help_subcommand_set())
        .allow_missing_positional(command.is_allow_missing_positional_set());
    if let Some(about) = command.get_about() {
        seen = seen.about(about.clone());
    }
    if let Some(long) = command.get_long_about() {
        seen = seen.long_about(long.clone());
    }
    if let Some(after) = command.get_after_help() {
        seen = seen.after_help(after.clone());
    }
    if let Some(version) = command.get_version() {
        seen = seen.version(version.to_owned());
    }
    let arguments = command
        .get_arguments()
        .filter(|argument| !argument.is_hide_set());
    let below = command
        .get_subcommands()
        .filter(|below| !below.is_hide_set());
    seen.args(arguments.cloned())
        .subcommands(below.map(visible))
}

/// Prints a completion script for a shell.
pub(super) fn completions(
    command: &Command,
    info: &ProgramInfo,
    shell: Shell,
) -> Result<Exit, Failure> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut visible(command), info.program, &mut text);
    out::text(&String::from_utf8_lossy(&text));
    Ok(Exit::Complete)
}
