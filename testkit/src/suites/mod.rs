//! The suites, in the order in which they are run.

mod crowd;
mod edges;
mod folders;
mod forged;
mod input;
mod kills;
mod plugin;
pub(crate) mod refusals;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::error::{Failure, Suite, Wrong};
use crate::kit::Setup;
use crate::report::Report;
use crate::runs::Loop;
use crate::search::{Act, Says, Way};
use crate::walk;

/// A suite that needs one loop, just started; it returns what it tried.
type RunSuite = fn(&mut Loop<'_>, &Way) -> Result<Said, Wrong>;

/// What a suite has to say.
pub(crate) enum Said {
    Tried(String),
    LeftOut(&'static str),
    /// There is nothing for it to try.
    Nothing,
}

/// Runs the suites that are wanted.
pub(crate) fn run(setup: &Setup, report: &mut Report, failures: &mut Vec<Failure>) {
    let found = setup.search().run(&setup.file, &setup.source);
    report.unreached = found.unreached;
    let Some(way) = found
        .ways
        .iter()
        .min_by_key(|way| (way.given.len(), way.mode))
    else {
        let what = "no start leads to any edge".to_owned();
        failures.push(Failure::new(Suite::SetUp, &setup.file, what));
        return;
    };
    let start = Way {
        steps: Vec::new(),
        ..way.clone()
    };
    // A loop that was reviewed has every file that there is.
    let reviewed = found.ways.iter().find_map(|way| {
        let at = way
            .steps
            .iter()
            .position(|step| matches!(step.act, Act::Review(Says::Findings)))?;
        let mut steps = way.steps.clone();
        steps.truncate(at + 1);
        (walk::waits(&steps) == 0).then(|| Way {
            steps,
            ..way.clone()
        })
    });
    if setup.wants(Suite::Walks) || setup.wants(Suite::Refusals) {
        walk::run(setup, &found.ways, report, failures);
    }
    if setup.wants(Suite::Kills) {
        kills::run(setup, &found.ways, report, failures);
    }
    if setup.wants(Suite::Folders) {
        folders::run(setup, reviewed.as_ref().unwrap_or(&start), report, failures);
    }
    let others: [(Suite, RunSuite); 5] = [
        (Suite::Input, input::run),
        (Suite::Crowd, crowd::run),
        (Suite::Forged, forged::run),
        (Suite::Plugin, plugin::run),
        (Suite::Edges, edges::run),
    ];
    for (suite, run) in others.into_iter().filter(|(suite, _)| setup.wants(*suite)) {
        let begun = Loop::begin(setup, &start);
        match begun.and_then(|mut held| held.promise(suite, |held| run(held, &start))) {
            Ok(Said::Tried(what)) => report.tried(suite, what),
            Ok(Said::LeftOut(why)) => report.left_out(suite, why),
            Ok(Said::Nothing) => {}
            Err(failure) => failures.push(failure),
        }
    }
}

/// Has several loops at work at once, each with a job of its own, and keeps what goes wrong.
pub(crate) fn at_once<J: Sync>(
    jobs: &[J],
    failures: &mut Vec<Failure>,
    work: impl Fn(&J) -> Result<(), Failure> + Sync,
) {
    let (next, broken) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..workers() {
            scope.spawn(|| {
                while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let (Err(failure), Ok(mut broken)) = (work(job), broken.lock())
                        && !broken.contains(&failure)
                    {
                        broken.push(failure);
                    }
                }
            });
        }
    });
    failures.extend(broken.into_inner().unwrap_or_default());
}

/// Most of the time each waits for the disk.
pub(crate) fn workers() -> usize {
    std::thread::available_parallelism().map_or(2, |all| all.get() * 2)
}
