//! Running the user's commands, and the journal's notes of that.
//!
//! `run` runs one command, `verify` a list. A run is two notes, as a review's: that it began, and how it ended. One that began
//! and never ended was cut off with its stop. Only one is at work in a loop at a time, under the run lock.

use std::io;
use std::ops::ControlFlow;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use crate::digest::random_hex;
use crate::files::Folder;
use crate::machine::{Raw, Refusal, Snapshot};
use crate::process::configured::ConfiguredCommand;
use crate::process::environment::{Environment, GUARD};
use crate::process::limits::{Limits, Spelled};
use crate::process::{Call, ProcessEnd, ProcessOutput, supervise};
use crate::store::{Entry, Record};
use crate::text;

/// The most lines that are shown of a command's output.
const MAX_TAIL_LINES: usize = 40;
/// The longest of these lines, in characters.
const MAX_LINE_CHARS: usize = 300;
/// The most characters of all these lines.
const MAX_TAIL_CHARS: usize = 4000;

/// The note of the begin of a command's run.
pub(super) const BEGAN: &str = "command-began";
/// The note of its end.
pub(super) const ENDED: &str = "command-ended";

/// Adds a note about a run to a loop's journal.
pub(super) fn note(raw: &Raw, name: &str, data: &impl Serialize) -> Result<(), Refusal> {
    let noted = raw.store().note(raw.id(), name, data);
    noted.map_err(Refusal::Store)
}

/// Returns the begin of the newest run if the run was cut off. The run lock has to be held.
pub(super) fn unended<B: DeserializeOwned>(
    raw: &Raw,
    began: &str,
    ended: &str,
) -> Result<Option<B>, Refusal> {
    let journal = raw.recent().map_err(Refusal::Store)?;
    let is_note = |entry: &&Entry| match entry {
        Entry::Note(note) => note.note == began || note.note == ended,
        Entry::Change(_) => false,
    };
    let newest = journal.iter().rev().find(is_note);
    Ok(newest.and_then(|entry| entry.noted(began)))
}

/// A run of one command, as both of its notes have it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct CommandRun {
    pub(super) run: String,
    pub(super) command: String,
    /// The end, if it is known.
    #[serde(flatten)]
    pub(super) exit: Option<Exit>,
}

/// The end of a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub(super) enum Exit {
    /// The command ended by itself.
    #[error("exit status {status}")]
    Exited {
        /// Its status.
        status: i32,
    },
    /// A signal that was not ours ended it.
    #[error("signal {signal}")]
    Signalled {
        /// The signal's number.
        signal: i32,
    },
    /// The command was ended at its deadline.
    #[error("ended after {}", Spelled(Duration::from_millis(*.after_ms)))]
    TimedOut {
        /// The deadline, in milliseconds.
        after_ms: u64,
    },
    /// The command could not be started, or its status is not known.
    #[error("{problem}")]
    Failed {
        /// The system's error, on one line.
        problem: String,
    },
    /// The user's configuration does not allow it.
    #[error("not run: the user’s configuration does not allow it")]
    NotAllowed,
    /// The stop that ran it was ended in the middle.
    #[error("cut off with its stop")]
    CutOff,
}

impl Exit {
    fn of(ended: &ProcessOutput) -> Self {
        match &ended.how {
            ProcessEnd::Exited(status) => Self::Exited { status: *status },
            ProcessEnd::Signalled(signal) => Self::Signalled { signal: *signal },
            ProcessEnd::TimedOut { after } | ProcessEnd::Idle { after } => Self::TimedOut {
                after_ms: u64::try_from(after.as_millis()).unwrap_or(u64::MAX),
            },
            ProcessEnd::CouldNotStart(error) => Self::failed(&error.to_string()),
            ProcessEnd::StatusLost(error) => Self::failed(&error.to_string()),
            ProcessEnd::Stopped => Self::CutOff,
        }
    }

    fn failed(problem: &str) -> Self {
        let problem = text::one_line(problem, MAX_LINE_CHARS);
        Self::Failed { problem }
    }

    /// Returns whether it passed, as `run` calls it.
    pub(super) fn passed(&self) -> bool {
        matches!(self, Self::Exited { status: 0 })
    }
}

/// Returns the last command that ended in a loop, for a template, or `None` if there is none or the journal cannot be read. The
/// log is not there if the command wrote nothing.
pub(super) fn last(raw: &Raw) -> Option<Json> {
    let journal = raw.journal().ok()?;
    let mut notes = journal.iter().rev();
    let ended: CommandRun = notes.find_map(|entry| entry.noted(ENDED))?;
    let exit = ended.exit?;
    let folder = raw.store().loop_folder(raw.id());
    let log = folder.join(log_name(&ended.command));
    Some(json!({
        "command": ended.command,
        "exit": exit.to_string(),
        "passed": exit.passed(),
        "tail": tail(&raw.store().read(&log).unwrap_or_default()),
        "log": log,
    }))
}

/// Returns the name of the file in a loop's folder in which the output of a command is kept.
pub(super) fn log_name(command: &str) -> String {
    format!("run-{command}.log")
}

/// Returns the end of a command's output, plain.
pub(super) fn tail(bytes: &[u8]) -> String {
    // More than enough for the lines that are shown, and no more work than that.
    let bytes = &bytes[bytes
        .len()
        .saturating_sub(MAX_TAIL_LINES * 4 * MAX_LINE_CHARS)..];
    let plain = text::plain(&String::from_utf8_lossy(bytes));
    let lines = plain.lines().rev().take(MAX_TAIL_LINES);
    let lines = lines.map(|line| line.trim_end().chars().take(MAX_LINE_CHARS).collect());
    let lines = last_lines(lines, MAX_TAIL_CHARS);
    lines.join("\n").trim_matches('\n').to_owned()
}

/// Returns the last lines, of `lines` from the end, that have at most so many characters together.
pub(super) fn last_lines(lines: impl Iterator<Item = String>, max_chars: usize) -> Vec<String> {
    let mut chars = 0;
    let fits = |line: &String| {
        chars += line.chars().count() + 1;
        chars <= max_chars
    };
    let mut kept: Vec<String> = lines.take_while(fits).collect();
    kept.reverse();
    kept
}

/// Converts an error of the system about what is looked at.
pub(super) fn unobserved(what: &str) -> impl FnOnce(io::Error) -> Refusal {
    move |source| Refusal::Observe {
        what: what.to_owned(),
        source,
    }
}

/// Refuses to run commands in a process that a reviewer or a command of ours started.
pub(super) fn refuse_inside(what: &str) -> Result<(), Refusal> {
    match std::env::var_os(GUARD) {
        None => Ok(()),
        Some(_) => Err(unobserved(what)(io::Error::other(
            "this is a process of a reviewer or of a command, and may not run one",
        ))),
    }
}

/// Refuses if the loop has moved on since it was opened: what a command would be run for has happened.
pub(super) fn refuse_moved(raw: &Raw) -> Result<(), Refusal> {
    let opened = raw.store().open(raw.id()).map_err(Refusal::Store)?;
    let snapshot = |record: &Record| Snapshot {
        phase: record.phase().to_owned(),
        revision: record.revision(),
    };
    let expected = snapshot(raw.record());
    let found = snapshot(&opened.record);
    match expected == found {
        true => Ok(()),
        false => Err(Refusal::Stale { expected, found }),
    }
}

/// Returns the id of a new run.
pub(super) fn new_run_id() -> io::Result<String> {
    Ok(format!("c-{}", random_hex::<8>()?))
}

/// Runs a command in the loop's root to its end, or until `is_unwanted`, which is asked about ten times a second. Its output is
/// kept in a file of the loop's folder.
pub(super) fn run(
    raw: &Raw,
    command: &ConfiguredCommand,
    folder: &Folder,
    log: &str,
    is_unwanted: &mut dyn FnMut() -> bool,
) -> Exit {
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
    let output = supervise(&call, &mut |_| match is_unwanted() {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    });
    if let Err(error) = output.keep(folder, log) {
        // The output is for people only: the outcome is known.
        raw.store().log(&format!("{} {log}: {error}", raw.id()));
    }
    Exit::of(&output)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tail_is_plain_and_bounded() {
        assert_eq!(tail(b""), "");
        assert_eq!(
            tail(b"\n\na\r\nb\x1b[31m\xff\xe2\x80\xae\n\n"),
            "a\nb[31m\u{fffd}"
        );
        let many: String = (0..100_000).map(|line| format!("line {line}\n")).collect();
        let shown = tail(many.as_bytes());
        assert_eq!(shown.lines().count(), MAX_TAIL_LINES);
        assert!(shown.ends_with("line 99999"), "{shown}");
        let long = "\u{1f600}".repeat(100_000);
        assert!(tail(long.as_bytes()).chars().count() <= MAX_LINE_CHARS);
        let wide = format!("{}\n", "x".repeat(1000)).repeat(40);
        assert!(tail(wide.as_bytes()).chars().count() <= MAX_TAIL_CHARS);
    }

    #[test]
    fn exit_has_words_and_is_read_back() {
        for (exit, words) in [
            (Exit::Exited { status: 7 }, "exit status 7"),
            (Exit::Signalled { signal: 9 }, "signal 9"),
            (Exit::TimedOut { after_ms: 50_000 }, "ended after 50s"),
            (Exit::CutOff, "cut off with its stop"),
        ] {
            assert_eq!(exit.to_string(), words);
            let ended = CommandRun {
                run: "c-1".to_owned(),
                command: "build".to_owned(),
                exit: Some(exit),
            };
            let json = serde_json::to_string(&ended).unwrap();
            let again = serde_json::from_str::<CommandRun>(&json).unwrap();
            assert_eq!(again, ended, "{json}");
        }
    }
}
