//! The settings of a run: who reviews, in which roles, how often, how long.
//!
//! They are read once at the edge and passed on; nothing below asks the environment or a file again. Precedence: a flag
//! (which the caller applies), the environment, the project's file, the user's file, the default.

use std::collections::BTreeMap;
use std::time::Duration;

use camino::Utf8Path;
use derive_more::{Display, Error};

use crate::drive::commands::Command;
use crate::hook::seen::Seen;
use crate::plan::caller::Caller;
use crate::plan::reviewers;
use crate::plan::typestate::PERSONAS;
use crate::process::environment::find_program;
use crate::process::limits::Limits;
use crate::review::evidence::Policy;
use crate::review::personas::Personas;
use crate::review::settings::{ReviewerKind, ReviewerSettings};
use crate::store::StateHome;

mod check;
mod environment;
mod example;
mod files;
mod findings;
mod leaf;
mod names;
mod origin;
mod project;
mod read;
mod schema;
mod show;
mod suggest;
mod tables;
mod user;

#[cfg(test)]
mod tests;

pub use check::{Checked, check};
pub use example::{EXAMPLE, example_to_edit};
pub use files::{FileError, project_path, user_path};
pub use findings::{Finding, Findings};
pub use origin::{Origin, Origins};

pub use schema::{project_schema, user_schema};
pub use show::{Shown, shown};

/// What `CLAUDEX_STALE_MINUTES` is by default.
const STALE_MINUTES: u64 = 15;
/// More minutes than any loop lives; the most that are a number of seconds.
const MOST_MINUTES: u64 = u64::MAX / 60;
/// More rounds than anyone reads.
pub const MOST_ROUNDS: u64 = 1000;

/// What a run goes by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// The reviewer's name: one of `reviewers`, or `auto`.
    pub reviewer: String,
    /// The reviewers by name.
    pub reviewers: BTreeMap<String, ReviewerSettings>,
    /// The commands that a machine's `run` may name, by name.
    pub commands: BTreeMap<String, Command>,
    /// Who reviews in which round.
    pub personas: Personas,
    /// Rounds of plan mode; None: what machine.toml says.
    pub plan_rounds: Option<u64>,
    /// Rounds of review mode; None: what machine.toml says.
    pub review_rounds: Option<u64>,
    /// Failures of a reviewer in one round that end a loop; None: what machine.toml says.
    pub max_failures: Option<u64>,
    /// How long a review may take, where its reviewer does not say otherwise.
    pub limits: Limits,
    /// How long a loop may show no sign of life before it is swept.
    pub stale_after: Duration,
    /// Whether a round counts without a review.
    pub evidence: Policy,
    /// What the person's file alone says of that: an agent has an environment of its own.
    pub evidence_in_file: Policy,
    /// Where the values come from.
    pub origins: Origins,
}

/// Settings that cannot be used.
#[derive(Debug, Display, Error, miette::Diagnostic)]
#[non_exhaustive]
pub enum SettingsError {
    /// A number that is none, or out of range.
    #[display("{what} takes a positive integer up to {most}, and got `{given}`")]
    #[diagnostic(
        code(claudex::config::number),
        help("unset it, or give it a positive integer")
    )]
    Number {
        /// The variable.
        what: &'static str,
        /// The largest that is taken.
        most: u64,
        /// What was given, on one line.
        given: String,
    },
    /// A file that cannot be read, or may not.
    #[display("{_0}")]
    #[diagnostic(transparent)]
    File(FileError),
    /// A file with something in it that cannot be used.
    #[display("{_0}")]
    #[diagnostic(transparent)]
    Findings(Box<Findings>),
}

impl From<FileError> for SettingsError {
    fn from(error: FileError) -> Self {
        Self::File(error)
    }
}

impl Default for Settings {
    fn default() -> Self {
        let kinds = [ReviewerKind::Lint, ReviewerKind::Codex, ReviewerKind::Claude];
        Self {
            reviewer: names::AUTO.to_owned(),
            reviewers: kinds
                .into_iter()
                .map(|kind| (kind.to_string(), ReviewerSettings::of(kind)))
                .collect(),
            commands: BTreeMap::new(),
            personas: Personas::declared(PERSONAS),
            plan_rounds: None,
            review_rounds: None,
            max_failures: None,
            limits: Limits::default(),
            stale_after: Duration::from_secs(STALE_MINUTES * 60),
            evidence: Policy::Required,
            evidence_in_file: Policy::Required,
            origins: Origins::default(),
        }
    }
}

impl Settings {
    /// Reads the settings that hold in a project, in the environment of this process.
    ///
    /// # Errors
    /// See [`SettingsError`]: nothing is left out silently.
    pub fn load(root: &Utf8Path) -> Result<Self, SettingsError> {
        Self::load_as(root, None)
    }

    /// Reads the settings for a command. Inside a client's session they are those of the person whose hooks run there: of the
    /// session of the loop that the command is about, else of its own. An agent's own environment chooses nothing.
    ///
    /// # Errors
    /// As [`Settings::load`].
    pub fn for_call(root: &Utf8Path, caller: &Caller, session: Option<&str>) -> Result<Self, SettingsError> {
        Self::load_as(root, Self::seen(caller, session).as_ref())
    }

    /// Returns what the hooks of the session saw that a command is made in; `None` outside a client, or where no hook has run.
    pub fn seen(caller: &Caller, session: Option<&str>) -> Option<Seen> {
        let home = Some(StateHome::of_user()).filter(|_| caller.inside)?;
        let home = home.folder()?;
        let sessions = [session, caller.session.as_deref()];
        sessions
            .into_iter()
            .flatten()
            .find_map(|session| Seen::of(session, home))
    }

    /// Keeps, in a hook, what its session sees of the person's environment, for commands inside that session.
    ///
    /// # Errors
    /// The folder in the user's state home is not safely the user's, or the system refuses.
    pub fn keep_seen(&self, session: &str, root: &Utf8Path) -> std::io::Result<()> {
        let home = StateHome::of_user();
        let Some(home) = home.folder() else {
            return Ok(());
        };
        let mut seen = Seen::here(user_path().ok());
        for (name, reviewer) in &self.reviewers {
            if let Some(file) = reviewers::program(reviewer, root) {
                seen.program_is(name, &file);
            }
        }
        seen.keep(session, home)
    }

    fn load_as(root: &Utf8Path, seen: Option<&Seen>) -> Result<Self, SettingsError> {
        let mut settings = Self::default();
        let path = match seen.and_then(|seen| seen.configuration.clone()) {
            Some(path) => path,
            None => user_path()?,
        };
        if let Some(text) = files::user(&path)? {
            user::apply(&path, &text, &mut settings)?;
        }
        if let Some(text) = files::project(root)? {
            project::apply(root, &text, &path, &mut settings)?;
        }
        environment::apply(&mut settings, &|name| match seen {
            Some(seen) => seen.variable(name).map(str::to_owned),
            None => environment::own(name),
        })?;
        if let Some(seen) = seen {
            settings.pin(seen, root);
        }
        Ok(settings)
    }

    /// Has every reviewer run as the hook saw it: the same program, found in the same PATH, with the same configuration of its own.
    fn pin(&mut self, seen: &Seen, root: &Utf8Path) {
        for (name, reviewer) in &mut self.reviewers {
            reviewer.pinned = seen
                .fixed()
                .map(|(name, value)| (name.to_owned(), value.map(str::to_owned)))
                .collect();
            if let Some(program) = seen.program(name)
                && find_program(program, None, root).is_some()
            {
                reviewer.program = Some(program.to_owned());
            }
        }
    }
}

/// A file's findings as an error, where there are any.
fn refused(path: &Utf8Path, text: &str, list: Vec<Finding>) -> Result<(), SettingsError> {
    match Findings::new(path, text, list) {
        None => Ok(()),
        Some(findings) => Err(SettingsError::Findings(Box::new(findings))),
    }
}

/// A positive whole number, as a person types it.
pub fn positive(given: &str, most: u64) -> Option<u64> {
    if given.is_empty() || !given.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    given.parse().ok().filter(|number| (1..=most).contains(number))
}
