//! What the environment says.

use std::time::Duration;

use super::origin::Origin;
use super::{MOST_MINUTES, MOST_ROUNDS, Settings, SettingsError, positive};
use crate::review::evidence::{EVIDENCE_ENV, Policy};
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

/// Puts what the environment says over the settings; `variable` gives what a variable holds, trimmed, where it holds anything.
pub(super) fn apply(
    settings: &mut Settings,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<(), SettingsError> {
    let Settings { origins, .. } = settings;
    let mut note = |key: &str, name| origins.note(key, Origin::Environment(name));
    if let Some(reviewer) = variable(REVIEWER_ENV) {
        settings.reviewer = reviewer;
        note("reviewer", REVIEWER_ENV);
    }
    for (value, key, name) in [
        (&mut settings.plan_rounds, "rounds.plan", PLAN_ROUNDS_ENV),
        (&mut settings.review_rounds, "rounds.review", REVIEW_ROUNDS_ENV),
        (&mut settings.max_failures, "limits.max-failures", FAILURES_ENV),
    ] {
        if let Some(given) = number(variable, name, MOST_ROUNDS)? {
            *value = Some(given);
            note(key, name);
        }
    }
    if let Some(minutes) = number(variable, STALE_ENV, MOST_MINUTES)? {
        settings.stale_after = Duration::from_secs(minutes * 60);
        note("limits.stale-minutes", STALE_ENV);
    }
    if let Some(policy) = variable(EVIDENCE_ENV).map(|value| Policy::parse(&value)) {
        settings.evidence = policy;
        note("evidence", EVIDENCE_ENV);
    }
    Ok(())
}

/// Returns what a variable of this process holds, trimmed, where it holds anything.
pub(super) fn own(name: &str) -> Option<String> {
    let value = std::env::var(name).ok()?.trim().to_owned();
    Some(value).filter(|value| !value.is_empty())
}

fn number(
    variable: &dyn Fn(&str) -> Option<String>,
    name: &'static str,
    most: u64,
) -> Result<Option<u64>, SettingsError> {
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
