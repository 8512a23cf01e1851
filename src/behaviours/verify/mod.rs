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
use crate::review::worktree::{self, OwnFiles};
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

fn verifies(behaviour: &BehaviourInfo) -> bool {
    behaviour.name == "verify"
        || behaviour.name == "review" && behaviour.parameter("verify").is_some()
}

fn is_verifying(raw: &Raw) -> bool {
    let phase = &raw.table().phases[raw.phase()];
    phase.on_stop.as_ref().is_some_and(verifies)
}

/// Sets the program's commands in a loop, if its phase verifies the work.
pub fn tell(raw: &Raw, commands: impl FnOnce() -> Result<Vec<String>, String>) {
    if is_verifying(raw) {
        let _ = raw.program_facts().commands.set(commands());
    }
}

/// The commands that verify the work in a loop's phase, each a plain line; there may be none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commands {
    lines: Vec<String>,
    /// Commands that are neither the name of a configured command nor exactly a line of
    /// `allow_commands`.
    not_allowed: Vec<String>,
}

impl Commands {
    /// Returns those of the phase that a loop is in, or `None` if it verifies nothing.
    ///
    /// # Errors
    /// Returns the reason if they are not known, or one of them cannot be run.
    pub fn load(raw: &Raw) -> Result<Option<Self>, String> {
        if !is_verifying(raw) {
            return Ok(None);
        }
        let told = raw.program_facts().commands.get();
        let told = told.ok_or("the program has not said which commands verify the work")?;
        let lines = told.as_ref();
        let lines = lines.map_err(|why| text::one_line(why, MAX_COMMAND_CHARS))?;
        let count = lines.len();
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
        let permissions = raw.program_facts().permissions.get();
        let is_allowed = |line: &&String| {
            permissions.is_some_and(|known| {
                known.commands.contains_key(*line) || known.allow_commands.contains(line)
            })
        };
        Ok(Some(Self {
            lines: lines.clone(),
            not_allowed: lines
                .iter()
                .filter(|line| !is_allowed(line))
                .cloned()
                .collect(),
        }))
    }

    /// Returns a digest of the lines, and of which of them may run.
    fn digest(&self) -> Digest {
        let end = |line| {
            if self.not_allowed.contains(line) {
                "\0\0"
            } else {
                "\0"
            }
        };
        let all = self
            .lines
            .iter()
            .flat_map(|line| [line.as_str(), end(line)]);
        Digest::from_bytes(all.collect::<String>().as_bytes())
    }
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

/// Returns the phase's commands.
///
/// # Errors
/// Returns the reason if there is none, or if the configuration does not allow all of them.
pub fn ready(raw: &Raw) -> Result<Commands, Missing> {
    let commands = known(raw)?;
    if commands.not_allowed.is_empty() {
        Ok(commands)
    } else {
        Err(Missing::not_allowed(raw, &commands.not_allowed))
    }
}

/// Returns the phase's commands, of which there is at least one.
fn known(raw: &Raw) -> Result<Commands, Missing> {
    let commands = Commands::load(raw).map_err(Missing::NotRun)?;
    let commands = commands.filter(|commands| !commands.lines.is_empty());
    commands.ok_or_else(|| {
        Missing::NotRun("there is no command to run: the program gives none".to_owned())
    })
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
    let mut commands = run.commands.iter();
    if let Some(failed) = commands.find(|command| command.has_failed()) {
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
    let mut own_files = OwnFiles::in_store(raw.store(), &root);
    if let Ok(document) = raw.store().path_of(raw.id()).strip_prefix(&root) {
        own_files = own_files.file(document.as_str());
    }
    worktree::digest(&root, &own_files).map_err(io::Error::other)
}

/// Returns the results of the commands for users and models: each with its end and the last of what
/// it wrote, or why it was not run. Empty if nothing is verified and nothing was.
pub fn text(raw: &Raw) -> String {
    let newest = match Commands::load(raw) {
        Err(why) => return format!("Not run: {why}"),
        Ok(commands) => VerifyRun::newest(raw, commands.as_ref()),
    };
    match (newest, known(raw)) {
        (Err(error), _) => format!("Not known: {error}"),
        (Ok(Some(run)), _) => run.text(raw),
        (Ok(None), _) if !is_verifying(raw) => String::new(),
        (Ok(None), Err(why)) => format!("Not run: {why}"),
        (Ok(None), Ok(Commands { lines, not_allowed })) => {
            let lines = lines.iter().map(|line| {
                if not_allowed.contains(line) {
                    format!("$ {line}\n{}", Exit::NotAllowed)
                } else {
                    format!("$ {line}\nnot run")
                }
            });
            lines.collect::<Vec<_>>().join("\n\n")
        }
    }
}

/// Returns a high finding for each command that failed in the newest run of this visit.
pub fn failed(raw: &Raw) -> Vec<Finding> {
    let run = match Commands::load(raw) {
        Ok(Some(commands)) => VerifyRun::newest(raw, Some(&commands)).ok().flatten(),
        _ => None,
    };
    let ends = run.into_iter().flat_map(|run| run.commands);
    ends.filter(|command| command.has_failed())
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
