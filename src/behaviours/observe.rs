//! The looks of the behaviours. A look never changes a loop.
//!
//! `claudex_build::model::Behaviour` has the same names, and generated code matches the outcomes
//! exhaustively, so that the two cannot drift apart.

use std::io;
use std::time::{Duration, SystemTime};

use super::command_runs::{self, CommandEnd, ENDED, cannot_observe};
use crate::digest::{random_hex, sha256};
use crate::files::{Lock, optional};
use crate::git::check_interrupted;
use crate::machine::table::ReviewSpec;
use crate::machine::{LoopFacts as _, Raw, Refusal};
use crate::process::configured::is_installed;
pub use crate::review::evidence::ReviewState;
use crate::review::evidence::Round;
use crate::store::Entry;
use crate::text;

/// The outcome of a look, and the run that a change for it counts.
#[derive(Debug)]
pub struct Observed<S> {
    /// The outcome.
    pub seen: S,
    /// The run that it comes from.
    pub run: Option<String>,
    /// Held until the transition was taken.
    pub(super) lock: Option<Lock>,
}

impl<S> From<S> for Observed<S> {
    fn from(seen: S) -> Self {
        Self {
            seen,
            run: None,
            lock: None,
        }
    }
}

/// Returns whether a file was written since the loop's start: whether its digest differs from
/// `before`, that of the start, or whether it exists if the value of `before` is empty.
///
/// A file that was touched counts if its modification time is after the start, because the user may
/// have saved the plan on purpose. Without `before`, that time alone decides.
///
/// # Errors
/// Returns an error if the file exists and cannot be read.
pub fn require_file(raw: &Raw, path: &str, before: &str) -> Result<Observed<bool>, Refusal> {
    is_written(raw, path, before)
        .map(Observed::from)
        .map_err(cannot_observe(raw.path(path).as_str()))
}

fn is_written(raw: &Raw, path: &str, before: &str) -> io::Result<bool> {
    let content = optional(raw.read(path))?.unwrap_or_default();
    if content.iter().all(u8::is_ascii_whitespace) {
        return Ok(false);
    }
    if before.is_empty() {
        let journal = raw.journal().map_err(io::Error::other)?;
        let start = journal.iter().find_map(Entry::change);
        // File times come from a coarser clock than ours, so the second before it counts too.
        let start = start.map(|start| start.at.as_second().unsigned_abs().saturating_sub(1));
        return is_later(raw, path, start);
    }
    let before = raw.fill(before);
    let is_changed = before.is_empty() || before != sha256(&content);
    // The second in which the loop was started does not count.
    let started = (raw.table().state.fields.started_epoch).map(|field| raw.count(field));
    let started = started.filter(|time| *time > 0).map(|time| time + 1);
    Ok(is_changed || is_later(raw, path, started)?)
}

/// Returns whether a file's modification time is at least `time`, in seconds since 1970.
fn is_later(raw: &Raw, path: &str, time: Option<u64>) -> io::Result<bool> {
    let time = time.and_then(|time| SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(time)));
    let (folder, name) = raw.folder_at(&raw.path(path))?;
    let times = folder.metadata(&name)?.zip(time);
    Ok(times.is_some_and(|(found, time)| found.modified >= time))
}

/// Returns the round's review.
///
/// # Errors
/// Returns an error if the journal or the findings cannot be read.
pub fn review(raw: &Raw, spec: &'static ReviewSpec) -> Result<Observed<ReviewState>, Refusal> {
    let subject = format!("the reviews of loop {}", raw.id());
    let (seen, run) = Round::read(raw, spec)
        .and_then(|round| round.inspect())
        .map_err(cannot_observe(&subject))?;
    Ok(Observed { run, ..seen.into() })
}

/// The outcome of `run`.
#[derive(Debug)]
pub enum RunState {
    /// The command ended with status 0.
    Passed,
    /// The command ended otherwise, or was ended at its deadline.
    Failed,
    /// The user's configuration has no such command, or its program is not installed.
    Missing,
    /// Another stop runs it, or a review is running in this loop.
    Running,
}

/// Runs a command and waits for its end.
///
/// # Errors
/// Returns an error if the loop moved meanwhile, its journal cannot be written, or a reviewer or a
/// command started this process.
pub fn run(raw: &Raw, command: &str) -> Result<Observed<RunState>, Refusal> {
    let name = format!("command {command}");
    let permissions = raw.program_facts().permissions.get();
    let configured = permissions.and_then(|permitted| permitted.commands.get(command));
    // The agent could not fix a missing program.
    let Some(configured) = configured.filter(|command| is_installed(command, &raw.root())) else {
        return Ok(RunState::Missing.into());
    };
    let Some((folder, lock)) = command_runs::lock(raw, &name)? else {
        return Ok(RunState::Running.into());
    };

    let log = command_runs::log_name(command);
    optional(folder.remove(&log)).map_err(cannot_observe(&name))?;
    let run = random_hex::<8>().map_err(cannot_observe(&name))?;
    let exit = command_runs::run(raw, configured, &folder, &log, &mut check_interrupted);
    if check_interrupted().is_break() {
        let error = io::Error::other("it was ended with the stop");
        return Err(cannot_observe(&format!("the result of {name}"))(error));
    }
    let seen = if exit.has_passed() {
        RunState::Passed
    } else {
        RunState::Failed
    };
    let end = CommandEnd {
        run: Some(format!("c-{run}")),
        command: command.to_owned(),
        exit,
    };
    raw.note(ENDED, &end)?;
    Ok(Observed {
        seen,
        run: end.run,
        lock: Some(lock),
    })
}

/// Returns whether `file`, a path template, exists.
///
/// # Errors
/// Returns an error if the system cannot look for the file, or a symlink is in the way.
pub fn wait_for(raw: &Raw, file: &str) -> Result<Observed<bool>, Refusal> {
    let subject = text::one_line(raw.path(file).as_str(), 300);
    is_file(raw, file)
        .map(Observed::from)
        .map_err(cannot_observe(&subject))
}

/// Returns whether a regular file exists, even an empty one. A folder does not count, and a pipe or
/// a device is not opened to find out.
fn is_file(raw: &Raw, template: &str) -> io::Result<bool> {
    // An empty field must not name the root.
    if raw.fill(template).trim().is_empty() {
        return Ok(false);
    }
    let Some((folder, name)) = optional(raw.folder_at(&raw.path(template)))? else {
        return Ok(false);
    };
    match folder.metadata(&name)? {
        // Opening a symlink is an error, which names it.
        Some(found) if found.kind.is_symlink() => folder.file(&name).map(|_| false),
        found => Ok(found.is_some_and(|found| found.kind.is_file())),
    }
}
