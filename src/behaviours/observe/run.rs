//! `run`: a command of the user's configuration, run in the loop's root, and how it ended.
//!
//! One at a time for a loop, under the run lock, which is held until the transition was taken: who comes meanwhile sees
//! that it runs, and who comes later finds the loop moved on. The command is no child of a reviewer, and never runs in one.

use std::io;

use super::Observed;
use crate::behaviours::command_runs::{self, Exit};
use crate::files::{Folder, if_there};
use crate::machine::{Raw, Refusal};
use crate::process::configured::{ConfiguredCommand, is_installed};
use crate::process::environment::GUARD;
use crate::store::RunLock;

/// What `run` sees.
#[derive(Debug)]
pub enum RunSeen {
    /// The command ended with status 0.
    Passed,
    /// It ended otherwise, or was ended at its deadline.
    Failed,
    /// The user's configuration has no such command, or its program is not installed.
    Missing,
    /// Another stop runs it, or a review is at work in this loop.
    Running,
}

/// Runs a command and waits for its end.
///
/// # Errors
/// The loop moved on meanwhile, its journal cannot be written, or this is a process that a
/// reviewer or a command of ours started.
pub fn run(raw: &Raw, command: &str) -> Result<Observed<RunSeen>, Refusal> {
    let refused = |what: String, source| Refusal::Observe { what, source };
    if std::env::var_os(GUARD).is_some() {
        let source = io::Error::other(
            "this is a process of a reviewer or of a command, and may not run one",
        );
        return Err(refused(format!("command {command}"), source));
    }
    let found = raw
        .told()
        .permissions
        .get()
        .and_then(|permitted| permitted.commands.get(command));
    // A program that is not there is nothing that the agent could mend.
    let Some(configured) = found.filter(|command| is_installed(command, &raw.root())) else {
        return Ok(RunSeen::Missing.into());
    };
    let folder = raw.store().open_loop_folder(raw.id());
    let folder = folder.map_err(|source| refused("the loop's folder".to_owned(), source))?;
    let lock = RunLock::try_take(&folder).map_err(Refusal::Store)?;
    let Some(lock) = lock else {
        return Ok(RunSeen::Running.into());
    };
    command_runs::unmoved(raw)?;
    command_runs::note_cut_off(raw).map_err(Refusal::Store)?;
    let run =
        command_runs::new_run().map_err(|source| refused(format!("command {command}"), source))?;
    let seen = perform(raw, &folder, command, configured, &run)?;
    Ok(Observed::of_run(seen, Some(run)).holding(lock))
}

fn perform(
    raw: &Raw,
    folder: &Folder,
    name: &str,
    command: &ConfiguredCommand,
    run: &str,
) -> Result<RunSeen, Refusal> {
    let log = command_runs::log(raw, name).ok_or_else(|| Refusal::Observe {
        what: format!("command {}", crate::text::one_line(name, 64)),
        source: io::Error::new(io::ErrorKind::InvalidInput, "the name cannot name a file"),
    })?;
    // What an earlier run wrote is not this one's.
    let file = log.file_name().unwrap_or_default();
    if_there(folder.remove(file)).map_err(|source| Refusal::Observe {
        what: log.to_string(),
        source,
    })?;
    command_runs::began(raw, run, name).map_err(Refusal::Store)?;
    let ended = command_runs::supervised(raw, command, &mut || false);
    if let Err(error) = ended.keep(folder, file) {
        // For people only: the outcome is known, and the loop goes on by it.
        raw.store().log(&format!("{} {log}: {error}", raw.id()));
    }
    let exit = Exit::of(&ended);
    let passed = exit.passed();
    command_runs::ended(raw, run, name, exit).map_err(Refusal::Store)?;
    Ok(if passed {
        RunSeen::Passed
    } else {
        RunSeen::Failed
    })
}
