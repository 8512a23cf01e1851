//! A crowd of sixteen: of starts one wins if a project has one active loop, and each stop builds on the one before.

use std::io;

use super::input::{answer, holds};
use crate::error::Wrong;
use crate::project::Output;
use crate::run::{Loop, Move};

const CROWD: usize = 16;

/// Stops sixteen times at once, and starts sixteen loops at once.
pub(crate) fn run(held: &mut Loop<'_>) -> Result<Option<String>, Wrong> {
    let changes = stops(held)?;
    *held = Loop::ready(held.setup)?;
    let started = starts(held)?;
    let said =
        format!("{CROWD} stops made {changes} changes, and {started} of {CROWD} starts passed");
    Ok(Some(said))
}

fn stops(held: &Loop<'_>) -> Result<usize, Wrong> {
    let mut blocks = 0;
    for said in &at_once(|| held.project.stop())? {
        blocks += usize::from(holds(&answer(said)?));
    }
    let journal = held.journal()?;
    let edges = journal.edges(1).len();
    if blocks > edges {
        return Err(format!("{blocks} stops hold the agent, and {edges} took an edge").into());
    }
    for (pair, revision) in journal.changes.windows(2).zip(2..) {
        let [before, after] = pair else { continue };
        if after["revision"] != revision || after["from"] != before["to"] {
            return Err(format!(
                "change {revision} of the journal does not follow the one before: {after}"
            )
            .into());
        }
    }
    held.check()?;
    Ok(journal.changes.len() - 1)
}

fn starts(held: &Loop<'_>) -> Result<usize, Wrong> {
    let call = held.call(&Move::Start(0))?;
    let said = at_once(|| call.make(&held.project, &[]))?;
    let started = said.iter().filter(|said| said.code == Some(0)).count();
    let state = &held.setup.machine.state;
    let is_many = state.allows_many() && !state.has_named_ids();
    let (wanted, loops) = (if is_many { CROWD } else { 1 }, held.ids().len());
    if started != wanted || loops != wanted {
        let what = format!(
            "expected {wanted} of {CROWD} starts to pass: {started} did, and there are {loops} loops"
        );
        return Err(what.into());
    }
    Ok(wanted)
}

fn at_once(call: impl Fn() -> io::Result<Output> + Sync) -> io::Result<Vec<Output>> {
    std::thread::scope(|scope| {
        let running: Vec<_> = (0..CROWD).map(|_| scope.spawn(&call)).collect();
        running
            .into_iter()
            .filter_map(|one| one.join().ok())
            .collect()
    })
}
