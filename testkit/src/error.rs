//! What goes wrong: which promise was broken, in which place, and what to do.

use std::fmt;

use derive_more::{Display, Error};

use crate::report::Report;

/// A part of the kit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Display)]
pub enum Suite {
    /// The machine file, the program and the folder in which they are tried.
    #[display("set-up")]
    SetUp,
    /// Every edge that can be reached is taken.
    #[display("walks")]
    Walks,
    /// What is refused changes nothing.
    #[display("refusals")]
    Refusals,
    /// A program that is killed at any point leaves a loop that goes on.
    #[display("kills")]
    Kills,
    /// Input that is none lets the turn end.
    #[display("hostile input")]
    Input,
    /// Whatever stands in the place of a file holds nobody.
    #[display("hostile folders")]
    Folders,
    /// Of sixteen at once each finds what the one before wrote.
    #[display("sixteen at once")]
    Crowd,
    /// What no change can have written counts for nothing.
    #[display("forged journals")]
    Forged,
    /// A loop of another version is migrated, or left as it is.
    #[display("migrations")]
    Migrations,
    /// The committed plugin is what the program writes.
    #[display("plugin")]
    Plugin,
    /// What is no edge does not compile.
    #[display("illegal edges")]
    Edges,
}

/// A promise that was broken.
#[derive(Debug, Clone, PartialEq, Eq, Display, Error)]
#[display("{suite}: {place}: {what}\n    {help}")]
#[non_exhaustive]
pub struct Failure {
    /// The part of the kit that found it.
    pub suite: Suite,
    /// Where: the steps up to there, the call, or the file.
    pub place: String,
    /// What the program did, and what it should have done.
    pub what: String,
    /// What to do now.
    pub help: &'static str,
}

/// Everything that went wrong, with the report of what was tried.
#[derive(Clone)]
#[non_exhaustive]
pub struct Failures {
    /// The promises that were broken, in the order of the suites.
    pub list: Vec<Failure>,
    /// What was tried.
    pub report: Box<Report>,
}

impl fmt::Display for Failures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (count, machine) = (self.list.len(), &self.report.machine);
        writeln!(f, "{count} promises of the machine `{machine}` are broken:")?;
        self.list
            .iter()
            .try_for_each(|failure| writeln!(f, "{failure}"))?;
        self.report.fmt(f)
    }
}

/// What `unwrap` prints is what a person reads.
impl fmt::Debug for Failures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\n{self}")
    }
}

impl std::error::Error for Failures {}
