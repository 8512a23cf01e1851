//! The command line of a program, and its `--help`, which has the commands in groups.

use clap::Subcommand as _;
use clap::builder::StyledStr;

use super::app::Program;
use super::arguments::Command;
use super::info::ProgramInfo;
use super::{start, verbs};
use crate::behaviours::verify;
use crate::machine::{Actor, PhaseDeclaration as _, Table};
use crate::store::Active;
use crate::text;

/// A group of commands in the help. Commands without a [`Group::place`] are [`Group::Loops`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// Commands that start loops and continue them.
    Loops,
    /// Decisions of the user, which an agent may not make.
    Person,
    /// Commands that show something and change nothing.
    Information,
    /// Commands that are rarely needed. The help lists only their names, to fit on one screen.
    SetUp,
    /// Commands that are typed in a client. The help lists only their names.
    Client,
}

const GROUPS: [(Group, &str); 5] = [
    (Group::Loops, "Loops"),
    (Group::Person, "Your decisions"),
    (Group::Information, "Information"),
    (Group::SetUp, "Set up"),
    (Group::Client, "In Claude Code"),
];
/// The number of places of a group. clap numbers commands without a place from 0.
const GROUP_PLACES: usize = 1000;
const EXIT_CODES: &str = "\
Exit codes: 0 complete, 1 refused, 2 usage, 3 fault, 5 no verdict, 130 signal";
const USERS_NOTE: &str = "Only the user may run this: an agent’s call is refused.";
const TEMPLATE: &str = "\
{about-with-newline}\n{usage-heading} {usage}\n\n{before-help}Options:\n{options}{after-help}";

impl Group {
    /// Returns the group's first place, for `Command::display_order`.
    pub const fn place(self) -> usize {
        GROUP_PLACES * (self as usize + 1)
    }

    fn find(command: &clap::Command) -> Self {
        let group = command.get_display_order() / GROUP_PLACES;
        GROUPS[group.saturating_sub(1)].0
    }
}

pub(super) fn command(program: &Program) -> clap::Command {
    let info = program.info;
    let mut command = clap::Command::new(info.program)
        .bin_name(info.program)
        .version(program.version)
        .after_help(EXIT_CODES)
        .arg_required_else_help(true)
        .subcommand(start::command(info.table).hide(info.start_command.is_some()));
    for own in program.extension.commands() {
        command = command.subcommand(own);
    }
    command = command.subcommands(verbs::on_command_line(info.table).map(|edge| {
        let group = match edge.by {
            [Actor::Person] => Group::Person,
            _ => Group::Loops,
        };
        verbs::command(&edge).display_order(group.place() + 1)
    }));
    // A command of the program replaces the common command of the same name.
    let common: Vec<_> = Command::augment_subcommands(clap::Command::new(info.program))
        .get_subcommands()
        .filter(|one| command.find_subcommand(one.get_name()).is_none() && is_offered(info, one))
        .map(|one| one.clone().display_order(group(one.get_name()).place()))
        .collect();
    let command = command
        .subcommands(common)
        .about(info.table.doc)
        .long_about(None);
    add_groups(program.extension.arguments(command))
}

/// Groups the commands in the help, and marks those that only the user may run.
fn add_groups(command: clap::Command) -> clap::Command {
    let header = command.get_styles().get_header();
    let literal = command.get_styles().get_literal();
    let mut visible: Vec<_> = command.get_subcommands().collect();
    visible.retain(|one| !one.is_hide_set());
    visible.sort_by_key(|one| one.get_display_order().max(GROUP_PLACES));
    let describe = |(group, heading)| {
        let commands = visible.iter().filter(|one| Group::find(one) == group);
        let lines = commands.map(|one| match (group, one.get_name()) {
            (Group::SetUp | Group::Client, name) => format!(" {name},"),
            (_, name) => {
                let about = one.get_about().cloned().unwrap_or_default();
                format!("\n  {literal}{name}{literal:#}\t{about}")
            }
        });
        let lines: String = lines.collect();
        let joined = lines.trim_end_matches(',');
        (!joined.is_empty()).then(|| format!("{header}{heading}:{header:#}{joined}"))
    };
    let groups: Vec<String> = GROUPS.into_iter().filter_map(describe).collect();
    command
        .before_help(StyledStr::from(text::table(&groups.join("\n\n"))))
        .help_template(TEMPLATE)
        .mut_subcommands(|one| match one.get_after_help() {
            None if Group::find(&one) == Group::Person => one.after_help(USERS_NOTE),
            _ => one,
        })
}

/// Finds the command with this path, such as `start plan`.
pub(super) fn find<'c>(whole: &'c clap::Command, path: &str) -> Option<&'c clap::Command> {
    path.split(' ')
        .try_fold(whole, |command, name| command.find_subcommand(name))
}

fn is_offered(info: &ProgramInfo, command: &clap::Command) -> bool {
    match command.get_name() {
        "answer" => asks(info.table),
        "review" | "personas" => info.reviews(),
        "verify" => verify::is_used(info.table),
        "use" => info.state.active == Active::Many,
        _ => true,
    }
}

fn group(command: &str) -> Group {
    match command {
        "personas" | "doctor" => Group::Information,
        "resume" | "pause" | "archive" | "adopt" | "import" | "rollback" | "answer" => {
            Group::Person
        }
        "sweep" | "config" | "hooks" | "plugin" | "statusline" => Group::SetUp,
        _ if shows_loops(command) => Group::Information,
        _ => Group::Loops,
    }
}

pub(super) fn shows_loops(command: &str) -> bool {
    ["status", "list", "journal", "report"].contains(&command)
}

/// Returns whether a command needs usable loops. Each `state` helper checks that.
pub(super) fn needs_loops(command: &str) -> bool {
    let set_up = [
        "personas",
        "doctor",
        "config",
        "hooks",
        "plugin",
        "statusline",
        "state",
    ];
    !set_up.contains(&command)
}

pub(super) fn asks(table: &Table) -> bool {
    table.phases.iter().any(|phase| phase.question().is_some())
}
