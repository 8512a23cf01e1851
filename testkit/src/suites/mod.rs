//! The suites, in the order in which they are run.

mod crowd;
mod files;
pub(crate) mod input;
mod kills;
mod pairs;
mod plugin;
pub(crate) mod refusals;

use crate::error::{Failure, Suite, Wrong};
use crate::kit::Setup;
use crate::report::Report;
use crate::run::{Loop, Move};
use crate::walk;

/// A suite that needs one loop that was just started. It returns what it tried; `None` if there was nothing to try.
type RunSuite = fn(&mut Loop<'_>) -> Result<Option<String>, Wrong>;

/// Runs the suites that are wanted.
pub(crate) fn run(setup: &Setup, report: &mut Report, failures: &mut Vec<Failure>) {
    let walks = [Suite::Walk, Suite::Refusals, Suite::Kills, Suite::Files];
    if walks.into_iter().any(|suite| setup.wants(suite)) {
        let walk = walk::run(setup, report, failures);
        if !failures.is_empty() {
            return;
        }
        if setup.wants(Suite::Kills) {
            kills::run(setup, &walk.taken, report, failures);
        }
        if setup.wants(Suite::Files) {
            files::run(setup, walk.reviewed, report, failures);
        }
    }
    let others: [(Suite, RunSuite); 4] = [
        (Suite::Input, input::run),
        (Suite::Crowd, crowd::run),
        (Suite::Plugin, plugin::run),
        (Suite::Pairs, pairs::run),
    ];
    for (suite, run) in others.into_iter().filter(|(suite, _)| setup.wants(*suite)) {
        let begun = Loop::begin(setup, &[Move::Start(0)]);
        match begun.and_then(|mut held| held.promise(suite, run)) {
            Ok(Some(what)) => report.tried.push((suite, what)),
            Ok(None) => {}
            Err(failure) => failures.push(failure),
        }
    }
}
