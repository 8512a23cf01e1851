//! The results of the commands that verify the work, as the journal tells them, and what they wrote.

use serde::{Deserialize, Serialize};

use super::{Commands, MAX_COMMAND_CHARS, Missing, is_allowed, known};
use crate::behaviours::command_runs::{Exit, last_lines, tail};
use crate::machine::Raw;
use crate::review::Digest;
use crate::review::findings::{Finding, Severity};
use crate::store::{Entry, StoreError};
use crate::text;

/// The most characters of output that are shown of all commands: a block has room for them.
const MAX_OUTPUT_CHARS: usize = 6000;
/// The characters of output that each command may have, however many commands there are.
const MIN_COMMAND_OUTPUT_CHARS: usize = 200;

/// The note of the begin of a run of all commands.
pub(super) const BEGAN: &str = "verify-began";
/// The note of its end.
pub(super) const ENDED: &str = "verify-ended";

/// The begin of a run of all commands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct VerifyBegan {
    pub(super) run: String,
    /// The revision of the change with which the visit of the phase began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) visit: Option<u64>,
    /// The digest of the list.
    pub(super) list: Digest,
    /// The digest of the work tree.
    #[serde(rename = "work")]
    pub(super) tree: Digest,
}

/// The end of a run of all commands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct VerifyEnded {
    pub(super) run: String,
    pub(super) commands: Vec<CommandEnd>,
    /// The digest of the work tree after the last command, or `None` if the run was cut off.
    #[serde(rename = "work", default, skip_serializing_if = "Option::is_none")]
    pub(super) tree: Option<Digest>,
}

/// The end of one of the commands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct CommandEnd {
    pub(super) command: String,
    passed: bool,
    #[serde(flatten)]
    pub(super) exit: Exit,
}

impl CommandEnd {
    pub(super) fn new(command: &str, exit: Exit) -> Self {
        Self {
            command: text::one_line(command, MAX_COMMAND_CHARS),
            passed: exit.passed(),
            exit,
        }
    }

    /// Returns whether it was run and did not pass.
    pub(super) fn has_failed(&self) -> bool {
        !self.exit.passed() && self.exit != Exit::NotAllowed
    }
}

/// A run of all commands that came to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct VerifyRun {
    pub(super) began: VerifyBegan,
    pub(super) ended: VerifyEnded,
    /// Whether a change of the loop was counted for it.
    pub(super) counted: bool,
    /// Whether no other has begun since: the files with the output are those of the newest run.
    pub(super) is_newest: bool,
}

impl VerifyRun {
    /// Returns the newest of this visit for these commands.
    pub(super) fn newest(raw: &Raw, commands: &Commands) -> Result<Option<Self>, StoreError> {
        let visit = raw.record().visit();
        let list = commands.digest(raw);
        let of_visit =
            |run: &Self| (visit.is_none() || run.began.visit == visit) && run.began.list == list;
        Ok(Self::all(&raw.recent()?).into_iter().rfind(of_visit))
    }

    /// Returns every run that came to its end, oldest first.
    fn all(journal: &[Entry]) -> Vec<Self> {
        let mut runs: Vec<Self> = Vec::new();
        let mut newest: Option<VerifyBegan> = None;
        for entry in journal {
            if let Some(began) = entry.noted(BEGAN) {
                runs.iter_mut().for_each(|run| run.is_newest = false);
                newest = Some(began);
            } else if let Some(ended) = entry.noted::<VerifyEnded>(ENDED) {
                let began = newest.take_if(|began| began.run == ended.run);
                let began = began.filter(|_| ended.tree.is_some());
                runs.extend(began.map(|began| Self {
                    began,
                    ended,
                    counted: false,
                    is_newest: true,
                }));
            } else if let Entry::Change(change) = entry {
                for run in &mut runs {
                    run.counted |= change.run.as_ref() == Some(&run.began.run);
                }
            }
        }
        runs
    }

    /// Returns each command with its end and the last of what it wrote.
    fn text(&self, raw: &Raw) -> String {
        let room =
            (MAX_OUTPUT_CHARS / self.ended.commands.len().max(1)).max(MIN_COMMAND_OUTPUT_CHARS);
        let shown = self.ended.commands.iter().enumerate().map(|(at, command)| {
            let line = text::one_line(&text::shown(&command.command), MAX_COMMAND_CHARS);
            let file = raw.store().loop_folder(raw.id()).join(log_name(at + 1));
            let written = raw.store().read(&file).ok().filter(|_| self.is_newest);
            let end = tail(&written.unwrap_or_default());
            let lines = last_lines(end.lines().rev().map(str::to_owned), room);
            let first = format!("$ {line}\n{}", command.exit);
            [vec![first], lines].concat().join("\n")
        });
        shown.collect::<Vec<_>>().join("\n\n")
    }
}

/// Returns the name of the file in the loop's folder that has the output of the command of this number.
pub(super) fn log_name(number: usize) -> String {
    format!("verify-{number}.log")
}

/// Returns the results of the commands for users and models: each with its end and the last of what it wrote, or why it was not
/// run. Empty if nothing is verified and nothing was.
pub fn text(raw: &Raw) -> String {
    match Commands::of(raw) {
        Err(why) => format!("Not run: {why}"),
        Ok(None) => {
            let newest = VerifyRun::all(&raw.recent().unwrap_or_default()).pop();
            newest.map(|run| run.text(raw)).unwrap_or_default()
        }
        Ok(Some(commands)) => match VerifyRun::newest(raw, &commands) {
            Ok(Some(run)) => run.text(raw),
            Ok(None) => not_run(raw, &commands),
            Err(error) => format!("Not known: {error}"),
        },
    }
}

fn not_run(raw: &Raw, commands: &Commands) -> String {
    if let Err(Missing::Nothing(why)) = known(raw) {
        return format!("Not run: {why}");
    }
    let lines = commands.0.iter().map(|line| match is_allowed(raw, line) {
        true => format!("$ {line}\nnot run"),
        false => format!("$ {line}\n{}", Exit::NotAllowed),
    });
    lines.collect::<Vec<_>>().join("\n\n")
}

/// Returns a high finding for each command that failed in the newest run of this visit.
pub fn failed(raw: &Raw) -> Vec<Finding> {
    let run = match Commands::of(raw) {
        Ok(Some(commands)) => VerifyRun::newest(raw, &commands).ok().flatten(),
        _ => None,
    };
    let ends = run.into_iter().flat_map(|run| run.ended.commands);
    ends.filter(CommandEnd::has_failed)
        .map(|command| {
            let line = text::one_line(&text::shown(&command.command), 200);
            let what = format!("the command {line} failed: {}", command.exit);
            Finding {
                recommendation: Some("fix what it shows".to_owned()),
                ..Finding::new(Severity::High, what)
            }
        })
        .collect()
}
