//! Evidence for an edge. The program makes it, and the engine compares it with the loop.

use serde::{Deserialize, Serialize};

use super::Raw;

/// The evidence that `requires` of an edge asks for. Each one also serves for those before it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Requirement {
    /// This round was reviewed.
    #[default]
    Reviewed,
    /// Reviewed, with an unchanged subject and a reason for each open material finding.
    Settled,
}

crate::words!(Requirement);

/// Evidence as the journal has it. Only the reviews of claudex-loop make one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EvidenceRecord {
    /// The requirement that it meets.
    pub kind: Requirement,
    /// The loop that it was made for.
    #[serde(rename = "loop")]
    pub loop_id: String,
    /// The run that it comes from. Waived evidence has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// The number of the run's findings file, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub findings: Option<u64>,
    /// The round that was reviewed.
    pub round: u64,
    /// The revision of the loop at which it was gathered. It serves one change only.
    pub revision: u64,
    /// The digest of the reviewed text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// The reason why open findings were rejected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rejecting: Option<String>,
    /// Whether it was made without a review (`CLAUDEX_EVIDENCE=optional`).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub waived: bool,
}

impl EvidenceRecord {
    /// Returns the problem of evidence for an edge, or `None` if it is sufficient.
    pub(super) fn problem(
        shown: Option<&Self>,
        raw: &Raw,
        required: Requirement,
    ) -> Option<String> {
        let Some(shown) = shown else {
            return Some("none was shown".to_owned());
        };
        if shown.loop_id != raw.id().as_str() {
            Some(format!("the evidence belongs to loop {}", shown.loop_id))
        } else if shown.kind < required {
            Some(format!("only {} was shown", shown.kind))
        } else if shown.revision != raw.record().revision {
            Some("the evidence is of another revision of the loop".to_owned())
        } else {
            None
        }
    }
}
