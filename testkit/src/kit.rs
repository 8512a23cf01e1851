//! The kit: its options, and the order in which it runs its suites.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::error::{Failure, Failures, Suite};
use crate::machine::Machine;
use crate::project::Project;
use crate::report::Report;
use crate::suites;

/// Prepares a project before a start.
type Prepare = Box<dyn Fn(&Project) -> io::Result<()> + Send + Sync>;

/// The tests of one machine and its program.
pub struct Kit {
    file: PathBuf,
    pub(crate) program: PathBuf,
    pub(crate) plugin: Option<PathBuf>,
    /// Whether everything is tried, instead of a choice that takes less than a minute.
    pub(crate) whole: bool,
    only: Option<Suite>,
    flags: HashMap<String, String>,
    texts: HashMap<String, String>,
    projects: Vec<Prepare>,
}

/// The input of every suite.
pub(crate) struct Setup {
    pub(crate) kit: Kit,
    pub(crate) machine: Machine,
    /// The folder of the machine file.
    pub(crate) folder: PathBuf,
}

impl Kit {
    /// Creates the tests of the machine in this file, with the program that was built from it.
    pub fn new(machine: impl AsRef<Path>, program: impl AsRef<Path>) -> Self {
        Self {
            file: machine.as_ref().to_owned(),
            program: program.as_ref().to_owned(),
            plugin: None,
            whole: false,
            only: None,
            flags: HashMap::new(),
            texts: HashMap::new(),
            projects: Vec::new(),
        }
    }

    /// Names the flag of `start` that gives a field, if it is not called like the field.
    #[must_use]
    pub fn flag(mut self, field: &str, flag: &str) -> Self {
        self.flags.insert(field.to_owned(), flag.to_owned());
        self
    }

    /// Gives a value that a start requires, if the program does not take any text.
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
        self.projects.push(Box::new(prepare));
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

    /// Runs what takes less than a minute, or everything if the variable `CLAUDEX_TESTKIT` is `whole`.
    ///
    /// # Errors
    /// Returns every broken promise.
    pub fn quick(mut self) -> Result<Report, Failures> {
        self.whole = std::env::var("CLAUDEX_TESTKIT").is_ok_and(|much| much == "whole");
        let begun = Instant::now();
        let mut report = Report::default();
        let mut list = Vec::new();
        match self.read() {
            Err(failure) => list.push(failure),
            Ok(setup) => {
                report.machine.clone_from(&setup.machine.name);
                suites::run(&setup, &mut report, &mut list);
            }
        }
        report.took = begun.elapsed();
        if list.is_empty() {
            return Ok(report);
        }
        Err(Failures {
            list,
            report: Box::new(report),
        })
    }

    fn read(self) -> Result<Setup, Failure> {
        let failed =
            |place: &Path, what| Failure::new(Suite::SetUp, &place.display().to_string(), what);
        let source = std::fs::read_to_string(&self.file)
            .map_err(|error| failed(&self.file, error.to_string()))?;
        let machine = Machine::read(&source).map_err(|error| failed(&self.file, error))?;
        if !self.program.is_file() {
            return Err(failed(&self.program, "no such program".to_owned()));
        }
        let folder = self.file.parent().filter(|folder| *folder != Path::new(""));
        Ok(Setup {
            folder: folder.unwrap_or(Path::new(".")).to_owned(),
            kit: self,
            machine,
        })
    }
}

impl Setup {
    /// Returns whether a suite is to be run.
    pub(crate) fn wants(&self, suite: Suite) -> bool {
        self.kit.only.is_none_or(|only| only == suite)
    }

    /// Creates a project with everything that the machine needs.
    pub(crate) fn project(&self) -> io::Result<Project> {
        let project = Project::new(&self.kit.program)?;
        let mut prepared = self.kit.projects.iter();
        prepared.try_for_each(|prepare| prepare(&project))?;
        Ok(project)
    }

    /// Returns the flag of `start` that gives a field.
    pub(crate) fn flag(&self, field: &str) -> String {
        let own = self.kit.flags.get(field);
        own.map_or_else(|| field.replace('_', "-"), String::clone)
    }

    /// Returns the value of a field at a start.
    pub(crate) fn text<'s>(&'s self, field: &str, default: &'s str) -> &'s str {
        let own = self.kit.texts.get(field);
        own.map_or(default, String::as_str)
    }
}
