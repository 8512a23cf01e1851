//! The commands that `run` ran for a loop, as the journal tells them, and what they wrote.
//!
//! A run is two notes, as a review's: that it began, and how it ended. One that began and never ended was cut off with its
//! stop.

use std::io;
use std::ops::ControlFlow;
use std::time::Duration;

use camino::Utf8PathBuf;
use serde::{Deserialize, Serialize};

use crate::digest::random_hex;
use crate::machine::{Raw, Refusal, Snapshot};
use crate::process::configured::ConfiguredCommand;
use crate::process::environment::Environment;
use crate::process::limits::{Limits, Spelled};
use crate::process::{Call, ProcessEnd, ProcessOutput, supervise};
use crate::store::{Entry, StoreError};
use crate::text;

/// The note of a run's begin.
const BEGAN: &str = "command-began";
/// The note of a run's end.
const ENDED: &str = "command-ended";
/// How many lines of what a command wrote are shown.
const TAIL_LINES: usize = 40;
/// How many characters of one of them.
const LINE: usize = 300;
/// How many characters of them all, from the end.
const TAIL: usize = 4000;

/// What the note of a run's begin holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Began {
    run: String,
    command: String,
}

/// What the note of a run's end holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Finished {
    run: String,
    command: String,
    #[serde(flatten)]
    exit: Exit,
}

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, derive_more::Display)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub enum Exit {
    /// By itself.
    #[display("exit status {status}")]
    Exited {
        /// Its status.
        status: i32,
    },
    /// By a signal that was not ours.
    #[display("signal {signal}")]
    Signalled {
        /// The signal's number.
        signal: i32,
    },
    /// Ended by us at its deadline.
    #[display("ended after {}", Spelled(Duration::from_millis(*after_ms)))]
    TimedOut {
        /// The deadline, in milliseconds.
        after_ms: u64,
    },
    /// It could not be started, or its status is not known.
    #[display("{problem}")]
    Failed {
        /// What the system said, on one line.
        problem: String,
    },
    /// The user's configuration does not allow it.
    #[display("not run: the user’s configuration does not allow it")]
    NotAllowed,
    /// The stop that ran it was ended in the middle.
    #[display("cut off with its stop")]
    CutOff,
}

impl Exit {
    /// Returns how a supervised process ended.
    pub(super) fn of(ended: &ProcessOutput) -> Self {
        match &ended.how {
            ProcessEnd::Exited(status) => Self::Exited { status: *status },
            ProcessEnd::Signalled(signal) => Self::Signalled { signal: *signal },
            ProcessEnd::TimedOut { after } | ProcessEnd::Idle { after } => Self::TimedOut {
                after_ms: u64::try_from(after.as_millis()).unwrap_or(u64::MAX),
            },
            ProcessEnd::CouldNotStart(error) => Self::Failed {
                problem: text::one_line(&error.to_string(), LINE),
            },
            ProcessEnd::StatusLost(error) => Self::Failed {
                problem: text::one_line(&error.to_string(), LINE),
            },
            ProcessEnd::Stopped => Self::CutOff,
        }
    }

    /// Returns whether it is what `run` calls passed.
    pub fn passed(&self) -> bool {
        matches!(self, Self::Exited { status: 0 })
    }
}

/// The last command that ended in a loop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LastRun {
    /// Its name in the configuration.
    pub command: String,
    /// How it ended, in words: `exit status 1`.
    pub exit: String,
    /// Whether it ended with status 0.
    pub passed: bool,
    /// The end of what it wrote, plain, some lines; may be empty.
    pub tail: String,
    /// The file that has all of it; it is not there where the command wrote nothing.
    pub log: String,
}

/// Returns the last command that ended in a loop. What cannot be read is not told.
pub fn last(raw: &Raw) -> Option<LastRun> {
    let journal = raw.journal().ok()?;
    let finished = journal
        .iter()
        .rev()
        .find_map(|entry| entry.noted::<Finished>(ENDED))?;
    let file = log(raw, &finished.command)?;
    Some(LastRun {
        passed: finished.exit.passed(),
        exit: finished.exit.to_string(),
        tail: raw
            .store()
            .read(&file)
            .map_or_else(|_| String::new(), |bytes| tail(&bytes)),
        log: file.to_string(),
        command: finished.command,
    })
}

/// Returns the file in which what a command wrote is kept. None for a name that no configuration has: it may not lead
/// elsewhere.
pub(super) fn log(raw: &Raw, command: &str) -> Option<Utf8PathBuf> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
    let fits = !command.is_empty() && command.len() <= 64 && command.bytes().all(plain);
    fits.then(|| {
        raw.store()
            .loop_folder(raw.id())
            .join(format!("run-{command}.log"))
    })
}

/// Returns the end of what a command wrote.
pub(super) fn tail(bytes: &[u8]) -> String {
    // More than enough for the lines that are shown, and no more work than that.
    let bytes = &bytes[bytes.len().saturating_sub(TAIL_LINES * 4 * LINE)..];
    let plain = text::plain(&String::from_utf8_lossy(bytes));
    let mut lines: Vec<String> = Vec::new();
    let mut length = 0;
    for line in plain.lines().rev().take(TAIL_LINES) {
        let line: String = line.trim_end().chars().take(LINE).collect();
        length += line.chars().count() + 1;
        if length > TAIL {
            break;
        }
        lines.push(line);
    }
    lines.reverse();
    lines.join("\n").trim_matches('\n').to_owned()
}

/// Refuses where someone was faster: what a command would be run for has happened.
pub(super) fn unmoved(raw: &Raw) -> Result<(), Refusal> {
    let opened = raw.store().open(raw.id()).map_err(Refusal::Store)?;
    let snapshot = |record: &crate::store::Record| Snapshot {
        phase: record.phase().to_owned(),
        revision: record.revision(),
    };
    let (expected, found) = (snapshot(raw.record()), snapshot(&opened.record));
    if expected == found {
        Ok(())
    } else {
        Err(Refusal::Stale { expected, found })
    }
}

/// Names a run.
pub(super) fn new_run() -> io::Result<String> {
    Ok(format!("c-{}", random_hex::<8>()?))
}

/// Runs a command in the loop's root to its end, or until `is_unwanted`, which is asked about ten times a second.
pub(super) fn supervised(
    raw: &Raw,
    command: &ConfiguredCommand,
    is_unwanted: &mut dyn FnMut() -> bool,
) -> ProcessOutput {
    let environment =
        Environment::allowing(command.environment.iter().cloned()).with_projects_programs();
    let call = Call {
        program: &command.program,
        arguments: &command.arguments,
        directory: &raw.root(),
        stdin: b"",
        environment: &environment,
        limits: Limits {
            timeout: command.timeout,
            idle: command.timeout,
        },
    };
    supervise(&call, &mut |_| match is_unwanted() {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    })
}

/// Notes that a run was cut off, if its stop was ended in the middle. The run lock has to be held.
pub(super) fn note_cut_off(raw: &Raw) -> Result<(), StoreError> {
    let journal = raw.recent()?;
    let began = journal
        .iter()
        .rposition(|entry| entry.noted::<Began>(BEGAN).is_some());
    let Some((at, began)) = began.and_then(|at| Some((at, journal[at].noted::<Began>(BEGAN)?)))
    else {
        return Ok(());
    };
    let over = |entry: &Entry| {
        entry
            .noted::<Finished>(ENDED)
            .is_some_and(|finished| finished.run == began.run)
    };
    if journal[at..].iter().any(over) {
        return Ok(());
    }
    ended(raw, &began.run, &began.command, Exit::CutOff)
}

/// Notes that a run began.
pub(super) fn began(raw: &Raw, run: &str, command: &str) -> Result<(), StoreError> {
    let (run, command) = (run.to_owned(), command.to_owned());
    raw.store().note(raw.id(), BEGAN, &Began { run, command })
}

/// Notes how a run ended.
pub(super) fn ended(raw: &Raw, run: &str, command: &str, exit: Exit) -> Result<(), StoreError> {
    let (run, command) = (run.to_owned(), command.to_owned());
    raw.store()
        .note(raw.id(), ENDED, &Finished { run, command, exit })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tail_is_the_end_plain_and_bounded() {
        assert_eq!(tail(b""), "");
        assert_eq!(
            tail(b"\n\na\r\nb\x1b[31m\xff\xe2\x80\xae\n\n"),
            "a\nb[31m\u{fffd}"
        );
        let many: String = (0..100_000).map(|line| format!("line {line}\n")).collect();
        let shown = tail(many.as_bytes());
        assert_eq!(shown.lines().count(), TAIL_LINES);
        assert!(shown.ends_with("line 99999"), "{shown}");
        let long = "\u{1f600}".repeat(100_000);
        assert!(tail(long.as_bytes()).chars().count() <= LINE);
        let wide = format!("{}\n", "x".repeat(1000)).repeat(40);
        assert!(tail(wide.as_bytes()).chars().count() <= TAIL);
    }

    #[test]
    fn an_end_is_told_in_words_and_read_back() {
        for (exit, words) in [
            (Exit::Exited { status: 7 }, "exit status 7"),
            (Exit::Signalled { signal: 9 }, "signal 9"),
            (Exit::TimedOut { after_ms: 50_000 }, "ended after 50s"),
            (Exit::CutOff, "cut off with its stop"),
        ] {
            assert_eq!(exit.to_string(), words);
            let (run, command) = ("c-1".to_owned(), "build".to_owned());
            let finished = Finished { run, command, exit };
            let json = serde_json::to_string(&finished).unwrap();
            assert_eq!(
                serde_json::from_str::<Finished>(&json).unwrap(),
                finished,
                "{json}"
            );
        }
    }
}
