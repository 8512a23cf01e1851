//! The suites, in the order in which they are run.

mod crowd;
mod files;
mod input;
mod kills;
mod pairs;
mod plugin;
mod refusals;
mod walk;

use crate::kit::Setup;
use crate::report::{Suite, Wrong};
pub(crate) use walk::Walk;

/// A suite. It returns a line about what it tried.
type RunSuite = fn(&Setup) -> Result<String, Wrong>;

pub(crate) const ALL: [(Suite, RunSuite); 8] = [
    (Suite::Walk, walk::run),
    (Suite::Refusals, refusals::run),
    (Suite::Kills, kills::run),
    (Suite::Files, files::run),
    (Suite::Input, input::run),
    (Suite::Crowd, crowd::run),
    (Suite::Plugin, plugin::run),
    (Suite::Pairs, pairs::run),
];
