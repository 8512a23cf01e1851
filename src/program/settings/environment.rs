//! What the environment says, in variables that begin with the plugin's name: `CLAUDEX_REVIEWER`, `CLAUDEX_EVIDENCE`,
//! `CLAUDEX_MAX_PLAN_ROUNDS` and `CLAUDEX_MAX_REVIEW_ROUNDS` by the names of the modes, `CLAUDEX_MAX_FAILURES`,
//! `CLAUDEX_STALE_MINUTES`.

use std::time::Duration;

use super::origin::Origin;
use super::{MOST_MINUTES, MOST_ROUNDS, Settings, SettingsError, positive};
use crate::review::evidence::EvidencePolicy;
use crate::text;

/// Puts what the environment says over the settings; `variable` gives what a variable holds, trimmed, where it holds anything.
pub(super) fn apply(
    settings: &mut Settings,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<(), SettingsError> {
    let info = settings.info;
    let Settings { origins, .. } = settings;
    let mut note = |key: &str, name: &str| origins.note(key, Origin::Environment(name.to_owned()));
    let name = info.variable("REVIEWER");
    if let Some(reviewer) = variable(&name) {
        settings.reviewer = reviewer;
        note("reviewer", &name);
    }
    for mode in info.table.modes {
        let name = info.variable(&format!("MAX_{}_ROUNDS", mode.name.to_uppercase()));
        if let Some(given) = number(variable, &name, MOST_ROUNDS)? {
            settings.rounds.insert(mode.name.to_owned(), given);
            note(&format!("rounds.{}", mode.name), &name);
        }
    }
    let name = info.variable("MAX_FAILURES");
    if let Some(given) = number(variable, &name, MOST_ROUNDS)? {
        settings.max_failures = Some(given);
        note("limits.max-failures", &name);
    }
    let name = info.variable("STALE_MINUTES");
    if let Some(minutes) = number(variable, &name, MOST_MINUTES)? {
        settings.stale_after = Duration::from_secs(minutes * 60);
        note("limits.stale-minutes", &name);
    }
    let name = info.variable("EVIDENCE");
    if let Some(policy) = variable(&name).map(|value| EvidencePolicy::parse(&value)) {
        settings.evidence = policy;
        note("evidence", &name);
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
    name: &str,
    most: u64,
) -> Result<Option<u64>, SettingsError> {
    let Some(given) = variable(name) else {
        return Ok(None);
    };
    let number = positive(&given, most).ok_or_else(|| SettingsError::Number {
        variable: name.to_owned(),
        max: most,
        value: text::one_line(&given, 40),
    })?;
    Ok(Some(number))
}
