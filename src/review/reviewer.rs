//! What a reviewer is: asked about one subject, it gives one of four outcomes. And how a finished process is judged.
//!
//! That a reviewer failed never looks like a verdict here, and no verdict is made up. What an outcome means for a loop,
//! and how it becomes evidence, is not known here.

use std::io;
use std::time::Duration;

use camino::Utf8Path;
use serde::{Deserialize, Serialize};

use super::environment::Environment;
use super::findings::Findings;
use super::findings_file::{self, Verdict};
use super::focus::{Focus, Kind};
use super::limits::{Limits, Spelled};
use super::output::KEPT;
use super::process::{Ended, How, StartError};
pub use super::process::{Event, Watch};
use crate::text;

/// How many characters of a cause's detail are kept.
const DETAIL: usize = 300;

/// What a reviewer is asked.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// The whole text for a model: who it is, what to look at, how to answer.
    pub prompt: &'a str,
    /// The text under review.
    pub subject: &'a str,
    /// What the text under review is called, such as `PLAN.md`.
    pub subject_name: &'a str,
    /// What kind of text that is.
    pub kind: Kind,
    /// The round, from 1.
    pub round: u32,
    /// The persona's point of view.
    pub focus: Focus,
    /// The id of the run.
    pub run: &'a str,
    /// The loop's root folder; a reviewer's process starts there.
    pub root: &'a Utf8Path,
    /// How long it may take.
    pub limits: Limits,
    /// What a reviewer's process sees of our environment.
    pub environment: &'a Environment,
}

/// Someone who reviews.
pub trait Reviewer {
    /// A short name for people and records, such as `codex`.
    fn name(&self) -> &str;

    /// Reviews, and tells `watch` how it goes; when that answers `Break`, the review is given up.
    fn review(&self, request: &Request<'_>, watch: &mut Watch<'_>) -> Outcome;
}

/// What came of a review.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The reviewer looked and found nothing.
    Clean,
    /// The reviewer found something; never empty when it comes from [`judge`].
    Findings(Findings),
    /// There was no review.
    CouldNotRun(Cause),
    /// The reviewer ran to its end, but its answer is no verdict.
    Unreadable(Cause),
}

/// An [`Outcome`] without what it carries.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, strum::Display, strum::EnumString,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum OutcomeName {
    /// See [`Outcome::Clean`].
    Clean,
    /// See [`Outcome::Findings`].
    Findings,
    /// See [`Outcome::CouldNotRun`].
    CouldNotRun,
    /// See [`Outcome::Unreadable`].
    Unreadable,
}

impl Outcome {
    /// Its name, for records.
    pub fn name(&self) -> OutcomeName {
        match self {
            Self::Clean => OutcomeName::Clean,
            Self::Findings(_) => OutcomeName::Findings,
            Self::CouldNotRun(_) => OutcomeName::CouldNotRun,
            Self::Unreadable(_) => OutcomeName::Unreadable,
        }
    }

    /// Why there is no verdict, where there is none.
    pub fn cause(&self) -> Option<&Cause> {
        match self {
            Self::Clean | Self::Findings(_) => None,
            Self::CouldNotRun(cause) | Self::Unreadable(cause) => Some(cause),
        }
    }
}

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
    /// A cause, its detail made one short plain line.
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
    #[display("the reviewer was ended after {}; raise the time limit or make the plan shorter", Spelled(*after))]
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
    #[display("the reviewer was killed by signal {signal}; run it again, and see whether memory ran out")]
    Crashed {
        /// The signal's number.
        signal: i32,
    },
    /// It exited with an error.
    #[display("the reviewer failed with exit status {status}")]
    Failed {
        /// The exit status, never 0.
        status: i32,
    },
    /// The service behind it said no: no login, no quota.
    #[display("the reviewer's service refused; log in or wait for the quota, then run the review again")]
    Refused,
    /// It was ended because we were.
    #[display("the review was interrupted; run it again")]
    Stopped,
    /// It exited well and said nothing.
    #[display("the reviewer exited well but wrote nothing; run it again")]
    NoOutput,
    /// It exited well and said something that is no verdict.
    #[display("the reviewer's answer is not a verdict; run it again")]
    NotAVerdict,
    /// The system was in the way.
    #[display("the reviewer could not be run")]
    Io,
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

/// Judges a process that was to write its verdict to stdout.
///
/// Only one that exited with 0 is asked for a verdict at all: a failed run's stdout, however clean it looks, is none.
pub fn judge(ended: &Ended) -> Outcome {
    let could_not_run = |kind, detail: &str| Outcome::CouldNotRun(Cause::new(kind, detail));
    match &ended.how {
        How::Exited(0) => judge_answer(ended),
        How::Exited(status) => could_not_run(CauseKind::Failed { status: *status }, &complaint(ended)),
        How::Signalled(signal) => could_not_run(CauseKind::Crashed { signal: *signal }, &complaint(ended)),
        How::TimedOut { after } => could_not_run(CauseKind::TimedOut { after: *after }, &complaint(ended)),
        How::Idle { after } => could_not_run(CauseKind::Idle { after: *after }, &complaint(ended)),
        How::Stopped => could_not_run(CauseKind::Stopped, ""),
        How::CouldNotStart(error) => could_not_run(start_kind(error), &error.to_string()),
        How::StatusLost(error) => could_not_run(CauseKind::Io, &format!("its exit status is lost: {error}")),
    }
}

fn start_kind(error: &StartError) -> CauseKind {
    match error {
        StartError::NotInstalled { .. } => CauseKind::NotInstalled,
        // A script whose interpreter is missing is as good as not there.
        StartError::Io { source, .. } if source.kind() == io::ErrorKind::NotFound => CauseKind::NotInstalled,
        StartError::Io { .. } | StartError::NoDirectory { .. } => CauseKind::Io,
    }
}

fn judge_answer(ended: &Ended) -> Outcome {
    let unreadable = |kind, detail: &str| Outcome::Unreadable(Cause::new(kind, detail));
    if ended.truncated() {
        return unreadable(CauseKind::NotAVerdict, &format!("it is longer than {KEPT} bytes"));
    }
    if String::from_utf8_lossy(&ended.stdout).trim().is_empty() {
        return unreadable(CauseKind::NoOutput, &complaint(ended));
    }
    match findings_file::parse(&ended.stdout) {
        Ok(Verdict::Clean) => Outcome::Clean,
        Ok(Verdict::Findings(findings)) if findings.is_empty() => {
            unreadable(CauseKind::NotAVerdict, "it announces findings and lists none")
        }
        Ok(Verdict::Findings(findings)) => Outcome::Findings(findings),
        Err(error) => unreadable(CauseKind::NotAVerdict, &error.to_string()),
    }
}

/// The line in which a program most likely says what is wrong: the last of stderr that speaks of an error, else the
/// last of stderr, else the last of stdout.
fn complaint(ended: &Ended) -> String {
    let stderr = || {
        ended
            .stderr_tail
            .lines()
            .rev()
            .filter(|line| !line.trim().is_empty())
    };
    let says_error = |line: &&str| line.to_ascii_lowercase().contains("error");
    if let Some(line) = stderr().find(says_error).or_else(|| stderr().next()) {
        return line.to_owned();
    }
    let start = ended.stdout.len().saturating_sub(4096);
    let end = String::from_utf8_lossy(&ended.stdout[start..]);
    end.lines()
        .rev()
        .find(|line| !line.trim().is_empty())
        .unwrap_or_default()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(how: How, stdout: &str, stderr: &str) -> Ended {
        Ended {
            how,
            stdout: stdout.into(),
            dropped: 0,
            stderr_tail: stderr.into(),
            elapsed: Duration::from_secs(1),
        }
    }

    const CLEAN: &str = "# Round 1 findings\n\nNo substantive findings.\n";

    #[test]
    fn only_exit_status_zero_can_be_clean() {
        assert_eq!(judge(&ended(How::Exited(0), CLEAN, "")), Outcome::Clean);
        let after = Duration::from_secs(90);
        for how in [
            How::Exited(1),
            How::Exited(2),
            How::Signalled(9),
            How::TimedOut { after },
            How::Idle { after },
            How::Stopped,
            How::StatusLost(io::Error::other("gone")),
            How::CouldNotStart(StartError::NotInstalled {
                program: "codex".into(),
            }),
        ] {
            let shown = format!("{how:?}");
            assert_eq!(
                judge(&ended(how, CLEAN, "")).name(),
                OutcomeName::CouldNotRun,
                "{shown}"
            );
        }
    }

    #[test]
    fn an_answer_that_is_no_verdict_is_unreadable() {
        let kind = |stdout, dropped| match judge(&Ended {
            dropped,
            ..ended(How::Exited(0), stdout, "")
        }) {
            Outcome::Unreadable(cause) => cause.kind,
            other => panic!("{other:?}"),
        };
        assert_eq!(kind("", 0), CauseKind::NoOutput);
        assert_eq!(kind(" \r\n\t\n", 0), CauseKind::NoOutput);
        assert_eq!(
            kind("I looked at the plan and it is fine.", 0),
            CauseKind::NotAVerdict
        );
        assert_eq!(
            kind(CLEAN, 1),
            CauseKind::NotAVerdict,
            "what was cut off may say otherwise"
        );
    }

    #[test]
    fn findings_come_through() {
        let Outcome::Findings(findings) =
            judge(&ended(How::Exited(0), "## High\n- no rollback\n", "error: noise"))
        else {
            panic!("expected findings");
        };
        assert_eq!(findings.counts().high, 1);
    }

    #[test]
    fn the_cause_quotes_the_complaint_on_one_plain_line() {
        let stderr = "loading\nERROR: quota \u{1b}[31mexceeded\u{202e}\n\ntokens used: 7\n\n";
        let outcome = judge(&ended(How::Exited(1), "partial", stderr));
        assert_eq!(
            outcome.cause().unwrap().to_string(),
            "the reviewer failed with exit status 1: ERROR: quota [31mexceeded"
        );
        let outcome = judge(&ended(How::Exited(3), "said on stdout\n", "  \n"));
        assert_eq!(outcome.cause().unwrap().detail, "said on stdout");
        let outcome = judge(&ended(How::Signalled(11), "", ""));
        assert!(
            outcome
                .cause()
                .unwrap()
                .to_string()
                .ends_with("see whether memory ran out")
        );
        let long = judge(&ended(How::Exited(1), "", &"x".repeat(8000)));
        assert_eq!(long.cause().unwrap().detail.chars().count(), DETAIL);
    }

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
