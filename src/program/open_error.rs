//! Loops that cannot be opened or started: the reason, and the user's options.

use camino::Utf8Path;

use super::app::Program;
use super::exit::{Exit, Failure, with_help};
use super::info::ProgramInfo;
use super::locate::{self, StateFolders};
use super::next_action;
use crate::behaviours::loop_message;
use crate::machine::table::Table;
use crate::machine::{Actor, Refusal};
use crate::store::{LoopId, Store, StoreError, WhyNotOurs};
use crate::text;

pub(super) fn ends(table: &Table, transition: &str) -> bool {
    let mut edges = table.edges().filter(|edge| edge.transition == transition);
    edges.all(|edge| table.phases[edge.to].terminal)
}

/// Returns whether a transition ends loops in every phase.
pub fn ends_anywhere(table: &Table, transition: &str) -> bool {
    let mut active = (0..table.phases.len()).filter(|at| !table.phases[*at].terminal);
    ends(table, transition) && active.all(|at| table.edges_at(transition, at).next().is_some())
}

/// Returns the command that gives a loop up, after these words and a colon, if there is one.
pub(super) fn cancel_help(info: &ProgramInfo, id: &str, words: &str) -> Option<String> {
    let mut edges = info.table.edges();
    let edge = edges.find(|edge| edge.is_verb() && ends_anywhere(info.table, edge.transition))?;
    let call = loop_message::verb_line(id, &edge);
    Some(format!("{words}:\n    {} {call}", info.program))
}

/// Returns the user's options after an error, or `None` if the error has them.
fn help(info: &ProgramInfo, error: &Refusal) -> Option<String> {
    Some(match error {
        Refusal::Loop { id, .. } => {
            let archive = info.command(&format!("archive {id}"));
            cancel_help(info, id.as_str(), "cancel it (its files are kept)")
                .unwrap_or_else(|| format!("move it to the archive:{archive}"))
        }
        Refusal::Store(StoreError::NotFound { id, archived, .. }) if *archived => {
            format!("to bring it back:{}", info.command(&format!("resume {id}")))
        }
        Refusal::Store(StoreError::NotOurs { id, path, why }) => match why {
            WhyNotOurs::Journal(_) => {
                let adopt = info.command(&format!("adopt {id}"));
                format!("if you trust it, take it over:{adopt}")
            }
            WhyNotOurs::NoFolder => {
                let resume = info.command(&format!("resume {id}"));
                let archive = info.command(&format!("archive {id}"));
                format!(
                    "go back to that branch; or to have the file written again:{resume}\nor, if you removed it, to end the loop:{archive}"
                )
            }
            WhyNotOurs::Replaced { .. } => {
                let resume = info.command(&format!("resume {id}"));
                let import = info.command(&import_call(path));
                format!("to keep the loop’s state:{resume}\nto take the file’s:{import}")
            }
            WhyNotOurs::NoJournal | WhyNotOurs::NoMachine => {
                let import = || import_call(path);
                let words = info.import_command.map_or_else(import, str::to_owned);
                format!("to continue it:{}", info.command(&words))
            }
        },
        _ => return None,
    })
}

/// Returns the import command with a path from the working directory: a message quotes no path.
fn import_call(path: &Utf8Path) -> String {
    let here = locate::current_folder().unwrap_or_default();
    let mut above = here.ancestors().zip(0..);
    let relative = above
        .find_map(|(above, up)| Some("../".repeat(up) + path.strip_prefix(above).ok()?.as_str()));
    let file = relative.unwrap_or_else(|| path.to_string());
    format!("import {}", text::shell_word(&text::escape_hidden(file)))
}

/// Returns the error of a command for a loop that could not be opened.
pub fn failure(info: &ProgramInfo, error: Refusal) -> Failure {
    let exit = match &error {
        Refusal::Actor(_)
        | Refusal::Store(
            StoreError::Active { .. } | StoreError::NotFound { .. } | StoreError::NotOurs { .. },
        ) => Exit::Refused,
        _ => Exit::Internal,
    };
    match help(info, &error) {
        Some(help) => Failure::with_help(exit, error, &help),
        None => Failure::new(exit, error),
    }
}

/// Returns the error of a start, with the next step of a loop that is in its way.
pub(super) fn start_failure(program: &Program, store: &Store, error: Refusal) -> Failure {
    let info = program.info;
    let active = match &error {
        Refusal::Store(StoreError::Active { id, phase, .. }) if phase.is_some() => id,
        _ => return failure(info, error),
    };
    let id = LoopId::parse(active, info.state.ids).map_err(Refusal::Unfit);
    let opened = id.and_then(|id| program.app.open(store, &id, Actor::Person));
    let is_here = |found: StateFolders| {
        let mut stores = found.stores.iter();
        stores.any(|one| one.folder() == store.folder())
    };
    let help = match opened {
        _ if !StateFolders::find_here(info.state).is_ok_and(is_here) => {
            let name = info.program;
            format!("it is a loop of another project; see it with `{name} status` there")
        }
        Ok(held) => {
            let action = next_action::for_caller(program, &*held);
            let archive = || info.command(&format!("archive {active}"));
            let cancel = cancel_help(info, active, "\nto cancel it")
                .unwrap_or_else(|| format!("\nor move it to the archive:{}", archive()));
            format!(
                "it waits for {}. Next: {}{cancel}",
                action.waits_for, action.next
            )
        }
        Err(other) => {
            // Only `rollback` finds a file whose name is not an id.
            let archive = match &other {
                Refusal::Unfit(_) => info.command("rollback"),
                _ => info.command(&format!("archive {active}")),
            };
            let why = line(info, &other);
            format!("{why}\nor move it to the archive:{archive}")
        }
    };
    Failure::refuse(error, &help)
}

/// Returns an error with the user's options, or else its help, in one line.
pub fn line(info: &ProgramInfo, error: &Refusal) -> String {
    let help = help(info, error);
    help.map_or_else(|| with_help(error), |help| format!("{error}; {help}"))
}
