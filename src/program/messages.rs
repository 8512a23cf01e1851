//! The texts about a loop of any machine: where it is, and the commands that continue it.

use serde_json::json;

use super::builder::Program;
use super::extension::NextAction;
use super::info::ProgramInfo;
use super::next_action;
use crate::behaviours::loop_message;
use crate::machine::table::{PhaseInfo, Table};
use crate::machine::{LoopHandle, Raw};
use crate::message::{Message, Render as _};
use crate::review::runs;
use crate::text;

/// The note about a turn that may end.
const TURN_END: Message = Message {
    name: "turn-end.txt",
    text: include_str!("messages/turn-end.txt"),
};
/// The longest doc of a phase or an edge in a line, in characters.
const MAX_DOC_CHARS: usize = 200;
/// The longest caveats in a line, in characters.
const MAX_CAVEATS_CHARS: usize = 1200;

/// Returns the phase that a loop is in.
pub fn phase(raw: &Raw) -> &'static PhaseInfo {
    &raw.table().phases[raw.phase()]
}

/// Returns whether a loop in this phase can go on in any session: no stop moves it.
pub fn is_for_any_session(table: &Table, phase: usize) -> bool {
    let mut edges = table.edges().filter(|edge| edge.from == phase);
    !table.phases[phase].terminal && edges.all(|edge| !edge.by.is_empty())
}

/// Returns the note about a turn that may end: the loop is over, or another stop continues it. `caveats` are sentences.
pub(super) fn turn_end_note(
    program: &Program,
    held: &dyn LoopHandle,
    caveats: &[String],
    next: Option<NextAction>,
) -> String {
    let raw = held.raw();
    let phase = phase(raw);
    let doc = |doc: &str| text::one_line(doc.trim_end_matches('.'), MAX_DOC_CHARS);
    let cause = raw.last_edge().map_or("", |edge| edge.doc);
    let failure = last_failure(raw);
    let waiting = failure
        .as_ref()
        .map(|_| next_action::waiting(program, held));
    let facts = json!({
        "id": raw.id().as_str(),
        "phase": phase.name,
        "stored": phase.stored,
        "is_over": phase.terminal,
        "doc": doc(phase.doc),
        "cause": if cause == phase.doc { String::new() } else { doc(cause) },
        "failure": failure,
        "waiting": waiting,
        "caveats": text::one_line(&caveats.join(" "), MAX_CAVEATS_CHARS),
        "next": next.map(|next| next.next),
        "commands": possible(raw),
        "program": program.info.program,
    });
    let rendered = TURN_END.render(&facts);
    let note = rendered.unwrap_or_else(|error| error.to_string());
    program.info.line(note.trim_end())
}

/// Returns why the last review gave no verdict, if the edge that was taken just now leaves a reviewing phase.
fn last_failure(raw: &Raw) -> Option<String> {
    let edge = raw.last_edge()?;
    let reviewed = raw.table().phases[edge.from].on_stop.as_ref()?.name == "review";
    if !reviewed {
        return None;
    }
    // The run belongs to the visit that this edge ended.
    let journal = raw.journal().ok()?;
    let last = runs::read(&journal)
        .into_iter()
        .rfind(|run| run.ended.is_some())?;
    let cause = last.cause()?.to_string();
    Some(cause.trim_end_matches(['.', ' ']).to_owned())
}

/// Returns the help of a refusal: nothing was changed, and the commands that can be run now.
pub fn unchanged(raw: &Raw) -> String {
    let phase = phase(raw);
    let name = phase.name;
    match possible(raw) {
        _ if phase.terminal => format!("nothing was changed; the loop is {name}"),
        none if none.is_empty() => {
            format!("nothing was changed; the loop is in phase {name}, where no command changes it")
        }
        commands => format!("nothing was changed; possible in phase {name}:{commands}"),
    }
}

/// Returns the command lines of the transitions that are open to somebody now.
fn possible(raw: &Raw) -> String {
    let ways = loop_message::ways(raw).into_iter();
    text::command_lines(&ways.map(|way| way.command).collect::<Vec<_>>())
}

/// Adds notes before a line for the user.
pub(super) fn with_notes(
    info: &ProgramInfo,
    notes: &[String],
    line: Option<String>,
) -> Option<String> {
    let prefix = info.line("");
    let line = line.map(|line| line.strip_prefix(&prefix).unwrap_or(&line).to_owned());
    let notes: Vec<String> = notes.iter().cloned().chain(line).collect();
    (!notes.is_empty()).then(|| info.line(&notes.join("; ")))
}

/// Removes the lock file of a loop that is over. A failure is noted in the folder's log.
pub fn clear(raw: &Raw) {
    if phase(raw).terminal
        && let Err(error) = raw.store().clear(raw.id(), &[".lock"])
    {
        raw.store().log(&format!("{} clean-up: {error}", raw.id()));
    }
}
