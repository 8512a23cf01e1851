//! The open dispatch, which decides which summary counts.

use claudex_loop::text;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::finding::{Collector, Place, quoted};
use super::flags::Flags;
use super::rule::Rule;
use super::stage::Stage;

/// The SHA-256 digest of a file's bytes, in hexadecimal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Digest(String);

impl Digest {
    /// Computes the digest of bytes.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        let digest = Sha256::digest(bytes);
        Self(digest.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// Returns the digest in hexadecimal.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The facts recorded when a stage was dispatched.
#[derive(Debug, Clone)]
pub struct Dispatch {
    /// The stage.
    pub stage: Stage,
    /// The round.
    pub round: u32,
    /// The id that the summary may name.
    pub id: String,
    /// The summary file that was there before, if any.
    pub before: Option<Digest>,
    /// The summaries that counted.
    pub counted: Vec<Digest>,
    /// Whether the user had validation skipped. A decision is then CONDITIONAL, without a score.
    pub skip_validation: bool,
}

impl Dispatch {
    /// Checks that the bytes are new.
    pub(super) fn check_bytes(&self, bytes: &[u8], found: &mut Collector) {
        let digest = Digest::from_bytes(bytes);
        if self.counted.contains(&digest) {
            let message = "this summary has counted already";
            found.error_at(Rule::TakenAlready, Place::START, message);
        } else if self.before.as_ref() == Some(&digest) {
            let message = "the file is the same as when the stage was dispatched";
            found.error_at(Rule::Stale, Place::START, message);
        }
    }

    /// Checks that the stage, the dispatch and the round are the open ones.
    pub(super) fn check(&self, stage: Stage, flags: &Flags, found: &mut Collector) {
        if stage != self.stage {
            let (number, open) = (stage.number(), self.stage.number());
            let message = format!("the summary is of stage {number}, but stage {open} is open");
            found.error(Rule::Foreign, "/stage_number", message);
        }
        if let Some(other) = &flags.dispatch_id
            && *other != self.id
        {
            let id = text::shown(&self.id);
            let message = format!("the `dispatch_id` is {}, expected {id}", quoted(other));
            found.error(Rule::Stale, "/flags/dispatch_id", message);
        }
        if let Some(other) = flags.round_number
            && other != self.round
        {
            let message = format!("the round is {other}, expected {}", self.round);
            found.error(Rule::Stale, "/flags/round_number", message);
        }
    }
}
