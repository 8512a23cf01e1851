//! The kit: its options, its suites in their order, and their result.

use std::collections::HashMap;
use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};

use derive_more::{Debug, Display};

use crate::project::Project;
use crate::walk::Walk;
use crate::{pairs, promises};

/// A preparation of a project before a start.
type Prepare = Box<dyn Fn(&Project) -> io::Result<()> + Send + Sync>;

/// A suite, which returns a line about its attempts.
type RunSuite = fn(&mut Walk) -> Result<String, Wrong>;

const SUITES: [(Suite, RunSuite); 7] = [
    (Suite::Walk, Walk::run),
    (Suite::Refusals, |walk| promises::refusals(walk)),
    (Suite::Kills, |walk| promises::kills(walk)),
    (Suite::Input, |walk| promises::input(walk)),
    (Suite::Crowd, |walk| promises::crowd(walk)),
    (Suite::Plugin, |walk| promises::plugin(walk)),
    (Suite::Pairs, |walk| pairs::run(walk)),
];

/// A part of the kit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Display)]
#[display(rename_all = "kebab-case")]
pub enum Suite {
    /// The machine file and the program can be read.
    SetUp,
    /// Every change follows an edge of the machine file.
    Walk,
    /// A refused call changes nothing.
    Refusals,
    /// A program that is killed at any point leaves a loop that continues.
    Kills,
    /// Unreadable input ends the turn.
    Input,
    /// Sixteen calls at once are made one after the other.
    Crowd,
    /// The committed plugin is the one that the program writes.
    Plugin,
    /// Illegal pairs of a phase and a transition do not compile.
    Pairs,
}

/// A broken promise. `unwrap` prints it as `Display` does.
#[derive(Clone, PartialEq, Eq, Debug, Display, derive_more::Error)]
#[debug("{suite}: {what}")]
#[display("{suite}: {what}")]
#[non_exhaustive]
pub struct Failure {
    /// The part of the kit that found it.
    pub suite: Suite,
    /// The steps up to the failure, the call or the file, the expected and the real behaviour.
    pub what: String,
}

/// A failure without its suite.
pub(crate) type Wrong = Box<dyn Error>;

/// Returns with a failure, formatted as by `format!`, if the condition does not hold.
macro_rules! ensure {
    ($is_right:expr, $($what:tt)*) => {
        if !$is_right {
            return Err(format!($($what)*).into());
        }
    };
}
pub(crate) use ensure;

/// Adds the place to a failure: the moves up to it, the call, or the file.
pub(crate) fn at(place: impl std::fmt::Display) -> impl FnOnce(Wrong) -> Wrong {
    move |wrong| format!("{place}: {wrong}").into()
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

    /// Runs one suite behind a short walk, to look at a failure again.
    #[must_use]
    pub fn only(mut self, suite: Suite) -> Self {
        self.only = Some(suite);
        self
    }

    /// Runs the suites of less than a minute. With `CLAUDEX_TESTKIT=whole`, runs the pairs, too.
    ///
    /// # Errors
    /// Returns the first broken promise.
    pub fn quick(self) -> Result<Report, Failure> {
        let only = self.only;
        let failure = |suite| {
            move |wrong: Wrong| Failure {
                suite,
                what: wrong.to_string(),
            }
        };
        let mut walk = Walk::new(self).map_err(failure(Suite::SetUp))?;
        let mut text = format!("{}:\n", walk.machine.name);
        for (suite, run) in SUITES {
            if suite == Suite::Walk || only.is_none_or(|only| only == suite) {
                let line = run(&mut walk).map_err(failure(suite))?;
                text += &format!("  {suite}: {line}\n");
            }
        }
        let unreached = walk.unreached();
        if !unreached.is_empty() {
            text += &format!("  phases not reached: {}\n", unreached.join(", "));
        }
        Ok(Report { unreached, text })
    }
}
