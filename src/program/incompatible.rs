//! Loops that cannot be opened: the messages, and the verb by which a user gives one up.

use camino::Utf8Path;

use super::exit::{Exit, Failure};
use super::info::ProgramInfo;
use super::shell;
use crate::behaviours::loop_message;
use crate::machine::held::OpenError;
use crate::machine::table::Table;
use crate::store::{StoreError, WhyNotOurs};
use crate::text;

/// Returns whether a transition ends every loop that it is taken on.
pub(super) fn ends_loops(table: &Table, transition: &str) -> bool {
    let mut edges = table.edges().filter(|edge| edge.transition == transition);
    edges.all(|edge| table.phases[edge.to].terminal)
}

/// Returns whether a transition ends loops in every phase.
pub fn ends_anywhere(table: &Table, transition: &str) -> bool {
    let edges = || table.edges().filter(|edge| edge.transition == transition);
    let going_on = |&phase: &usize| !table.phases[phase].terminal;
    edges().all(|edge| table.phases[edge.to].terminal)
        && (0..table.phases.len())
            .filter(going_on)
            .all(|phase| edges().any(|edge| edge.from == phase))
}

/// Returns the command line by which the user gives a loop up, or `None` if the machine has none.
pub(super) fn way_out(info: &ProgramInfo, id: &str) -> Option<String> {
    let mut edges = info.table.edges();
    let edge = edges.find(|edge| edge.is_verb() && ends_anywhere(info.table, edge.transition))?;
    Some(format!(
        "{} {}",
        info.program,
        loop_message::call(id, &edge)
    ))
}

/// Returns the note about a document without a journal: a copy, or one of another program, such as the bash plugin.
///
/// The command has the path below `root`, because a note cannot have the quotes that another path may need.
pub(super) fn foreign_document(info: &ProgramInfo, root: &Utf8Path, path: &Utf8Path) -> String {
    let short = path.strip_prefix(root).unwrap_or(path);
    let import = || format!("import {}", shell::quoted(short.as_str()));
    let words = info.take_up.map_or_else(import, str::to_owned);
    format!(
        "{} was not started here, so no stop drives it. To continue it:{}",
        text::shown(path),
        info.command(&words)
    )
}

/// Returns the user's options for a loop that is not theirs, that is archived, or whose file was put back, or `None` for any
/// other error.
pub fn help(info: &ProgramInfo, error: &StoreError) -> Option<String> {
    match error {
        StoreError::NotFound {
            id, archived: true, ..
        } => Some(bring_back(info, id)),
        StoreError::NotOurs { id, path, why } => match why {
            WhyNotOurs::Journal(_) => Some(take_over(info, id)),
            WhyNotOurs::PutBack { .. } => Some(write_again(info, id, path)),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the user's options for a loop that cannot be opened, or `None` if there is nothing special to do.
fn open_help(info: &ProgramInfo, error: &OpenError) -> Option<String> {
    match error {
        OpenError::Store(error) => help(info, error),
        OpenError::Phase { id, .. } | OpenError::Field { id, .. } => {
            let way = way_out(info, id)?;
            Some(format!("give it up (its files are kept):\n    {way}"))
        }
    }
}

/// Returns how a user brings an archived loop back.
pub(super) fn bring_back(info: &ProgramInfo, id: &str) -> String {
    format!("to bring it back:{}", info.command(&format!("resume {id}")))
}

/// Returns how a user goes on with a loop whose file was put back: with the loop's state, or with the file's.
fn write_again(info: &ProgramInfo, id: &str, path: &Utf8Path) -> String {
    let file = shell::quoted(path.as_str());
    let program = info.program;
    format!(
        "{program} resume {id} keeps the loop’s state, {program} import {file} takes the file’s"
    )
}

/// Returns how a user takes over a loop that is not theirs. The command is on its own line, so that no shell runs it.
pub fn take_over(info: &ProgramInfo, id: &str) -> String {
    let words = format!("adopt {id}");
    let typed = info.slash(&words).map(|typed| format!(" with {typed}"));
    format!(
        "if you trust it, take it over{}, in a terminal:{}",
        typed.unwrap_or_default(),
        text::command_lines(&[format!("{} {words}", info.program)])
    )
}

/// Returns the help for a start that a loop blocks: take the loop over, or archive every loop.
pub fn in_the_way(info: &ProgramInfo, id: &str) -> String {
    format!(
        "{}\nor archive every loop of the project:{}",
        take_over(info, id),
        info.command("rollback")
    )
}

/// Returns the error of a command for a loop that could not be opened.
pub fn failure(info: &ProgramInfo, error: OpenError) -> Failure {
    let exit = match &error {
        OpenError::Store(_) => Exit::Refused,
        _ => Exit::Internal,
    };
    match open_help(info, &error) {
        Some(help) => Failure::plain(exit, error.to_string(), &help),
        None => Failure::new(Exit::Internal, error),
    }
}

/// Returns the error of a loop that could not be opened in one line, with its path and help.
pub fn line(info: &ProgramInfo, path: &Utf8Path, error: &OpenError) -> String {
    let said = error.to_string();
    let path = text::shown(path);
    let said = if said.starts_with(&path) {
        said
    } else {
        format!("{path}: {said}")
    };
    match open_help(info, error) {
        Some(help) => format!("{said}; {help}"),
        None => said,
    }
}
