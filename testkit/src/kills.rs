//! Kill points: a program that dies before any of its changes of files leaves a loop that goes on, as if the call had
//! not begun or had ended. The same call then does the rest.

use std::io;

use crate::project::Output;
use crate::report::{Wrong, at, ensure};
use crate::walk::{Move, State, Step, Walk};

/// The exit code that a shell around the program makes of a `SIGKILL`.
const KILLED_EXIT_CODE: i32 = 137;

/// Kills a start, a stop and a verb.
pub(crate) fn run(walk: &Walk) -> Result<String, Wrong> {
    let start = |number| {
        walk.restore_first()?;
        walk.start(0, Some(number))
    };
    let mut calls = 1;
    // The loop exists, or the same start creates it.
    let mut kills = everywhere(start, || {
        let output = walk.start(0, None)?;
        let exists = !walk.loops()?.is_empty();
        ensure!(
            exists,
            "the loop does not exist, and cannot be started: {output}"
        );
        Ok(())
    })?;
    for is_verb in [false, true] {
        let is_wanted = |step: &Step| {
            matches!(step.one, Move::Verb { .. }) == is_verb && step.transition.is_some()
        };
        let mut steps = walk
            .states
            .iter()
            .filter_map(|state| Some((state, state.step.as_ref()?)));
        if let Some((state, step)) = steps.find(|(_, step)| is_wanted(step)) {
            let call = |number| {
                walk.restore(step.from)?;
                walk.make(&state.held, &step.one, Some(number))
            };
            calls += 1;
            kills += everywhere(call, || goes_on(walk, state, step)).map_err(at(&state.path))?;
        }
    }
    if kills == 0 {
        let help = "give the kit a program with debug assertions";
        return Ok(format!(
            "left out: a release build has no kill points; {help}"
        ));
    }
    Ok(format!("{calls} calls were killed at {kills} points"))
}

/// Kills a call at each of its kill points, and checks the state after it. Returns how often.
fn everywhere(
    call: impl Fn(usize) -> io::Result<Output>,
    check: impl Fn() -> Result<(), Wrong>,
) -> Result<usize, Wrong> {
    let mut kills = 0;
    loop {
        let number = kills + 1;
        let output = call(number)?;
        if !matches!(output.code, None | Some(KILLED_EXIT_CODE)) {
            return Ok(kills);
        }
        check().map_err(at(format!("killed at change {number}")))?;
        kills += 1;
    }
}

/// Checks that the transition was taken, or is taken by the same call.
fn goes_on(walk: &Walk, state: &State, step: &Step) -> Result<(), Wrong> {
    let before = &walk.states[step.from].journal;
    // The first command repairs, and prints that.
    let mut output = walk.project.person(&["status", &state.held.id])?;
    let is_edited = state.held.folder.join("replaced-1").exists();
    ensure!(!is_edited, "a kill counts as an edit by hand: {output}");
    if walk.edge_since(&state.held, before)?.is_none() {
        output = walk.make(&state.held, &step.one, None)?;
    }
    let edge = walk.edge_since(&state.held, before)?;
    let found = edge.as_ref().and_then(|edge| edge["what"].as_str());
    ensure!(
        found == step.transition.as_deref(),
        "expected {:?} afterwards, found {found:?}: {output}",
        step.transition
    );
    walk.check(&state.held)
}
