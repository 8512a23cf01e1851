//! Whether a stop drives its loop at all: what the client says of the turn that ends, and what the hooks noted about it.

use super::caller::UNKNOWN;
use super::info::ProgramInfo;
use crate::hooks::input::Input;
use crate::hooks::turns::{Turns, Wait};
use crate::machine::{Actor, Raw};
use crate::store::{Entry, StateHome};

/// What a turn's end means for the loop.
pub(super) enum Turn {
    /// The stop drives the loop.
    GoesOn {
        /// A sentence for the user.
        note: Option<String>,
    },
    /// The turn ends, and the loop stays as it is.
    Ends {
        /// The reason for the folder's log.
        why: &'static str,
    },
}

/// Returns what the end of this turn means for a loop.
pub(super) fn look(info: &ProgramInfo, input: &Input, raw: &Raw) -> Turn {
    let home = StateHome::of_user(info.program);
    let session = input.session_id.as_deref().unwrap_or(UNKNOWN);
    let before = home.folder().and_then(|home| Turns::of(session, home));
    let mut turns = before.clone().unwrap_or_default();
    let wait = turns.wait(&awaited_tasks(info, input, raw));
    if let Some(home) = home.folder()
        && before.as_ref() != Some(&turns)
        && let Err(error) = turns.keep(session, home)
    {
        let id = raw.id();
        raw.store()
            .log(&format!("{id} cannot note the turn: {error}"));
    }

    match wait {
        Wait::Waits => Turn::Ends {
            why: "its review or a helper of the agent is at work",
        },
        // The turn was let end, and another Stop hook held it. Its blocks are none of our loop's: a reminder, or the
        // next try of what has just failed twice, is for a turn of the user's.
        _ if input.stop_hook_active == Some(true) && has_let_turn_end(raw) => Turn::Ends {
            why: "it was let end before, and another hook held it",
        },
        Wait::GivesUp => Turn::GoesOn {
            note: Some(format!(
                "three stops have waited for the same background task, so loop {} goes on while that runs",
                raw.id()
            )),
        },
        Wait::GoesOn => Turn::GoesOn { note: None },
    }
}

/// Returns whether no hook has noted anything about the session before. It is noted now.
pub(super) fn is_new_session(info: &ProgramInfo, input: &Input) -> bool {
    let home = StateHome::of_user(info.program);
    let (Some(session), Some(home)) = (input.session_id.as_deref(), home.folder()) else {
        return true;
    };
    let is_new = Turns::of(session, home).is_none();
    // What cannot be noted is told again.
    let _ = is_new.then(|| Turns::default().keep(session, home));
    is_new
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
        && table.edges.iter().any(|edge| {
            edge.transition == change.what
                && Some(table.phases[edge.from].stored) == from
                && Some(table.phases[edge.to].stored) == to
                && edge.lets_turn_end(table)
        })
}
