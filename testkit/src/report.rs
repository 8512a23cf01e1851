//! The report of a run: what was tried, and what was not reached.

use std::fmt;
use std::time::Duration;

use crate::error::Suite;

/// The result of a run of the kit.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Report {
    /// The machine's name.
    pub machine: String,
    /// The phases that the walk did not reach.
    pub unreached: Vec<String>,
    /// A line for each suite: what it tried, and how much.
    pub tried: Vec<(Suite, String)>,
    /// Suites that were left out, and why.
    pub left_out: Vec<(Suite, String)>,
    /// The time that the run took.
    pub took: Duration,
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
        if !self.unreached.is_empty() {
            writeln!(f, "  phases not reached: {}", self.unreached.join(", "))?;
        }
        Ok(())
    }
}
