//! The suites, in the order in which they are run.

mod crowd;
mod folders;
mod forged;
mod input;
mod kills;
mod plugin;
pub(crate) mod refusals;
mod versions;

use crate::error::{Failure, Suite};
use crate::kit::Setup;
use crate::report::Report;
use crate::search::{Act, Says, Way};
use crate::walk;

/// Runs all suites.
pub(crate) fn run(setup: &Setup, report: &mut Report, failures: &mut Vec<Failure>) {
    let found = setup.search().run(&setup.file, &setup.source);
    report.unreached = found.unreached;
    let Some(way) = found.ways.iter().min_by_key(|way| (way.given.len(), way.mode)) else {
        let what = "no start leads to any edge".to_owned();
        failures.push(setup.failure(Suite::SetUp, &setup.file, what, "see what is said of each edge"));
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
        let waits = steps.iter().any(|step| matches!(step.act, Act::Wait(_)));
        (!waits).then(|| Way { steps, ..way.clone() })
    });
    walk::run(setup, &found.ways, report, failures);
    kills::run(setup, &found.ways, report, failures);
    folders::run(setup, reviewed.as_ref().unwrap_or(&start), report, failures);
    let mut one = |ran: Result<(), Failure>| failures.extend(ran.err());
    one(input::run(setup, &start, report));
    one(crowd::run(setup, &start, report));
    one(forged::run(setup, &start, report));
    one(versions::run(setup, &start, report));
    one(plugin::run(setup, report));
}
