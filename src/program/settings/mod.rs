//! The settings of a run: who reviews, how often, how long.
//!
//! They are read once at the edge and passed on. Precedence: a flag (which the caller applies), the environment, the
//! project's file, the user's file, the default.

use std::ops::Deref;
use std::path::PathBuf;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::{Value, json};

use self::values::Values;
use super::exit::{Exit, Failure};
use super::{loops, out};
use crate::hooks::seen::{Seen, SessionRecord as _};
use crate::machine::table::ModeInfo;
use crate::machine::{Actor, Permissions};
use crate::process::environment::pin;
use crate::program::caller::Caller;
use crate::program::info::ProgramInfo;
use crate::review::evidence::EvidencePolicy;
use crate::store::StateHome;
use crate::text;

mod layers;
mod values;

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
/// The most characters of a value that `config show` prints on its line.
const MAX_VALUE_CHARS: usize = 60;

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
    pub(super) fn load(info: &'static ProgramInfo, root: &Utf8Path) -> Result<Self, Failure> {
        Self::read(info, root, &own_environment(info))
    }

    /// Reads the settings for a command. Inside a client's session they are those of the user whose hooks run there: of
    /// the session of the command's loop, else of the command's own. An agent's own environment chooses nothing.
    pub(super) fn for_call(
        info: &'static ProgramInfo,
        root: &Utf8Path,
        session: Option<&str>,
    ) -> Result<Self, Failure> {
        let seen = match Self::hook_environment(info, session) {
            Some(seen) => seen,
            None if Caller::from_env().inside => Seen::default(),
            None => own_environment(info),
        };
        Self::read(info, root, &seen)
    }

    /// Returns the environment that the hooks saw in the session of a command, or `None` outside a client and before the
    /// first hook. Programs that the command starts get the variables that the hooks saw.
    pub(super) fn hook_environment(info: &ProgramInfo, session: Option<&str>) -> Option<Seen> {
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
    pub fn start_values(&self, mode: &ModeInfo) -> Vec<(&'static str, Value)> {
        let rounds = rounds_key(mode);
        let keys = [(MAX_ROUNDS, &*rounds), (MAX_FAILURES, MAX_FAILURES_KEY)];
        let values = keys.into_iter().filter_map(|(name, key)| {
            let field = self.info.state.field(name)?;
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

/// Prints every setting that holds here, with its source.
pub(super) fn show(info: &'static ProgramInfo, json: bool) -> Result<Exit, Failure> {
    let settings = loops::settings_here(info)?;
    let rows = settings.rows.iter();
    if json {
        let rows =
            rows.map(|row| json!({ "key": row.key(), "value": row.value, "source": row.source() }));
        out::json(&rows.collect::<Vec<_>>());
    } else {
        let lines = rows.map(|row| {
            let value = text::one_line(&row.value.to_string(), MAX_VALUE_CHARS);
            format!("{} = {value}\t{}\n", row.key(), row.source())
        });
        out::line(&out::table(&lines.collect::<String>()));
    }
    Ok(Exit::Complete)
}

/// Returns the path of the user's file, which may be missing: below an absolute `XDG_CONFIG_HOME`, or else below `~/.config`.
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
