//! What goes wrong: which promise was broken, in which place, and what to do.

use std::{fmt, io};

use derive_more::{Display, Error, From};

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
    /// The committed plugin is what the program writes.
    #[display("plugin")]
    Plugin,
    /// What is no edge does not compile.
    #[display("illegal edges")]
    Edges,
}

impl Suite {
    /// Returns what to do where one of its promises is broken.
    fn help(self) -> &'static str {
        match self {
            Suite::SetUp => {
                "the kit needs a machine file without findings, the built program, and what a start takes: `Kit::project`, `Kit::flag`, `Kit::given`"
            }
            Suite::Walks => {
                "the machine file says what each step leaves; see which of the two is wrong"
            }
            Suite::Refusals => "let nothing be written before the machine has said yes",
            Suite::Kills => {
                "commit in one step: what is killed must be as if it had not begun, or had ended"
            }
            Suite::Input => "answer with exit code 0 and one approval that says what was wrong",
            Suite::Folders => {
                "let the turn end with one line, and leave what stands there as it is"
            }
            Suite::Crowd => "commit under the lock, and compare the revision with the one held",
            Suite::Forged => {
                "believe a line only where an edge of the machine leads from the one before it"
            }
            Suite::Plugin => "write it anew with `<program> plugin write`, and read the difference",
            Suite::Edges => "see what the compiler says of the generated types",
        }
    }
}

/// What is wrong, said where the suite and the place are not known.
#[derive(Debug, From)]
pub(crate) struct Wrong(pub(crate) String);

impl From<io::Error> for Wrong {
    fn from(error: io::Error) -> Self {
        Self(error.to_string())
    }
}

/// A promise that was broken.
#[derive(Debug, Clone, PartialEq, Eq, Display, Error)]
#[display("{suite}: {place}: {what}\n    {}", suite.help())]
#[non_exhaustive]
pub struct Failure {
    /// The part of the kit that found it.
    pub suite: Suite,
    /// Where: the steps up to there, the call, or the file.
    pub place: String,
    /// What the program did, and what it should have done.
    pub what: String,
}

impl Failure {
    pub(crate) fn new(suite: Suite, place: &str, wrong: impl Into<Wrong>) -> Self {
        Self {
            suite,
            place: place.to_owned(),
            what: wrong.into().0,
        }
    }
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
