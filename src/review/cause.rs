//! The reason why a review gave no verdict, with the next step.

use std::io::ErrorKind;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::process::limits::Spelled;
use crate::process::output::plain_text;
use crate::process::{ProcessEnd, ProcessOutput};
use crate::text;

const MAX_DETAIL_CHARS: usize = 300;

/// The reason why a review gave no verdict, and the user's next step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{kind}{}{detail}", if detail.is_empty() { "" } else { ": " })]
pub struct Cause {
    /// The kind.
    pub kind: CauseKind,
    /// The message of the reviewer or the system: a plain line of up to 300 characters, or empty.
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

    /// Makes the cause of an unreliable answer. `problem` is a sentence about it.
    pub(super) fn not_a_verdict(problem: &str) -> Self {
        Self::new(CauseKind::NotAVerdict, problem)
    }

    /// Returns why a process did not complete its review, or `None` if it exited with 0.
    pub(super) fn from_process(ended: &ProcessOutput) -> Option<Self> {
        let kind = match &ended.how {
            ProcessEnd::Exited(0) => return None,
            // A shell, or `env`, did not find a program.
            ProcessEnd::Exited(127) => CauseKind::NotInstalled,
            ProcessEnd::Exited(status) => CauseKind::Failed(*status),
            ProcessEnd::Signalled(signal) => CauseKind::Crashed(*signal),
            ProcessEnd::TimedOut { after } => CauseKind::TimedOut(*after),
            ProcessEnd::Idle { after } => CauseKind::Idle(*after),
            ProcessEnd::Stopped => return Some(Self::new(CauseKind::Stopped, "")),
            ProcessEnd::Io { source, .. } if source.kind() != ErrorKind::NotFound => {
                return Some(Self::new(CauseKind::Io, &ended.how.to_string()));
            }
            // A script without its interpreter counts as missing.
            ProcessEnd::NotInstalled { .. } | ProcessEnd::Io { .. } => {
                return Some(Self::new(CauseKind::NotInstalled, &ended.how.to_string()));
            }
        };
        Some(Self::new(kind, &complaint(ended)))
    }
}

/// Returns the line that most likely names the problem: the last line of stderr with "error", else
/// its last line, else stdout's last one that is not JSON. After a colon, the next line follows.
pub(super) fn complaint(ended: &ProcessOutput) -> String {
    let is_text = |line: &&str| !line.trim().is_empty();
    let tail = ended.stderr_tail();
    let stderr: Vec<&str> = tail.lines().filter(is_text).collect();
    let has_error = |line: &&str| line.to_ascii_lowercase().contains("error");
    let place = stderr.iter().rposition(has_error);
    if let Some(place) = place.or(stderr.len().checked_sub(1)) {
        let line = stderr[place].trim_end();
        return match stderr.get(place + 1) {
            Some(next) if line.ends_with(':') => format!("{line} {}", next.trim()),
            _ => line.to_owned(),
        };
    }
    let stdout = plain_text(&ended.stdout[ended.stdout.len().saturating_sub(4096)..]);
    let mut lines = stdout.lines().rev().filter(is_text);
    let line = lines.find(|line| !line.trim_start().starts_with('{'));
    line.unwrap_or_default().to_owned()
}

/// The kind of a cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "kebab-case")]
pub enum CauseKind {
    /// The program is not installed.
    #[error("the reviewer is not installed; install it or choose another one")]
    NotInstalled,
    /// This time limit was reached.
    #[error("the reviewer was ended after {}; raise the time limit, or give it less to review", Spelled(*.0))]
    TimedOut(Duration),
    /// This limit without output was reached.
    #[error("the reviewer was ended after {} without output; check whether it waits for a login or the network", Spelled(*.0))]
    Idle(Duration),
    /// This signal, which was not ours, ended it.
    #[error(
        "the reviewer was killed by signal {0}; run it again, and check whether memory ran out"
    )]
    Crashed(i32),
    /// Another exit status than 0; 0 if only its record reports a failure.
    #[error(
        "the reviewer failed with exit status {0}; fix what it reports, or choose another reviewer"
    )]
    Failed(i32),
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
        "the reviewer’s service failed or could not be reached; check the network, or run the review later"
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
    #[error("the reviewer could not be run; fix what the system reports, then run it again")]
    Io,
}

impl CauseKind {
    /// Returns whether the reviewer completed, but its answer is no verdict.
    pub fn is_unreadable(self) -> bool {
        matches!(self, Self::NoOutput | Self::NotAVerdict)
    }

    /// Returns whether the reviewer cannot run, but another one may.
    pub fn fails_over(self) -> bool {
        matches!(self, Self::NotInstalled | Self::Login | Self::Quota)
    }

    /// Returns whether the same review would fail again at once.
    pub fn is_lasting(self) -> bool {
        self.fails_over() || self == Self::Limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cause_is_stored_as_json() {
        let after = Duration::from_millis(1500);
        let cause = Cause::new(CauseKind::Idle(after), "waiting");
        let stored = serde_json::to_string(&cause).unwrap();
        assert_eq!(
            stored,
            r#"{"kind":{"idle":{"secs":1,"nanos":500000000}},"detail":"waiting"}"#
        );
        assert_eq!(serde_json::from_str::<Cause>(&stored).unwrap(), cause);
    }
}
