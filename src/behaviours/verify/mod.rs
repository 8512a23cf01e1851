//! Commands that verify the work: which they are, whether a person permitted them, and what their results prove.
//!
//! A command is the name of a `[commands.NAME]` of the person's configuration, or a line for `sh -c`. A list with a line in it runs
//! only where this user's own record, outside the project, says that a person permitted exactly that list: whoever can write a
//! document, a journal or a task file must not get past the client's permissions. [`Verified`] is made here alone.

mod results;
mod run;

use std::io;

use crate::behaviours::command_runs::Exit;
use crate::machine::evidence_record::{EvidenceFields, EvidenceRecord};
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
            Some(PROGRAM) => {
                let told = raw.commands().cloned();
                told.unwrap_or_else(|| {
                    Err("the program has not said which commands verify the work".to_owned())
                })
                .map_err(|why| text::one_line(&why, LONGEST))?
            }
            Some(field) => raw.list(field),
        };
        if lines.len() > MOST {
            return Err(format!(
                "there are {} commands, and {MOST} are the most",
                lines.len()
            ));
        }
        for (at, line) in lines.iter().enumerate() {
            let problem = if line.trim().is_empty() {
                "is empty"
            } else if line.chars().count() > LONGEST {
                "has more than 1,000 characters"
            } else if text::exact(line) != *line {
                // A person has to see what they permit.
                "has characters that cannot be shown"
            } else {
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

    /// Returns whether each is named in the person's configuration, or a person permitted this list.
    ///
    /// # Errors
    /// This user's record cannot be read.
    pub fn are_permitted(&self, raw: &Raw) -> Result<bool, StoreError> {
        let configured = raw.permissions().map(|permitted| &permitted.commands);
        let named = |line: &String| configured.is_some_and(|commands| commands.contains_key(line));
        if self.0.iter().all(named) {
            return Ok(true);
        }
        raw.store().has_permitted(&raw.root(), &self.0)
    }

    /// Records that a person permitted them. Whoever calls it has shown the list to a person, who said yes.
    ///
    /// # Errors
    /// This user's record cannot be written.
    pub fn permit(&self, raw: &Raw) -> Result<(), StoreError> {
        raw.store().permit_commands(&raw.root(), &self.0)
    }

    fn digest(&self) -> Digest {
        let all: String = self.0.iter().map(|line| format!("{line}\0")).collect();
        Digest::of(all.as_bytes())
    }
}

/// Returns what says which commands verify the work in a loop's phase: a field, or [`PROGRAM`].
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
        raw.verified_by(commands());
    }
}

/// Says why nothing can be run.
#[derive(Debug, Clone, PartialEq, Eq, derive_more::Display)]
pub enum Unready {
    /// There is nothing to run, or it is not known what.
    #[display("{_0}")]
    Nothing(String),
    /// A person has not permitted this list; they do it with this command line.
    #[display(
        "a person has not permitted these commands; ask them to run in a terminal:\n    {_0}"
    )]
    NotPermitted(String),
}

/// Returns the commands that can be run now.
///
/// # Errors
/// Why none can; this user's record cannot be read.
pub fn ready(raw: &Raw) -> Result<Result<Commands, Unready>, StoreError> {
    let nothing = |why: &str| Ok(Err(Unready::Nothing(why.to_owned())));
    match Commands::of(raw) {
        Err(why) => nothing(&why),
        Ok(None) => nothing("this phase verifies nothing"),
        Ok(Some(commands)) if commands.0.is_empty() => nothing(&match source(raw) {
            None | Some(PROGRAM) => "there is no command to run: the program gives none".to_owned(),
            Some(field) => format!("there is no command to run: the list {field} is empty"),
        }),
        Ok(Some(commands)) if commands.are_permitted(raw)? => Ok(Ok(commands)),
        Ok(Some(_)) => {
            let program = raw.table().state.program;
            let permit = format!("{program} verify {} --permit", raw.id());
            Ok(Err(Unready::NotPermitted(permit)))
        }
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
    let commands = ready(raw).map_err(unreadable)?.map_err(Missing::Unready)?;
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
    if let Some(failed) = run.commands.iter().find(|command| !command.exit.passed()) {
        return Err(Missing::Failed {
            command: text::one_line(&text::shown(&failed.command), 200),
            exit: failed.exit.clone(),
            verify: call,
        });
    }
    if run.after != run.began.tree {
        return Err(Missing::ChangedByThem(call));
    }
    if *now != run.began.tree {
        return Err(Missing::Changed(call));
    }
    Ok(Verified(EvidenceRecord::new(EvidenceFields {
        kind: Requirement::Verified,
        loop_id: raw.id().to_string(),
        run: Some(run.began.run.clone()),
        findings: None,
        round: 0,
        revision: raw.record().revision(),
        subject: Some(now.to_string()),
        rejecting: None,
        waived: false,
    })))
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
