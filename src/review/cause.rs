//! The reason for which a review gave no verdict, with the next step.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::process::limits::Spelled;
use crate::text;

/// The longest detail, in characters.
const MAX_DETAIL_CHARS: usize = 300;

/// The reason for which there is no verdict, and the next step of the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{kind}{}{detail}", if detail.is_empty() { "" } else { ": " })]
pub struct Cause {
    /// The kind.
    pub kind: CauseKind,
    /// The message of the reviewer or of the system: one plain line of at most 300 characters, or empty.
    pub detail: String,
}

impl Cause {
    /// Makes a cause. The detail is shortened to one plain line.
    pub fn new(kind: CauseKind, detail: &str) -> Self {
        Self {
            kind,
            detail: text::one_line(detail, MAX_DETAIL_CHARS),
        }
    }

    /// Makes the cause of an answer that cannot be relied on. `problem` is a sentence about the answer.
    pub(super) fn not_a_verdict(problem: &str) -> Self {
        Self::new(CauseKind::NotAVerdict, problem)
    }
}

/// The kind of a cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "kebab-case")]
pub enum CauseKind {
    /// The program is not installed.
    #[error("the reviewer is not installed; install it or choose another one")]
    NotInstalled,
    /// The time limit was reached.
    #[error("the reviewer was ended after {}; raise the time limit, or give it less to review", spelled(*.after_ms))]
    TimedOut {
        /// The limit, in milliseconds.
        after_ms: u64,
    },
    /// The limit without output was reached.
    #[error("the reviewer was ended after {} without output; see whether it waits for a login or the network", spelled(*.after_ms))]
    Idle {
        /// The limit, in milliseconds.
        after_ms: u64,
    },
    /// A signal that was not ours ended it.
    #[error(
        "the reviewer was killed by signal {signal}; run it again, and see whether memory ran out"
    )]
    Crashed {
        /// The signal's number.
        signal: i32,
    },
    /// Another exit status than 0.
    #[error(
        "the reviewer failed with exit status {status}; fix what it says, or choose another reviewer"
    )]
    Failed {
        /// The exit status; 0 if only its record says that it failed.
        status: i32,
    },
    /// The login or the key is missing or refused.
    #[error(
        "the reviewer is not logged in, or its key is refused; log in (codex login, claude auth login) or fix \
         the key, then run the review again"
    )]
    Login,
    /// The quota or a rate limit is used up.
    #[error(
        "the reviewer’s quota or rate limit is used up; wait until it is reset, or choose another reviewer"
    )]
    Quota,
    /// A limit of turns or money in its own arguments was reached.
    #[error(
        "the reviewer reached a limit of its own; raise it in the configuration, or give it less to review"
    )]
    Limit,
    /// The service failed or could not be reached.
    #[error(
        "the reviewer’s service failed or could not be reached; see to the network, or run the review later"
    )]
    Service,
    /// The review was cancelled.
    #[error("the review was interrupted; run it again")]
    Stopped,
    /// Exit status 0 without an answer.
    #[error("the reviewer ended well but gave no answer; run it again")]
    NoOutput,
    /// Exit status 0 and an answer without a verdict.
    #[error("the reviewer’s answer is not a verdict; run it again")]
    NotAVerdict,
    /// The system refused.
    #[error("the reviewer could not be run; see to what the system says, then run it again")]
    Io,
}

impl CauseKind {
    /// Returns whether the reviewer ran to its end, but its answer is no verdict.
    pub fn is_unreadable(self) -> bool {
        matches!(self, Self::NoOutput | Self::NotAVerdict)
    }

    /// Returns whether the reviewer cannot run, while another one may.
    pub fn falls_over(self) -> bool {
        matches!(self, Self::NotInstalled | Self::Login | Self::Quota)
    }

    /// Returns whether the same review would fail again if it began at once.
    pub fn is_lasting(self) -> bool {
        self.falls_over() || self == Self::Limit
    }
}

fn spelled(after_ms: u64) -> Spelled {
    Spelled(Duration::from_millis(after_ms))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cause_is_stored_as_json() {
        let cause = Cause::new(CauseKind::Idle { after_ms: 1500 }, "waiting");
        let stored = serde_json::to_string(&cause).unwrap();
        assert_eq!(
            stored,
            r#"{"kind":{"idle":{"after_ms":1500}},"detail":"waiting"}"#
        );
        assert_eq!(serde_json::from_str::<Cause>(&stored).unwrap(), cause);
        assert!(
            cause
                .to_string()
                .starts_with("the reviewer was ended after 1s500ms without output;")
        );
    }
}
