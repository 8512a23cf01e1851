//! Loops that cannot be opened or started: the reason, and the user's options.

use camino::Utf8Path;

use super::caller::Caller;
use super::exit::{Exit, Failure, with_help};
use super::info::ProgramInfo;
use super::locate::{self, StateFolders};
use crate::behaviours::loop_message;
use crate::machine::Refusal;
use crate::machine::table::Table;
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
        Refusal::Store(StoreError::Active { id, phase, folder }) if phase.is_some() => {
            help_with_active(info, id, folder)
        }
        Refusal::Store(StoreError::NotOurs { id, path, why }) => match why {
            WhyNotOurs::Journal(_) => {
                let adopt = info.command(&format!("adopt {id}"));
                format!("if you trust it, take it over:{adopt}")
            }
            WhyNotOurs::PutBack { .. } => {
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

/// Returns the user's options for a loop that prevents a start, whether or not it can be opened.
fn help_with_active(info: &ProgramInfo, id: &str, folder: &Utf8Path) -> String {
    let stores =
        StateFolders::find_here(info.state).map_or_else(|_| Vec::new(), |found| found.stores);
    let program = info.program;
    let Some(store) = stores.iter().find(|store| store.folder() == folder) else {
        return format!("it is a loop of another project; see it with `{program} status` there");
    };
    let (help, archive) = match LoopId::parse(id, info.state.ids).map(|id| store.open(&id)) {
        Ok(Ok(record)) => {
            let cancel = cancel_help(info, id, "\nto cancel it").unwrap_or_default();
            let session = Caller::from_env().session;
            if session.is_some() && session == record.session() {
                return format!("this session has it; see it with `{program} status`{cancel}");
            }
            let adopt = info.command(&format!("adopt {id}"));
            return format!(
                "see it with `{program} status`; to take it over into this session:{adopt}{cancel}"
            );
        }
        Ok(Err(error)) => (explain(info, &error.into()), format!("archive {id}")),
        // Only `rollback` finds a file whose name is not an id.
        Err(_) => {
            let help = "finish it with the program that began it";
            (help.to_owned(), "rollback".to_owned())
        }
    };
    format!(
        "{help}\nor move it to the archive:{}",
        info.command(&archive)
    )
}

/// Returns the error of a command for a loop that could not be opened or started.
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

/// Returns why a loop could not be opened, in one line with its path and help.
pub fn line(info: &ProgramInfo, store: &Store, id: &LoopId, error: &Refusal) -> String {
    let path = text::printable(store.path_of(id));
    let line = explain(info, error);
    match error {
        Refusal::Store(StoreError::NotFound { .. }) => line,
        _ if line.starts_with(&path) => line,
        _ => format!("{path}: {line}"),
    }
}

/// Returns an error with the user's options, or else its help, in one sentence.
fn explain(info: &ProgramInfo, error: &Refusal) -> String {
    let help = help(info, error);
    help.map_or_else(|| with_help(error), |help| format!("{error}; {help}"))
}
