//! The suites, the report of their attempts, and a broken promise.

use std::error::Error;
use std::fmt;

use derive_more::Display;

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
    /// A program that is killed at any point leaves a loop that goes on.
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

impl Suite {
    /// Returns a function that makes a failure of this suite.
    pub(crate) fn failure(self) -> impl FnOnce(Wrong) -> Failure {
        move |wrong| Failure {
            suite: self,
            what: wrong.to_string(),
        }
    }
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

/// A broken promise. `unwrap` prints it as `Display` does.
#[derive(Clone, PartialEq, Eq, Display, derive_more::Error)]
#[display("{suite}: {what}")]
#[non_exhaustive]
pub struct Failure {
    /// The part of the kit that found it.
    pub suite: Suite,
    /// The steps up to the failure, the call or the file, the expected and the real behaviour of the program.
    pub what: String,
}

impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Adds the place to a failure: the moves up to it, the call, or the file.
pub(crate) fn at(place: impl fmt::Display) -> impl FnOnce(Wrong) -> Wrong {
    move |wrong| format!("{place}: {wrong}").into()
}

/// The result of a run of the kit.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Report {
    /// The machine's name.
    pub machine: String,
    /// The phases that the walk did not reach.
    pub unreached: Vec<String>,
    /// A line for each suite: its attempts and their number, or the reason why it was left out.
    pub tried: Vec<(Suite, String)>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}:", self.machine)?;
        for (suite, line) in &self.tried {
            writeln!(f, "  {suite}: {line}")?;
        }
        if !self.unreached.is_empty() {
            writeln!(f, "  phases not reached: {}", self.unreached.join(", "))?;
        }
        Ok(())
    }
}
