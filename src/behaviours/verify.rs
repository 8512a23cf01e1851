//! Commands that verify the work before a review: their permission, their run and their results.
//!
//! A command is the name of a `[commands.NAME]` in the user's configuration, or a line for `sh -c`
//! that `allow_commands` there has exactly: anyone who can write a document, a journal or a task
//! file must not evade the client's permissions.

use std::io;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::command_runs::{self, CommandEnd, Exit, MAX_TAIL_CHARS, cannot_observe, tail};
use crate::files::{Folder, optional};
use crate::machine::table::PhaseInfo;
use crate::machine::{LoopFacts as _, Raw, Refusal, Table};
use crate::process::configured::ConfiguredCommand;
use crate::process::limits::Spelled;
use crate::review::findings::{Finding, Severity};
use crate::review::round::{Listener, RoundEvent};
use crate::review::worktree::tree_id;
use crate::text;

const MAX_COMMANDS: usize = 32;
const MAX_COMMAND_CHARS: usize = 1000;
/// The subject of an error.
const SUBJECT: &str = "the commands that verify the work";
/// The line of a caller that waits for another run.
const WAITS: &str = "another run, or a review, is running in this loop; waiting for its end";
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// The most characters of output that are shown of all commands.
const MAX_OUTPUT_CHARS: usize = 6000;
/// The journal's note of a run.
const ENDED: &str = "verify-ended";

/// Returns whether a phase of this machine has the work verified.
pub fn is_used(table: &Table) -> bool {
    table.phases.iter().any(verifies)
}

/// Returns whether the phase that a loop is in has the work verified, and the program has not set
/// an empty list of commands.
pub fn is_used_in(raw: &Raw) -> bool {
    let commands = raw.program_facts().commands.get();
    let is_none = commands.is_some_and(|known| known.as_ref().is_ok_and(Vec::is_empty));
    verifies(raw.phase_info()) && !is_none
}

fn verifies(phase: &PhaseInfo) -> bool {
    phase
        .on_stop
        .is_some_and(|behaviour| behaviour.parameter("verify").is_some())
}

/// Sets the program's commands in a loop, if its phase has the work verified.
pub fn set_commands(raw: &Raw, commands: impl FnOnce() -> Result<Vec<String>, String>) {
    if is_used_in(raw) {
        let _ = raw.program_facts().commands.set(commands());
    }
}

#[derive(Debug)]
struct Command {
    /// The plain line that the program gives.
    line: String,
    /// The command to run, or `None` if the user's configuration does not allow it.
    allowed: Option<ConfiguredCommand>,
}

impl Command {
    fn end(&self, exit: Exit) -> CommandEnd {
        CommandEnd {
            run: None,
            command: self.line.clone(),
            exit,
        }
    }
}

/// Returns the commands that verify the work in a loop's phase, or the reason why there are none.
fn load(raw: &Raw) -> Result<Vec<Command>, String> {
    let facts = raw.program_facts();
    let lines = match facts.commands.get() {
        Some(Ok(lines)) if !lines.is_empty() => lines,
        Some(Err(why)) => return Err(text::one_line(why, MAX_COMMAND_CHARS)),
        Some(Ok(_)) => return Err("no commands verify the work here".to_owned()),
        None => {
            let phases = raw.table().phases.iter().filter(|phase| verifies(phase));
            let names: Vec<&str> = phases.map(|phase| phase.name).collect();
            let names = names.join(" or ");
            return Err(format!("commands verify the work only in phase {names}"));
        }
    };
    if lines.len() > MAX_COMMANDS {
        return Err(format!(
            "expected at most {MAX_COMMANDS} commands, found {}",
            lines.len()
        ));
    }
    let mut commands = Vec::new();
    for (line, number) in lines.iter().zip(1..) {
        if let Some(problem) = line_problem(line) {
            let short = text::one_line(&text::printable(line), 200);
            return Err(format!("command {number} {problem}: {short}"));
        }
        let allowed = facts.permissions.get().and_then(|permissions| {
            let is_allowed = permissions.allow_commands.contains(line);
            let shell = is_allowed.then(|| ConfiguredCommand::from_shell(line));
            permissions.commands.get(line).cloned().or(shell)
        });
        let line = line.clone();
        commands.push(Command { line, allowed });
    }
    Ok(commands)
}

/// Returns the problem of a command's line, or `None` if the user can read and allow it.
fn line_problem(line: &str) -> Option<&'static str> {
    if line.trim().is_empty() {
        Some("is empty")
    } else if line.chars().count() > MAX_COMMAND_CHARS {
        Some("has more than 1,000 characters")
    } else if text::escape_hidden(line) != line {
        Some("has characters that cannot be shown")
    } else {
        None
    }
}

/// A run of all commands that came to its end.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct VerifyRun {
    #[serde(rename = "before")]
    tree_before: String,
    commands: Vec<CommandEnd>,
    #[serde(rename = "work")]
    tree_after: String,
}

impl VerifyRun {
    /// Returns the newest run if it was of these commands, or else a run in which none is allowed.
    fn newest(raw: &Raw, commands: &[Command]) -> Self {
        let is_of_these = |run: &Self| {
            let ends = run.commands.iter();
            let ran = ends.map(|end| (&end.command, end.exit != Exit::NotAllowed));
            let given = commands.iter();
            ran.eq(given.map(|command| (&command.line, command.allowed.is_some())))
        };
        let journal = raw.visit_journal().unwrap_or_default();
        let mut entries = journal.iter().rev();
        let newest = entries.find_map(|entry| entry.note_data(ENDED));
        newest.filter(is_of_these).unwrap_or_else(|| {
            let ends = commands.iter().map(|command| command.end(Exit::NotAllowed));
            Self {
                commands: ends.collect(),
                ..Self::default()
            }
        })
    }

    fn failed(&self) -> impl Iterator<Item = &CommandEnd> {
        let has_failed = |exit: &Exit| !exit.has_passed() && *exit != Exit::NotAllowed;
        let commands = self.commands.iter();
        commands.filter(move |command| has_failed(&command.exit))
    }

    /// Returns a sentence about the commands that were not allowed, or `None` if all were.
    pub fn permission_problem(&self, raw: &Raw) -> Option<String> {
        let ends = self.commands.iter();
        let refused = ends.filter(|end| end.exit == Exit::NotAllowed);
        let lines: Vec<String> = refused.map(|end| end.command.clone()).collect();
        if lines.is_empty() {
            return None;
        }
        let permissions = raw.program_facts().permissions.get();
        Some(format!(
            "the user’s configuration does not allow:{}\nThe user can add these lines to allow_commands in {}",
            text::command_lines(&lines),
            permissions.map_or("it", |known| &known.file)
        ))
    }

    /// Returns why the run does not verify the work tree that it began with, or `None` if it does.
    pub fn problem(&self, raw: &Raw) -> Option<String> {
        let why = if let Some(failed) = self.failed().next() {
            let command = text::one_line(&text::printable(&failed.command), 200);
            format!("{command} failed ({}); fix that, then", failed.exit)
        } else if let Some(problem) = self.permission_problem(raw) {
            return Some(problem);
        } else if self.tree_after != self.tree_before {
            "the commands changed the work tree themselves; have git ignore what they write, or commit to it, then"
                .to_owned()
        } else {
            return None;
        };
        let program = raw.table().state.program;
        Some(format!("{why}:\n    {program} verify {}", raw.id()))
    }
}

/// Returns the name of the file with a command's output in the loop's folder.
fn log_name(number: usize) -> String {
    format!("verify-{number}.log")
}

/// Returns the results of the commands for users and models: each with its end and last output, or
/// why it was not run. Empty if the loop's phase has nothing verified.
pub fn render_results(raw: &Raw) -> String {
    if !is_used_in(raw) {
        return String::new();
    }
    let ends = match load(raw) {
        Ok(commands) => VerifyRun::newest(raw, &commands).commands,
        Err(why) => return format!("Not run: {why}"),
    };
    let max_chars = (MAX_OUTPUT_CHARS / ends.len()).min(MAX_TAIL_CHARS);
    let texts = ends.iter().zip(1..).map(|(end, number)| {
        let line = text::one_line(&text::printable(&end.command), MAX_COMMAND_CHARS);
        let file = raw.store().loop_folder(raw.id()).join(log_name(number));
        let is_run = end.exit != Exit::NotAllowed;
        let output = raw.store().read(&file).ok().filter(|_| is_run);
        let output = tail(&output.unwrap_or_default(), max_chars);
        let text = format!("$ {line}\n{}\n{output}", end.exit);
        text.trim_end().to_owned()
    });
    texts.collect::<Vec<_>>().join("\n\n")
}

/// Returns a high finding for each command that failed in the newest run.
pub fn failed_findings(raw: &Raw) -> Vec<Finding> {
    let run = VerifyRun::newest(raw, &load(raw).unwrap_or_default());
    let findings = run.failed().map(|command| {
        let line = text::one_line(&text::printable(&command.command), 200);
        let problem = format!("the command {line} failed: {}", command.exit);
        Finding {
            recommendation: Some("fix what it shows".to_owned()),
            ..Finding::new(Severity::High, problem)
        }
    });
    findings.collect()
}

/// Runs the phase's commands, unless they passed on this work tree, or waits for another process
/// that runs them. The listener gets a line for each. Returns `None` if it ended the run.
///
/// # Errors
/// Returns the reason if no command was run: the program gives none, the loop moved meanwhile, the
/// journal or work tree cannot be read, or a reviewer or a command started this process.
pub fn verify(raw: &Raw, listener: &mut Listener<'_>) -> Result<Option<VerifyRun>, String> {
    run(raw, &load(raw)?, listener).map_err(|refusal| refusal.to_string())
}

fn run(
    raw: &Raw,
    commands: &[Command],
    listener: &mut Listener<'_>,
) -> Result<Option<VerifyRun>, Refusal> {
    if commands.iter().all(|command| command.allowed.is_none()) {
        return Ok(Some(VerifyRun::newest(raw, commands)));
    }
    let mut event = RoundEvent::Line(WAITS);
    let mut has_waited = false;
    let (folder, _lock) = loop {
        if let Some(locked) = command_runs::lock(raw, SUBJECT)? {
            break locked;
        }
        if listener(event).is_break() {
            return Ok(None);
        }
        event = RoundEvent::Tick;
        has_waited = true;
        std::thread::sleep(POLL_INTERVAL);
    };

    // It is empty if git has none.
    let tree_before = tree_id(raw.store(), None).unwrap_or_default();
    let newest = VerifyRun::newest(raw, commands);
    let is_same_tree = !tree_before.is_empty() && newest.tree_before == tree_before;
    if is_same_tree && (has_waited || newest.problem(raw).is_none()) {
        return Ok(Some(newest));
    }
    let ended = perform(raw, &folder, commands, listener).map_err(cannot_observe(SUBJECT))?;
    let Some(commands) = ended else {
        return Ok(None);
    };
    let run = VerifyRun {
        tree_before,
        commands,
        tree_after: tree_id(raw.store(), None).unwrap_or_default(),
    };
    raw.note(ENDED, &run)?;
    Ok(Some(run))
}

/// Runs each allowed command, also after a failed one. Returns `None` if the listener ended it.
fn perform(
    raw: &Raw,
    folder: &Folder,
    commands: &[Command],
    listener: &mut Listener<'_>,
) -> io::Result<Option<Vec<CommandEnd>>> {
    // Remove the previous run's output first.
    for number in 1..=MAX_COMMANDS {
        optional(folder.remove(&log_name(number)))?;
    }
    let timeout = ConfiguredCommand::MAX_TIMEOUT;
    let deadline = Instant::now() + timeout;
    let mut ends = Vec::new();
    for (command, number) in commands.iter().zip(1..) {
        let time_left = deadline.saturating_duration_since(Instant::now());
        let exit = match command.allowed.clone() {
            None => Exit::NotAllowed,
            Some(_) if time_left.is_zero() => Exit::Failed {
                problem: format!("not run: the {} of all commands are over", Spelled(timeout)),
            },
            Some(mut allowed) => {
                allowed.timeout = allowed.timeout.min(time_left);
                let line = format!("running {}", text::one_line(&command.line, 200));
                if listener(RoundEvent::Line(&line)).is_break() {
                    return Ok(None);
                }
                let mut watch = || listener(RoundEvent::Tick);
                let exit = command_runs::run(raw, &allowed, folder, &log_name(number), &mut watch);
                if watch().is_break() {
                    return Ok(None);
                }
                exit
            }
        };
        ends.push(command.end(exit));
    }
    Ok(Some(ends))
}
