//! The kit: its options, and the suites in their order.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

use crate::project::Project;
use crate::report::{Failure, Report, Suite, Wrong};
use crate::walk::Walk;
use crate::{pairs, promises};

/// A preparation of a project before a start.
type Prepare = Box<dyn Fn(&Project) -> io::Result<()> + Send + Sync>;

/// A suite, which returns a line about its attempts.
type RunSuite = fn(&Walk) -> Result<String, Wrong>;

/// The suites behind the walk, in their order.
const SUITES: [(Suite, RunSuite); 6] = [
    (Suite::Refusals, promises::refusals),
    (Suite::Kills, promises::kills),
    (Suite::Input, promises::input),
    (Suite::Crowd, promises::crowd),
    (Suite::Plugin, promises::plugin),
    (Suite::Pairs, pairs::run),
];

/// The tests of one machine and its program.
pub struct Kit {
    pub(crate) file: PathBuf,
    pub(crate) program: PathBuf,
    pub(crate) plugin: Option<PathBuf>,
    pub(crate) only: Option<Suite>,
    /// The values of fields at a start.
    pub(crate) texts: HashMap<String, String>,
    /// The preparation of a project before a start.
    pub(crate) prepare: Prepare,
}

impl Kit {
    /// Creates the tests of the machine in this file, with the program that was built from it.
    pub fn new(machine: impl AsRef<Path>, program: impl AsRef<Path>) -> Self {
        Self {
            file: machine.as_ref().to_owned(),
            program: program.as_ref().to_owned(),
            plugin: None,
            only: None,
            texts: HashMap::new(),
            prepare: Box::new(|_| Ok(())),
        }
    }

    /// Sets a value that a start requires, if the program does not take any text for it.
    #[must_use]
    pub fn field(mut self, field: &str, text: &str) -> Self {
        self.texts.insert(field.to_owned(), text.to_owned());
        self
    }

    /// Prepares the project before a start: files that must exist, a git history.
    #[must_use]
    pub fn project(
        mut self,
        prepare: impl Fn(&Project) -> io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        self.prepare = Box::new(prepare);
        self
    }

    /// Sets the folder of the committed plugin.
    #[must_use]
    pub fn plugin(mut self, folder: impl AsRef<Path>) -> Self {
        self.plugin = Some(folder.as_ref().to_owned());
        self
    }

    /// Runs one suite behind the walk, to look at a failure again.
    #[must_use]
    pub fn only(mut self, suite: Suite) -> Self {
        self.only = Some(suite);
        self
    }

    /// Runs the suites that take less than a minute; also the pairs if the variable `CLAUDEX_TESTKIT` is `whole`.
    ///
    /// # Errors
    /// Returns the first broken promise.
    pub fn quick(self) -> Result<Report, Failure> {
        let only = self.only;
        let mut walk = Walk::new(self).map_err(Suite::SetUp.failure())?;
        let line = walk.run().map_err(Suite::Walk.failure())?;
        let mut tried = vec![(Suite::Walk, line)];
        for (suite, run) in SUITES {
            if only.is_none_or(|only| only == suite) {
                tried.push((suite, run(&walk).map_err(suite.failure())?));
            }
        }
        Ok(Report {
            machine: walk.machine.name.to_string(),
            unreached: walk.unreached(),
            tried,
        })
    }
}
