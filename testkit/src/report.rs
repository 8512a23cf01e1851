//! What was tried, and how much of it.

use std::fmt;
use std::time::Duration;

use crate::error::Suite;
use crate::search::Unreached;

/// What a run of the kit came to.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Report {
    /// The machine's name.
    pub machine: String,
    /// How many edges it has, and how many of them were walked.
    pub edges: (usize, usize),
    /// The edges that no walk reaches, each with the reason.
    pub unreached: Vec<Unreached>,
    /// A line for each suite: what it tried, and how much.
    pub tried: Vec<(Suite, String)>,
    /// What was left out, and why.
    pub left_out: Vec<(Suite, String)>,
    /// How long it took.
    pub took: Duration,
}

impl Report {
    pub(crate) fn tried(&mut self, suite: Suite, what: String) {
        self.tried.push((suite, what));
    }

    pub(crate) fn left_out(&mut self, suite: Suite, why: impl Into<String>) {
        self.left_out.push((suite, why.into()));
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { machine, took, .. } = self;
        writeln!(f, "{machine}, in {:.1} s:", took.as_secs_f64())?;
        for (suite, what) in &self.tried {
            writeln!(f, "  {suite}: {what}")?;
        }
        for (suite, why) in &self.left_out {
            writeln!(f, "  {suite}, left out: {why}")?;
        }
        for Unreached { what, why, .. } in &self.unreached {
            writeln!(f, "  not reached: {what}: {why}")?;
        }
        Ok(())
    }
}
