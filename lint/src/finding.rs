//! The findings of a review.

/// The persona of a plan's reviewer. Each check of a plan belongs to one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PointOfView {
    /// Steps, tests, acceptance, open questions.
    Engineering,
    /// Access, input, secrets, stored data.
    Security,
    /// Rollback, limits, monitoring.
    Operations,
}

/// The weight of a finding, the heaviest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Certainly missing or wrong.
    High,
    /// Probably missing or wrong.
    Medium,
    /// Worth a look.
    Low,
}

impl Severity {
    /// Parses a word of the checks.
    pub(crate) fn parse(word: &str) -> Option<Self> {
        match word {
            "high" => Some(Self::High),
            "medium" => Some(Self::Medium),
            "low" => Some(Self::Low),
            _ => None,
        }
    }
}

/// Returns the first value of a key of a check.
pub(crate) fn value(check: &'static str, key: &str) -> &'static str {
    let mut values = check.lines().filter_map(|line| line.strip_prefix(key));
    values.next().unwrap_or_default()
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The id of the check, such as `ENG-STEPS`.
    pub check: &'static str,
    /// The weight of the finding.
    pub severity: Severity,
    /// The problem, on one line.
    pub what: String,
    /// The remedy, on one line.
    pub recommendation: &'static str,
    /// The changed file; `None` for a plan.
    pub file: Option<String>,
    /// The line of the plan, or of the new version of the file, from 1.
    pub line: Option<u32>,
    /// Quotes of the plan, or further lines of the change, each on one line.
    pub evidence: Vec<String>,
}
