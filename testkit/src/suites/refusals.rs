//! Refused calls change nothing: verbs that are not open in this phase or to this actor, and stops of others.

use std::collections::HashSet;

use crate::kit::Setup;
use crate::machine::Actor;
use crate::project::{SESSION, feed};
use crate::report::{Wrong, at, ensure};
use crate::scratch::{Loop, Move, shown};

use super::walk::{RESUME, State};

/// Tries what each phase refuses, without a review and with one.
pub(super) fn run(setup: &Setup) -> Result<String, Wrong> {
    let mut tried = 0;
    let mut known = HashSet::new();
    for state in &setup.walk()?.states {
        if known.insert((&state.phase, state.journal.is_reviewed)) {
            let held = Loop::begin(setup, &state.path)?;
            let calls = verbs(&held, state).and_then(|calls| Ok(calls + foreign_stops(&held)?));
            tried += calls.map_err(at(shown(&state.path)))?;
        }
    }
    Ok(format!("{tried} calls were refused and changed nothing"))
}

/// Tries every verb that is not open, and returns how many calls that were.
fn verbs(held: &Loop<'_>, state: &State) -> Result<usize, Wrong> {
    let mut tried = 0;
    for (transition, entries) in &held.setup.machine.transitions {
        if transition == RESUME || !entries[0].is_plain_verb() {
            continue;
        }
        for by in [Actor::Agent, Actor::Person] {
            // Whether its guard holds is not for the kit to say.
            let may_be_open = entries.iter().any(|one| {
                let has_evidence = state.journal.is_reviewed || one.requires.is_none();
                one.leaves(&state.phase) && one.by.contains(&by) && has_evidence
            });
            if may_be_open {
                continue;
            }
            let transition = transition.clone();
            let one = Move::Verb { transition, by };
            let output = held.unchanged(|| held.make(&one, None)).map_err(at(&one))?;
            ensure!(
                output.code != Some(0),
                "{one} is not open, and exits with 0"
            );
            tried += 1;
        }
    }
    Ok(tried)
}

/// Makes stops that are not those of the loop's agent, and returns how many calls that were.
fn foreign_stops(held: &Loop<'_>) -> Result<usize, Wrong> {
    let session = held.setup.machine.holder("session").unwrap_or_default();
    // A loop that no session has taken yet belongs to any.
    if held.journal()?.fields().get(session) != Some(&SESSION.into()) {
        return Ok(0);
    }
    let others = [
        ("another session", "session_id", ""),
        ("a subagent", "agent_id", ""),
        ("a reviewer", "other", "1"),
    ];
    for (whose, key, mark) in others {
        let mut event = held.project.event(SESSION);
        event[key] = "another".into();
        let mut command = held.project.command(&["hook", "stop"]);
        command.env("CLAUDEX_REVIEWER_CHILD", mark);
        let stop = || feed(command, event.to_string().as_bytes());
        let place = format!("a stop of {whose}");
        let output = held.unchanged(stop).map_err(at(&place))?;
        ensure!(!output.holds()?, "{place} was held: {output}");
    }
    Ok(others.len())
}
