//! The texts about a loop of any machine: its state, and the commands that continue it.

use serde_json::json;

use super::app::Program;
use super::caller::Caller;
use super::extension::{NextAction, Variables};
use super::{next_action, rounds};
use crate::behaviours::loop_message;
use crate::machine::{EdgeAt, LoopHandle, Raw};
use crate::message::{Message, Render as _};
use crate::store::Entry;
use crate::{template, text};

const TURN_END: Message = template!("messages/turn-end.txt");

/// Returns the note about a turn that may end. `caveats` are sentences.
pub(super) fn turn_end_note(
    program: &Program,
    held: &dyn LoopHandle,
    caveats: &[String],
    next: Option<NextAction>,
) -> String {
    let raw = held.raw();
    let phase = raw.phase_info();
    let failure = last_failure(raw);
    let facts = json!({
        "id": raw.id().as_str(),
        "phase": phase.name,
        "stored": phase.stored,
        "is_over": phase.terminal,
        "doc": phase.doc,
        "cause": raw.last_edge().map(|edge| edge.doc),
        "waiting": failure.is_some().then(|| next_action::waiting(program, held)),
        "failure": failure,
        "caveats": caveats.join(" "),
        "next": next.map(|next| next.next),
        "commands": possible_commands(raw),
        "program": program.info.program,
    });
    let rendered = TURN_END.render(&facts);
    let note = rendered.unwrap_or_else(|error| error.to_string());
    note.trim_end().to_owned()
}

/// Returns why the last review gave no verdict, if the newest edge leaves a reviewing phase.
fn last_failure(raw: &Raw) -> Option<String> {
    let edge = raw.last_edge()?;
    let behaviour = raw.table().phases[edge.from].on_stop.as_ref()?;
    // The run belongs to the visit that this edge ended.
    rounds::failure(raw).filter(|_| behaviour.name == "review")
}

/// Returns the help of a refusal: nothing was changed, and the commands that are open now.
pub fn unchanged(raw: &Raw) -> String {
    let phase = raw.phase_info();
    let name = phase.name;
    if phase.terminal {
        return format!("nothing was changed; the loop is {name}");
    }
    let commands = possible_commands(raw);
    if commands.is_empty() {
        return format!(
            "nothing was changed; the loop is in phase {name}, where no command changes it"
        );
    }
    format!("nothing was changed; possible in phase {name}:{commands}")
}

/// Returns the commands that change a loop now: the answer to its question, and open transitions.
fn possible_commands(raw: &Raw) -> String {
    let behaviour = raw.phase_info().on_stop.as_ref();
    let asks = behaviour.is_some_and(|one| one.name == "ask");
    let mut commands = Vec::from_iter(asks.then(|| loop_message::answer_line(raw)));
    let verbs = loop_message::available_verbs(raw);
    commands.extend(verbs.into_iter().map(|verb| verb.command));
    text::command_lines(&commands)
}

/// Returns the last message to the agent: of the edge that led to the phase, or else of the phase.
pub(super) fn last(raw: &Raw) -> Option<Message> {
    let edge = entered_by(raw);
    edge.and_then(|edge| edge.effective_message(raw.table()))
        .or(raw.phase_info().message)
}

/// Prints the last message to the agent, in a session whose next stop will not repeat it.
pub(super) fn print_last(program: &Program, held: &dyn LoopHandle) {
    let raw = held.raw();
    let behaviour = raw.phase_info().on_stop.as_ref();
    let is_given_once = behaviour.is_some_and(|one| ["approve", "ask"].contains(&one.name));
    if is_given_once && Caller::from_env().session.is_some() {
        program.print(held, last(raw), Variables::new(), false);
    }
}

/// Returns the edge by which the loop last entered its phase from another one.
fn entered_by(raw: &Raw) -> Option<EdgeAt> {
    let journal = raw.journal().ok()?;
    let changes = journal.iter().rev().filter_map(Entry::change);
    let mut edges = changes.flat_map(|change| rounds::edges_of(raw.table(), change));
    edges.find(|edge| edge.from != edge.to && edge.to == raw.phase())
}
