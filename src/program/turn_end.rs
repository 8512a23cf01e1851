//! The end of a turn: whether the stop drives the loop at all.

use super::caller::UNKNOWN;
use super::display;
use super::info::ProgramInfo;
use crate::hooks::input::Event;
use crate::hooks::seen::SessionRecord as _;
use crate::hooks::turns::{Turns, Wait};
use crate::hooks::{Action, Decision, Input};
use crate::machine::{Actor, Raw};
use crate::store::{Entry, StateHome};

/// The slash commands that only show a loop.
const READ_ONLY_COMMANDS: [&str; 3] = ["status", "history", "doctor"];

/// The meaning of a turn's end for its loop.
pub(super) struct TurnEnd {
    /// The reason why the loop stays as it is, for the folder's log, or `None` if the stop drives the loop.
    pub(super) stays: Option<&'static str>,
    /// A sentence for the user.
    pub(super) note: Option<String>,
}

/// Returns the meaning of a turn's end for a loop.
pub(super) fn look(info: &ProgramInfo, input: &Input, raw: &Raw) -> TurnEnd {
    let id = raw.id();
    // The client wakes the agent when a background task ends. A shell counts if it runs the loop's review.
    let calls = [
        format!("{} review", info.program),
        format!("{id}-runner.sh"),
    ];
    let tasks = input.awaited_tasks(|command| {
        calls.iter().any(|call| command.contains(call)) && raw.store().is_running(id)
    });
    let mut wait = Wait::GoesOn;
    let turns = update(info, input, |turns| wait = turns.wait(&tasks));
    let (stays, note) = if raw.store().is_paused(id) {
        let resume = info.command(&format!("resume {id}"));
        let note = format!("loop {id} is paused. To continue it:{resume}");
        (Some("it is paused"), Some(note))
    } else if turns.looks_after_interruption() {
        let note = format!(
            "loop {id} stays as it is, because the turn before was interrupted. Your next prompt continues it"
        );
        let reason = "the turn only looked at it, after one that was interrupted";
        (Some(reason), Some(note))
    } else if wait == Wait::Waits {
        (Some("its review or a helper of the agent is running"), None)
    } else if input.stop_hook_active == Some(true) && has_let_turn_end(raw) {
        // Our next reminder or retry is for the user's turn.
        let reason = "it let the turn end before, and another hook held it";
        (Some(reason), None)
    } else if wait == Wait::GivesUp {
        let note = format!(
            "three stops have waited for the same background task, so loop {id} goes on while that runs"
        );
        (None, Some(note))
    } else {
        (None, None)
    };
    TurnEnd { stays, note }
}

/// Records that a prompt came.
pub(super) fn record_prompt(info: &ProgramInfo, input: &Input) {
    // UserPromptExpansion is about the same prompt as a UserPromptSubmit.
    if input.event != Some(Event::UserPromptSubmit) || input.is_subagent() {
        return;
    }
    let prompt = input.prompt.as_deref().unwrap_or_default();
    let command = info
        .plugin
        .and_then(|plugin| prompt.strip_prefix(&format!("/{plugin}:")))
        .and_then(|rest| rest.split_whitespace().next());
    let only_looks = command.is_some_and(|command| READ_ONLY_COMMANDS.contains(&command));
    update(info, input, |turns| turns.begin(only_looks));
}

/// Records a stop that a loop has answered.
pub(super) fn record_stop(info: &ProgramInfo, input: &Input, decision: &Decision) {
    let goes_on = decision.action != Action::Approve;
    update(info, input, |turns| turns.end(goes_on));
}

/// Changes the record of the turns of the input's session, and returns it. It is not kept if the state home cannot be written;
/// `doctor` says so.
fn update(info: &ProgramInfo, input: &Input, change: impl FnOnce(&mut Turns)) -> Turns {
    let state_home = StateHome::of_user(info.program);
    let home = state_home.folder();
    let session = input.session_id.as_deref().unwrap_or(UNKNOWN);
    let before = home.and_then(|home| Turns::load(session, home));
    let mut turns = before.unwrap_or_default();
    change(&mut turns);
    let _ = home.map(|home| turns.keep(session, home));
    turns
}

/// Returns whether the newest journal entry is an edge by which the hook let the turn end. A review that has run since, or
/// any other entry, is new.
fn has_let_turn_end(raw: &Raw) -> bool {
    let table = raw.table();
    let journal = raw.recent().unwrap_or_default();
    let newest = journal.last().and_then(Entry::change);
    newest.is_some_and(|change| {
        let mut edges = display::edges_of(table, change).into_iter();
        change.by == Actor::Hook.to_string() && edges.any(|edge| edge.lets_turn_end(table))
    })
}
