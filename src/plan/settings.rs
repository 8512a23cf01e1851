//! The settings of a run: who reviews, in which roles, how often, how long.
//!
//! They are read once at the edge and passed on; nothing below asks the environment again. Precedence: a flag (which the
//! caller applies), the environment, the project's file, the user's file, the default.

use std::collections::BTreeMap;
use std::time::Duration;

use camino::Utf8Path;
use derive_more::{Display, Error};

use crate::plan::personas::Personas;
use crate::review::evidence::Policy;
use crate::review::limits::Limits;
use crate::review::settings::{ReviewerKind, ReviewerSettings};
use crate::text;

/// Rounds of plan mode.
const PLAN_ROUNDS_ENV: &str = "CLAUDEX_MAX_PLAN_ROUNDS";
/// Rounds of review mode.
const REVIEW_ROUNDS_ENV: &str = "CLAUDEX_MAX_REVIEW_ROUNDS";
/// Failures of a reviewer that end a loop.
const FAILURES_ENV: &str = "CLAUDEX_MAX_FAILURES";
/// Minutes without a sign of life after which a loop is swept.
const STALE_ENV: &str = "CLAUDEX_STALE_MINUTES";
/// Who reviews.
const REVIEWER_ENV: &str = "CLAUDEX_REVIEWER";
/// What `CLAUDEX_STALE_MINUTES` is by default.
const STALE_MINUTES: u64 = 15;
/// More rounds than anyone reads.
pub const MOST_ROUNDS: u64 = 1000;

/// What a run goes by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// The reviewer's name: one of `reviewers`, `auto`, or a `fake:` script.
    pub reviewer: String,
    /// The reviewers by name.
    pub reviewers: BTreeMap<String, ReviewerSettings>,
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
}

/// Settings that cannot be used.
#[derive(Debug, Display, Error, miette::Diagnostic)]
#[non_exhaustive]
pub enum SettingsError {
    /// A number that is none, or out of range.
    #[display("{what} takes a positive integer up to {most}, and got `{given}`")]
    #[diagnostic(
        code(claudex::settings::number),
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
}

impl Default for Settings {
    fn default() -> Self {
        let kinds = [ReviewerKind::Lint, ReviewerKind::Codex, ReviewerKind::Claude];
        Self {
            reviewer: "auto".to_owned(),
            reviewers: kinds
                .into_iter()
                .map(|kind| (kind.to_string(), ReviewerSettings::of(kind)))
                .collect(),
            personas: Personas::default(),
            plan_rounds: None,
            review_rounds: None,
            max_failures: None,
            limits: Limits::default(),
            stale_after: Duration::from_secs(STALE_MINUTES * 60),
            evidence: Policy::from_env().unwrap_or(Policy::Required),
        }
    }
}

impl Settings {
    /// The settings that hold in a project.
    ///
    /// # Errors
    /// See [`SettingsError`]: nothing is left out silently.
    pub fn load(_root: &Utf8Path) -> Result<Self, SettingsError> {
        let mut settings = Self::default();
        if let Some(reviewer) = variable(REVIEWER_ENV) {
            settings.reviewer = reviewer;
        }
        settings.plan_rounds = number(PLAN_ROUNDS_ENV, MOST_ROUNDS)?;
        settings.review_rounds = number(REVIEW_ROUNDS_ENV, MOST_ROUNDS)?;
        settings.max_failures = number(FAILURES_ENV, MOST_ROUNDS)?;
        if let Some(minutes) = number(STALE_ENV, u64::MAX / 60)? {
            settings.stale_after = Duration::from_secs(minutes * 60);
        }
        Ok(settings)
    }
}

/// What a variable holds, where it holds anything.
fn variable(name: &str) -> Option<String> {
    let value = std::env::var(name).ok()?;
    Some(value.trim().to_owned()).filter(|value| !value.is_empty())
}

fn number(name: &'static str, most: u64) -> Result<Option<u64>, SettingsError> {
    let Some(given) = variable(name) else {
        return Ok(None);
    };
    let number = positive(&given, most).ok_or_else(|| SettingsError::Number {
        what: name,
        most,
        given: text::one_line(&given, 40),
    })?;
    Ok(Some(number))
}

/// A positive whole number, as a person types it.
pub fn positive(given: &str, most: u64) -> Option<u64> {
    if given.is_empty() || !given.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    given.parse().ok().filter(|number| (1..=most).contains(number))
}

#[cfg(test)]
mod tests {
    use super::positive;

    #[test]
    fn rounds_are_positive_integers() {
        for bad in [
            "0",
            "-1",
            "1.5",
            "three",
            "",
            "1001",
            "99999999999999999999",
            "+3",
            " 3",
            "٣",
        ] {
            assert_eq!(positive(bad, 1000), None, "{bad}");
        }
        assert_eq!(positive("007", 1000), Some(7));
    }
}
