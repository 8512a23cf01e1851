//! Runs the commands that verify the work, one run at a time in a loop, or takes the result that is there.

use std::io;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use super::results::{BEGAN, CommandEnd, ENDED, VerifyBegan, VerifyEnded, VerifyRun, log_name};
use super::{Commands, MAX_COMMANDS, Missing, Verified, is_allowed, judge, known, tree};
use crate::behaviours::command_runs::{self, Exit, unobserved};
use crate::files::{Folder, if_there};
use crate::machine::{LoopFacts as _, Raw, Refusal};
use crate::process::configured::ConfiguredCommand;
use crate::process::limits::Spelled;
use crate::store::RunLock;

/// The subject of an error.
const WHAT: &str = "the commands that verify the work";
/// The time between two looks of a caller that waits for another's run.
const POLL: Duration = Duration::from_millis(100);

/// The caller of a verification. A result for the same visit, commands and work tree that passed is taken as it is by all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// A stop, which does not wait for others, and takes a result that failed once.
    Stop,
    /// The verb, which runs again what has failed, unless it waited for another's run.
    Verb,
    /// A review, which takes any result.
    Review,
}

impl Purpose {
    /// Returns how long the commands may take together. A stop has to end before its hook's timeout.
    fn timeout(self) -> Duration {
        match self {
            Self::Stop => ConfiguredCommand::USUAL_TIMEOUT,
            Self::Verb | Self::Review => ConfiguredCommand::LONGEST_TIMEOUT,
        }
    }
}

/// The outcome of a verification.
#[derive(Debug)]
pub enum Verification {
    /// All passed.
    Passed(Verified),
    /// One failed, or they changed the work tree.
    Failed(String),
    /// The reason for which not all commands were run.
    Missing(Missing),
    /// Another process is at work in the loop.
    Running,
    /// The watcher wanted the end.
    Interrupted,
}

/// The outcome of a verification, the run that says so, and the run lock, for a caller that has to act before others look.
#[derive(Debug)]
pub struct Ran {
    pub(crate) came_to: Verification,
    pub(crate) run: Option<String>,
    pub(crate) lock: Option<RunLock>,
}

impl From<Verification> for Ran {
    fn from(came_to: Verification) -> Self {
        Self {
            came_to,
            run: None,
            lock: None,
        }
    }
}

/// Progress callback. It gets each command that begins, and `None` about ten times a second. Returning `Break` ends the run.
pub type Watch<'w> = dyn FnMut(Option<&str>) -> ControlFlow<()> + 'w;

/// Runs the phase's commands, unless a result is there that can be taken.
///
/// # Errors
/// Returns an error if the loop moved on meanwhile, the journal or the work tree cannot be read, or this is a process that a
/// reviewer or a command of ours started.
pub fn verify(raw: &Raw, purpose: Purpose, watch: &mut Watch<'_>) -> Result<Ran, Refusal> {
    command_runs::refuse_inside(WHAT)?;
    let (commands, not_allowed) = match known(raw) {
        Ok(known) => known,
        Err(why) => return Ok(Verification::Missing(why).into()),
    };
    // A stop needs the evidence, and there is none unless all of them pass.
    let is_enough = match purpose {
        Purpose::Stop => not_allowed.is_empty(),
        Purpose::Verb | Purpose::Review => not_allowed.len() < commands.0.len(),
    };
    if !is_enough {
        let why = Missing::not_allowed(raw, not_allowed);
        return Ok(Verification::Missing(why).into());
    }

    let folder = raw.store().open_loop_folder(raw.id());
    let folder = folder.map_err(unobserved(WHAT))?;
    let mut waited = false;
    let lock = loop {
        match RunLock::try_take(&folder).map_err(Refusal::Store)? {
            Some(lock) => break lock,
            None if purpose == Purpose::Stop => return Ok(Verification::Running.into()),
            None if watch(None).is_break() => return Ok(Verification::Interrupted.into()),
            None => waited = true,
        }
        std::thread::sleep(POLL);
    };
    command_runs::refuse_moved(raw)?;
    let cut_off = |run: &VerifyBegan| {
        let ended = VerifyEnded {
            run: run.run.clone(),
            commands: Vec::new(),
            tree: None,
        };
        command_runs::note(raw, ENDED, &ended)
    };
    if let Some(began) = command_runs::unended(raw, BEGAN, ENDED)? {
        cut_off(&began)?;
    }

    let tree_before = tree(raw).map_err(unobserved(WHAT))?;
    let newest = VerifyRun::newest(raw, &commands).map_err(Refusal::Store)?;
    let usable = newest.filter(|run| {
        let has_passed = judge(raw, run, &tree_before).is_ok();
        run.began.tree == tree_before
            && match purpose {
                Purpose::Stop => has_passed || !run.counted,
                Purpose::Verb => has_passed || waited,
                Purpose::Review => true,
            }
    });
    let run = match usable {
        Some(run) => run,
        None => {
            let began = VerifyBegan {
                run: command_runs::new_run_id().map_err(unobserved(WHAT))?,
                visit: raw.record().visit(),
                list: commands.digest(raw),
                tree: tree_before,
            };
            command_runs::note(raw, BEGAN, &began)?;
            let ends = perform(raw, &folder, &commands, purpose.timeout(), watch);
            let Some(commands) = ends.map_err(unobserved(WHAT))? else {
                cut_off(&began)?;
                return Ok(Verification::Interrupted.into());
            };
            let ended = VerifyEnded {
                run: began.run.clone(),
                commands,
                tree: Some(tree(raw).map_err(unobserved(WHAT))?),
            };
            command_runs::note(raw, ENDED, &ended)?;
            VerifyRun {
                began,
                ended,
                counted: false,
                is_newest: true,
            }
        }
    };
    let after = run.ended.tree.as_ref().unwrap_or(&run.began.tree);
    let came_to = match judge(raw, &run, after) {
        Ok(verified) => Verification::Passed(verified),
        Err(Missing::NotPassed(why)) => Verification::Failed(why),
        Err(why) => Verification::Missing(why),
    };
    Ok(Ran {
        came_to,
        run: Some(run.began.run),
        lock: Some(lock),
    })
}

/// Runs each allowed command to its end, also after one that failed. Returns `None` if the watcher wanted the end.
fn perform(
    raw: &Raw,
    folder: &Folder,
    commands: &Commands,
    timeout: Duration,
    watch: &mut Watch<'_>,
) -> io::Result<Option<Vec<CommandEnd>>> {
    // Remove the previous run's output first.
    for number in 1..=MAX_COMMANDS {
        if_there(folder.remove(&log_name(number)))?;
    }
    let deadline = Instant::now() + timeout;
    let permissions = raw.told().permissions.get();
    let mut ends = Vec::new();
    for (at, line) in commands.0.iter().enumerate() {
        let named = permissions.and_then(|permitted| permitted.commands.get(line));
        let time_left = deadline.saturating_duration_since(Instant::now());
        let shell = || ConfiguredCommand::of_shell(line, time_left);
        let command = named.cloned().unwrap_or_else(shell);
        let exit = if !is_allowed(raw, line) {
            Exit::NotAllowed
        } else if watch(Some(line)).is_break() {
            Exit::CutOff
        } else if command.timeout.is_zero() {
            let problem = format!("not run: the {} of all commands are over", Spelled(timeout));
            Exit::Failed { problem }
        } else {
            let mut is_unwanted = || watch(None).is_break();
            command_runs::run(raw, &command, folder, &log_name(at + 1), &mut is_unwanted)
        };
        if exit == Exit::CutOff {
            return Ok(None);
        }
        ends.push(CommandEnd::new(line, exit));
    }
    Ok(Some(ends))
}
