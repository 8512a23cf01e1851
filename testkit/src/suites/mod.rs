//! The suites, in the order in which they are run.

mod crowd;
mod edges;
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

/// A suite that needs one loop, just started.
type RunSuite = fn(&Setup, &Way, &mut Report) -> Result<(), Failure>;

/// Runs the suites that are wanted.
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
    if setup.wants(Suite::Walks) || setup.wants(Suite::Refusals) {
        walk::run(setup, &found.ways, report, failures);
    }
    if setup.wants(Suite::Kills) {
        kills::run(setup, &found.ways, report, failures);
    }
    if setup.wants(Suite::Folders) {
        folders::run(setup, reviewed.as_ref().unwrap_or(&start), report, failures);
    }
    let others: [(Suite, RunSuite); 6] = [
        (Suite::Input, input::run),
        (Suite::Crowd, crowd::run),
        (Suite::Forged, forged::run),
        (Suite::Migrations, versions::run),
        (Suite::Plugin, plugin::run),
        (Suite::Edges, edges::run),
    ];
    for (_, run) in others.iter().filter(|(suite, _)| setup.wants(*suite)) {
        failures.extend(run(setup, &start, report).err());
    }
}
