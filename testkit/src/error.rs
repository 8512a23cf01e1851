//! Failures: the broken promise, its place, and what to do.

use std::fmt;

use derive_more::{Display, Error};

use crate::report::Report;

/// A part of the kit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Display)]
pub enum Suite {
    /// The machine file, the program and the folder in which they are tried.
    #[display("set-up")]
    SetUp,
    /// Every change follows an edge of the machine file.
    #[display("walk")]
    Walk,
    /// A refused call changes nothing.
    #[display("refusals")]
    Refusals,
    /// A program that is killed at any point leaves a loop that goes on.
    #[display("kills")]
    Kills,
    /// Unreadable input ends the turn.
    #[display("garbage input")]
    Input,
    /// A stop answers whatever stands in place of a file.
    #[display("hostile files")]
    Files,
    /// Sixteen calls at once are made one after the other.
    #[display("crowd")]
    Crowd,
    /// The committed plugin is what the program writes.
    #[display("plugin")]
    Plugin,
    /// Illegal pairs of a phase and a transition do not compile.
    #[display("pairs")]
    Pairs,
}

/// A failure without its suite and place.
pub(crate) type Wrong = Box<dyn std::error::Error>;

/// A broken promise.
#[derive(Debug, Clone, PartialEq, Eq, Display, Error)]
#[display("{suite}: {place}: {what}")]
#[non_exhaustive]
pub struct Failure {
    /// The part of the kit that found it.
    pub suite: Suite,
    /// The steps up to the failure, the call, or the file.
    pub place: String,
    /// The difference between what the program did and should have done.
    pub what: String,
}

impl Failure {
    pub(crate) fn new(suite: Suite, place: &str, wrong: impl Into<Wrong>) -> Self {
        Self {
            suite,
            place: place.to_owned(),
            what: wrong.into().to_string(),
        }
    }
}

/// All broken promises, with the report of what was tried.
#[derive(Clone)]
#[non_exhaustive]
pub struct Failures {
    /// The broken promises, in the order of the suites.
    pub list: Vec<Failure>,
    /// The report of what was tried.
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

/// The same as `Display`, because `unwrap` prints this form.
impl fmt::Debug for Failures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\n{self}")
    }
}

impl std::error::Error for Failures {}
