//! The command line of a machine's program.

use clap::Subcommand as _;

use super::arguments::{Command, Report};
use super::builder::Program;
use super::help::{Group, add_groups};
use super::info::ProgramInfo;
use super::{locate, start};
use crate::behaviours::verify;
use crate::machine::{Actor, PhaseDeclaration as _, Table};

/// The last lines of `--help`.
const EXIT_CODES: &str = "\
Exit codes: 0 complete, 1 refused, 2 usage, 3 fault, 5 no verdict, 130 signal";

/// Returns the whole command line.
pub(super) fn command(program: &Program) -> clap::Command {
    let info = program.info;
    let mut command = clap::Command::new(info.program)
        .bin_name(info.program)
        .version(program.version)
        .after_help(EXIT_CODES)
        .arg_required_else_help(true)
        .disable_help_subcommand(true)
        .subcommand(start::command(program).hide(info.begin.is_some()));
    for own in program.extension.commands() {
        command = command.subcommand(match own.get_name() {
            "report" => Report::with_format(own),
            _ => own,
        });
    }
    let verbs = machine_verbs(program);
    command = command.subcommands(verbs.get_subcommands().cloned());
    // The program's own command replaces the one of that name that every program has.
    let common: Vec<_> = Command::augment_subcommands(clap::Command::new(info.program))
        .get_subcommands()
        .filter(|one| command.find_subcommand(one.get_name()).is_none() && is_offered(info, one))
        .map(|one| one.clone().display_order(group(one.get_name()).0.place()))
        .collect();
    let command = command
        .subcommands(common)
        .about(info.table.doc)
        .long_about(None);
    add_groups(program.extension.arguments(command))
}

/// Returns the command with this path, such as `start plan`, of the whole command line.
pub(super) fn find<'c>(whole: &'c clap::Command, path: &str) -> Option<&'c clap::Command> {
    path.split(' ')
        .try_fold(whole, |command, name| command.find_subcommand(name))
}

/// Returns the verbs of the machine's transitions, but not those that the program writes itself.
fn machine_verbs(program: &Program) -> clap::Command {
    let all = program.app.add_verbs(clap::Command::default());
    let visible = all.get_subcommands().filter(|verb| !verb.is_hide_set());
    clap::Command::default().subcommands(visible.map(|verb| {
        let place = place(program.info.table, verb.get_name());
        verb.clone().display_order(place)
    }))
}

/// Returns whether a name is a verb of the machine.
pub(super) fn is_machine_verb(program: &Program, name: &str) -> bool {
    machine_verbs(program).find_subcommand(name).is_some()
}

/// Returns whether a machine has a use for a command that every program has.
fn is_offered(info: &ProgramInfo, command: &clap::Command) -> bool {
    match command.get_name() {
        "answer" => asks(info.table),
        "review" | "personas" => info.reviews(),
        "verify" => verify::is_used(info.table),
        "use" => locate::has_many(info),
        _ => true,
    }
}

/// Returns the group of a command in the help, and whether loops have to be usable for it. Each of `state` checks that itself.
pub(super) fn group(command: &str) -> (Group, bool) {
    match command {
        "status" | "list" | "journal" | "report" => (Group::Look, true),
        "personas" | "doctor" => (Group::Look, false),
        "resume" | "pause" | "adopt" | "import" | "rollback" | "answer" => (Group::Person, true),
        "sweep" => (Group::SetUp, true),
        "config" | "hooks" | "plugin" | "statusline" => (Group::SetUp, false),
        "hook" | "state" => (Group::Loops, false),
        _ => (Group::Loops, true),
    }
}

/// Returns the place of a verb in the help, after the commands of every program. A verb that only the user takes is with the user's.
fn place(table: &Table, verb: &str) -> usize {
    let mut edges = table.edges();
    let is_for_agent =
        edges.any(|edge| edge.transition.replace('_', "-") == verb && edge.by != [Actor::Person]);
    let group = if is_for_agent {
        Group::Loops
    } else {
        Group::Person
    };
    group.place() + 1
}

/// Returns whether a phase of a machine asks the user.
pub(super) fn asks(table: &Table) -> bool {
    table.phases.iter().any(|phase| phase.question().is_some())
}
