//! Kill points: a program that dies before any of its changes of files leaves a loop that goes on, as if the call had
//! not begun or had ended. The same call then does the rest.
//!
//! A build with debug assertions kills itself before the Nth change if `CLAUDEX_KILL_AT` is N.

use std::collections::HashSet;

use serde_json::Value as Json;

use crate::error::{Failure, Suite, Wrong};
use crate::kit::Setup;
use crate::report::Report;
use crate::run::{Call, Journal, Loop, Move};
use crate::walk::Taken;

const KILL_AT: &str = "CLAUDEX_KILL_AT";
/// The number of the copy of a project as it is before each kill.
const COPY: usize = 0;
/// What a shell around the program makes of a `SIGKILL`.
const KILLED_EXIT_CODE: i32 = 137;

/// Kills a start, a stop and a verb; in the whole set one call for each transition.
pub(crate) fn run(
    setup: &Setup,
    taken: &[Taken],
    report: &mut Report,
    failures: &mut Vec<Failure>,
) {
    let mut seen = HashSet::new();
    let mut jobs: Vec<Option<&Taken>> = vec![None];
    for one in taken {
        let kind = match one.path.last() {
            _ if setup.kit.whole => &one.transition,
            Some(Move::Verb { .. }) => "a verb",
            _ => "a stop",
        };
        if seen.insert(kind) {
            jobs.push(Some(one));
        }
    }
    let killed = std::thread::scope(|scope| {
        let kill = |job: &Option<&Taken>| match job {
            Some(taken) => kill_move(setup, taken),
            None => kill_start(setup),
        };
        let running = jobs.iter().map(|job| scope.spawn(move || kill(job)));
        let running: Vec<_> = running.collect();
        let ended = running.into_iter().filter_map(|one| one.join().ok());
        ended.collect::<Vec<_>>()
    });
    let mut kills = 0;
    for one in killed {
        match one {
            Ok(count) => kills += count,
            Err(failure) => failures.push(failure),
        }
    }
    if kills == 0 && failures.is_empty() {
        let why =
            "a release build has no kill points; give the kit a program with debug assertions";
        report.left_out.push((Suite::Kills, why.to_owned()));
        return;
    }
    let said = format!("{} calls were killed at {kills} points", jobs.len());
    report.tried.push((Suite::Kills, said));
}

/// Kills a start. Then the loop exists, or the same start creates it.
fn kill_start(setup: &Setup) -> Result<usize, Failure> {
    let ready = Loop::ready(setup);
    let mut held = ready.map_err(|error| Failure::new(Suite::SetUp, "a project", error))?;
    held.promise(Suite::Kills, |held| {
        let start = Move::Start(0);
        held.path = vec![start.to_string()];
        let call = held.call(&start)?;
        everywhere(held, &call, |held| {
            let said = call.make(&held.project, &[])?;
            let shown = held.project.person(&["status", "--json"])?;
            let shown: Json = serde_json::from_str(&shown.out).unwrap_or_default();
            if shown["loops"][0]["phase"].is_string() {
                return Ok(());
            }
            let said = said.short();
            Err(format!("the loop does not exist, and cannot be started: {said}").into())
        })
    })
}

/// Makes the moves before a call, and kills that call.
fn kill_move(setup: &Setup, taken: &Taken) -> Result<usize, Failure> {
    let Some((last, before)) = taken.path.split_last() else {
        return Ok(0);
    };
    let mut held = Loop::begin(setup, before)?;
    held.promise(Suite::Kills, |held| {
        held.path.push(last.to_string());
        let journal = held.journal()?;
        let call = held.call(last)?;
        everywhere(held, &call, |held| {
            goes_on(held, &journal, &call, &taken.transition)
        })
    })
}

/// Kills a call at each of its kill points, each time in the same project, and checks what is left. Returns how often.
fn everywhere<'k>(
    held: &mut Loop<'k>,
    call: &Call,
    mut check: impl FnMut(&mut Loop<'k>) -> Result<(), Wrong>,
) -> Result<usize, Wrong> {
    held.project.keep(COPY)?;
    let path = held.path.clone();
    for number in 1.. {
        held.project.restore(COPY)?;
        held.path.clone_from(&path);
        held.path.push(format!("killed at change {number}"));
        let said = call.make(&held.project, &[(KILL_AT, &number.to_string())])?;
        if !matches!(said.code, None | Some(KILLED_EXIT_CODE)) {
            return Ok(number - 1);
        }
        check(held)?;
    }
    Ok(0)
}

/// Checks that the transition was taken, or is taken by the same call.
fn goes_on(
    held: &mut Loop<'_>,
    before: &Journal,
    call: &Call,
    transition: &str,
) -> Result<(), Wrong> {
    // The first command repairs, and says so.
    let (looked, shown) = held.status()?;
    if shown["loops"][0]["id"] != *held.id {
        let looked = looked.short();
        return Err(format!("`status` does not show the loop any more: {looked}").into());
    }
    if held.folder().join("quarantine").exists() {
        let looked = looked.short();
        return Err(format!("a kill counts as an edit by hand: {looked}").into());
    }
    let mut said = looked;
    if held.journal()?.edges(before.changes.len()).is_empty() {
        said = call.make(&held.project, &[])?;
    }
    let after = held.journal()?;
    let taken = held.taken(before, &after)?;
    if taken.is_none_or(|change| change["what"] != *transition) {
        let said = said.short();
        return Err(format!("`{transition}` was not taken afterwards: {said}").into());
    }
    held.check()
}
