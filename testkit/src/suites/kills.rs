//! Kill points: a program that dies before any of its changes of files leaves a loop that goes on, as if the call had
//! not begun or had ended. The same call then does the rest.

use crate::kit::Setup;
use crate::report::{Wrong, at, ensure};
use crate::scratch::{Journal, Loop, Move, first_start, shown};

/// The number of the copy of a project as it is before each kill.
const COPY: usize = 0;
/// The exit code that a shell around the program makes of a `SIGKILL`.
const KILLED_EXIT_CODE: i32 = 137;

/// Kills a start, a stop and a verb.
pub(super) fn run(setup: &Setup) -> Result<String, Wrong> {
    let mut calls = 1;
    let mut kills = kill_start(setup)?;
    let states = &setup.walk()?.states;
    for is_verb in [false, true] {
        let mut taken = states.iter().filter_map(|state| {
            let transition = state.transition.as_deref()?;
            let last = state.path.last();
            let is_wanted = matches!(last, Some(Move::Verb { .. })) == is_verb;
            is_wanted.then_some((&state.path, transition))
        });
        if let Some((path, transition)) = taken.next() {
            calls += 1;
            kills += kill_move(setup, path, transition).map_err(at(shown(path)))?;
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

/// Kills a start. Then the loop exists, or the same start creates it.
fn kill_start(setup: &Setup) -> Result<usize, Wrong> {
    let held = Loop::ready(setup)?;
    let start = first_start(setup);
    everywhere(&held, &start, || {
        let output = held.make(&start, None)?;
        let exists = !held.loops()?.is_empty();
        ensure!(
            exists,
            "the loop does not exist, and cannot be started: {output}"
        );
        Ok(())
    })
}

/// Makes the moves before a call, and kills that call.
fn kill_move(setup: &Setup, path: &[Move], transition: &str) -> Result<usize, Wrong> {
    let last = &path[path.len() - 1];
    let held = Loop::begin(setup, &path[..path.len() - 1])?;
    let before = held.journal()?;
    everywhere(&held, last, || goes_on(&held, &before, last, transition))
}

/// Kills a call at each of its kill points, each time in the same project, and checks what is left. Returns how often.
fn everywhere(
    held: &Loop<'_>,
    one: &Move,
    check: impl Fn() -> Result<(), Wrong>,
) -> Result<usize, Wrong> {
    held.project.keep(COPY)?;
    let mut kills = 0;
    loop {
        held.project.restore(COPY)?;
        let number = kills + 1;
        let output = held.make(one, Some(number))?;
        if !matches!(output.code, None | Some(KILLED_EXIT_CODE)) {
            return Ok(kills);
        }
        check().map_err(at(format!("{one}, killed at change {number}")))?;
        kills += 1;
    }
}

/// Checks that the transition was taken, or is taken by the same call.
fn goes_on(held: &Loop<'_>, before: &Journal, one: &Move, transition: &str) -> Result<(), Wrong> {
    // The first command repairs, and says so.
    let mut output = held.status()?;
    let exists = held.loops()?.iter().any(|it| it["id"] == *held.id);
    ensure!(exists, "`list` does not show the loop any more: {output}");
    let is_edited = held.folder().join(&held.id).join("replaced-1").exists();
    ensure!(!is_edited, "a kill counts as an edit by hand: {output}");
    if held.edge_after(before)?.is_none() {
        output = held.make(one, None)?;
    }
    let edge = held.edge_after(before)?;
    ensure!(
        edge.is_some_and(|edge| edge["what"] == *transition),
        "`{transition}` was not taken afterwards: {output}"
    );
    held.check()
}
