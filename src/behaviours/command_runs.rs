//! Running the user's commands, and the records of it in the journal and the loop's folder.
//!
//! `run` runs one command, `verify` a list. A loop has only one run at a time, under the run lock.

use std::io;
use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use crate::files::{Folder, Lock};
use crate::machine::{Raw, Refusal};
use crate::process::configured::ConfiguredCommand;
use crate::process::environment::{Environment, GUARD};
use crate::process::limits::Limits;
use crate::process::output::plain_text;
use crate::process::{Call, ProcessEnd, supervise};
use crate::store::lock_run;
use crate::text;

/// The most lines that are shown of a command's output.
const MAX_TAIL_LINES: usize = 40;
/// The most characters of these lines.
pub(super) const MAX_TAIL_CHARS: usize = 4000;
const MAX_PROBLEM_CHARS: usize = 300;

/// The journal's note of a run of one command.
pub(super) const ENDED: &str = "command-ended";

/// One command, and its end.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct CommandEnd {
    /// The run, unless it is a run of several commands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) run: Option<String>,
    pub(super) command: String,
    #[serde(flatten)]
    pub(super) exit: Exit,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub(super) enum Exit {
    /// The command ended by itself.
    #[error("exit status {status}")]
    Exited { status: i32 },
    /// A signal or its deadline ended the command, or it could not be started.
    #[error("{problem}")]
    Failed { problem: String },
    /// The user's configuration does not allow it.
    #[error("not run: the user’s configuration does not allow it")]
    NotAllowed,
}

impl Exit {
    pub(super) fn has_passed(&self) -> bool {
        matches!(self, Self::Exited { status: 0 })
    }
}

/// Returns the last command that ended in a loop, for a template, or `None` if there is none or the
/// journal cannot be read. The log is missing if the command wrote nothing.
pub(super) fn last(raw: &Raw) -> Option<Json> {
    let journal = raw.journal().ok()?;
    let mut notes = journal.iter().rev();
    let CommandEnd { command, exit, .. } = notes.find_map(|entry| entry.note_data(ENDED))?;
    let folder = raw.store().loop_folder(raw.id());
    let log = folder.join(log_name(&command));
    Some(json!({
        "command": command,
        "exit": exit.to_string(),
        "passed": exit.has_passed(),
        "tail": tail(&raw.store().read(&log).unwrap_or_default(), MAX_TAIL_CHARS),
        "log": log,
    }))
}

/// Returns the name of the file in a loop's folder in which the output of a command is kept.
pub(super) fn log_name(command: &str) -> String {
    format!("run-{command}.log")
}

/// Returns the last lines of a command's output, plain, with at most `max_chars` characters in all.
pub(super) fn tail(bytes: &[u8], max_chars: usize) -> String {
    // A character has four bytes at most.
    let bytes = &bytes[bytes.len().saturating_sub(4 * max_chars)..];
    let plain = text::strip_hidden(&plain_text(bytes));
    let left_out = plain.chars().count().saturating_sub(max_chars);
    let end: String = plain.chars().skip(left_out).collect();
    let lines: Vec<&str> = end.lines().map(str::trim_end).collect();
    let first = lines.len().saturating_sub(MAX_TAIL_LINES);
    lines[first..].join("\n").trim_matches('\n').to_owned()
}

/// Converts the system's error about an observed file.
pub(super) fn cannot_observe(what: &str) -> impl FnOnce(io::Error) -> Refusal {
    move |source| Refusal::Observe {
        what: what.to_owned(),
        source,
    }
}

/// Takes the run lock of a loop, for commands. Returns `None` if another process has it.
///
/// # Errors
/// Returns an error in a process that a reviewer or a command started, or if the loop has moved
/// since it was opened, because the command may be out of date.
pub(super) fn lock(raw: &Raw, what: &str) -> Result<Option<(Folder, Lock)>, Refusal> {
    if std::env::var_os(GUARD).is_some() {
        let problem = "this is a process of a reviewer or of a command, and may not run one";
        return Err(cannot_observe(what)(io::Error::other(problem)));
    }
    let folder = raw
        .store()
        .open_loop_folder(raw.id())
        .map_err(cannot_observe(what))?;
    let Some(lock) = lock_run(&folder)? else {
        return Ok(None);
    };
    let found = raw.store().open(raw.id())?;
    if found.revision != raw.record().revision {
        return Err(found.stale().into());
    }
    Ok(Some((folder, lock)))
}

/// Runs a command in the loop's root to its end, or until `watch`, which is called about ten times
/// a second, breaks. Its output is kept in a file in the loop's folder.
pub(super) fn run(
    raw: &Raw,
    command: &ConfiguredCommand,
    folder: &Folder,
    log: &str,
    watch: &mut dyn FnMut() -> ControlFlow<()>,
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
    let output = supervise(&call, &mut |_| watch());
    if let Err(error) = output.keep(folder, log) {
        // The output is for people only: the outcome is known.
        raw.store().log(&format!("{} {log}: {error}", raw.id()));
    }
    match &output.how {
        ProcessEnd::Exited(status) => Exit::Exited { status: *status },
        end => Exit::Failed {
            problem: text::one_line(&end.to_string(), MAX_PROBLEM_CHARS),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tail_is_plain_and_bounded() {
        assert_eq!(tail(b"", MAX_TAIL_CHARS), "");
        assert_eq!(
            tail(b"\n\na\r\nb\x1b[31m\xff\xe2\x80\xae\n\n", MAX_TAIL_CHARS),
            "a\nb\u{fffd}"
        );
        let many: String = (0..100_000).map(|line| format!("line {line}\n")).collect();
        let end = tail(many.as_bytes(), MAX_TAIL_CHARS);
        assert_eq!(end.lines().count(), MAX_TAIL_LINES);
        assert!(end.ends_with("line 99999"), "{end}");
        let long = "\u{1f600}".repeat(100_000);
        assert_eq!(tail(long.as_bytes(), 7), "\u{1f600}".repeat(7));
        assert_eq!(tail(b"one\ntwo\nthree\n", 9), "wo\nthree");
    }
}
