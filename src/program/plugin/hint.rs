//! What a slash command takes, as the menu shows it: read off the command line.

use clap::{Arg, Command};

use crate::machine::Table;
use crate::program::Program;
use crate::program::start;

/// `[id]`, by the name of the field that holds it.
pub(super) fn id(table: &Table) -> String {
    format!("[{}]", table.state.fields.id.replace('_', "-"))
}

/// What a start in a mode takes: `[--soak <soak>] <version>`.
pub(super) fn start(program: &Program, whole: &Command, mode: &str) -> String {
    let in_words = start::in_words(program).map(|field| field.name);
    let is_said_in_words = |flag: &&Arg| in_words.is_some_and(|name| flag.get_id() == name);
    let command = start::of_mode(whole, mode);
    let mut parts: Vec<String> = flags(command.as_ref())
        .filter(|flag| !is_said_in_words(flag))
        .map(|flag| part(flag, program.required.contains(&flag.get_id().as_str())))
        .collect();
    parts.extend(in_words.map(|name| format!("<{}>", name.replace('_', "-"))));
    parts.join(" ")
}

/// What a transition takes: `[id] --why <why>`.
pub(super) fn verb(table: &Table, whole: &Command, verb: &str) -> String {
    let flags = flags(whole.find_subcommand(verb)).map(|flag| part(flag, flag.is_required_set()));
    let parts: Vec<String> = std::iter::once(id(table)).chain(flags).collect();
    parts.join(" ")
}

/// The flags of a command that people see.
fn flags(command: Option<&Command>) -> impl Iterator<Item = &Arg> {
    let arguments = command.into_iter().flat_map(Command::get_arguments);
    arguments.filter(|argument| !argument.is_hide_set() && !argument.is_positional())
}

fn part(flag: &Arg, is_required: bool) -> String {
    let name = flag.get_long().unwrap_or_default();
    let may_stand_alone = flag
        .get_num_args()
        .is_some_and(|number| number.min_values() == 0);
    let text = if !flag.get_action().takes_values() || may_stand_alone {
        format!("--{name}")
    } else {
        format!("--{name} <{name}>")
    };
    if is_required {
        text
    } else {
        format!("[{text}]")
    }
}
