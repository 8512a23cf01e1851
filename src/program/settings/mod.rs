//! The settings of a run: who reviews, in which roles, how often, how long.
//!
//! They are read once at the edge and passed on. Precedence: a flag (which the caller applies), the environment, the
//! project's file, the user's file, the default.

use std::ops::Deref;
use std::time::Duration;

use camino::Utf8Path;
use serde_json::Value;

use self::values::Values;
use crate::files;
use crate::hooks::seen::{Seen, SessionRecord as _};
use crate::machine::table::ModeInfo;
use crate::machine::{Actor, Permissions};
use crate::process::environment::pin;
use crate::program::caller::Caller;
use crate::program::info::ProgramInfo;
use crate::review::evidence::EvidencePolicy;
use crate::store::StateHome;

mod layers;
mod paths;
mod values;

#[cfg(all(test, feature = "plan"))]
mod tests;

pub use layers::Row;
pub(super) use paths::user_path;

/// Settings that cannot be used: the problem with its place, and the next step.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct SettingsError {
    message: String,
    pub(in crate::program) help: String,
}

claudex_loop_engine::impl_diagnostic!(SettingsError, |error| Some(error.help.clone()));

impl SettingsError {
    pub(in crate::program) fn new(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            help: help.into(),
        }
    }
}

/// The reviewer's name that means any installed reviewer.
const AUTO: &str = "auto";
/// The field whose start value `rounds.MODE` is.
pub(super) const MAX_ROUNDS: &str = "max_rounds";
/// The key of the most failures of a reviewer.
const MAX_FAILURES_KEY: &str = "limits.max-failures";
/// The field whose start value `limits.max-failures` is.
pub(super) const MAX_FAILURES: &str = "max_failures";
/// The most rounds of a mode.
pub const MOST_ROUNDS: u64 = 1000;
/// The most minutes of a limit: ten years.
const MOST_MINUTES: u64 = 10 * 366 * 24 * 60;

/// The settings that hold, with the source of each.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The values.
    pub values: Values,
    /// Each value with its source, by key.
    pub rows: Vec<Row>,
    /// One line about each setting that is ignored, with its place.
    pub ignored: Vec<String>,
    /// The program.
    pub info: &'static ProgramInfo,
}

impl Deref for Settings {
    type Target = Values;

    fn deref(&self) -> &Values {
        &self.values
    }
}

impl Settings {
    /// Reads the settings that hold in a project, in the environment of this process.
    pub(super) fn load(info: &'static ProgramInfo, root: &Utf8Path) -> Result<Self, SettingsError> {
        Self::read(info, root, &own_environment(info))
    }

    /// Reads the settings for a command. Inside a client's session they are those of the user whose hooks run there: of
    /// the session of the command's loop, else of the command's own. An agent's own environment chooses nothing.
    pub(super) fn for_call(
        info: &'static ProgramInfo,
        root: &Utf8Path,
        session: Option<&str>,
    ) -> Result<Self, SettingsError> {
        let seen = match Self::seen(info, session) {
            Some(seen) => seen,
            None if Caller::from_env().inside => Seen::default(),
            None => own_environment(info),
        };
        Self::read(info, root, &seen)
    }

    fn read(
        info: &'static ProgramInfo,
        root: &Utf8Path,
        seen: &Seen,
    ) -> Result<Self, SettingsError> {
        let user = seen.configuration.clone().map_or_else(user_path, Ok)?;
        let mut settings = Self::usual(info);
        if let Some(text) = paths::if_there(files::read(&user), &user)? {
            settings.add_user(&user, &text)?;
        }
        if let Some((path, text)) = paths::read_project(info, root)? {
            settings.add_project(&path, &text)?;
        }
        settings.add_environment(seen);
        settings.finish()
    }

    /// Reads the settings as [`Self::load`] does, or returns the defaults if they cannot be used.
    pub(super) fn load_or_usual(info: &'static ProgramInfo, root: &Utf8Path) -> Self {
        Self::load(info, root).unwrap_or_else(|_| Self::usual(info))
    }

    /// Returns the environment that the hooks saw in the session that a command is made in, or `None` outside a client and before the
    /// first hook. Programs that the command starts get the variables that the hooks saw.
    pub(super) fn seen(info: &ProgramInfo, session: Option<&str>) -> Option<Seen> {
        let caller = Caller::from_env();
        let state_home = Some(StateHome::of_user(info.program)).filter(|_| caller.inside)?;
        let home = state_home.folder()?;
        let sessions = [session, caller.session.as_deref()];
        let mut seen = sessions.iter().flatten();
        seen.find_map(|session| Seen::load(session, home))
            .inspect(|seen| pin(seen.pinned()))
    }

    /// Keeps, in a hook, the user's environment of its session, for commands inside that session.
    pub(super) fn keep_seen(&self, session: &str) -> std::io::Result<()> {
        match StateHome::of_user(self.info.program).folder() {
            Some(home) => own_environment(self.info).keep(session, home),
            None => Ok(()),
        }
    }

    /// Returns the time without a sign of life after which a loop is archived.
    pub fn stale_after(&self) -> Duration {
        Duration::from_secs(self.limits.stale_minutes.0 * 60)
    }

    /// Returns the permissions of the actor that holds a loop. An agent's own environment waives no evidence.
    pub fn permissions(&self, actor: Actor) -> Permissions {
        let row = self.row("evidence");
        let is_from_environment = row.is_some_and(|row| row.source.starts_with("environment "));
        Permissions {
            evidence: match actor {
                Actor::Agent if is_from_environment => EvidencePolicy::Required,
                _ => self.evidence,
            },
            commands: self.commands.clone(),
            allow_commands: self.allow_commands.clone(),
            file: user_path().ok(),
        }
    }

    /// Returns the row with this key.
    fn row(&self, key: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.key() == key)
    }

    /// Returns the values that a start in a mode takes for `max_rounds` and `max_failures`, if the machine has these
    /// fields and a layer above the defaults has a value.
    pub fn start_values(&self, mode: &ModeInfo) -> Vec<(&'static str, Value)> {
        let rounds = format!("rounds.{}", mode.name);
        let keys = [
            (MAX_ROUNDS, rounds.as_str()),
            (MAX_FAILURES, MAX_FAILURES_KEY),
        ];
        let values = keys.into_iter().filter_map(|(name, key)| {
            let field = self.info.table.field(name).filter(|field| field.at_start)?;
            let row = self.row(key)?;
            let is_set = !row.source.starts_with("default");
            is_set.then(|| (field.name, row.value.clone()))
        });
        values.collect()
    }
}

/// Returns the user's environment in this process.
fn own_environment(info: &ProgramInfo) -> Seen {
    Seen::current(user_path().ok(), &info.variable(""))
}

/// Parses a number from 1 to `most`, in digits alone.
pub fn positive(text: &str, most: u64) -> Option<u64> {
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    let number = text.parse().ok().filter(|_| is_number)?;
    (1..=most).contains(&number).then_some(number)
}
