//! Commands that verify the work: which they are, which of them may run, and what their results prove.
//!
//! A command is the name of a `[commands.NAME]` of the user's configuration, or a line for `sh -c`. A
//! line runs only if `allow_commands` of that configuration has exactly this line: whoever can write a
//! document, a journal or a task file must not get past the client's permissions. [`Verified`] is made
//! here alone.

mod results;
mod run;

use std::io;

use crate::behaviours::command_runs::Exit;
use crate::behaviours::words;
use crate::machine::EvidenceRecord;
use crate::machine::{Raw, Refusal, Requirement};
use crate::review::Digest;
use crate::review::reports;
use crate::review::worktree;
use crate::store::StoreError;
use crate::text;

use self::results::VerifyRun;
pub use self::results::{failed, text};
pub use self::run::{Purpose, Ran, Verification, Watch, verify};

/// Stands in machine.toml where the program gives the commands.
const PROGRAM: &str = "{program}";
/// The most commands of a list.
const MOST: usize = 32;
/// The longest command, in characters.
const LONGEST: usize = 1000;

/// Shows that the commands of a loop's phase passed in this visit, on the work tree as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verified(EvidenceRecord);

impl Verified {
    /// Returns what it says to an edge.
    pub fn record(&self) -> &EvidenceRecord {
        &self.0
    }
}

/// The commands that verify the work in a loop's phase, each a plain line; there may be none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commands(Vec<String>);

impl Commands {
    /// Returns those of the phase that a loop is in; `None` where it verifies nothing.
    ///
    /// # Errors
    /// A sentence says why they are not known, or which of them cannot be run.
    pub fn of(raw: &Raw) -> Result<Option<Self>, String> {
        let lines = match source(raw) {
            None => return Ok(None),
            Some(_) => {
                let told = raw.told().commands.get().cloned();
                told.unwrap_or_else(|| {
                    Err("the program has not said which commands verify the work".to_owned())
                })
                .map_err(|why| text::one_line(&why, LONGEST))?
            }
        };
        if lines.len() > MOST {
            return Err(format!(
                "there are {} commands, and {MOST} are the most",
                lines.len()
            ));
        }
        for (at, line) in lines.iter().enumerate() {
            let Some(problem) = line_problem(line) else {
                continue;
            };
            let shown = text::one_line(&text::shown(line), 200);
            return Err(format!("command {} {problem}: {shown}", at + 1));
        }
        Ok(Some(Self(lines)))
    }

    /// Returns them.
    pub fn lines(&self) -> &[String] {
        &self.0
    }

    /// Returns those that the user's configuration does not allow.
    fn not_allowed(&self, raw: &Raw) -> Vec<String> {
        let lines = self.0.iter().filter(|line| !is_allowed(raw, line));
        lines.cloned().collect()
    }

    /// Returns a digest of the lines, and of which of them may run.
    fn digest(&self, raw: &Raw) -> Digest {
        let line = |line: &String| match is_allowed(raw, line) {
            true => format!("{line}\0"),
            false => format!("{line}\0\0"),
        };
        let all: String = self.0.iter().map(line).collect();
        Digest::of(all.as_bytes())
    }
}

/// Returns whether a line is the name of a configured command, or `allow_commands` has exactly this line.
fn is_allowed(raw: &Raw, line: &str) -> bool {
    raw.told().permissions.get().is_some_and(|permissions| {
        permissions.commands.contains_key(line)
            || permissions
                .allow_commands
                .iter()
                .any(|allowed| allowed == line)
    })
}

/// Returns why a line cannot be a command, or `None` if it can.
pub fn line_problem(line: &str) -> Option<&'static str> {
    if line.trim().is_empty() {
        Some("is empty")
    } else if line.chars().count() > LONGEST {
        Some("has more than 1,000 characters")
    } else if text::exact(line) != *line {
        // The user must see what they allow.
        Some("has characters that cannot be shown")
    } else {
        None
    }
}

/// Returns what says which commands verify the work in a loop's phase: [`PROGRAM`].
fn source(raw: &Raw) -> Option<&'static str> {
    let behaviour = raw.table().phases[raw.phase()].on_stop.as_ref()?;
    match behaviour.name {
        "verify" => behaviour.parameter("commands"),
        "review" => behaviour.parameter("verify"),
        _ => None,
    }
}

/// Returns whether a phase of this machine verifies the work.
pub fn is_used(table: &crate::machine::Table) -> bool {
    let mut on_stops = table
        .phases
        .iter()
        .filter_map(|phase| phase.on_stop.as_ref());
    on_stops.any(|one| {
        one.name == "verify" || one.name == "review" && one.parameter("verify").is_some()
    })
}

/// Tells a loop the program's commands, where its phase asks for them.
pub fn tell(raw: &Raw, commands: impl FnOnce() -> Result<Vec<String>, String>) {
    if source(raw) == Some(PROGRAM) {
        let _ = raw.told().commands.set(commands());
    }
}

/// Why commands are not run.
#[derive(Debug, Clone, PartialEq, Eq, derive_more::Display)]
pub enum Unready {
    /// There is nothing to run, or the commands are not known.
    #[display("{_0}")]
    Nothing(String),
    /// The user's configuration does not allow these lines.
    #[display(
        "the user’s configuration does not allow:{}\nThe user can add these lines to allow_commands in {file}",
        words::lines(lines)
    )]
    NotAllowed {
        /// The lines.
        lines: Vec<String>,
        /// The file of the configuration.
        file: String,
    },
}

/// Returns the phase's commands.
///
/// # Errors
/// Returns the reason if there is none, or if the configuration does not allow all of them.
pub fn ready(raw: &Raw) -> Result<Commands, Unready> {
    let commands = known(raw)?;
    match commands.not_allowed(raw) {
        lines if lines.is_empty() => Ok(commands),
        lines => Err(not_allowed(raw, lines)),
    }
}

/// Returns the phase's commands if the configuration allows at least one of them.
fn ready_in_part(raw: &Raw) -> Result<Commands, Unready> {
    let commands = known(raw)?;
    match commands.not_allowed(raw) {
        lines if lines.len() < commands.0.len() => Ok(commands),
        lines => Err(not_allowed(raw, lines)),
    }
}

fn not_allowed(raw: &Raw, lines: Vec<String>) -> Unready {
    let file = raw
        .told()
        .permissions
        .get()
        .and_then(|known| known.file.as_ref());
    Unready::NotAllowed {
        lines,
        file: file.map_or("your configuration".to_owned(), text::shown),
    }
}

fn known(raw: &Raw) -> Result<Commands, Unready> {
    let nothing = |why: &str| Err(Unready::Nothing(why.to_owned()));
    match Commands::of(raw) {
        Err(why) => nothing(&why),
        Ok(None) => nothing("this phase verifies nothing"),
        Ok(Some(commands)) if commands.0.is_empty() => {
            nothing("there is no command to run: the program gives none")
        }
        Ok(Some(commands)) => Ok(commands),
    }
}

/// Why there is no evidence.
#[derive(Debug, derive_more::Display)]
pub enum Missing {
    /// Nothing can be run.
    #[display("{_0}")]
    Unready(Unready),
    /// The list was not run in this visit.
    #[display("the commands were not run yet; run them:\n    {_0}")]
    NotRun(String),
    /// They run.
    #[display("the commands are still running, or a review is; wait for the end:\n    {_0}")]
    Running(String),
    /// One of them failed.
    #[display("{command} failed ({exit}); mend that, then:\n    {verify}")]
    Failed {
        /// The command.
        command: String,
        /// Says how it ended.
        exit: Exit,
        /// The command that runs all of them.
        verify: String,
    },
    /// The work tree is another one.
    #[display("the work tree was changed after the commands began; run them again:\n    {_0}")]
    Changed(String),
    /// The commands change the work tree.
    #[display(
        "the commands changed the work tree themselves; have git ignore what they write, or commit to it, then:\n    {_0}"
    )]
    ChangedByThem(String),
    /// The system refused.
    #[display("could not read it: {_0}")]
    Unreadable(io::Error),
}

impl Missing {
    /// As the refusal of a transition.
    pub fn refusal(self, transition: &'static str, requirement: Requirement) -> Refusal {
        Refusal::Evidence {
            transition,
            requirement,
            problem: self.to_string(),
        }
    }
}

/// Returns evidence that the phase's commands passed in this visit on the work tree as it is.
///
/// # Errors
/// What is missing.
pub fn verified(raw: &Raw) -> Result<Verified, Missing> {
    let unreadable = |error: StoreError| Missing::Unreadable(io::Error::other(error));
    let call = format!("{} verify {}", raw.table().state.program, raw.id());
    let commands = ready(raw).map_err(Missing::Unready)?;
    if raw.store().is_running(raw.id()) {
        return Err(Missing::Running(call));
    }
    let Some(run) = VerifyRun::newest(raw, &commands).map_err(unreadable)? else {
        return Err(Missing::NotRun(call));
    };
    judge(raw, &run, &tree(raw).map_err(Missing::Unreadable)?)
}

/// Says what a run proves of this work tree.
fn judge(raw: &Raw, run: &VerifyRun, now: &Digest) -> Result<Verified, Missing> {
    let call = format!("{} verify {}", raw.table().state.program, raw.id());
    if let Some(failed) = run.commands.iter().find(|command| command.has_failed()) {
        return Err(Missing::Failed {
            command: text::one_line(&text::shown(&failed.command), 200),
            exit: failed.exit.clone(),
            verify: call,
        });
    }
    let not_run = run
        .commands
        .iter()
        .filter(|command| command.exit == Exit::NotAllowed);
    let not_run: Vec<String> = not_run.map(|command| command.command.clone()).collect();
    if !not_run.is_empty() {
        return Err(Missing::Unready(not_allowed(raw, not_run)));
    }
    if run.after != run.began.tree {
        return Err(Missing::ChangedByThem(call));
    }
    if *now != run.began.tree {
        return Err(Missing::Changed(call));
    }
    Ok(Verified(EvidenceRecord {
        run: Some(run.began.run.clone()),
        subject: Some(now.to_string()),
        ..EvidenceRecord::of(raw, Requirement::Verified, 0)
    }))
}

/// Returns the digest of the work tree, what is ours and the loop's document left out.
fn tree(raw: &Raw) -> io::Result<Digest> {
    let root = raw.root();
    let mut ours = reports::ours(raw.store(), &root);
    if let Ok(document) = raw.store().path_of(raw.id()).strip_prefix(&root) {
        ours = ours.file(document.as_str());
    }
    worktree::digest(&root, ours).map_err(io::Error::other)
}
