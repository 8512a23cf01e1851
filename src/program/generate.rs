//! Shell completions, generated from the same description that the arguments are parsed by.

use clap::Command;
use clap_complete::Shell;

use super::exit::{Exit, Failure};
use super::info::ProgramInfo;
use super::out;

/// Returns the command line without hidden parts, which the generators would offer all the same.
fn visible(command: &Command) -> Command {
    let arguments = command.get_arguments().filter(|one| !one.is_hide_set());
    let commands = command.get_subcommands().filter(|one| !one.is_hide_set());
    let seen = Command::new(command.get_name().to_owned())
        .about(command.get_about().cloned().unwrap_or_default())
        .disable_help_subcommand(true)
        .allow_missing_positional(command.is_allow_missing_positional_set())
        .args(arguments.cloned())
        .subcommands(commands.map(visible));
    match command.get_version() {
        Some(version) => seen.version(version.to_owned()),
        None => seen,
    }
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
