//! Evidence as it is shown to an edge: the loop, the round, the run.
//!
//! The program makes evidence. This module compares a record with the loop that it is shown for.

use serde::{Deserialize, Serialize};

use super::Raw;

/// The evidence that `requires` of an edge asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Requirement {
    /// This round was reviewed.
    Reviewed,
    /// This round was reviewed, the subject is unchanged, and no material finding is open unless its rejection has a reason.
    Settled,
    /// The commands of this visit passed on the work tree as it is.
    Verified,
}

crate::words!(Requirement);

/// Evidence as the journal has it. Only the reviews and verifications of claudex-loop make one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EvidenceRecord {
    /// The requirement that it meets.
    pub kind: Requirement,
    /// The loop that it was made for.
    #[serde(rename = "loop")]
    pub loop_id: String,
    /// The run that it comes from. Waived evidence has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// The number of the run's findings file, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub findings: Option<u64>,
    /// The round that was reviewed, or 0 if commands verified the work.
    pub round: u64,
    /// The revision of the loop at which it was gathered. It serves one change only.
    pub revision: u64,
    /// The digest of the reviewed text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// The reason for which open findings were rejected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rejecting: Option<String>,
    /// Whether it was made without a review (`CLAUDEX_EVIDENCE=optional`).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub waived: bool,
}

impl EvidenceRecord {
    /// Makes evidence of a loop's present revision.
    pub fn new(raw: &Raw, kind: Requirement, round: u64) -> Self {
        Self {
            kind,
            loop_id: raw.id().to_string(),
            run: None,
            findings: None,
            round,
            revision: raw.record().revision(),
            subject: None,
            rejecting: None,
            waived: false,
        }
    }

    /// Returns whether it is the evidence that an edge requires. A settled record is a reviewed one too. A verified one is neither,
    /// nor is either verified.
    pub fn satisfies(&self, requirement: Requirement) -> bool {
        self.kind == requirement
            || (self.kind, requirement) == (Requirement::Settled, Requirement::Reviewed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settled_evidence_is_also_reviewed() {
        use Requirement::{Reviewed, Settled, Verified};
        let satisfied = |kind: Requirement| {
            let json = format!(r#"{{"kind":"{kind}","loop":"x","round":0,"revision":1}}"#);
            let record: EvidenceRecord = serde_json::from_str(&json).unwrap();
            [Reviewed, Settled, Verified].map(|needed| record.satisfies(needed))
        };
        assert_eq!(satisfied(Reviewed), [true, false, false]);
        assert_eq!(satisfied(Settled), [true, true, false]);
        assert_eq!(satisfied(Verified), [false, false, true]);
    }
}
