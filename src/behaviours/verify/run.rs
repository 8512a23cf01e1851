//! Runs the commands that verify the work, one run at a time in a loop, or takes the result that is there.

use std::io;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use super::results::{self, Began, CommandEnd, VerifyRun, log};
use super::{
    Commands, LONGEST, MOST, Missing, Unready, Verified, is_allowed, judge, ready, ready_in_part,
    tree,
};
use crate::behaviours::command_runs::{self, Exit};
use crate::files::{Folder, if_there};
use crate::machine::{Raw, Refusal};
use crate::process::configured::ConfiguredCommand;
use crate::process::environment::GUARD;
use crate::process::limits::Spelled;
use crate::store::RunLock;
use crate::text;

/// How often who waits for another's run looks whether it has ended.
const POLL: Duration = Duration::from_millis(100);

/// Says who wants the commands run. A result for the same visit, commands and work tree that passed is taken as it is by all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// A stop, which does not wait for others, and takes a result that failed once.
    Stop,
    /// The verb, which runs anew what has failed, unless it waited for another's run.
    Verb,
    /// A review, which takes any result.
    Review,
}

impl Purpose {
    /// Returns how long the lines of a list may take, all together. A stop has to end before its hook's timeout.
    fn time(self) -> Duration {
        match self {
            Self::Stop => ConfiguredCommand::USUAL_TIMEOUT,
            Self::Verb | Self::Review => ConfiguredCommand::LONGEST_TIMEOUT,
        }
    }
}

/// What the commands came to.
#[derive(Debug)]
pub enum Verification {
    /// All passed.
    Passed(Verified),
    /// One failed, or they changed the work tree.
    Failed(String),
    /// Not all commands were run, and this is why.
    Missing(Unready),
    /// Another process is at work in the loop.
    Running,
    /// Whoever watched wanted the end.
    Interrupted,
}

/// What a verification came to, the run that says so, and the run lock, for whoever has to act on it before others look.
#[derive(Debug)]
pub struct Ran {
    pub(crate) came_to: Verification,
    pub(crate) run: Option<String>,
    pub(crate) lock: Option<RunLock>,
}

impl Ran {
    /// Returns what it came to, and lets others act on it.
    pub fn came_to(self) -> Verification {
        self.came_to
    }
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

/// Is told which command begins, and about ten times a second that one still runs or is waited for; on `Break` it is ended.
pub type Watch<'w> = dyn FnMut(Option<&str>) -> ControlFlow<()> + 'w;

/// Runs the phase's commands, unless a result is there that can be taken.
///
/// # Errors
/// The loop moved on meanwhile, the journal or the work tree cannot be read, or this is a process that a reviewer or a command of
/// ours started.
pub fn verify(raw: &Raw, purpose: Purpose, watch: &mut Watch<'_>) -> Result<Ran, Refusal> {
    let refused = |source: io::Error| Refusal::Observe {
        what: "the commands that verify the work".to_owned(),
        source,
    };
    if std::env::var_os(GUARD).is_some() {
        let inside = "this is a process of a reviewer or of a command, and may not run one";
        return Err(refused(io::Error::other(inside)));
    }
    let ready = match purpose {
        // A stop needs the evidence, and there is none unless all of them pass.
        Purpose::Stop => ready(raw),
        Purpose::Verb | Purpose::Review => ready_in_part(raw),
    };
    let commands = match ready {
        Ok(commands) => commands,
        Err(why) => return Ok(Verification::Missing(why).into()),
    };
    let folder = raw.store().open_loop_folder(raw.id()).map_err(refused)?;
    let mut waited = false;
    let lock = loop {
        let lock = RunLock::try_take(&folder).map_err(Refusal::Store)?;
        match lock {
            Some(lock) => break lock,
            None if purpose == Purpose::Stop => return Ok(Verification::Running.into()),
            None if watch(None).is_break() => return Ok(Verification::Interrupted.into()),
            None => {
                waited = true;
                std::thread::sleep(POLL);
            }
        }
    };
    command_runs::unmoved(raw)?;
    results::note_cut_off(raw).map_err(Refusal::Store)?;
    let tree_before = tree(raw).map_err(refused)?;
    let there = VerifyRun::newest(raw, &commands).map_err(Refusal::Store)?;
    let there = there.filter(|run| {
        let failed = judge(raw, run, &tree_before).is_err();
        run.began.tree == tree_before
            && match purpose {
                Purpose::Stop => !failed || !run.counted,
                Purpose::Verb => !failed || waited,
                Purpose::Review => true,
            }
    });
    let run = match there {
        Some(run) => run,
        None => {
            let began = Began {
                run: command_runs::new_run().map_err(refused)?,
                visit: raw.record().visit(),
                list: commands.digest(raw),
                tree: tree_before,
            };
            results::began(raw, &began).map_err(Refusal::Store)?;
            let ended = perform(raw, &folder, &commands, purpose.time(), watch).map_err(refused)?;
            let after = match &ended {
                Some(_) => Some(tree(raw).map_err(refused)?),
                None => None,
            };
            let ends = ended.as_deref().unwrap_or_default();
            results::ended(raw, &began.run, ends, after.clone()).map_err(Refusal::Store)?;
            let (Some(commands), Some(after)) = (ended, after) else {
                return Ok(Verification::Interrupted.into());
            };
            VerifyRun {
                began,
                commands,
                after,
                counted: false,
            }
        }
    };
    let came_to = match judge(raw, &run, &run.after) {
        Ok(verified) => Verification::Passed(verified),
        Err(Missing::Unready(why)) => Verification::Missing(why),
        Err(missing) => Verification::Failed(missing.to_string()),
    };
    Ok(Ran {
        came_to,
        run: Some(run.began.run),
        lock: Some(lock),
    })
}

/// Runs each allowed command to its end, also after one that failed; `None` where whoever watches wanted the end.
fn perform(
    raw: &Raw,
    folder: &Folder,
    commands: &Commands,
    time: Duration,
    watch: &mut Watch<'_>,
) -> io::Result<Option<Vec<CommandEnd>>> {
    // Remove the previous run's output first.
    for number in 1..=MOST {
        if_there(folder.remove(&log(number)))?;
    }
    let begun = Instant::now();
    let mut ends = Vec::new();
    for (at, line) in commands.lines().iter().enumerate() {
        let left = time.saturating_sub(begun.elapsed());
        let named = raw
            .told()
            .permissions
            .get()
            .and_then(|permitted| permitted.commands.get(line));
        let command = match named {
            Some(named) => named.clone(),
            None => ConfiguredCommand::of_shell(line, left),
        };
        if !is_allowed(raw, line) {
            ends.push(CommandEnd {
                command: text::one_line(line, LONGEST),
                passed: false,
                exit: Exit::NotAllowed,
            });
            continue;
        }
        let mut stopped = watch(Some(line)).is_break();
        let exit = if stopped {
            Exit::CutOff
        } else if command.timeout.is_zero() {
            let problem = format!("not run: the {} of all commands are over", Spelled(time));
            Exit::Failed { problem }
        } else {
            let mut on_tick = || {
                stopped |= watch(None).is_break();
                stopped
            };
            let ended = command_runs::supervised(raw, &command, &mut on_tick);
            if let Err(error) = ended.keep(folder, &log(at + 1)) {
                // For people only: the outcome is known.
                raw.store()
                    .log(&format!("{} {}: {error}", raw.id(), log(at + 1)));
            }
            Exit::of(&ended)
        };
        if exit == Exit::CutOff {
            return Ok(None);
        }
        ends.push(CommandEnd {
            command: text::one_line(line, LONGEST),
            passed: exit.passed(),
            exit,
        });
    }
    Ok(Some(ends))
}
