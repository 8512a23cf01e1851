//! What a reviewer is: asked about one subject, it gives one of four outcomes. And how a finished process is judged.
//!
//! That a reviewer failed never looks like a verdict here, and no verdict is made up. What an outcome means for a loop,
//! and how it becomes evidence, is not known here.

use std::cell::Cell;
use std::io;

use camino::Utf8Path;
use serde::{Deserialize, Serialize};

use super::answer::{self, Unreadable, Verdict};
pub use super::cause::{Cause, CauseKind};
use super::findings::Findings;
use super::opened::Opened;
use super::subject::Part;
use crate::files::Folder;
use crate::machine::persona::Focus;
use crate::process::environment::Environment;
use crate::process::limits::Limits;
use crate::process::output::KEPT;
pub use crate::process::{Event, Watch};
use crate::process::{ProcessEnd, ProcessOutput, StartError};
use crate::review::scratch::Place;

/// What a reviewer is asked.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// The whole text for a model: who it is, what to look at, how to answer.
    pub prompt: &'a str,
    /// The text under review; of several files each stands below its name.
    pub subject: &'a str,
    /// The same, file by file.
    pub parts: &'a [Part],
    /// What the subject is called, such as `PLAN.md`.
    pub subject_name: &'a str,
    /// Takes what the reviewer opens, where its client tells.
    pub opened: &'a Opened,
    /// Whether the run has asked its one question for a readable answer.
    pub repaired: &'a Cell<bool>,
    /// The round, from 1.
    pub round: u32,
    /// The persona's point of view.
    pub focus: Focus,
    /// The id of the run.
    pub run: &'a str,
    /// The loop's root folder; a reviewer's process starts there.
    pub root: &'a Utf8Path,
    /// Where a reviewer puts a file that is of no use after the review.
    pub scratch: &'a Place,
    /// How long it may take.
    pub limits: Limits,
    /// What a reviewer's process sees of our environment.
    pub environment: &'a Environment,
    /// The folder and the name of the file in which a process's output is kept, for people; None: nowhere.
    pub output: Option<(&'a Folder, &'a str)>,
}

/// Someone who reviews.
pub trait Reviewer {
    /// Returns a short name for people and records, such as `codex`.
    fn name(&self) -> &str;

    /// Reviews, and tells `watch` how it goes; when that answers `Break`, the review is given up.
    fn review(&self, request: &Request<'_>, watch: &mut Watch<'_>) -> Outcome;

    /// Returns whether it runs a program, which could change files of the work tree.
    fn runs_a_program(&self) -> bool {
        true
    }
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
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    Serialize,
    Deserialize,
    strum::Display,
    strum::EnumString,
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

    /// Returns why there is no verdict, where there is none.
    pub fn cause(&self) -> Option<&Cause> {
        match self {
            Self::Clean | Self::Findings(_) => None,
            Self::CouldNotRun(cause) | Self::Unreadable(cause) => Some(cause),
        }
    }
}

/// The exit status by which a shell, or `env`, says that a program is not there.
const NOT_FOUND: i32 = 127;

/// Judges a process that was to write its verdict to stdout.
///
/// Only one that exited with 0 is asked for a verdict at all: a failed run's stdout, however clean it looks, is none.
pub fn judge(ended: &ProcessOutput) -> Outcome {
    if let Some(cause) = failure(ended) {
        return Outcome::CouldNotRun(cause);
    }
    if ended.truncated() {
        return Outcome::Unreadable(Cause::new(
            CauseKind::NotAVerdict,
            &format!("it is longer than {KEPT} bytes"),
        ));
    }
    match judge_answer(&String::from_utf8_lossy(&ended.stdout)) {
        Outcome::Unreadable(cause) if cause.kind == CauseKind::NoOutput => {
            Outcome::Unreadable(Cause::new(CauseKind::NoOutput, &complaint(ended)))
        }
        outcome => outcome,
    }
}

/// Returns why a process that ended did not run its review to the end; None: it exited with 0.
pub(super) fn failure(ended: &ProcessOutput) -> Option<Cause> {
    let kind = match &ended.how {
        ProcessEnd::Exited(0) => return None,
        ProcessEnd::Exited(NOT_FOUND) => CauseKind::NotInstalled,
        ProcessEnd::Exited(status) => CauseKind::Failed { status: *status },
        ProcessEnd::Signalled(signal) => CauseKind::Crashed { signal: *signal },
        ProcessEnd::TimedOut { after } => CauseKind::TimedOut { after: *after },
        ProcessEnd::Idle { after } => CauseKind::Idle { after: *after },
        ProcessEnd::Stopped => return Some(Cause::new(CauseKind::Stopped, "")),
        ProcessEnd::CouldNotStart(error) => {
            return Some(Cause::new(start_kind(error), &error.to_string()));
        }
        ProcessEnd::StatusLost(error) => {
            return Some(Cause::new(
                CauseKind::Io,
                &format!("its exit status is lost: {error}"),
            ));
        }
    };
    Some(Cause::new(kind, &complaint(ended)))
}

/// Returns the outcome of an answer from a reviewer that ran well.
pub(super) fn judge_answer(answer: &str) -> Outcome {
    outcome(answer::read(answer))
}

/// Returns the outcome of an answer that was read, or could not be.
pub(super) fn outcome(read: Result<Verdict, Unreadable>) -> Outcome {
    match read {
        Ok(Verdict::Clean) => Outcome::Clean,
        Ok(Verdict::Findings(findings)) => Outcome::Findings(findings),
        Err(Unreadable::Empty) => Outcome::Unreadable(Cause::new(CauseKind::NoOutput, "")),
        Err(error) => Outcome::Unreadable(Cause::new(CauseKind::NotAVerdict, &error.to_string())),
    }
}

fn start_kind(error: &StartError) -> CauseKind {
    match error {
        StartError::NotInstalled { .. } => CauseKind::NotInstalled,
        // A script whose interpreter is missing is as good as not there.
        StartError::Io { source, .. } if source.kind() == io::ErrorKind::NotFound => {
            CauseKind::NotInstalled
        }
        StartError::Io { .. } | StartError::NoDirectory { .. } => CauseKind::Io,
    }
}

/// Returns the line in which a program most likely says what is wrong: the last of stderr that speaks of an error, else the
/// last of stderr, else the last of stdout that is no event for a program. A line that ends with a colon says nothing
/// without the next one.
fn complaint(ended: &ProcessOutput) -> String {
    let stderr: Vec<&str> = (ended.stderr_tail.lines())
        .filter(|line| !line.trim().is_empty())
        .collect();
    let says_error = |line: &&str| line.to_ascii_lowercase().contains("error");
    if let Some(place) = stderr
        .iter()
        .rposition(says_error)
        .or(stderr.len().checked_sub(1))
    {
        let line = stderr[place].trim_end();
        return match stderr.get(place + 1) {
            Some(next) if line.ends_with(':') => format!("{line} {}", next.trim()),
            _ => line.to_owned(),
        };
    }
    let start = ended.stdout.len().saturating_sub(4096);
    let end = String::from_utf8_lossy(&ended.stdout[start..]);
    end.lines()
        .rev()
        .find(|line| !line.trim().is_empty() && !line.trim_start().starts_with('{'))
        .unwrap_or_default()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn ended(how: ProcessEnd, stdout: &str, stderr: &str) -> ProcessOutput {
        ProcessOutput {
            how,
            stdout: stdout.into(),
            dropped: 0,
            stdout_end: Vec::new(),
            stderr_tail: stderr.into(),
            elapsed: Duration::from_secs(1),
        }
    }

    const CLEAN: &str = "# Round 1 findings\n\nNo substantive findings.\n";

    #[test]
    fn only_exit_status_zero_can_be_clean() {
        assert_eq!(
            judge(&ended(ProcessEnd::Exited(0), CLEAN, "")),
            Outcome::Clean
        );
        let after = Duration::from_secs(90);
        for how in [
            ProcessEnd::Exited(1),
            ProcessEnd::Exited(2),
            ProcessEnd::Signalled(9),
            ProcessEnd::TimedOut { after },
            ProcessEnd::Idle { after },
            ProcessEnd::Stopped,
            ProcessEnd::StatusLost(io::Error::other("gone")),
            ProcessEnd::CouldNotStart(StartError::NotInstalled {
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
        let kind = |stdout, dropped| match judge(&ProcessOutput {
            dropped,
            ..ended(ProcessEnd::Exited(0), stdout, "")
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
    fn a_status_of_127_is_a_program_that_is_not_there() {
        let outcome = judge(&ended(
            ProcessEnd::Exited(127),
            "",
            "env: 'node': No such file or directory\n",
        ));
        assert_eq!(outcome.cause().unwrap().kind, CauseKind::NotInstalled);
    }

    #[test]
    fn findings_come_through() {
        let Outcome::Findings(findings) = judge(&ended(
            ProcessEnd::Exited(0),
            "## High\n- no rollback\n",
            "error: noise",
        )) else {
            panic!("expected findings");
        };
        assert_eq!(findings.counts().high, 1);
    }

    #[test]
    fn the_cause_quotes_the_complaint_on_one_plain_line() {
        let stderr = "loading\nERROR: quota \u{1b}[31mexceeded\u{202e}\n\ntokens used: 7\n\n";
        let outcome = judge(&ended(ProcessEnd::Exited(1), "partial", stderr));
        assert_eq!(
            outcome.cause().unwrap().to_string(),
            "the reviewer failed with exit status 1; mend what it says, or choose another reviewer: ERROR: quota \
             [31mexceeded"
        );
        let stderr = "Error loading config.toml:\n\n  /home/me/config.toml:1:2: unclosed table\n   |\n 1 | [x\n";
        let outcome = judge(&ended(ProcessEnd::Exited(1), "", stderr));
        assert_eq!(
            outcome.cause().unwrap().detail,
            "Error loading config.toml: /home/me/config.toml:1:2: unclosed table"
        );
        let outcome = judge(&ended(ProcessEnd::Exited(1), "", "usage:\nan error:\n"));
        assert_eq!(outcome.cause().unwrap().detail, "an error:");
        let outcome = judge(&ended(ProcessEnd::Exited(3), "said on stdout\n", "  \n"));
        assert_eq!(outcome.cause().unwrap().detail, "said on stdout");
        let outcome = judge(&ended(ProcessEnd::Signalled(11), "", ""));
        assert!(
            outcome
                .cause()
                .unwrap()
                .to_string()
                .ends_with("see whether memory ran out")
        );
        let long = judge(&ended(ProcessEnd::Exited(1), "", &"x".repeat(8000)));
        assert_eq!(long.cause().unwrap().detail.chars().count(), 300);
    }
}
