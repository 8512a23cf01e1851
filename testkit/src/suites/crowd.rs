//! Sixteen at once: of starts one wins where one loop may be under way, and of stops each finds what the one before wrote.

use std::io;

use claudex_build::model::{Active, IdForm};

use super::Said;
use super::input::answer;
use crate::error::Wrong;
use crate::project::Output;
use crate::runs::Loop;
use crate::search::Way;

const CROWD: usize = 16;

/// Stops sixteen times at once, and starts sixteen loops at once.
pub(crate) fn run(held: &mut Loop<'_>, way: &Way) -> Result<Said, Wrong> {
    let changes = stops(held)?;
    *held = Loop::prepared(held.setup, way)?;
    let started = starts(held, way)?;
    let said = format!("{CROWD} stops made {changes} changes, and {CROWD} starts {started}");
    Ok(Said::Tried(said))
}

fn stops(held: &Loop<'_>) -> Result<usize, Wrong> {
    let mut blocks = 0;
    for said in &at_once(|| held.project.stop())? {
        blocks += usize::from(answer(said)?["decision"] == "block");
    }
    let changes = held.journal()?.changes;
    let taken = changes
        .iter()
        .skip(1)
        .filter(|change| change["what"] != "bind")
        .count();
    if blocks > taken {
        return Err(format!("{blocks} stops hold the agent, and {taken} took an edge").into());
    }
    for (pair, at) in changes.windows(2).zip(2..) {
        let [before, after] = pair else { continue };
        if after["revision"] != at || after["from"] != before["to"] {
            return Err(format!(
                "change {at} of the journal does not follow the one before: {after}"
            )
            .into());
        }
    }
    let verified = held.project.person(&["journal", &held.id, "--verify"])?;
    if verified.code != Some(0) {
        return Err(format!("`journal --verify` says: {}", verified.short()).into());
    }
    Ok(changes.len() - 1)
}

fn starts(held: &Loop<'_>, way: &Way) -> Result<usize, Wrong> {
    let (line, by) = held.start_line(way, "kit_1");
    let line: Vec<&str> = line.iter().map(String::as_str).collect();
    let said = at_once(|| held.by(by, &line))?;
    let started = said.iter().filter(|said| said.code == Some(0)).count();
    let state = &held.setup.machine.state;
    let one = state.active.value != Active::Many || state.ids.value == IdForm::Name;
    let (wanted, loops) = (if one { 1 } else { CROWD }, held.ids().len());
    if started != wanted || loops != wanted {
        let what = format!(
            "{wanted} of {CROWD} starts was to pass, {started} did, and there are {loops} loops"
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
