//! The kit: its options, and the suites in their order.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::machine::Machine;
use crate::project::Project;
use crate::report::{Failure, Report, Suite, Wrong};
use crate::suites::{self, Walk};

/// Prepares a project before a start.
type Prepare = Box<dyn Fn(&Project) -> io::Result<()> + Send + Sync>;

/// The tests of one machine and its program.
pub struct Kit {
    file: PathBuf,
    pub(crate) program: PathBuf,
    pub(crate) plugin: Option<PathBuf>,
    only: Option<Suite>,
    /// The values of fields at a start.
    pub(crate) texts: HashMap<String, String>,
    pub(crate) preparations: Vec<Prepare>,
}

/// The input of every suite.
pub(crate) struct Setup {
    pub(crate) kit: Kit,
    pub(crate) machine: Machine,
    /// The folder of the machine file.
    pub(crate) folder: PathBuf,
    walk: OnceLock<Walk>,
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
            preparations: Vec::new(),
        }
    }

    /// Gives a value that a start requires, if the program does not take any text for it.
    #[must_use]
    pub fn given(mut self, field: &str, text: &str) -> Self {
        self.texts.insert(field.to_owned(), text.to_owned());
        self
    }

    /// Prepares each project before a start: files that must exist, a git history.
    #[must_use]
    pub fn project(
        mut self,
        prepare: impl Fn(&Project) -> io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        self.preparations.push(Box::new(prepare));
        self
    }

    /// Names the folder of the committed plugin.
    #[must_use]
    pub fn plugin(mut self, folder: impl AsRef<Path>) -> Self {
        self.plugin = Some(folder.as_ref().to_owned());
        self
    }

    /// Runs one suite alone, to look at a failure again.
    #[must_use]
    pub fn only(mut self, suite: Suite) -> Self {
        self.only = Some(suite);
        self
    }

    /// Runs what takes less than a minute; also the pairs if the variable `CLAUDEX_TESTKIT` is `whole`.
    ///
    /// # Errors
    /// Returns the first broken promise.
    pub fn quick(self) -> Result<Report, Failure> {
        let only = self.only;
        let setup = self.read()?;
        let mut report = Report {
            machine: setup.machine.name.clone(),
            ..Report::default()
        };
        for (suite, run) in suites::ALL {
            if only.is_some_and(|only| only != suite) {
                continue;
            }
            let what = run(&setup).map_err(|wrong| Failure::new(suite, wrong))?;
            report.tried.push((suite, what));
        }
        if let Some(walk) = setup.walk.get() {
            report.unreached = walk.unreached(&setup.machine);
        }
        Ok(report)
    }

    fn read(self) -> Result<Setup, Failure> {
        let failed = |place: &Path, what: String| {
            Failure::new(Suite::SetUp, format!("{}: {what}", place.display()))
        };
        let source = std::fs::read_to_string(&self.file)
            .map_err(|error| failed(&self.file, error.to_string()))?;
        let machine = Machine::read(&source).map_err(|error| failed(&self.file, error))?;
        if !self.program.is_file() {
            return Err(failed(&self.program, "no such program".to_owned()));
        }
        Ok(Setup {
            folder: self.file.with_file_name("."),
            kit: self,
            machine,
            walk: OnceLock::new(),
        })
    }
}

impl Setup {
    /// Returns the walk, which is made once.
    pub(crate) fn walk(&self) -> Result<&Walk, Wrong> {
        if let Some(walk) = self.walk.get() {
            return Ok(walk);
        }
        let walk = Walk::through(self)?;
        Ok(self.walk.get_or_init(|| walk))
    }
}
