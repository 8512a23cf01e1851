//! Findings: severities, the findings of a round, and their counts.

use serde::{Deserialize, Serialize};

pub use crate::machine::table::Severity;
use crate::text;

/// The longest `what` and `recommendation` of a finding, in characters. The rest becomes `...`.
pub const MAX_FINDING_CHARS: usize = 1000;
/// The longest detail line, in characters.
pub const MAX_DETAIL_CHARS: usize = 2000;
/// The most detail lines of one finding.
pub const MAX_DETAIL_LINES: usize = 100;
pub(super) const MAX_FILE_CHARS: usize = 300;
/// The one line of an answer, or of a findings file, without findings.
pub const CLEAN_LINE: &str = "No substantive findings.";

/// One finding.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The id within the loop, such as `F3`. A later round that finds it again keeps the id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The first round that found it, if it is an earlier one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<u64>,
    /// The severity.
    pub severity: Severity,
    /// The problem, on one line.
    pub what: String,
    /// The recommendation, on one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recommendation: Option<String>,
    /// The file, from the project's root, if the review has several files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line of that file, or of the reviewed document, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The text of that line of the document, by which a later round recognizes the place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line_text: Option<String>,
    /// The id of the built-in check that found it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<String>,
    /// A proposed unified diff. It is shown and tried, never applied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patch: Option<String>,
    /// The lines below the finding. Code is between lines that begin with "```".
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub detail: Vec<String>,
}

/// The findings of one round, in the reviewer's order; none if it is clean.
pub type Findings = Vec<Finding>;

/// The number of findings of each severity.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, derive_more::Display)]
#[display("high={high} medium={medium} low={low}")]
pub struct Counts {
    /// High and critical ones.
    pub high: usize,
    /// Medium ones.
    pub medium: usize,
    /// Low ones.
    pub low: usize,
}

impl Counts {
    /// Returns the counts of findings.
    pub fn new<'f>(findings: impl IntoIterator<Item = &'f Finding>) -> Self {
        let mut counts = Self::default();
        for finding in findings {
            match finding.severity {
                Severity::High => counts.high += 1,
                Severity::Medium => counts.medium += 1,
                Severity::Low => counts.low += 1,
            }
        }
        counts
    }

    /// Returns the number of findings with at least this severity.
    pub fn at_least(self, lowest: Severity) -> usize {
        match lowest {
            Severity::High => self.high,
            Severity::Medium => self.high + self.medium,
            Severity::Low => self.high + self.medium + self.low,
        }
    }
}

/// Returns a detail on one line, which keeps the indentation of code.
pub(super) fn detail_line(line: &str) -> String {
    let indent = line.len() - line.trim_start_matches(' ').len();
    " ".repeat(indent) + &text::one_line(line, MAX_DETAIL_CHARS)
}

impl Finding {
    /// Makes a finding with a severity and a text.
    pub fn new(severity: Severity, what: impl Into<String>) -> Self {
        Self {
            severity,
            what: what.into(),
            ..Self::default()
        }
    }
}
