//! Sixteen at once: of starts one wins where one loop may be under way, and of stops each finds what the one before wrote.

use std::io;

use claudex_build::model::{Active, IdForm};

use super::input::answer;
use crate::error::{Failure, Suite};
use crate::kit::Setup;
use crate::project::Output;
use crate::report::Report;
use crate::runs::Loop;
use crate::search::Way;

const CROWD: usize = 16;

/// Starts sixteen loops at once, and stops sixteen times at once.
pub(crate) fn run(setup: &Setup, way: &Way, report: &mut Report) -> Result<(), Failure> {
    let held = Loop::begin(setup, way)?;
    let said = at_once(&held, || held.project.stop())?;
    for said in &said {
        answer(said).map_err(|what| fail(&held, what))?;
    }
    let journal = held.journal().map_err(|error| fail(&held, error.to_string()))?;
    let mut before = journal.changes.iter();
    for (after, at) in journal.changes.iter().skip(1).zip(2..) {
        let from = before.next().map(|change| &change["to"]);
        if after["revision"] != at || after["from"].as_str() != from.and_then(|to| to.as_str()) {
            return Err(fail(
                &held,
                format!("change {at} of the journal does not follow the one before: {after}"),
            ));
        }
    }
    let verified = held.project.person(&["journal", &held.id, "--verify"]);
    let verified = verified.map_err(|error| fail(&held, error.to_string()))?;
    if verified.code != Some(0) {
        return Err(fail(
            &held,
            format!("`journal --verify` says: {}", verified.short()),
        ));
    }
    let changes = journal.changes.len() - 1;

    let held = Loop::ready(setup, way)?;
    let (line, by) = held.start_line(way, "kit_1");
    let line: Vec<&str> = line.iter().map(String::as_str).collect();
    let started = at_once(&held, || held.by(by, &line))?
        .iter()
        .filter(|said| said.code == Some(0))
        .count();
    let state = &setup.machine.state;
    let one = state.active.value != Active::Many || state.ids.value == IdForm::Name;
    let wanted = if one { 1 } else { CROWD };
    if started != wanted || held.ids().len() != wanted {
        let loops = held.ids().len();
        return Err(fail(
            &held,
            format!(
                "{CROWD} starts at once: {wanted} was to pass, {started} did, and there are {loops} loops"
            ),
        ));
    }
    report.tried.push((
        Suite::Crowd,
        format!("{CROWD} stops made {changes} changes, and {CROWD} starts {wanted}"),
    ));
    Ok(())
}

fn at_once(held: &Loop<'_>, call: impl Fn() -> io::Result<Output> + Sync) -> Result<Vec<Output>, Failure> {
    let all: Vec<_> = std::thread::scope(|scope| {
        let running: Vec<_> = (0..CROWD).map(|_| scope.spawn(&call)).collect();
        running.into_iter().filter_map(|one| one.join().ok()).collect()
    });
    all.into_iter()
        .collect::<io::Result<_>>()
        .map_err(|error| fail(held, error.to_string()))
}

fn fail(held: &Loop<'_>, what: String) -> Failure {
    held.failure(
        Suite::Crowd,
        what,
        "commit under the lock, and compare the revision with the one held",
    )
}
