//! Reads what became of the commands that verify the work, as the journal tells it, and what they wrote.
//!
//! A run is two notes, as a review's. One that began and never ended, or was cut off, is no result.

use serde::{Deserialize, Serialize};

use super::{Commands, Unready, is_allowed, known};
use crate::behaviours::command_runs::{Exit, tail};
use crate::machine::Raw;
use crate::review::Digest;
use crate::review::findings::{Finding, Severity};
use crate::store::{Entry, StoreError};
use crate::text;

/// The note of a run's begin.
const BEGAN: &str = "verify-began";
/// The note of a run's end.
const ENDED: &str = "verify-ended";

/// The most characters of output that are shown of all commands: a block has room for them.
const OUTPUT: usize = 6000;
/// How many of one command's are shown, however many commands there are.
const LEAST: usize = 200;

/// What the note of a run's begin holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Began {
    pub(super) run: String,
    /// The visit of the phase, by the change with which it began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) visit: Option<u64>,
    /// The digest of the list.
    pub(super) list: Digest,
    /// The digest of the work tree.
    #[serde(rename = "work")]
    pub(super) tree: Digest,
}

/// What the note of a run's end holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Ended {
    run: String,
    commands: Vec<CommandEnd>,
    /// The digest of the work tree then; none of a run that was cut off.
    #[serde(rename = "work", default, skip_serializing_if = "Option::is_none")]
    tree: Option<Digest>,
}

/// How one of the commands ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct CommandEnd {
    pub(super) command: String,
    pub(super) passed: bool,
    #[serde(flatten)]
    pub(super) exit: Exit,
}

impl CommandEnd {
    /// Returns whether it was run and did not pass.
    pub(super) fn has_failed(&self) -> bool {
        !self.exit.passed() && self.exit != Exit::NotAllowed
    }
}

/// A run of all commands that came to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct VerifyRun {
    pub(super) began: Began,
    pub(super) commands: Vec<CommandEnd>,
    /// The work tree when the last command had ended.
    pub(super) after: Digest,
    /// Whether a change of the loop was counted for it.
    pub(super) counted: bool,
}

impl VerifyRun {
    /// Returns the newest of this visit for these commands.
    pub(super) fn newest(raw: &Raw, commands: &Commands) -> Result<Option<Self>, StoreError> {
        let (visit, list) = (raw.record().visit(), commands.digest(raw));
        let of_visit =
            |run: &Self| (visit.is_none() || run.began.visit == visit) && run.began.list == list;
        Ok(all(&raw.recent()?).into_iter().rfind(of_visit))
    }
}

/// Returns every run that came to its end, oldest first.
fn all(journal: &[Entry]) -> Vec<VerifyRun> {
    let mut runs: Vec<VerifyRun> = Vec::new();
    let mut begun: Vec<Began> = Vec::new();
    for entry in journal {
        if let Some(began) = entry.noted::<Began>(BEGAN) {
            begun.push(began);
        } else if let Some(ended) = entry.noted::<Ended>(ENDED) {
            let began = begun.iter().rfind(|began| began.run == ended.run);
            if let (Some(began), Some(after)) = (began, ended.tree) {
                runs.push(VerifyRun {
                    began: began.clone(),
                    commands: ended.commands,
                    after,
                    counted: false,
                });
            }
        } else if let Entry::Change(change) = entry {
            for run in &mut runs {
                run.counted |= change.run.as_ref() == Some(&run.began.run);
            }
        }
    }
    runs
}

/// Notes that a run began.
pub(super) fn began(raw: &Raw, began: &Began) -> Result<(), StoreError> {
    raw.store().note(raw.id(), BEGAN, began)
}

/// Notes how a run ended; without the work tree's digest, that it was cut off.
pub(super) fn ended(
    raw: &Raw,
    run: &str,
    commands: &[CommandEnd],
    tree: Option<Digest>,
) -> Result<(), StoreError> {
    let (run, commands) = (run.to_owned(), commands.to_vec());
    raw.store().note(
        raw.id(),
        ENDED,
        &Ended {
            run,
            commands,
            tree,
        },
    )
}

/// Notes that a run was cut off, if its process was ended in the middle. The run lock has to be held.
pub(super) fn note_cut_off(raw: &Raw) -> Result<(), StoreError> {
    let journal = raw.recent()?;
    let last = journal.iter().rev().find_map(|entry| {
        let began = entry.noted::<Began>(BEGAN).map(|began| (began.run, false));
        began.or_else(|| Some((entry.noted::<Ended>(ENDED)?.run, true)))
    });
    match last {
        Some((run, false)) => ended(raw, &run, &[], None),
        _ => Ok(()),
    }
}

/// Returns the name of the file in the loop's folder that has what the command of this number wrote.
pub(super) fn log(number: usize) -> String {
    format!("verify-{number}.log")
}

/// Returns what came of the commands for people and models: each with its end and the last of what it wrote, or why it was not run. Empty
/// where nothing is verified and nothing was.
pub fn text(raw: &Raw) -> String {
    let newest = || all(&raw.recent().ok()?).pop();
    match Commands::of(raw) {
        Err(why) => format!("Not run: {why}"),
        Ok(None) => newest().map(|run| of_run(raw, &run)).unwrap_or_default(),
        Ok(Some(commands)) => match VerifyRun::newest(raw, &commands) {
            Ok(Some(run)) => of_run(raw, &run),
            Ok(None) => not_run(raw, &commands),
            Err(error) => format!("Not known: {error}"),
        },
    }
}

fn not_run(raw: &Raw, commands: &Commands) -> String {
    if let Err(Unready::Nothing(why)) = known(raw) {
        return format!("Not run: {why}");
    }
    let lines = commands
        .lines()
        .iter()
        .map(|line| match is_allowed(raw, line) {
            true => format!("$ {line}\nnot run"),
            false => format!("$ {line}\n{}", Exit::NotAllowed),
        });
    lines.collect::<Vec<_>>().join("\n\n")
}

fn of_run(raw: &Raw, run: &VerifyRun) -> String {
    // The files are those of the newest run.
    let is_newest = raw.recent().is_ok_and(|journal| {
        let newest = journal
            .iter()
            .rev()
            .find_map(|entry| entry.noted::<Began>(BEGAN));
        newest.is_some_and(|began| began.run == run.began.run)
    });
    let room = (OUTPUT / run.commands.len().max(1)).max(LEAST);
    let shown = run.commands.iter().enumerate().map(|(at, command)| {
        let line = text::one_line(&text::shown(&command.command), super::LONGEST);
        let shown = format!("$ {line}\n{}", command.exit);
        let file = raw.store().loop_folder(raw.id()).join(log(at + 1));
        let written = raw.store().read(&file).ok().filter(|_| is_newest);
        let end = written.map(|bytes| tail(&bytes)).unwrap_or_default();
        // The last lines that there is room for, whole.
        let mut left = room;
        let fits = |line: &&str| {
            left = left.saturating_sub(line.chars().count() + 1);
            left > 0
        };
        let mut lines: Vec<&str> = end.lines().rev().take_while(fits).collect();
        lines.push(&shown);
        lines.reverse();
        lines.join("\n")
    });
    shown.collect::<Vec<_>>().join("\n\n")
}

/// Returns a high finding for each command that failed in the newest run of this visit.
pub fn failed(raw: &Raw) -> Vec<Finding> {
    let run = match Commands::of(raw) {
        Ok(Some(commands)) => VerifyRun::newest(raw, &commands).ok().flatten(),
        _ => None,
    };
    let ends = run.into_iter().flat_map(|run| run.commands);
    ends.filter(CommandEnd::has_failed)
        .map(|command| {
            let line = text::one_line(&text::shown(&command.command), 200);
            Finding {
                recommendation: Some("mend what it shows".to_owned()),
                ..Finding::new(
                    Severity::High,
                    format!("the command {line} failed: {}", command.exit),
                )
            }
        })
        .collect()
}
