//! Why a review gave no verdict, in words that say what to do.
//!
//! Values and their texts; who finds them out is each reviewer's own file.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::process::limits::Spelled;
use crate::text;

/// How many characters of a cause's detail are kept.
const DETAIL: usize = 300;

/// Why there is no verdict, for a person who has to do something about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, derive_more::Display)]
#[display("{kind}{}{detail}", if detail.is_empty() { "" } else { ": " })]
pub struct Cause {
    /// Which kind of trouble.
    pub kind: CauseKind,
    /// What the reviewer or the system said: one plain line of at most 300 characters, or nothing.
    pub detail: String,
}

impl Cause {
    /// Makes a cause, its detail made one short plain line.
    pub fn new(kind: CauseKind, detail: &str) -> Self {
        Self {
            kind,
            detail: text::one_line(detail, DETAIL),
        }
    }
}

/// Which kind of trouble a reviewer had.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, derive_more::Display)]
#[serde(rename_all = "kebab-case")]
pub enum CauseKind {
    /// Its program is not there.
    #[display("the reviewer is not installed; install it or choose another one")]
    NotInstalled,
    /// It took longer than it may.
    #[display("the reviewer was ended after {}; raise the time limit, or give it less to review", Spelled(*after))]
    TimedOut {
        /// The limit, in milliseconds when stored.
        #[serde(rename = "after_ms", with = "milliseconds")]
        after: Duration,
    },
    /// It was silent for longer than it may.
    #[display("the reviewer was ended after {} without output; see whether it waits for a login or the network", Spelled(*after))]
    Idle {
        /// The limit, in milliseconds when stored.
        #[serde(rename = "after_ms", with = "milliseconds")]
        after: Duration,
    },
    /// A signal that was not ours ended it.
    #[display(
        "the reviewer was killed by signal {signal}; run it again, and see whether memory ran out"
    )]
    Crashed {
        /// The signal's number.
        signal: i32,
    },
    /// It exited with an error that nothing tells apart.
    #[display(
        "the reviewer failed with exit status {status}; mend what it says, or choose another reviewer"
    )]
    Failed {
        /// The exit status; 0 where its own record says that it failed.
        status: i32,
    },
    /// The service behind it does not know who asks, or does not allow it.
    #[display(
        "the reviewer is not logged in, or its key is refused; log in (codex login, claude auth login) or mend \
         the key, then run the review again"
    )]
    Login,
    /// The service behind it allows no more for now.
    #[display(
        "the reviewer’s quota or rate limit is used up; wait until it is reset, or choose another reviewer"
    )]
    Quota,
    /// It reached a limit of turns or money that its own arguments set.
    #[display(
        "the reviewer reached a limit of its own; raise it in the configuration, or give it less to review"
    )]
    Limit,
    /// The service behind it failed, or could not be reached.
    #[display(
        "the reviewer’s service failed or could not be reached; see to the network, or run the review later"
    )]
    Service,
    /// It was ended because we were.
    #[display("the review was interrupted; run it again")]
    Stopped,
    /// It exited well and said nothing.
    #[display("the reviewer ended well but gave no answer; run it again")]
    NoOutput,
    /// It exited well and said something that is no verdict.
    #[display("the reviewer’s answer is not a verdict; run it again")]
    NotAVerdict,
    /// The system was in the way.
    #[display("the reviewer could not be run; see to what the system says, then run it again")]
    Io,
}

impl CauseKind {
    /// Returns whether the reviewer cannot run, while another one may.
    pub fn falls_over(self) -> bool {
        matches!(self, Self::NotInstalled | Self::Login | Self::Quota)
    }

    /// Returns whether the same review would fail again if it began at once.
    pub fn is_lasting(self) -> bool {
        self.falls_over() || self == Self::Limit
    }
}

/// A duration as whole milliseconds.
mod milliseconds {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(duration: &Duration, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_u64(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
        u64::deserialize(from).map(Duration::from_millis)
    }
}

#[cfg(test)]
mod tests {
    use super::super::reviewer::Outcome;
    use super::*;

    #[test]
    fn a_record_holds_name_and_cause() {
        let after = Duration::from_millis(1500);
        let cause = Cause::new(CauseKind::Idle { after }, "waiting");
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

        let name = Outcome::CouldNotRun(cause).name();
        assert_eq!(serde_json::to_string(&name).unwrap(), r#""could-not-run""#);
        assert_eq!(name.to_string(), "could-not-run");
        assert_eq!("could-not-run".parse(), Ok(name));
    }
}
