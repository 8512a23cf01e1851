//! A crowd of sixteen: of starts one wins if a project has one active loop, and each stop builds on the one before.

use std::io;

use crate::kit::Setup;
use crate::project::Output;
use crate::report::{Wrong, ensure};
use crate::scratch::{Loop, first_start};

const CROWD: usize = 16;

/// Stops sixteen times at once, and starts sixteen loops at once.
pub(super) fn run(setup: &Setup) -> Result<String, Wrong> {
    let changes = stops(&Loop::started(setup)?)?;
    let started = starts(&Loop::ready(setup)?)?;
    Ok(format!(
        "{CROWD} stops made {changes} changes, and {started} of {CROWD} starts passed"
    ))
}

fn stops(held: &Loop<'_>) -> Result<usize, Wrong> {
    let mut blocks = 0;
    for output in at_once(|| held.project.stop())? {
        blocks += usize::from(output.holds()?);
    }
    let journal = held.journal()?;
    let edges = journal.edges(1).len();
    ensure!(
        blocks <= edges,
        "{blocks} stops hold the agent, and {edges} took an edge"
    );
    for (pair, revision) in journal.changes.windows(2).zip(2..) {
        let is_next = pair[1]["revision"] == revision && pair[1]["from"] == pair[0]["to"];
        ensure!(
            is_next,
            "this change does not follow the one before: {}",
            pair[1]
        );
    }
    held.check()?;
    Ok(journal.changes.len() - 1)
}

fn starts(held: &Loop<'_>) -> Result<usize, Wrong> {
    let start = first_start(held.setup);
    let outputs = at_once(|| held.make(&start, None))?;
    let started = outputs.iter().filter(|output| output.code == Some(0));
    let started = started.count();
    let loops = held.loops()?.len();
    let state = &held.setup.machine.state;
    let is_many = state.allows_many() && !state.has_named_ids();
    let wanted = if is_many { CROWD } else { 1 };
    ensure!(
        started == wanted && loops == wanted,
        "expected {wanted} of {CROWD} starts to pass: {started} did, and there are {loops} loops"
    );
    Ok(wanted)
}

fn at_once(call: impl Fn() -> io::Result<Output> + Sync) -> io::Result<Vec<Output>> {
    std::thread::scope(|scope| {
        let running: Vec<_> = (0..CROWD).map(|_| scope.spawn(&call)).collect();
        let outputs = running.into_iter().filter_map(|one| one.join().ok());
        outputs.collect()
    })
}
