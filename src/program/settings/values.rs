//! The settings as serde reads them from the merged tables of all layers.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::{AUTO, MOST_MINUTES, MOST_ROUNDS};
use crate::process::configured::ConfiguredCommand;
use crate::process::limits::Spelled;
use crate::program::info::ProgramInfo;
use crate::review::evidence::EvidencePolicy;
use crate::review::settings::ReviewerSettings;
use crate::text;

/// The values that hold.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct Values {
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
    /// How long and how often.
    pub limits: LimitSettings,
}

impl Values {
    /// Returns the error about a name that means no reviewer. Its help is in a second line.
    pub(in crate::program) fn unknown_reviewer(&self, name: &str) -> String {
        let name = text::one_line(name, 80);
        let known: Vec<&str> = self.reviewers.keys().map(String::as_str).collect();
        format!(
            "`{name}` is not a reviewer\nchoose `{AUTO}`, `{}`",
            known.join("`, `")
        )
    }

    /// Checks the names of reviewers and modes, and each reviewer. A message has its help in a second line.
    pub(super) fn check(&self, info: &ProgramInfo) -> Result<(), String> {
        if self.reviewer != AUTO && !self.reviewers.contains_key(&self.reviewer) {
            return Err(self.unknown_reviewer(&self.reviewer));
        }
        if self.reviewers.contains_key(AUTO) {
            let help = "`auto` means any installed reviewer; give yours another name";
            return Err(format!("the name `auto` is reserved\n{help}"));
        }
        let modes: Vec<&str> = info.table.modes.iter().map(|mode| mode.name).collect();
        let is_unknown = |mode: &&String| !modes.contains(&mode.as_str());
        let unknown_mode = self.rounds.keys().find(is_unknown).map(|mode| {
            let modes = modes.join("`, `");
            format!("unknown mode `{mode}`\nthe modes are `{modes}`")
        });
        let mut reviewers = self.reviewers.values();
        let problem = reviewers.find_map(ReviewerSettings::problem);
        problem.or(unknown_mode).map_or(Ok(()), Err)
    }
}

/// How long and how often.
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
