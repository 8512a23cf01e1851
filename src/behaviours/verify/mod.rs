//! Commands that verify the work: which they are, which of them may run, and what their results
//! prove.
//!
//! A command is the name of a `[commands.NAME]` of the user's configuration, or a line for `sh -c`.
//! A line runs only if `allow_commands` of that configuration has exactly this line: anyone who can
//! write a document, a journal or a task file must not get past the client's permissions.
//! [`Verified`] is made here alone.

mod run;

use std::io;

use crate::behaviours::command_runs::Exit;
use crate::machine::table::BehaviourInfo;
use crate::machine::{EvidenceRecord, LoopFacts as _, Raw, Refusal, Requirement, Table};
use crate::review::digest::Digest;
use crate::review::findings::{Finding, Severity};
use crate::review::worktree::{self, own_files};
use crate::text;

use self::run::VerifyRun;
pub use self::run::{Purpose, Ran, Watch, verify};

/// The most commands of a list.
const MAX_COMMANDS: usize = 32;
/// The longest command, in characters.
const MAX_COMMAND_CHARS: usize = 1000;

/// Evidence that the commands of a loop's phase passed in this visit, on the work tree as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verified(EvidenceRecord);

impl Verified {
    /// Returns the record for an edge.
    pub fn record(&self) -> &EvidenceRecord {
        &self.0
    }
}

/// Returns whether a phase of this machine verifies the work.
pub fn is_used(table: &Table) -> bool {
    let mut phases = table.phases.iter();
    phases.any(|phase| phase.on_stop.as_ref().is_some_and(verifies))
}

/// Returns whether the phase that a loop is in verifies the work.
pub fn is_used_in(raw: &Raw) -> bool {
    let phase = &raw.table().phases[raw.phase()];
    phase.on_stop.as_ref().is_some_and(verifies)
}

fn verifies(behaviour: &BehaviourInfo) -> bool {
    behaviour.name == "verify"
        || behaviour.name == "review" && behaviour.parameter("verify").is_some()
}

/// Sets the program's commands in a loop, if its phase verifies the work.
pub fn tell(raw: &Raw, commands: impl FnOnce() -> Result<Vec<String>, String>) {
    if is_used_in(raw) {
        let _ = raw.program_facts().commands.set(commands());
    }
}

/// One of the commands, a plain line.
#[derive(Debug)]
struct Command {
    line: String,
    /// Whether the line is the name of a configured command, or exactly a line of `allow_commands`.
    is_allowed: bool,
}

/// The commands that verify the work in a loop's phase; at least one.
#[derive(Debug)]
struct Commands(Vec<Command>);

impl Commands {
    /// Returns those of the phase that a loop is in.
    fn load(raw: &Raw) -> Result<Self, Missing> {
        let facts = raw.program_facts();
        let lines = match facts.commands.get() {
            None => Err("the program has not said which commands verify the work".to_owned()),
            Some(Err(why)) => Err(text::one_line(why, MAX_COMMAND_CHARS)),
            Some(Ok(lines)) => check_lines(lines).map(|()| lines),
        };
        let is_allowed = |line: &String| {
            facts.permissions.get().is_some_and(|known| {
                known.commands.contains_key(line) || known.allow_commands.contains(line)
            })
        };
        let commands = lines.map_err(Missing::NotRun)?.iter().map(|line| Command {
            line: line.clone(),
            is_allowed: is_allowed(line),
        });
        Ok(Self(commands.collect()))
    }

    fn not_allowed(&self) -> Vec<String> {
        let not_allowed = self.0.iter().filter(|command| !command.is_allowed);
        not_allowed.map(|command| command.line.clone()).collect()
    }

    /// Returns a digest of the lines, and of which of them may run.
    fn digest(&self) -> Digest {
        let all = self.0.iter().map(|command| {
            let end = if command.is_allowed { "\0" } else { "\0\0" };
            format!("{}{end}", command.line)
        });
        Digest::from_bytes(all.collect::<String>().as_bytes())
    }
}

fn check_lines(lines: &[String]) -> Result<(), String> {
    let count = lines.len();
    if count == 0 {
        return Err("the program gives no command to run".to_owned());
    }
    if count > MAX_COMMANDS {
        return Err(format!(
            "there are {count} commands, and {MAX_COMMANDS} are the most"
        ));
    }
    for (at, line) in lines.iter().enumerate() {
        if let Some(problem) = line_problem(line) {
            let shown = text::one_line(&text::shown(line), 200);
            return Err(format!("command {} {problem}: {shown}", at + 1));
        }
    }
    Ok(())
}

/// Returns why a line cannot be a command, or `None` if it can.
pub fn line_problem(line: &str) -> Option<&'static str> {
    if line.trim().is_empty() {
        Some("is empty")
    } else if line.chars().count() > MAX_COMMAND_CHARS {
        Some("has more than 1,000 characters")
    } else if text::exact(line) != *line {
        // The user must see the whole line that they allow.
        Some("has characters that cannot be shown")
    } else {
        None
    }
}

/// The reason for which there is no evidence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Missing {
    /// No command to run, or one that the user's configuration does not allow.
    #[error("{0}")]
    NotRun(String),
    /// The commands have not passed.
    #[error("{0}")]
    NotPassed(String),
    /// Another process is at work in the loop.
    #[error("another run is at work in it")]
    Running,
    /// The watcher wanted the end.
    #[error("interrupted")]
    Interrupted,
}

impl Missing {
    /// Makes the reason for which the commands do not count, above the command line that runs them.
    fn not_passed(raw: &Raw, why: &str) -> Self {
        let program = raw.table().state.program;
        Self::NotPassed(format!("{why}:\n    {program} verify {}", raw.id()))
    }

    fn unreadable(error: impl std::fmt::Display) -> Self {
        Self::NotPassed(format!("could not read it: {error}"))
    }

    fn not_allowed(raw: &Raw, lines: &[String]) -> Self {
        let permissions = raw.program_facts().permissions.get();
        let file = permissions.and_then(|known| known.file.as_ref());
        let file = file.map_or("your configuration".to_owned(), text::shown);
        Self::NotRun(format!(
            "the user’s configuration does not allow:{}\nThe user can add these lines to allow_commands in {file}",
            text::command_lines(lines)
        ))
    }

    /// Converts it to the refusal of a transition.
    pub fn refusal(self, transition: &'static str, requirement: Requirement) -> Refusal {
        Refusal::Evidence {
            transition,
            requirement,
            problem: self.to_string(),
        }
    }
}

/// Returns the phase's commands, if all of them may run.
fn ready(raw: &Raw) -> Result<Commands, Missing> {
    let commands = Commands::load(raw)?;
    match commands.not_allowed().as_slice() {
        [] => Ok(commands),
        lines => Err(Missing::not_allowed(raw, lines)),
    }
}

/// Returns what a loop waits for whose phase has commands.
pub(super) fn awaited(raw: &Raw) -> String {
    match ready(raw) {
        Ok(_) => "the commands that verify the work to pass".to_owned(),
        Err(why) => format!("commands that verify the work: {why}"),
    }
}

/// Returns evidence that the phase's commands passed in this visit on the work tree as it is.
///
/// # Errors
/// Returns the missing permission.
pub fn verified(raw: &Raw) -> Result<Verified, Missing> {
    let commands = ready(raw)?;
    if raw.store().is_running(raw.id()) {
        let why = "the commands are still running, or a review is; wait for the end";
        return Err(Missing::not_passed(raw, why));
    }
    let newest = VerifyRun::newest(raw, Some(&commands)).map_err(Missing::unreadable)?;
    let not_run = || Missing::not_passed(raw, "the commands were not run yet; run them");
    let run = newest.ok_or_else(not_run)?;
    let now = tree(raw).map_err(Missing::unreadable)?;
    judge(raw, &run, &now)
}

/// Returns the evidence that a run gives for this work tree.
fn judge(raw: &Raw, run: &VerifyRun, now: &Digest) -> Result<Verified, Missing> {
    if let Some(failed) = run.failed().next() {
        let command = text::one_line(&text::shown(&failed.command), 200);
        let why = format!("{command} failed ({}); fix that, then", failed.exit);
        return Err(Missing::not_passed(raw, &why));
    }
    let not_run = run.commands.iter();
    let not_run = not_run.filter(|command| command.exit == Exit::NotAllowed);
    let not_run: Vec<String> = not_run.map(|command| command.command.clone()).collect();
    if !not_run.is_empty() {
        return Err(Missing::not_allowed(raw, &not_run));
    }
    if run.tree_after != run.tree_before {
        let why = "the commands changed the work tree themselves; have git ignore what they write, or commit to it, then";
        return Err(Missing::not_passed(raw, why));
    }
    if *now != run.tree_before {
        let why = "the work tree was changed after the commands began; run them again";
        return Err(Missing::not_passed(raw, why));
    }
    Ok(Verified(EvidenceRecord {
        run: Some(run.run.clone()),
        subject: Some(now.to_string()),
        ..EvidenceRecord::new(raw, Requirement::Verified, 0)
    }))
}

/// Returns the digest of the work tree, without our own files and the loop's document.
fn tree(raw: &Raw) -> io::Result<Digest> {
    let root = raw.root();
    let mut own_files = own_files(raw.store(), &root);
    if let Ok(document) = raw.store().path_of(raw.id()).strip_prefix(&root) {
        own_files.push(own_files::without(document.as_str()));
    }
    worktree::digest(&root, &own_files).map_err(io::Error::other)
}

/// Returns the results of the commands for users and models: each with its end and the last of what
/// it wrote, or why it was not run. Empty if nothing is verified and nothing was.
pub fn text(raw: &Raw) -> String {
    let commands = match is_used_in(raw).then(|| Commands::load(raw)).transpose() {
        Ok(commands) => commands,
        Err(why) => return format!("Not run: {why}"),
    };
    match VerifyRun::newest(raw, commands.as_ref()) {
        Err(error) => format!("Not known: {error}"),
        Ok(Some(run)) => run.text(raw),
        Ok(None) => {
            let commands = commands.into_iter().flat_map(|commands| commands.0);
            let lines = commands.map(|Command { line, is_allowed }| {
                if is_allowed {
                    format!("$ {line}\nnot run")
                } else {
                    format!("$ {line}\n{}", Exit::NotAllowed)
                }
            });
            lines.collect::<Vec<_>>().join("\n\n")
        }
    }
}

/// Returns a high finding for each command that failed in the newest run of this visit.
pub fn failed(raw: &Raw) -> Vec<Finding> {
    let commands = Commands::load(raw).ok();
    let run = commands.and_then(|commands| VerifyRun::newest(raw, Some(&commands)).ok()?);
    let failed = run.iter().flat_map(VerifyRun::failed);
    failed
        .map(|command| {
            let line = text::one_line(&text::shown(&command.command), 200);
            let problem = format!("the command {line} failed: {}", command.exit);
            Finding {
                recommendation: Some("fix what it shows".to_owned()),
                ..Finding::new(Severity::High, problem)
            }
        })
        .collect()
}
