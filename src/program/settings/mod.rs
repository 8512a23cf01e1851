//! The settings of a run: who reviews, how often, how long.
//!
//! They are read once at the edge and passed on. Precedence: a flag (which the caller applies), the environment, the
//! project's file, the user's file, the default.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use serde::Deserialize;
use serde_json::Value;

use super::caller::Caller;
use super::exit::Failure;
use super::info::ProgramInfo;
use crate::hooks::seen::{Seen, SessionRecord as _};
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

/// The user's file, in the configuration folder.
const USER_FILE: &str = "claudex-loop/config.toml";
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

/// The settings that hold, as serde reads them from the merged tables of all layers.
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
    /// Rounds of a mode by its name; a mode that is missing has those of machine.toml.
    #[serde(default)]
    pub rounds: BTreeMap<String, Positive<MOST_ROUNDS>>,
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
    /// The time that a reviewer may be silent.
    pub idle_timeout: Spelled,
    /// Failures of the reviewer in one round that end the loop; `None`: those of machine.toml.
    pub max_failures: Option<Positive<MOST_ROUNDS>>,
    /// Minutes without a sign of life after which a loop is archived.
    pub stale_minutes: Positive<MOST_MINUTES>,
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
    /// Reads the settings that hold in a project, in the environment of this process.
    pub(super) fn load(info: &ProgramInfo, root: &Utf8Path) -> Result<Self, Failure> {
        Self::read(info, root, &own_environment(info))
    }

    /// Checks the names of reviewers and modes, and each reviewer. A message has its help in a second line.
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
        let mut named = self.rounds.keys();
        named
            .find(|mode| !modes.contains(&mode.as_str()))
            .map_or(Ok(()), |mode| {
                let modes = modes.join("`, `");
                Err(format!("unknown mode `{mode}`\nthe modes are `{modes}`"))
            })
    }

    /// Returns the error about a name that means no reviewer. Its help is in a second line.
    pub(super) fn unknown_reviewer(&self, name: &str) -> String {
        let name = text::one_line(name, 80);
        let known: Vec<&str> = self.reviewers.keys().map(String::as_str).collect();
        let names = known.join("`, `");
        format!("`{name}` is not a reviewer\nchoose `{AUTO}`, `{names}`")
    }

    /// Returns the time without a sign of life after which a loop is archived.
    pub fn stale_after(&self) -> Duration {
        Duration::from_secs(self.limits.stale_minutes.0 * 60)
    }

    /// Returns the permissions of the actor that holds a loop. An agent's own environment waives no evidence.
    pub fn permissions(&self, actor: Actor) -> Permissions {
        let layer = self.row("evidence").map(|row| row.layer);
        Permissions {
            evidence: match (actor, layer) {
                (Actor::Agent, Some("environment")) => EvidencePolicy::Required,
                _ => self.evidence,
            },
            commands: self.commands.clone(),
            allow_commands: self.allow_commands.clone(),
            file: user_path(),
        }
    }

    /// Returns the row with this key.
    fn row(&self, key: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.key() == key)
    }

    /// Returns the configured start values of the fields `max_rounds` and `max_failures` that the machine has.
    pub fn start_values(&self, info: &ProgramInfo, mode: &ModeInfo) -> Vec<(&'static str, Value)> {
        let rounds = rounds_key(mode);
        let keys = [(MAX_ROUNDS, &*rounds), (MAX_FAILURES, MAX_FAILURES_KEY)];
        let values = keys.into_iter().filter_map(|(name, key)| {
            let field = info.state.field(name)?;
            let row = self.row(key)?;
            (field.at_start && row.layer != "default").then(|| (name, row.value.clone()))
        });
        values.collect()
    }
}

/// Returns the key of a mode's rounds.
fn rounds_key(mode: &ModeInfo) -> String {
    format!("rounds.{}", mode.name)
}

/// Returns the environment whose settings hold for a command. Inside a client's session it is that of the user whose hooks run
/// there: of the session of the command's loop, else of the command's own. An agent's own environment chooses nothing. Programs
/// that the command starts get the variables that the hooks saw.
pub(super) fn call_environment(info: &ProgramInfo, session: Option<&str>) -> Seen {
    let caller = Caller::from_env();
    if !caller.inside {
        return own_environment(info);
    }
    let load = |home: Utf8PathBuf| {
        let mut sessions = [session, caller.session.as_deref()].into_iter().flatten();
        sessions.find_map(|session| Seen::load(session, &home))
    };
    let seen = info.home().and_then(load);
    seen.inspect(|seen| pin(seen.pinned())).unwrap_or_default()
}

/// Keeps, in a hook, the user's environment of its session, for commands inside that session.
pub(super) fn keep_environment(info: &ProgramInfo, session: &str) -> std::io::Result<()> {
    let home = info.home();
    home.map_or(Ok(()), |home| own_environment(info).keep(session, &home))
}

/// Returns the path to the user's file, which may be missing: below an absolute `XDG_CONFIG_HOME`, or else below `~/.config`.
pub(super) fn user_path() -> Option<Utf8PathBuf> {
    // The XDG specification has a relative path ignored.
    let named = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from);
    let folder = named
        .filter(|path| path.is_absolute())
        .or_else(|| Some(std::env::home_dir()?.join(".config")))?;
    let file = Utf8PathBuf::from_path_buf(folder).ok()?.join(USER_FILE);
    file.is_absolute().then_some(file)
}

/// Returns the user's environment in this process.
fn own_environment(info: &ProgramInfo) -> Seen {
    Seen::current(user_path(), &info.variable(""))
}
