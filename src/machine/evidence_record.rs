//! What evidence says when it is shown to an edge: which loop, which round, which run.
//!
//! Evidence itself is made in `review`; this room only compares a record with the loop that it is shown for. The
//! constructor is the crate's own, so no other crate can make one.

use serde::{Deserialize, Serialize};

/// Says whether a round counts without a review.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum EvidencePolicy {
    /// It does not.
    #[default]
    Required,
    /// It does, and the summary says so.
    Optional,
}

/// What an edge's `requires` asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, strum::Display)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Requirement {
    /// This round was reviewed.
    Reviewed,
    /// It was reviewed, what was reviewed is unchanged, and nothing material is open (or its rejection is argued).
    Settled,
    /// The commands of this visit passed on the work tree as it is.
    Verified,
}

/// Holds an evidence record, as it stands in the journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EvidenceRecord {
    kind: Requirement,
    #[serde(rename = "loop")]
    loop_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    run: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    findings: Option<u64>,
    round: u64,
    revision: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    subject: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rejecting: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    waived: bool,
}

/// What `review` knows when it makes a record.
#[derive(Debug, Clone)]
pub(crate) struct EvidenceFields {
    pub(crate) kind: Requirement,
    pub(crate) loop_id: String,
    pub(crate) run: Option<String>,
    pub(crate) findings: Option<u64>,
    pub(crate) round: u64,
    pub(crate) revision: u64,
    pub(crate) subject: Option<String>,
    pub(crate) rejecting: Option<String>,
    pub(crate) waived: bool,
}

impl EvidenceRecord {
    pub(crate) fn new(fields: EvidenceFields) -> Self {
        let EvidenceFields {
            kind,
            loop_id,
            run,
            findings,
            round,
            revision,
            subject,
            rejecting,
            waived,
        } = fields;
        Self {
            kind,
            loop_id,
            run,
            findings,
            round,
            revision,
            subject,
            rejecting,
            waived,
        }
    }

    /// Returns what it proves.
    pub fn kind(&self) -> Requirement {
        self.kind
    }

    /// Returns the loop it was made for.
    pub fn loop_id(&self) -> &str {
        &self.loop_id
    }

    /// Returns the round that was reviewed; 0 where commands verified the work.
    pub fn round(&self) -> u64 {
        self.round
    }

    /// Returns the run that the evidence comes from; a waived one has none.
    pub fn run(&self) -> Option<&str> {
        self.run.as_deref()
    }

    /// Returns the number of the run's findings file, where it has one.
    pub fn findings(&self) -> Option<u64> {
        self.findings
    }

    /// Returns the digest of what was reviewed.
    pub fn subject(&self) -> Option<&str> {
        self.subject.as_deref()
    }

    /// Returns why open findings were rejected.
    pub fn rejecting(&self) -> Option<&str> {
        self.rejecting.as_deref()
    }

    /// Returns whether no review stands behind it (`CLAUDEX_EVIDENCE=optional`).
    pub fn is_waived(&self) -> bool {
        self.waived
    }

    /// Returns the revision of the loop at which it was gathered: evidence serves one change, and no later one.
    pub(crate) fn revision_bound(&self) -> u64 {
        self.revision
    }

    /// Returns whether it proves what an edge asks for. A settled record is a reviewed one too; a verified one is neither, nor is either
    /// verified.
    pub(crate) fn satisfies(&self, requirement: Requirement) -> bool {
        self.kind == requirement
            || (self.kind, requirement) == (Requirement::Settled, Requirement::Reviewed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_settled_is_reviewed_and_what_is_verified_is_neither() {
        use Requirement::{Reviewed, Settled, Verified};
        let satisfied = |kind| {
            let record = EvidenceRecord::new(EvidenceFields {
                kind,
                loop_id: "x".to_owned(),
                run: None,
                findings: None,
                round: 0,
                revision: 1,
                subject: None,
                rejecting: None,
                waived: false,
            });
            [Reviewed, Settled, Verified].map(|needed| record.satisfies(needed))
        };
        assert_eq!(satisfied(Reviewed), [true, false, false]);
        assert_eq!(satisfied(Settled), [true, true, false]);
        assert_eq!(satisfied(Verified), [false, false, true]);
    }
}
