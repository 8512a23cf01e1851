//! The settings of a run: who reviews, in which roles, how often, how long.
//!
//! They are read once at the edge and passed on; nothing below asks the environment or a file again. Precedence: a flag
//! (which the caller applies), the environment, the project's file, the user's file, the default.

use std::collections::BTreeMap;
use std::time::Duration;

use camino::Utf8Path;

use self::origin::Source;
use crate::hooks::seen::{Seen, SessionRecord as _};
use crate::machine::table::ModeInfo;
use crate::machine::{Actor, Permissions};
use crate::process::configured::ConfiguredCommand;
use crate::process::environment::pin;
use crate::process::limits::Limits;
use crate::program::caller::Caller;
use crate::program::info::ProgramInfo;
use crate::review::evidence::EvidencePolicy;
use crate::review::personas::Personas;
use crate::review::settings::{ReviewerKind, ReviewerSettings};
use crate::store::StateHome;
use serde_json::Value;

mod check;
mod environment;
mod error;
mod example;
mod files;
#[cfg(all(any(test, fuzzing), feature = "plan"))]
pub(crate) mod fuzzing;
mod origin;
mod parse;
mod project;
mod show;
mod tables;
mod user;
mod values;

#[cfg(all(test, feature = "plan"))]
mod tests;

pub use check::{Checked, check};
pub use error::SettingsError;
pub use example::{EXAMPLE, example_to_edit};
pub use files::{project_path, user_path};
pub use origin::{Origin, Origins, Whose};
pub use show::{Shown, shown};

/// The minutes of `limits.stale-minutes` by default.
const STALE_MINUTES: u64 = 15;
/// More minutes than any loop lives: ten years.
const MOST_MINUTES: u64 = 10 * 366 * 24 * 60;
/// The field whose start value `rounds.MODE` is.
pub(super) const MAX_ROUNDS: &str = "max_rounds";
/// The field whose start value `limits.max-failures` is.
pub(super) const MAX_FAILURES: &str = "max_failures";
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
    pub commands: BTreeMap<String, ConfiguredCommand>,
    /// The lines that a verification may run in a shell.
    pub allow_commands: Vec<String>,
    /// Who reviews in which round.
    pub personas: Personas,
    /// Rounds of each mode by its name; where one is not there, what machine.toml says.
    pub rounds: BTreeMap<String, u64>,
    /// Failures of a reviewer in one round that end a loop; None: what machine.toml says.
    pub max_failures: Option<u64>,
    /// How long a review may take, where its reviewer does not say otherwise.
    pub limits: Limits,
    /// The time without a sign of life after which a loop is archived.
    pub stale_after: Duration,
    /// Whether a round counts without a review.
    pub evidence: EvidencePolicy,
    /// What the person's file alone says of that: an agent has an environment of its own.
    pub evidence_in_file: EvidencePolicy,
    /// Where the values come from.
    pub origins: Origins,
    /// What the files have that is ignored: one line for each, with file and line.
    pub ignored: Vec<String>,
    /// Whose settings they are.
    pub info: &'static ProgramInfo,
}

impl Settings {
    /// Returns what holds where nobody says anything.
    pub fn usual(info: &'static ProgramInfo) -> Self {
        let kinds = [
            ReviewerKind::Lint,
            ReviewerKind::Codex,
            ReviewerKind::Claude,
        ];
        Self {
            reviewer: values::AUTO.to_owned(),
            reviewers: kinds
                .into_iter()
                .map(|kind| (kind.to_string(), ReviewerSettings::of(kind)))
                .collect(),
            commands: BTreeMap::new(),
            allow_commands: Vec::new(),
            personas: Personas::declared(info.table.personas),
            rounds: BTreeMap::new(),
            max_failures: None,
            limits: Limits::default(),
            stale_after: Duration::from_secs(STALE_MINUTES * 60),
            evidence: EvidencePolicy::Required,
            evidence_in_file: EvidencePolicy::Required,
            origins: Origins::default(),
            ignored: Vec::new(),
            info,
        }
    }

    /// Returns the names that mean a reviewer: those of the configuration, the program's own, and `auto`.
    pub(super) fn reviewer_names(&self) -> Vec<String> {
        let configured = self.reviewers.keys().cloned();
        let all = configured.chain(self.info.own_reviewers());
        std::iter::once(values::AUTO.to_owned())
            .chain(all)
            .collect()
    }

    /// Reads the settings that hold in a project, in the environment of this process.
    ///
    /// # Errors
    /// See [`SettingsError`]: nothing is left out silently.
    pub fn load(info: &'static ProgramInfo, root: &Utf8Path) -> Result<Self, SettingsError> {
        Self::load_as(info, root, None, &environment::own)
    }

    /// Reads the settings for a command. Inside a client's session they are those of the person whose hooks run there: of the
    /// session of the loop that the command is about, else of its own. An agent's own environment chooses nothing.
    ///
    /// # Errors
    /// As [`Settings::load`].
    pub fn for_call(
        info: &'static ProgramInfo,
        root: &Utf8Path,
        caller: &Caller,
        session: Option<&str>,
    ) -> Result<Self, SettingsError> {
        let seen = Self::seen(info, caller, session);
        Self::load_as(info, root, seen.as_ref(), &|name| match &seen {
            Some(seen) => seen.variable(name).map(str::to_owned),
            None if caller.inside => None,
            None => environment::own(name),
        })
    }

    /// Returns what the hooks of the session saw that a command is made in; `None` outside a client, or where no hook has run.
    /// Programs that the command starts get the variables that the hooks saw.
    pub(super) fn seen(info: &ProgramInfo, caller: &Caller, session: Option<&str>) -> Option<Seen> {
        let home = Some(StateHome::of_user(info.program)).filter(|_| caller.inside)?;
        let home = home.folder()?;
        let sessions = [session, caller.session.as_deref()];
        sessions
            .into_iter()
            .flatten()
            .find_map(|session| Seen::of(session, home))
            .inspect(|seen| pin(seen.pinned()))
    }

    /// Keeps, in a hook, what its session sees of the person's environment, for commands inside that session.
    ///
    /// # Errors
    /// The folder in the user's state home is not safely the user's, or the system refuses.
    pub fn keep_seen(&self, session: &str) -> std::io::Result<()> {
        let home = StateHome::of_user(self.info.program);
        let Some(home) = home.folder() else {
            return Ok(());
        };
        Seen::here(user_path().ok(), &self.info.variable("")).keep(session, home)
    }

    fn load_as(
        info: &'static ProgramInfo,
        root: &Utf8Path,
        seen: Option<&Seen>,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, SettingsError> {
        let mut settings = Self::usual(info);
        let path = match seen.and_then(|seen| seen.configuration.clone()) {
            Some(path) => path,
            None => user_path()?,
        };
        settings.load_user(&path)?;
        settings.load_project(root)?;
        environment::apply(&mut settings, variable)?;
        Ok(settings)
    }

    /// Reads the user's file. Returns whether there is one.
    fn load_user(&mut self, path: &Utf8Path) -> Result<bool, SettingsError> {
        let text = files::read_user(path)?;
        let applied = text.map(|text| self.apply(Whose::User, path, &text));
        Ok(applied.transpose()?.is_some())
    }

    /// Reads the file of the project with this root. Returns whether there is one.
    fn load_project(&mut self, root: &Utf8Path) -> Result<bool, SettingsError> {
        let text = files::read_project(self.info, root)?;
        let path = project_path(self.info, root);
        let applied = text.map(|text| self.apply(Whose::Project, &path, &text));
        Ok(applied.transpose()?.is_some())
    }

    /// Applies the text of a file. After an error the settings must not be used.
    fn apply(&mut self, whose: Whose, path: &Utf8Path, text: &str) -> Result<(), SettingsError> {
        let source = Source { whose, path, text };
        let applied = match whose {
            Whose::User => user::apply(&source, self),
            Whose::Project => project::apply(&source, self),
        };
        applied.map_err(|problem| problem.in_file(path, text))
    }

    /// Returns what whoever holds a loop is permitted. What an agent's own environment says of evidence waives nothing: it can
    /// set that for every command, and the person behind it did not.
    pub fn permissions(&self, actor: Actor) -> Permissions {
        Permissions {
            evidence: match actor {
                Actor::Agent => self.evidence_in_file,
                Actor::Hook | Actor::Person => self.evidence,
            },
            commands: self.commands.clone(),
            allow_commands: self.allow_commands.clone(),
            file: user_path().ok(),
        }
    }

    /// Returns the values that a start in a mode takes for fields that nobody gave: `max_rounds` and `max_failures`, where the
    /// machine has them.
    pub fn start_values(&self, mode: &ModeInfo) -> Vec<(&'static str, Value)> {
        let of = |name: &'static str, value: Option<u64>| {
            let field = self.info.table.field(name).filter(|field| field.at_start)?;
            Some((field.name, Value::from(value?)))
        };
        [
            of(MAX_ROUNDS, self.rounds.get(mode.name).copied()),
            of(MAX_FAILURES, self.max_failures),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

/// A positive whole number, as a person types it.
pub fn positive(given: &str, most: u64) -> Option<u64> {
    if given.is_empty() || !given.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    given
        .parse()
        .ok()
        .filter(|number| (1..=most).contains(number))
}
