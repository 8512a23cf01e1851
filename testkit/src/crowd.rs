//! A crowd of sixteen: of starts one wins if a project has one active loop, and each stop builds on the one before.

use std::io;

use crate::project::Output;
use crate::report::{Wrong, ensure};
use crate::walk::Walk;

/// The number of calls at once.
const CROWD_SIZE: usize = 16;

/// Stops sixteen times at once, and starts sixteen loops at once.
pub(crate) fn run(walk: &Walk) -> Result<String, Wrong> {
    walk.restore(0)?;
    let mut blocks = 0;
    for output in run_crowd(|| walk.project.stop())? {
        blocks += usize::from(output.holds()?);
    }
    let held = &walk.states[0].held;
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
    walk.check(held)?;

    walk.restore_first()?;
    let outputs = run_crowd(|| walk.start(0, None))?;
    let is_started = |output: &&Output| output.code == Some(0);
    let started = outputs.iter().filter(is_started).count();
    let loops = walk.loops()?.len();
    let state = &walk.json["state"];
    let is_many = state["active"] == "many" && state["ids"] != "name";
    let needed = if is_many { CROWD_SIZE } else { 1 };
    ensure!(
        started == needed && loops == needed,
        "expected {needed} of {CROWD_SIZE} starts to pass: {started} did, and there are {loops} loops"
    );
    let changes = journal.changes.len() - 1;
    Ok(format!(
        "{CROWD_SIZE} stops made {changes} changes, and {needed} of {CROWD_SIZE} starts passed"
    ))
}

fn run_crowd(call: impl Fn() -> io::Result<Output> + Sync) -> io::Result<Vec<Output>> {
    std::thread::scope(|scope| {
        let running: Vec<_> = (0..CROWD_SIZE).map(|_| scope.spawn(&call)).collect();
        let outputs = running.into_iter().filter_map(|one| one.join().ok());
        outputs.collect()
    })
}
