//! What goes in besides a text, and what comes out: points of view, severities, findings.

/// Says which checks of a document are run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PointOfView {
    /// Goal, steps, tests, acceptance, open questions.
    Engineering,
    /// Access, secrets, data and its integrity.
    Security,
    /// Deploying, watching, failing and going back.
    Operations,
}

/// Says how much a finding weighs, the heaviest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// It is almost certainly missing or wrong, and the work fails if it stays so.
    High,
    /// It is probably missing or wrong.
    Medium,
    /// Worth a look.
    Low,
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The catalogue's id of the check, such as `ENG-STEPS`.
    pub check: &'static str,
    /// How much it weighs.
    pub severity: Severity,
    /// What is wrong, on one line.
    pub what: String,
    /// What to do, on one line.
    pub recommendation: &'static str,
    /// The changed file that it is about; `None` in a document.
    pub file: Option<String>,
    /// The line of the document, or of the file's new version, from 1.
    pub line: Option<u32>,
    /// Quotes of what it is about, each on one line with its line number.
    pub evidence: Vec<String>,
    /// A unified diff that removes what was found.
    pub patch: Option<String>,
}
