//! Loops that cannot be opened: the reason, and the user's way out.

use camino::Utf8Path;

use super::exit::{Exit, Failure};
use super::info::ProgramInfo;
use super::shell;
use crate::behaviours::loop_message;
use crate::machine::OpenError;
use crate::machine::table::Table;
use crate::store::{LoopId, Store, StoreError, WhyNotOurs};
use crate::text;

/// Returns whether a transition ends loops in every phase.
pub fn ends_anywhere(table: &Table, transition: &str) -> bool {
    let edges = || table.edges().filter(|edge| edge.transition == transition);
    let phases = table.phases.iter().enumerate();
    let mut active = phases.filter(|(_, phase)| !phase.terminal);
    edges().all(|edge| table.phases[edge.to].terminal)
        && active.all(|(at, _)| edges().any(|edge| edge.from == at))
}

/// Returns the command line by which the user gives a loop up, or `None` if the machine has none.
pub(super) fn way_out(info: &ProgramInfo, id: &str) -> Option<String> {
    let mut edges = info.table.edges();
    let edge = edges.find(|edge| edge.is_verb() && ends_anywhere(info.table, edge.transition))?;
    let call = loop_message::call(id, &edge);
    Some(format!("{} {call}", info.program))
}

/// Returns the command that starts a loop from a document that the program did not write. It has the path below the project's
/// root, because a message cannot have the quotes that another path may need.
pub(super) fn import(info: &ProgramInfo, root: &Utf8Path, document: &Utf8Path) -> String {
    let document = document.strip_prefix(root).unwrap_or(document);
    let import = || format!("import {}", shell::quote(document.as_str()));
    info.command(&info.take_up.map_or_else(import, str::to_owned))
}

/// Returns how a user takes over a loop that is not theirs. The command is on its own line, so that no shell runs it.
pub(super) fn take_over(info: &ProgramInfo, id: &str) -> String {
    let words = format!("adopt {id}");
    let slash = info
        .slash(&words)
        .map_or_else(String::new, |slash| format!(" with {slash}"));
    let program = info.program;
    format!("if you trust it, take it over{slash}, in a terminal:\n    {program} {words}")
}

/// Returns the user's options for a loop that cannot be opened, or `None` if the error has them.
fn help(info: &ProgramInfo, root: &Utf8Path, error: &OpenError) -> Option<String> {
    Some(match error {
        OpenError::Loop { id, .. } => {
            let command = way_out(info, id.as_str())?;
            format!("give it up (its files are kept):\n    {command}")
        }
        OpenError::Store(StoreError::NotFound { id, archived, .. }) if *archived => {
            format!("to bring it back:{}", info.command(&format!("resume {id}")))
        }
        OpenError::Store(StoreError::NotOurs { id, path, why }) => match why {
            WhyNotOurs::Journal(_) => take_over(info, id),
            WhyNotOurs::PutBack { .. } => {
                let program = info.program;
                let file = shell::quote(path.as_str());
                format!(
                    "{program} resume {id} keeps the loop’s state, {program} import {file} takes the file’s"
                )
            }
            WhyNotOurs::NoJournal | WhyNotOurs::NoMachine => {
                format!("to continue it:{}", import(info, root, path))
            }
        },
        _ => return None,
    })
}

/// Returns the error of a command for a loop that could not be opened.
pub fn failure(info: &ProgramInfo, error: OpenError) -> Failure {
    let Some(help) = help(info, Utf8Path::new(""), &error) else {
        return Failure::internal(error);
    };
    let exit = match error {
        OpenError::Store(_) => Exit::Refused,
        _ => Exit::Internal,
    };
    Failure::with_help(exit, error.to_string(), &help)
}

/// Returns the error of a loop that could not be opened in one line, with its path and help.
pub fn line(info: &ProgramInfo, store: &Store, id: &LoopId, error: &OpenError) -> String {
    let path = text::shown(store.path_of(id));
    let mut line = error.to_string();
    if !line.starts_with(&path) {
        line = format!("{path}: {line}");
    }
    let help = help(info, store.root(), error).map(|help| format!("; {help}"));
    line + &help.unwrap_or_default()
}
