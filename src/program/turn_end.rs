//! The end of a turn: whether the stop drives the loop at all.

use super::caller::UNKNOWN;
use super::display;
use super::info::ProgramInfo;
use crate::hooks::Input;
use crate::hooks::seen::SessionRecord as _;
use crate::hooks::waits::{Wait, Waits};
use crate::machine::{Actor, Raw};
use crate::store::{Entry, StateHome};

/// The meaning of a turn's end for its loop.
#[derive(Default)]
pub(super) struct TurnEnd {
    /// The reason why the loop stays as it is, for the folder's log, or `None` if the stop drives the loop.
    pub(super) stays: Option<&'static str>,
    /// A sentence for the user.
    pub(super) note: Option<String>,
}

impl TurnEnd {
    fn stays(reason: &'static str) -> Self {
        Self {
            stays: Some(reason),
            note: None,
        }
    }
}

/// Returns the meaning of a turn's end for a loop.
pub(super) fn look(info: &ProgramInfo, input: &Input, raw: &Raw) -> TurnEnd {
    let id = raw.id();
    let wait = count_wait(info, input, raw);
    if raw.store().is_paused(id) {
        let resume = info.command(&format!("resume {id}"));
        return TurnEnd {
            note: Some(format!("loop {id} is paused. To continue it:{resume}")),
            ..TurnEnd::stays("it is paused")
        };
    }
    if wait == Wait::Waits {
        return TurnEnd::stays("its review or a helper of the agent is running");
    }
    // Our next reminder or retry is for the user's turn.
    if input.stop_hook_active == Some(true) && has_let_turn_end(raw) {
        return TurnEnd::stays("it let the turn end before, and another hook held it");
    }
    let note = (wait == Wait::GivesUp).then(|| {
        format!(
            "three stops have waited for the same background task, so loop {id} goes on while that runs"
        )
    });
    TurnEnd { stays: None, note }
}

/// Adds this stop to the count for the background tasks that its agent waits for. The count is not kept if the state home cannot be written;
/// `doctor` says so.
fn count_wait(info: &ProgramInfo, input: &Input, raw: &Raw) -> Wait {
    // The client wakes the agent when a background task ends. A shell counts if it runs the loop's review.
    let calls = [
        format!("{} review", info.program),
        format!("{}-runner.sh", raw.id()),
    ];
    let tasks = input.awaited_tasks(|command| {
        calls.iter().any(|call| command.contains(call)) && raw.store().is_running(raw.id())
    });
    let state_home = StateHome::of_user(info.program);
    let home = state_home.folder();
    let session = input.session_id.as_deref().unwrap_or(UNKNOWN);
    let before = home.and_then(|home| Waits::load(session, home));
    let mut waits = before.unwrap_or_default();
    let wait = waits.count(&tasks);
    let _ = home.map(|home| waits.keep(session, home));
    wait
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
