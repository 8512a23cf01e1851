//! What a reviewer found: severities, findings, and how they are counted.
//!
//! Parsing and writing the findings file live in `findings_file`; this file knows no format but serde's.

use serde::{Deserialize, Serialize};

/// How much a finding weighs. `Critical` in a reviewer's text counts as high.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    strum::Display,
    strum::EnumIter,
)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// The plan fails if this stays.
    High,
    /// It will hurt if this stays.
    Medium,
    /// Worth a look.
    Low,
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// Its id within the loop, such as `F3`; given when its round is written down, kept where a later round finds it again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The first round that found it, where that is an earlier one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<u64>,
    /// How much it weighs.
    pub severity: Severity,
    /// What is wrong, on one line.
    pub what: String,
    /// What to do, on one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recommendation: Option<String>,
    /// The file it is about, from the project's root, where the review is of more than one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line of that file, or of the reviewed document, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The text of that line of the reviewed document, by which a later round finds the place again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line_text: Option<String>,
    /// The catalogue's id of the check that found it; a model's findings have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<String>,
    /// A unified diff that the reviewer proposes. It is shown and tried, never applied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patch: Option<String>,
    /// Further lines that stood below the finding.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub detail: Vec<String>,
}

/// The findings of one round, in the order in which the reviewer gave them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Findings(pub Vec<Finding>);

/// How many findings of each severity there are.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, derive_more::Display,
)]
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
    /// Findings that keep a loop from being settled: the high and the medium ones.
    pub fn material(self) -> usize {
        self.high + self.medium
    }
}

impl Finding {
    /// Makes a finding of which nothing else is known.
    pub fn new(severity: Severity, what: impl Into<String>) -> Self {
        Self {
            id: None,
            since: None,
            severity,
            what: what.into(),
            recommendation: None,
            file: None,
            line: None,
            line_text: None,
            check: None,
            patch: None,
            detail: Vec::new(),
        }
    }
}

impl Findings {
    /// Returns how many of each severity there are.
    pub fn counts(&self) -> Counts {
        let of = |severity| {
            self.0
                .iter()
                .filter(|finding| finding.severity == severity)
                .count()
        };
        Counts {
            high: of(Severity::High),
            medium: of(Severity::Medium),
            low: of(Severity::Low),
        }
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
