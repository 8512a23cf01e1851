//! The suites, in the order in which they are run.

pub(crate) mod refusals;

use crate::error::Failure;
use crate::kit::Setup;
use crate::report::Report;
use crate::walk;

/// Runs all suites.
pub(crate) fn run(setup: &Setup, report: &mut Report, failures: &mut Vec<Failure>) {
    let found = setup.search().run(&setup.file, &setup.source);
    report.unreached = found.unreached;
    walk::run(setup, &found.ways, report, failures);
}
