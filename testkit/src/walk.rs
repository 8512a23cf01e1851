//! The walks: every way that the search found, taken through the program, and at each new phase everything that is refused there.

use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::error::{Failure, Suite};
use crate::kit::Setup;
use crate::report::Report;
use crate::runs::Loop;
use crate::search::{Act, Step, Way};
use crate::suites::{at_once, refusals};

/// The longest wait that a walk makes, in seconds.
const LONGEST: u64 = 5;

/// What is counted, by several walks at once.
#[derive(Default)]
struct Counts {
    steps: AtomicUsize,
    refusals: AtomicUsize,
    taken: Mutex<HashSet<usize>>,
    /// The phases at which refusals were tried.
    refused: Mutex<HashSet<String>>,
}

/// Walks all ways.
pub(crate) fn run(setup: &Setup, ways: &[Way], report: &mut Report, failures: &mut Vec<Failure>) {
    let counts = Counts::default();
    let (short, long): (Vec<&Way>, Vec<&Way>) =
        ways.iter().partition(|way| waits(&way.steps) <= LONGEST);
    at_once(&short, failures, |way| walk(setup, way, &counts));
    let (steps, refused) = (counts.steps.into_inner(), counts.refusals.into_inner());
    let (all, taken) = (setup.machine.edges().len(), counts.taken.into_inner());
    let taken = taken.unwrap_or_default().len();
    report.edges = (all, taken);
    let said = format!(
        "{} walks of {steps} steps took {taken} of {all} edges",
        short.len()
    );
    report.tried(Suite::Walks, said);
    if !long.is_empty() {
        let why = format!("{} walks wait longer than {LONGEST} s", long.len());
        report.left_out(Suite::Walks, why);
    }
    let said = format!("{refused} calls were refused and changed nothing");
    report.tried(Suite::Refusals, said);
}

/// Returns how many seconds some steps wait.
pub(crate) fn waits(steps: &[Step]) -> u64 {
    let seconds = steps.iter().map(|step| match step.act {
        Act::Wait(seconds) => seconds,
        _ => 0,
    });
    seconds.sum()
}

fn walk(setup: &Setup, way: &Way, counts: &Counts) -> Result<(), Failure> {
    let mut held = Loop::begin(setup, way)?;
    refuse(&mut held, counts)?;
    for step in &way.steps {
        held.promise(Suite::Walks, |held| held.step(step))?;
        counts.steps.fetch_add(1, Ordering::Relaxed);
        if let (Some(edge), Ok(mut taken)) = (step.edge, counts.taken.lock()) {
            taken.insert(edge);
        }
        refuse(&mut held, counts)?;
    }
    held.promise(Suite::Walks, |held| held.check())
}

/// Tries what is refused, once for each phase and verdict; where everything is tried, for each state.
fn refuse(held: &mut Loop<'_>, counts: &Counts) -> Result<(), Failure> {
    let state = &held.state;
    let values = if held.setup.given.whole {
        format!("{:?}", state.values)
    } else {
        String::new()
    };
    let key = format!("{} {:?} {values}", state.phase, state.visit);
    let new = counts
        .refused
        .lock()
        .is_ok_and(|mut refused| refused.insert(key));
    if new {
        let tried = held.promise(Suite::Refusals, |held| refusals::run(held))?;
        counts.refusals.fetch_add(tried, Ordering::Relaxed);
    }
    Ok(())
}
