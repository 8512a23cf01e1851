//! The settings of a run: who reviews, how often, how long.
//!
//! They are read once at the edge and passed on. Precedence: a flag (which the caller applies), the
//! environment, the project's file, the user's file, the default.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use serde::Deserialize;
use serde_json::Value;

use super::caller::Caller;
use super::exit::Failure;
use super::info::ProgramInfo;
use crate::hooks::session_records::{SessionEnvironment, SessionRecord as _};
use crate::machine::table::ModeInfo;
use crate::machine::{Actor, Permissions};
use crate::process::configured::ConfiguredCommand;
use crate::process::environment::pin;
use crate::process::limits::Spelled;
use crate::review::evidence::EvidencePolicy;
use crate::review::settings::ReviewerSettings;
use crate::text;

mod layers;

#[cfg(all(test, feature = "plan"))]
mod tests;

pub use layers::Row;

/// The user's file, relative to the configuration folder.
const USER_FILE: &str = "claudex-loop/config.toml";
/// The reviewer's name that means any installed reviewer.
pub(super) const AUTO: &str = "auto";
/// The field that `rounds.MODE` initializes.
pub(super) const ROUNDS_FIELD: &str = "max_rounds";
const MAX_FAILURES_KEY: &str = "limits.max-failures";
/// The field that `limits.max-failures` initializes.
pub(super) const FAILURES_FIELD: &str = "max_failures";
/// The most rounds of a mode.
pub const MAX_ROUNDS_LIMIT: u64 = 1000;
/// The most minutes of a limit: ten years.
const MAX_MINUTES: u64 = 10 * 366 * 24 * 60;

/// The settings in effect, as serde reads them from the merged tables of all layers.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct Settings {
    /// The reviewer's name: one of `reviewers`, or `auto`.
    pub reviewer: String,
    /// Whether a round counts without a review.
    pub evidence: EvidencePolicy,
    /// The reviewers by name.
    pub reviewers: BTreeMap<String, ReviewerSettings>,
    /// The commands that a machine's `run` may name, by name.
    #[serde(default)]
    pub commands: BTreeMap<String, ConfiguredCommand>,
    /// The lines that a verification may run in a shell.
    #[serde(default)]
    pub allow_commands: Vec<String>,
    /// Rounds of each mode by name. A missing mode has those of machine.toml.
    #[serde(default)]
    pub rounds: BTreeMap<String, Positive<MAX_ROUNDS_LIMIT>>,
    /// The limits of time and of failures.
    pub limits: LimitSettings,
    /// Each value with its source, by key.
    #[serde(skip)]
    pub rows: Vec<Row>,
    /// One line about each setting that is ignored, with its place.
    #[serde(skip)]
    pub ignored: Vec<String>,
}

/// The limits of time and of failures.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[serde(expecting = "a table")]
pub struct LimitSettings {
    /// The time of one review.
    pub timeout: Spelled,
    /// The time without output after which a reviewer is ended.
    pub idle_timeout: Spelled,
    /// Failures of the reviewer in one round that end the loop; `None` means those of machine.toml.
    pub max_failures: Option<Positive<MAX_ROUNDS_LIMIT>>,
    /// Minutes of inactivity after which a loop is archived.
    pub stale_minutes: Positive<MAX_MINUTES>,
}

/// A whole number from 1 to `MAX`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Deserialize)]
#[serde(try_from = "Value")]
pub struct Positive<const MAX: u64>(pub u64);

impl<const MAX: u64> TryFrom<Value> for Positive<MAX> {
    type Error = String;

    fn try_from(value: Value) -> Result<Self, String> {
        let number = value.as_u64().filter(|number| (1..=MAX).contains(number));
        let error = || format!("expected a positive integer up to {MAX}, found `{value}`");
        number.map(Self).ok_or_else(error)
    }
}

impl Settings {
    /// Reads the settings of a project, in this process's environment.
    pub(super) fn load(info: &ProgramInfo, root: &Utf8Path) -> Result<Self, Failure> {
        Self::read(info, root, &own_environment(info))
    }

    /// Checks reviewers and the names of modes. The second line of an error is its help.
    fn check(&self, info: &ProgramInfo) -> Result<(), String> {
        if self.reviewer != AUTO && !self.reviewers.contains_key(&self.reviewer) {
            return Err(self.unknown_reviewer(&self.reviewer));
        }
        if self.reviewers.contains_key(AUTO) {
            let help = "`auto` means any installed reviewer; give yours another name";
            return Err(format!("the name `auto` is reserved\n{help}"));
        }
        let mut reviewers = self.reviewers.values();
        if let Some(problem) = reviewers.find_map(ReviewerSettings::problem) {
            return Err(problem);
        }
        let modes: Vec<&str> = info.table.modes.iter().map(|mode| mode.name).collect();
        for mode in self.rounds.keys() {
            if !modes.contains(&mode.as_str()) {
                let modes = modes.join("`, `");
                return Err(format!("unknown mode `{mode}`\nthe modes are `{modes}`"));
            }
        }
        Ok(())
    }

    /// Returns the error about an unknown reviewer. Its help is in the second line.
    pub(super) fn unknown_reviewer(&self, name: &str) -> String {
        let name = text::one_line(name, 80);
        let known: Vec<&str> = self.reviewers.keys().map(String::as_str).collect();
        let names = known.join("`, `");
        format!("`{name}` is not a reviewer\nchoose `{AUTO}`, `{names}`")
    }

    /// Returns the time of inactivity after which a loop is archived.
    pub fn stale_after(&self) -> Duration {
        Duration::from_secs(self.limits.stale_minutes.0 * 60)
    }

    /// Returns the permissions of an actor. The environment of an agent waives no evidence.
    pub fn permissions(&self, actor: Actor) -> Permissions {
        let layer = self.row("evidence").map(|row| row.layer);
        Permissions {
            evidence: match (actor, layer) {
                (Actor::Agent, Some("environment")) => EvidencePolicy::Required,
                _ => self.evidence,
            },
            commands: self.commands.clone(),
            allow_commands: self.allow_commands.clone(),
            file: shown_user_path(),
        }
    }

    fn row(&self, key: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.key() == key)
    }

    /// Returns the configured start values of those of `max_rounds` and `max_failures` that exist.
    pub fn start_values(&self, info: &ProgramInfo, mode: &ModeInfo) -> Vec<(&'static str, Value)> {
        let rounds = rounds_key(mode);
        let keys = [(ROUNDS_FIELD, &*rounds), (FAILURES_FIELD, MAX_FAILURES_KEY)];
        let values = keys.into_iter().filter_map(|(name, key)| {
            let field = info.state.field(name)?;
            let row = self.row(key)?;
            (field.at_start && row.layer != "default").then(|| (name, row.value.clone()))
        });
        values.collect()
    }
}

fn rounds_key(mode: &ModeInfo) -> String {
    format!("rounds.{}", mode.name)
}

/// Returns the environment whose settings a command uses. In a client's session it is the user's,
/// as the hooks saw it in the session of the command's loop, or else in the command's own. An
/// agent's own environment chooses nothing. Child processes get the variables that the hooks saw.
pub(super) fn call_environment(info: &ProgramInfo, session: Option<&str>) -> SessionEnvironment {
    let caller = Caller::from_env();
    if !caller.inside {
        return own_environment(info);
    }
    let load = |home: Utf8PathBuf| {
        let mut sessions = [session, caller.session.as_deref()].into_iter().flatten();
        sessions.find_map(|session| SessionEnvironment::load(session, &home))
    };
    let seen = info.home().and_then(load);
    seen.inspect(|seen| pin(seen.pinned())).unwrap_or_default()
}

/// Stores the user's environment in a hook, for commands inside the session.
pub(super) fn keep_environment(info: &ProgramInfo, session: &str) -> std::io::Result<()> {
    let home = info.home();
    home.map_or(Ok(()), |home| own_environment(info).save(session, &home))
}

/// Returns the path of the user file below an absolute `XDG_CONFIG_HOME`, or else `~/.config`.
pub(super) fn user_path() -> Option<Utf8PathBuf> {
    // The XDG specification requires that relative paths are ignored.
    let named = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from);
    let folder = named
        .filter(|path| path.is_absolute())
        .or_else(|| Some(std::env::home_dir()?.join(".config")))?;
    let file = Utf8PathBuf::from_path_buf(folder).ok()?.join(USER_FILE);
    file.is_absolute().then_some(file)
}

pub(super) fn shown_user_path() -> String {
    user_path().map_or_else(|| "your configuration".to_owned(), text::printable)
}

fn own_environment(info: &ProgramInfo) -> SessionEnvironment {
    SessionEnvironment::current(user_path(), &info.variable(""))
}
