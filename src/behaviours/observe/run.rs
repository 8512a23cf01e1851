//! `run`: a command of the user's configuration, run in the loop's root, and how it ended.
//!
//! One runs at a time for a loop, under the run lock, which is held until the transition was taken: who comes meanwhile sees
//! that it runs, and who comes later finds the loop moved on.

use super::Observed;
use crate::behaviours::command_runs::{
    self, CommandBegan, CommandEnded, Exit, RunNote as _, unobserved,
};
use crate::files::if_there;
use crate::machine::{Raw, Refusal};
use crate::process::configured::is_installed;
use crate::store::RunLock;

/// The outcome of `run`.
#[derive(Debug)]
pub enum RunSeen {
    /// The command ended with status 0.
    Passed,
    /// The command ended otherwise, or was ended at its deadline.
    Failed,
    /// The user's configuration has no such command, or its program is not installed.
    Missing,
    /// Another stop runs it, or a review is at work in this loop.
    Running,
}

/// Runs a command and waits for its end.
///
/// # Errors
/// Returns an error if the loop moved on meanwhile, its journal cannot be written, or this is a process that a reviewer or a
/// command of ours started.
pub fn run(raw: &Raw, command: &str) -> Result<Observed<RunSeen>, Refusal> {
    let what = format!("command {command}");
    command_runs::refuse_inside(&what)?;
    let permissions = raw.told().permissions.get();
    let configured = permissions.and_then(|permitted| permitted.commands.get(command));
    // A program that is not there is nothing that the agent could fix.
    let Some(configured) = configured.filter(|command| is_installed(command, &raw.root())) else {
        return Ok(RunSeen::Missing.into());
    };
    let folder = raw.store().open_loop_folder(raw.id());
    let folder = folder.map_err(unobserved("the loop's folder"))?;
    let Some(lock) = RunLock::try_take(&folder).map_err(Refusal::Store)? else {
        return Ok(RunSeen::Running.into());
    };
    command_runs::refuse_moved(raw)?;
    if let Some(cut_off) = command_runs::unended::<CommandBegan, CommandEnded>(raw)? {
        cut_off.ended(Exit::CutOff).write(raw)?;
    }

    let began = CommandBegan {
        run: command_runs::new_run_id().map_err(unobserved(&what))?,
        command: command.to_owned(),
    };
    let log = command_runs::log_name(command);
    if_there(folder.remove(&log)).map_err(unobserved(&what))?;
    began.write(raw)?;
    let exit = command_runs::run(raw, configured, &folder, &log, &mut || false);
    let seen = match exit.passed() {
        true => RunSeen::Passed,
        false => RunSeen::Failed,
    };
    let ended = began.ended(exit);
    ended.write(raw)?;
    Ok(Observed::of_run(seen, Some(ended.run), Some(lock)))
}
