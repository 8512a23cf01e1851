//! The last message to the agent about a loop.

use super::app::Program;
use super::caller::Caller;
use super::extension::Variables;
use super::rounds;
use crate::machine::table::PhaseInfo;
use crate::machine::{EdgeAt, LoopHandle, Raw};
use crate::message::Message;
use crate::store::Entry;

/// Returns the message of the edge that led to the phase, or else of the phase.
pub(super) fn find(raw: &Raw) -> Option<Message> {
    let edge = entered_by(raw);
    edge.and_then(|edge| edge.effective_message(raw.table()))
        .or(raw.phase_info().message)
}

/// Prints the message in a session whose next stop will not repeat it.
pub(super) fn print(program: &Program, held: &dyn LoopHandle) {
    let raw = held.raw();
    if is_given_once(raw.phase_info()) && Caller::from_env().session.is_some() {
        program.print(held, find(raw), Variables::new(), false);
    }
}

/// Returns whether the stops of a phase do not repeat its message.
pub(super) fn is_given_once(phase: &PhaseInfo) -> bool {
    let behaviour = phase.on_stop.as_ref();
    behaviour.is_some_and(|one| ["approve", "ask"].contains(&one.name))
}

/// Returns the edge by which the loop last entered its phase from another one.
fn entered_by(raw: &Raw) -> Option<EdgeAt> {
    let journal = raw.journal().ok()?;
    let changes = journal.iter().rev().filter_map(Entry::change);
    let mut edges = changes.flat_map(|change| rounds::edges_of(raw.table(), change));
    edges.find(|edge| edge.from != edge.to && edge.to == raw.phase())
}
