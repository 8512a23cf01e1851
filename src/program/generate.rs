//! Completions and man pages, generated from the same description that the arguments are parsed by.

use camino::Utf8Path;
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

/// Prints the man page, or writes one for each command into a folder.
pub(super) fn man(
    command: &Command,
    info: &ProgramInfo,
    dir: Option<&Utf8Path>,
) -> Result<Exit, Failure> {
    let command = visible(command);
    let failed = |error: std::io::Error| {
        Failure::plain(
            Exit::Internal,
            "claudex::man",
            format!("the man pages cannot be written: {error}"),
            &format!(
                "give a folder that you may write: {} man --dir DIR",
                info.program
            ),
        )
    };
    let Some(dir) = dir else {
        let mut page = Vec::new();
        clap_mangen::Man::new(command)
            .render(&mut page)
            .map_err(failed)?;
        out::text(&String::from_utf8_lossy(&page));
        return Ok(Exit::Complete);
    };
    fs_err::create_dir_all(dir).map_err(failed)?;
    clap_mangen::generate_to(command, dir).map_err(failed)?;
    out::line(&format!(
        "The man pages are in {dir}; try: man -l {}",
        dir.join(format!("{}.1", info.program))
    ));
    Ok(Exit::Complete)
}
