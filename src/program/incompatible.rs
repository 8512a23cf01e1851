//! The ways out for a loop that cannot be opened: the messages, and the verb by which a user gives it up.

use camino::Utf8Path;

use super::exit::{Exit, Failure};
use super::info::ProgramInfo;
use crate::behaviours::words;
use crate::machine::raw::OpenError;
use crate::machine::table::Table;
use crate::store::StoreError;
use crate::text;

/// Returns whether a transition ends every loop that it is taken on.
pub(super) fn ends_loops(table: &Table, transition: &str) -> bool {
    let mut edges = table.edges().filter(|edge| edge.transition == transition);
    edges.all(|edge| table.phases[edge.to].terminal)
}

/// Whether a transition ends loops wherever they are.
pub fn ends_anywhere(table: &Table, transition: &str) -> bool {
    let edges = || table.edges().filter(|edge| edge.transition == transition);
    let going_on = |&phase: &usize| !table.phases[phase].terminal;
    edges().all(|edge| table.phases[edge.to].terminal)
        && (0..table.phases.len())
            .filter(going_on)
            .all(|phase| edges().any(|edge| edge.from == phase))
}

/// The verb by which a person gives a loop up, as it is typed in a terminal; None where the machine has none.
pub(super) fn way_out(info: &ProgramInfo, id: &str) -> Option<String> {
    let mut edges = info.table.edges();
    let edge = edges.find(|edge| edge.is_verb() && ends_anywhere(info.table, edge.transition))?;
    Some(format!("{} {}", info.program, words::call_of(id, &edge)))
}

/// Says what a person does about a state file without a journal: there is no loop to take up.
pub const NO_LOOP: &str = "nobody can take it up: remove it, or leave it to the next start, which moves it to the folder quarantine";

/// Returns what a user can do about a loop that was not started here or that was swept, or `None` for any other error.
pub fn help(info: &ProgramInfo, error: &StoreError) -> Option<String> {
    match error {
        StoreError::NotStartedHere { id, .. } => Some(take_up(info, id)),
        StoreError::Swept { id, .. } => Some(bring_back(info, id)),
        _ => None,
    }
}

/// Returns what a user can do about a loop that cannot be opened, or `None` if there is nothing special to do.
fn open_help(info: &ProgramInfo, error: &OpenError) -> Option<String> {
    match error {
        OpenError::Store(error) => help(info, error),
        OpenError::Phase { id, .. } | OpenError::Field { id, .. } => {
            let way = way_out(info, id)?;
            Some(format!("give it up (its files are kept):\n    {way}"))
        }
    }
}

/// Says how a person brings a loop back that was swept.
pub(super) fn bring_back(info: &ProgramInfo, id: &str) -> String {
    format!(
        "a person brings it back:{}",
        info.command(&format!("resume {id}"))
    )
}

/// Says how a person takes up a loop that was not started here. The command stands on a line of its own, where no shell runs it.
pub fn take_up(info: &ProgramInfo, id: &str) -> String {
    format!(
        "if it is yours (copied or moved here, or begun with an earlier version), a person takes it up:{}",
        info.command(&format!("adopt {id}"))
    )
}

/// Says the same where the loop stands in a start's way: it is taken up, or everything here is moved aside.
pub fn in_the_way(info: &ProgramInfo, id: &str) -> String {
    format!(
        "{}\nor moves every loop of the project aside:{}",
        take_up(info, id),
        info.command("rollback")
    )
}

/// A loop that could not be opened, as a failure of a command.
pub fn failure(info: &ProgramInfo, error: OpenError) -> Failure {
    let help = open_help(info, &error);
    let refused = |code, help: &str| Failure::plain(Exit::Refused, code, error.to_string(), help);
    match (help, &error) {
        (None, _) => Failure::new(Exit::Internal, error),
        (Some(help), OpenError::Store(StoreError::NotStartedHere { .. })) => {
            refused("claudex::store::not_started_here", &help)
        }
        (Some(help), OpenError::Store(StoreError::Swept { .. })) => {
            refused("claudex::store::swept", &help)
        }
        (Some(help), _) => {
            let message = error.to_string();
            Failure::plain(Exit::Internal, "claudex::open", message, &help)
        }
    }
}

/// The same in one line, below the loop's path where the error does not begin with it.
pub fn line(info: &ProgramInfo, path: &Utf8Path, error: &OpenError) -> String {
    let said = error.to_string();
    let path = text::shown(path);
    let said = match said.starts_with(&path) {
        true => said,
        false => format!("{path}: {said}"),
    };
    match open_help(info, error) {
        Some(help) => format!("{said}; {help}"),
        None => said,
    }
}
