//! Whether a stop drives its loop at all: what the client says of the turn that ends, and what the hooks noted about it.

use super::caller::UNKNOWN;
use super::info::ProgramInfo;
use crate::hooks::input::Event;
use crate::hooks::seen::SessionRecord as _;
use crate::hooks::turns::{Turns, Wait};
use crate::hooks::{Action, Decision, Input};
use crate::machine::{Actor, Raw};
use crate::store::{Entry, StateHome};

/// The slash commands that only look at a loop.
const LOOKS: [&str; 3] = ["status", "history", "doctor"];

/// What a turn's end means for the loop.
pub(super) struct Turn {
    /// Why the turn ends and the loop stays as it is, for the folder's log; `None` if the stop drives the loop.
    pub(super) ends: Option<&'static str>,
    /// A sentence for the user.
    pub(super) note: Option<String>,
}

/// Returns what the end of this turn means for a loop.
pub(super) fn look(info: &ProgramInfo, input: &Input, raw: &Raw) -> Turn {
    let mut wait = Wait::GoesOn;
    let tasks = awaited_tasks(info, input, raw);
    let noted = note(info, input, |turns| wait = turns.wait(&tasks));
    let id = raw.id();
    let turns = noted.unwrap_or_else(|error| {
        raw.store()
            .log(&format!("{id} cannot note the turn: {error}"));
        Turns::default()
    });

    let (ends, note) = match wait {
        _ if raw.store().is_paused(id) => (
            Some("it is paused"),
            Some(format!(
                "loop {id} is paused. To go on with it:{}",
                info.command(&format!("resume {id}"))
            )),
        ),
        _ if turns.looks_after_interruption() => (
            Some("the turn only looked at it, after one that was interrupted"),
            Some(format!(
                "loop {id} stays as it is, since the turn before was interrupted. Your next prompt goes on with it"
            )),
        ),
        Wait::Waits => (Some("its review or a helper of the agent is at work"), None),
        // The turn was let end, and another Stop hook held it. Its blocks are none of our loop's: a reminder, or the
        // next try of what has just failed twice, is for a turn of the user's.
        _ if input.stop_hook_active == Some(true) && has_let_turn_end(raw) => (
            Some("it was let end before, and another hook held it"),
            None,
        ),
        Wait::GivesUp => (
            None,
            Some(format!(
                "three stops have waited for the same background task, so loop {id} goes on while that runs"
            )),
        ),
        Wait::GoesOn => (None, None),
    };
    Turn { ends, note }
}

/// Notes that a prompt came.
pub(super) fn begin(info: &ProgramInfo, input: &Input) {
    // UserPromptExpansion is about the same prompt as a UserPromptSubmit.
    if input.event != Some(Event::UserPromptSubmit) || input.is_subagent() {
        return;
    }
    let prompt = input.prompt.as_deref().unwrap_or_default();
    let command = info
        .plugin
        .and_then(|plugin| prompt.strip_prefix(&format!("/{plugin}:")))
        .and_then(|rest| rest.split_whitespace().next());
    let only_looks = command.is_some_and(|command| LOOKS.contains(&command));
    let _ = note(info, input, |turns| turns.begin(only_looks));
}

/// Notes a stop that a loop has answered.
pub(super) fn end(info: &ProgramInfo, input: &Input, decision: &Decision) {
    let goes_on = decision.action != Action::Approve;
    let _ = note(info, input, |turns| turns.end(goes_on));
}

/// Changes what is noted about the turns of the input's session, and returns it.
fn note(
    info: &ProgramInfo,
    input: &Input,
    change: impl FnOnce(&mut Turns),
) -> std::io::Result<Turns> {
    let home = StateHome::of_user(info.program);
    let session = input.session_id.as_deref().unwrap_or(UNKNOWN);
    let before = home.folder().and_then(|home| Turns::of(session, home));
    let mut turns = before.unwrap_or_default();
    change(&mut turns);
    if let Some(home) = home.folder() {
        turns.keep(session, home)?;
    }
    Ok(turns)
}

/// Returns the background tasks that the turn has ended for: the client wakes the agent when one of them ends, and stops
/// again then. A shell counts while the loop's review runs, if it is the one that runs it.
fn awaited_tasks<'i>(info: &ProgramInfo, input: &'i Input, raw: &Raw) -> Vec<&'i str> {
    let calls = [
        format!("{} review", info.program),
        format!("{}-runner.sh", raw.id()),
    ];
    input.awaited_tasks(|command| {
        calls.iter().any(|call| command.contains(call)) && raw.store().is_running(raw.id())
    })
}

/// Returns whether the newest journal entry is an edge by which the hook let the turn end. A review that has run since, or
/// any other entry, is news.
fn has_let_turn_end(raw: &Raw) -> bool {
    let table = raw.table();
    let journal = raw.recent().unwrap_or_default();
    let Some(Entry::Change(change)) = journal.last() else {
        return false;
    };
    let (from, to) = (change.from.as_deref(), change.to.as_deref());
    change.by == Actor::Hook.to_string()
        && table.edges().any(|edge| {
            edge.transition == change.what
                && Some(table.phases[edge.from].stored) == from
                && Some(table.phases[edge.to].stored) == to
                && edge.lets_turn_end(table)
        })
}
