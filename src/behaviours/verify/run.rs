//! A run of the commands that verify the work. There is one at a time in a loop, and the journal
//! has its result.

use std::io;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::{Commands, MAX_COMMAND_CHARS, MAX_COMMANDS, Missing, Verified, judge, tree};
use crate::behaviours::command_runs::{self, CommandEnd, Exit, MAX_TAIL_CHARS, tail, unobserved};
use crate::files::{Folder, if_there};
use crate::machine::{LoopFacts as _, Raw, Refusal};
use crate::process::configured::ConfiguredCommand;
use crate::process::limits::Spelled;
use crate::review::Digest;
use crate::store::{Entry, RunLock, StoreError};
use crate::text;

/// The subject of an error.
const WHAT: &str = "the commands that verify the work";
/// The time between two looks of a caller that waits for another's run.
const POLL: Duration = Duration::from_millis(100);
/// The most characters of output that are shown of all commands: a block has room for them.
const MAX_OUTPUT_CHARS: usize = 6000;
/// The characters of output that each command may have, however many commands there are.
const MIN_COMMAND_OUTPUT_CHARS: usize = 200;
/// The journal's note of a run.
const ENDED: &str = "verify-ended";

/// A run of all commands that came to its end.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct VerifyRun {
    pub(super) run: String,
    /// The revision of the change with which the visit of the phase began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    visit: Option<u64>,
    /// The digest of the list.
    list: Digest,
    #[serde(rename = "before")]
    pub(super) tree_before: Digest,
    pub(super) commands: Vec<CommandEnd>,
    #[serde(rename = "work")]
    pub(super) tree_after: Digest,
}

impl VerifyRun {
    /// Returns the commands that were run and did not pass.
    pub(super) fn failed(&self) -> impl Iterator<Item = &CommandEnd> {
        let has_failed = |exit: &Exit| !exit.has_passed() && *exit != Exit::NotAllowed;
        self.commands
            .iter()
            .filter(move |command| has_failed(&command.exit))
    }

    /// Returns the newest run of this visit for these commands, or without them the newest of all.
    pub(super) fn newest(
        raw: &Raw,
        commands: Option<&Commands>,
    ) -> Result<Option<Self>, StoreError> {
        let visit = raw.record().visit();
        let list = commands.map(|commands| commands.digest());
        let is_wanted = |run: &Self| match &list {
            None => true,
            Some(list) => (visit.is_none() || run.visit == visit) && run.list == *list,
        };
        let journal = raw.recent()?;
        let mut runs = journal.iter().rev().filter_map(|entry| entry.noted(ENDED));
        Ok(runs.find(is_wanted))
    }

    /// Returns whether a change of the loop was counted for it.
    fn is_counted(&self, raw: &Raw) -> Result<bool, StoreError> {
        let journal = raw.recent()?;
        let mut changes = journal.iter().filter_map(Entry::change);
        Ok(changes.any(|change| change.run.as_ref() == Some(&self.run)))
    }

    /// Returns each command with its end and the last of what it wrote.
    pub(super) fn text(&self, raw: &Raw) -> String {
        let newest = Self::newest(raw, None).ok().flatten();
        let has_logs = newest.is_some_and(|newest| newest.run == self.run);
        let share = MAX_OUTPUT_CHARS / self.commands.len().max(1);
        let max_chars = share.clamp(MIN_COMMAND_OUTPUT_CHARS, MAX_TAIL_CHARS);
        let ends = self.commands.iter().enumerate().map(|(at, command)| {
            let line = text::one_line(&text::shown(&command.command), MAX_COMMAND_CHARS);
            let file = raw.store().loop_folder(raw.id()).join(log_name(at + 1));
            let written = raw.store().read(&file).ok().filter(|_| has_logs);
            let end = tail(&written.unwrap_or_default(), max_chars);
            format!("$ {line}\n{}\n{end}", command.exit)
                .trim_end()
                .to_owned()
        });
        ends.collect::<Vec<_>>().join("\n\n")
    }
}

/// Returns the name of the file in the loop's folder that has the output of the command of this
/// number.
fn log_name(number: usize) -> String {
    format!("verify-{number}.log")
}

/// The caller of a verification. A result for the same visit, commands and work tree that passed is
/// taken as it is by all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// A stop, which does not wait for others, and takes a result that failed once.
    Stop,
    /// The verb, which runs failed commands again, unless it waited for another's run.
    Verb,
    /// A review, which takes any result.
    Review,
}

/// The outcome of a verification, the run that says so, and the run lock, for a caller that has to
/// act before others look.
#[derive(Debug)]
pub struct Ran {
    pub(crate) came_to: Result<Verified, Missing>,
    pub(crate) run: Option<String>,
    pub(crate) lock: Option<RunLock>,
}

impl From<Missing> for Ran {
    fn from(why: Missing) -> Self {
        Self {
            came_to: Err(why),
            run: None,
            lock: None,
        }
    }
}

/// Progress callback. It gets each command that begins, and `None` about ten times a second.
/// Returning `Break` ends the run.
pub type Watch<'w> = dyn FnMut(Option<&str>) -> ControlFlow<()> + 'w;

/// Runs the phase's commands, unless a result is there that can be taken.
///
/// # Errors
/// Returns an error if the loop moved on meanwhile, the journal or the work tree cannot be read, or
/// this is a process that a reviewer or our command started.
pub fn verify(raw: &Raw, purpose: Purpose, watch: &mut Watch<'_>) -> Result<Ran, Refusal> {
    command_runs::refuse_inside(WHAT)?;
    let commands = match Commands::load(raw) {
        Ok(commands) => commands,
        Err(why) => return Ok(why.into()),
    };
    // A stop needs the evidence, and there is none unless all of them pass.
    let not_allowed = commands.not_allowed();
    let is_enough = match purpose {
        Purpose::Stop => not_allowed.is_empty(),
        Purpose::Verb | Purpose::Review => not_allowed.len() < commands.0.len(),
    };
    if !is_enough {
        return Ok(Missing::not_allowed(raw, &not_allowed).into());
    }

    let folder = raw.store().open_loop_folder(raw.id());
    let folder = folder.map_err(unobserved(WHAT))?;
    let mut has_waited = false;
    let lock = loop {
        match RunLock::try_take(&folder).map_err(Refusal::Store)? {
            Some(lock) => break lock,
            None if purpose == Purpose::Stop => return Ok(Missing::Running.into()),
            None if watch(None).is_break() => return Ok(Missing::Interrupted.into()),
            None => has_waited = true,
        }
        std::thread::sleep(POLL);
    };
    command_runs::refuse_moved(raw)?;

    let tree_before = tree(raw).map_err(unobserved(WHAT))?;
    let newest = VerifyRun::newest(raw, Some(&commands)).map_err(Refusal::Store)?;
    let newest = newest.filter(|run| run.tree_before == tree_before);
    let is_taken = match (&newest, purpose) {
        (None, _) => false,
        (Some(run), _) if judge(raw, run, &tree_before).is_ok() => true,
        (Some(run), Purpose::Stop) => !run.is_counted(raw).map_err(Refusal::Store)?,
        (Some(_), Purpose::Verb) => has_waited,
        (Some(_), Purpose::Review) => true,
    };
    let run = match newest.filter(|_| is_taken) {
        Some(run) => run,
        None => {
            let ends = perform(raw, &folder, &commands, purpose, watch);
            let Some(ends) = ends.map_err(unobserved(WHAT))? else {
                return Ok(Missing::Interrupted.into());
            };
            let run = VerifyRun {
                run: command_runs::new_run_id().map_err(unobserved(WHAT))?,
                visit: raw.record().visit(),
                list: commands.digest(),
                tree_before,
                commands: ends,
                tree_after: tree(raw).map_err(unobserved(WHAT))?,
            };
            let noted = raw.store().note(raw.id(), ENDED, &run);
            noted.map_err(Refusal::Store)?;
            run
        }
    };
    Ok(Ran {
        came_to: judge(raw, &run, &run.tree_after),
        run: Some(run.run),
        lock: Some(lock),
    })
}

/// Runs each allowed command to its end, also after one that failed. Returns `None` if the watcher
/// wanted the end.
fn perform(
    raw: &Raw,
    folder: &Folder,
    commands: &Commands,
    purpose: Purpose,
    watch: &mut Watch<'_>,
) -> io::Result<Option<Vec<CommandEnd>>> {
    // Remove the previous run's output first.
    for number in 1..=MAX_COMMANDS {
        if_there(folder.remove(&log_name(number)))?;
    }
    // A stop has to end before its hook's timeout.
    let timeout = match purpose {
        Purpose::Stop => ConfiguredCommand::USUAL_TIMEOUT,
        Purpose::Verb | Purpose::Review => ConfiguredCommand::LONGEST_TIMEOUT,
    };
    let deadline = Instant::now() + timeout;
    let permissions = raw.program_facts().permissions.get();
    let mut ends = Vec::new();
    for (at, command) in commands.0.iter().enumerate() {
        let line = &command.line;
        let named = permissions.and_then(|permitted| permitted.commands.get(line));
        let time_left = deadline.saturating_duration_since(Instant::now());
        let shell = || ConfiguredCommand::of_shell(line, time_left);
        let configured = named.cloned().unwrap_or_else(shell);
        let exit = if !command.is_allowed {
            Exit::NotAllowed
        } else if configured.timeout.is_zero() {
            let problem = format!("not run: the {} of all commands are over", Spelled(timeout));
            Exit::Failed { problem }
        } else {
            if watch(Some(line)).is_break() {
                return Ok(None);
            }
            let log = log_name(at + 1);
            let mut is_unwanted = || watch(None).is_break();
            let exit = command_runs::run(raw, &configured, folder, &log, &mut is_unwanted);
            if is_unwanted() {
                return Ok(None);
            }
            exit
        };
        ends.push(CommandEnd {
            run: None,
            command: text::one_line(line, MAX_COMMAND_CHARS),
            exit,
        });
    }
    Ok(Some(ends))
}
