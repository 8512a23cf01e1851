//! The command line of a machine's program: its commands, and the calls that do without clap.

use clap::{Subcommand, ValueEnum};

use super::app::{App, Program};
use super::arguments::{Asking, Choosing, Command, Hook, Report, Verifying};
use super::help::{Group, grouped};
use super::{color, session_loops, start};
use crate::behaviours::verify;
use crate::machine::{Actor, Table};

/// The last lines of `--help`.
const EXIT_CODES: &str = "\
Exit codes: 0 complete, 1 refused, 2 usage, 3 fault, 5 no verdict, 130 signal";

/// A call that a client makes at every turn or more often. It is recognized without clap, whose parser takes longer than the answer.
#[derive(Debug)]
pub(super) enum Frequent {
    Hook(Hook),
    Statusline,
}

/// Returns the frequent call of this process and what `--protocol` asks, or `None` if clap has to parse the arguments.
pub(super) fn frequent() -> Option<(Option<String>, Frequent)> {
    let mut words: Vec<String> = (std::env::args_os().skip(1))
        .map(|word| word.into_string().ok())
        .collect::<Option<_>>()?;
    let asked = words
        .first()
        .and_then(|first| first.strip_prefix("--protocol="));
    let asked = asked.map(str::to_owned);
    words.drain(..usize::from(asked.is_some()));
    let call = match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        // The most frequent call does not wait for clap's list of names.
        ["hook", "stop"] => Frequent::Hook(Hook::Stop),
        ["hook", name] => Frequent::Hook(Hook::from_str(name, false).ok()?),
        ["statusline"] => Frequent::Statusline,
        _ => return None,
    };
    Some((asked, call))
}

/// Reads the arguments of this process.
pub(super) fn read<M: App>(program: &Program<M>) -> clap::error::Result<clap::ArgMatches> {
    command(program).try_get_matches()
}

fn protocol() -> clap::Arg {
    clap::Arg::new("protocol")
        .long("protocol")
        .value_name("N")
        .num_args(0..=1)
        .require_equals(true)
        .default_missing_value("")
        .help(
            "Print the protocol of plugin and program, and exit; with N, continue if it is that one",
        )
}

/// Returns the whole command line.
pub(super) fn command<M: App>(program: &Program<M>) -> clap::Command {
    let info = program.info;
    let mut command = clap::Command::new(info.program)
        .bin_name(info.program)
        .version(M::VERSION)
        .after_help(EXIT_CODES)
        .arg_required_else_help(true)
        .disable_help_subcommand(true)
        .arg(protocol().hide(true))
        .arg(color::flag())
        .subcommand(start::command::<M>().hide(info.begin.is_some()));
    for own in &program.commands {
        command = command.subcommand((own.command)());
    }
    for own in &program.verbs {
        let own = (own.command)();
        command = command.subcommand(match own.get_name() {
            "report" => Report::with_format(own),
            _ => own,
        });
    }
    let verbs = M::Verb::augment_subcommands(clap::Command::new(info.program));
    let verbs = verbs.get_subcommands().filter(|verb| !verb.is_hide_set());
    let verbs = verbs.map(|verb| verb.clone().display_order(place(M::TABLE, verb.get_name())));
    command = command.subcommands(verbs);
    // The program's own command replaces the one of that name that every program has.
    let common = Command::augment_subcommands(clap::Command::new(info.program));
    let common = common.get_subcommands().cloned();
    let common: Vec<_> = common
        .filter(|one| command.find_subcommand(one.get_name()).is_none())
        .collect();
    let mut command = command.subcommands(common);
    if M::TABLE.phases.iter().all(|phase| phase.review.is_none()) {
        for about_reviews in ["review", "personas"] {
            command = command.mut_subcommand(about_reviews, |one| one.hide(true));
        }
    }
    if asks(M::TABLE) {
        command = Asking::augment_subcommands(command);
    }
    if verify::is_used(M::TABLE) {
        command = Verifying::augment_subcommands(command);
    }
    if session_loops::has_many(info) {
        command = Choosing::augment_subcommands(command);
    }
    let command = command.about(M::TABLE.doc).long_about(None);
    grouped(program.extension.arguments(command))
}

/// Returns the place of a verb in the help, after what every program has. A verb that only the user takes is with the user's.
fn place(table: &Table, verb: &str) -> usize {
    let mut edges = table
        .edges()
        .filter(|edge| edge.transition.replace('_', "-") == verb);
    let group = match edges.all(|edge| edge.by == [Actor::Person]) {
        true => Group::Person,
        false => Group::Loops,
    };
    group.place() + 1
}

/// Returns whether a phase of a machine asks the user.
pub(super) fn asks(table: &Table) -> bool {
    table.phases.iter().any(|phase| phase.question.is_some())
}
