//! The message that the agent got last in a loop's phase, for a session that does not have it.

use super::builder::Program;
use super::caller::Caller;
use super::extension::Variables;
use super::settings::Settings;
use super::{display, messages, out};
use crate::machine::{EdgeAt, LoopHandle, Raw};
use crate::store::Entry;

/// Renders the message again: that of the edge that led to the phase, or else that of the phase.
pub(super) fn render(program: &Program, held: &dyn LoopHandle) -> Option<String> {
    let raw = held.raw();
    // Without usable settings the message lacks the personas' names. The next stop reports the problem.
    let settings = Settings::load_or_usual(program.info, raw.store().root());
    let message = entered_by(raw)
        .and_then(|edge| edge.words(raw.table()))
        .or(messages::phase(raw).message);
    program
        .render(held, message, &settings, Variables::new())
        .ok()
        .flatten()
}

/// Prints the message in a session whose next stop will not give it again.
pub(super) fn print(program: &Program, held: &dyn LoopHandle) {
    let behaviour = messages::phase(held.raw()).on_stop.as_ref();
    let is_given_once = behaviour.is_some_and(|one| ["approve", "ask"].contains(&one.name));
    if !is_given_once || Caller::from_env().session.is_none() {
        return;
    }
    if let Some(text) = render(program, held) {
        out::text(&format!("\n{text}\n"));
    }
}

/// Returns the edge by which the loop last entered its phase from another one.
fn entered_by(raw: &Raw) -> Option<EdgeAt> {
    let journal = raw.journal().ok()?;
    let mut edges = journal
        .iter()
        .rev()
        .filter_map(Entry::change)
        .flat_map(|change| display::edges_of(raw.table(), change));
    edges.find(|edge| edge.from != edge.to && edge.to == raw.phase())
}
