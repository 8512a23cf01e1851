//! The kit: its options, its suites in their order, and their result.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::Result;
use derive_more::{Debug, Display};

use crate::project::Project;
use crate::walk::Walk;
use crate::{pairs, promises};

type Prepare = Box<dyn Fn(&Project) -> io::Result<()> + Send + Sync>;

/// A suite, which returns a line about its attempts.
type RunSuite = fn(&mut Walk) -> Result<String>;

const SUITES: [(&str, RunSuite); 7] = [
    ("walk", Walk::run),
    ("refusals", |walk| promises::refusals(walk)),
    ("kills", |walk| promises::kills(walk)),
    ("input", |walk| promises::input(walk)),
    ("crowd", |walk| promises::crowd(walk)),
    ("plugin", |walk| promises::plugin(walk)),
    ("pairs", |walk| pairs::run(walk)),
];

/// A broken promise. `unwrap` prints it as `Display` does.
#[derive(Clone, PartialEq, Eq, Debug, Display, derive_more::Error)]
#[debug("{suite}: {what}")]
#[display("{suite}: {what}")]
#[non_exhaustive]
pub struct Failure {
    /// The suite that found it, or `set-up` if machine file or program cannot be read.
    pub suite: &'static str,
    /// The steps up to the failure, the call or the file, the expected and the real behaviour.
    pub what: String,
}

/// The result of a run of the kit. `Display` shows a line for each suite: its attempts and their
/// number, or why it was left out.
#[derive(Debug, Clone, Default, Display)]
#[display("{text}")]
#[non_exhaustive]
pub struct Report {
    /// The phases that the walk did not reach.
    pub unreached: Vec<String>,
    text: String,
}

/// The tests of one machine and its program.
pub struct Kit {
    pub(crate) file: PathBuf,
    pub(crate) program: PathBuf,
    pub(crate) plugin: Option<PathBuf>,
    pub(crate) texts: HashMap<String, String>,
    pub(crate) prepare: Prepare,
}

impl Kit {
    /// Creates the tests of the machine in this file, with the program that was built from it.
    pub fn new(machine: impl AsRef<Path>, program: impl AsRef<Path>) -> Self {
        Self {
            file: machine.as_ref().to_owned(),
            program: program.as_ref().to_owned(),
            plugin: None,
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

    /// Runs the suites of less than a minute. With `CLAUDEX_TESTKIT=whole`, runs the pairs, too.
    ///
    /// # Errors
    /// Returns the first broken promise.
    pub fn quick(self) -> Result<Report, Failure> {
        let failure = |suite| {
            move |error| Failure {
                suite,
                what: format!("{error:#}"),
            }
        };
        let mut walk = Walk::new(self).map_err(failure("set-up"))?;
        let mut text = format!("{}:\n", walk.machine.name);
        for (suite, run) in SUITES {
            let line = run(&mut walk).map_err(failure(suite))?;
            text += &format!("  {suite}: {line}\n");
        }
        let unreached = walk.unreached();
        if !unreached.is_empty() {
            text += &format!("  phases not reached: {}\n", unreached.join(", "));
        }
        Ok(Report { unreached, text })
    }
}
