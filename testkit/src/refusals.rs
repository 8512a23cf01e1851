//! Refused calls change nothing: verbs that are not open in this phase or to this actor, and stops of others.

use std::collections::HashSet;

use claudex_build::model::{Actor, Held};

use crate::project::{SESSION, feed};
use crate::report::{Wrong, at, ensure};
use crate::walk::{Move, State, Walk};

/// Tries the calls that each state refuses, unless another state was like it.
pub(crate) fn run(walk: &Walk) -> Result<String, Wrong> {
    let mut refused = 0;
    let mut known = HashSet::new();
    for (index, state) in walk.states.iter().enumerate() {
        if known.insert((state.phase, state.journal.is_reviewed)) {
            walk.restore(index)?;
            refused += verbs(walk, state).map_err(at(&state.path))?;
            refused += foreign_stops(walk, state).map_err(at(&state.path))?;
        }
    }
    Ok(format!("{refused} calls were refused and changed nothing"))
}

/// Tries every verb that is not open, and returns how many calls that were.
fn verbs(walk: &Walk, state: &State) -> Result<usize, Wrong> {
    let mut tried = 0;
    for (transition, edges) in walk.verbs() {
        for by in Actor::ALL {
            // The kit does not know whether its guard holds.
            let may_be_open = edges.iter().any(|edge| {
                let has_evidence = state.journal.is_reviewed || edge.declared.requires.is_none();
                let mut actors = edge.declared.by.iter();
                edge.from == state.phase && actors.any(|one| one.value == *by) && has_evidence
            });
            if may_be_open {
                continue;
            }
            let verb = Move::Verb {
                transition: transition.to_owned(),
                by: by.word(),
            };
            let call = || walk.make(&state.held, &verb, None);
            let output = state.held.unchanged(call).map_err(at(&verb))?;
            ensure!(
                output.code != Some(0),
                "{verb} is not open, and exits with 0"
            );
            tried += 1;
        }
    }
    Ok(tried)
}

/// Makes stops that are not those of the loop's agent, and returns how many calls that were.
fn foreign_stops(walk: &Walk, state: &State) -> Result<usize, Wrong> {
    let project = &walk.project;
    let session = walk.machine.holder(Held::Session).unwrap_or_default();
    // A loop that no session has taken yet belongs to any.
    if state.journal.field(session) != SESSION {
        return Ok(0);
    }
    let others = [
        ("another session", "session_id", ""),
        ("a subagent", "agent_id", ""),
        ("a reviewer", "other", "1"),
    ];
    for (actor, key, mark) in others {
        let mut event = project.event();
        event[key] = "another".into();
        let mut command = project.command(&["hook", "stop"]);
        command.env("CLAUDEX_REVIEWER_CHILD", mark);
        let stop = || feed(command, event.to_string().as_bytes());
        let place = format!("a stop of {actor}");
        let output = state.held.unchanged(stop).map_err(at(&place))?;
        ensure!(!output.holds()?, "{place} was held: {output}");
    }
    Ok(others.len())
}
