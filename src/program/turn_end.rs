//! The note for the user about a turn that may end after an edge.

use serde_json::json;

use super::app::Program;
use super::last_message::is_given_once;
use super::{next_action, rounds};
use crate::machine::{EdgeAt, LoopHandle, PhaseDeclaration as _};
use crate::message::{Message, Render as _};
use crate::template;

const TURN_END: Message = template!("turn_end.txt");

/// Returns the note, or `None` if the block before is enough. `caveats` are sentences.
pub(super) fn note(
    program: &Program,
    held: &dyn LoopHandle,
    edge: EdgeAt,
    was_asked: bool,
    caveats: &[String],
) -> Option<String> {
    let raw = held.raw();
    let phase = raw.phase_info();
    let before = &raw.table().phases[edge.from];
    if is_given_once(before) && !was_asked && caveats.is_empty() {
        return None;
    }
    let mut next = program.extension.next_action(held);
    if next.is_none() && phase.review().is_some() {
        next = Some(next_action::describe(program, held));
    }
    // The run belongs to the visit that this edge ended.
    let failure = rounds::failure(raw).filter(|_| before.review().is_some());
    let facts = json!({
        "id": raw.id().as_str(),
        "phase": phase.name,
        "is_over": phase.terminal,
        "doc": phase.doc,
        "cause": edge.doc,
        "waiting": failure.is_some().then(|| next_action::waiting(program, held)),
        "failure": failure,
        "caveats": caveats.join(" "),
        "next": next.map(|next| next.next),
        "commands": next_action::possible_commands(raw),
        "again": program.extension.refusal_help(held, "resume"),
        "program": program.info.program,
    });
    let rendered = TURN_END.render(&facts);
    let note = rendered.unwrap_or_else(|error| error.to_string());
    Some(note.trim_end().to_owned())
}
