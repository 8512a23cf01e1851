//! The walks: every way that the search found, taken through the program, and at each new phase everything that is refused there.

use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::error::{Failure, Suite};
use crate::kit::Setup;
use crate::report::Report;
use crate::runs::Loop;
use crate::search::{Act, Way};
use crate::suites::refusals;

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
    failures: Mutex<Vec<Failure>>,
}

/// Walks all ways.
pub(crate) fn run(setup: &Setup, ways: &[Way], report: &mut Report, failures: &mut Vec<Failure>) {
    let counts = Counts::default();
    let next = AtomicUsize::new(0);
    let (short, long): (Vec<&Way>, Vec<&Way>) = ways.iter().partition(|way| waits(way) <= LONGEST);
    let threads = std::thread::available_parallelism().map_or(2, |all| all.get() * 2);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(way) = short.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(failure) = walk(setup, way, &counts) {
                        keep(&counts.failures, failure);
                    }
                }
            });
        }
    });
    let count = |number: &AtomicUsize| number.load(Ordering::Relaxed);
    let taken = counts.taken.into_inner().unwrap_or_default();
    report.edges = (setup.machine.edges().len(), taken.len());
    report.tried.push((
        Suite::Walks,
        format!(
            "{} walks of {} steps took {} of {} edges",
            short.len(),
            count(&counts.steps),
            report.edges.1,
            report.edges.0
        ),
    ));
    if !long.is_empty() {
        let why = format!("{} walks wait longer than {LONGEST} s", long.len());
        report.left_out.push((Suite::Walks, why));
    }
    report.tried.push((
        Suite::Refusals,
        format!(
            "{} calls were refused and changed nothing",
            count(&counts.refusals)
        ),
    ));
    failures.extend(counts.failures.into_inner().unwrap_or_default());
}

fn waits(way: &Way) -> u64 {
    let seconds = way.steps.iter().map(|step| match step.act {
        Act::Wait(seconds) => seconds,
        _ => 0,
    });
    seconds.sum()
}

fn walk(setup: &Setup, way: &Way, counts: &Counts) -> Result<(), Failure> {
    let mut held = Loop::begin(setup, way)?;
    refuse(&held, counts)?;
    for step in &way.steps {
        held.step(step)?;
        counts.steps.fetch_add(1, Ordering::Relaxed);
        if let (Some(edge), Ok(mut taken)) = (step.edge, counts.taken.lock()) {
            taken.insert(edge);
        }
        refuse(&held, counts)?;
    }
    held.check(Suite::Walks)
}

/// Tries what is refused, once for each phase and verdict; where everything is tried, for each state.
fn refuse(held: &Loop<'_>, counts: &Counts) -> Result<(), Failure> {
    let state = &held.state;
    let values = if held.setup.given.whole {
        format!("{:?}", state.values)
    } else {
        String::new()
    };
    let key = format!("{} {:?} {values}", state.phase, state.visit);
    let new = counts.refused.lock().is_ok_and(|mut refused| refused.insert(key));
    if new {
        counts.refusals.fetch_add(refusals::run(held)?, Ordering::Relaxed);
    }
    Ok(())
}

fn keep(failures: &Mutex<Vec<Failure>>, failure: Failure) {
    if let Ok(mut failures) = failures.lock()
        && !failures.contains(&failure)
    {
        failures.push(failure);
    }
}
