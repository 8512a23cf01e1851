//! The user's file: what it says, checked as a whole, over the defaults.

use camino::Utf8Path;

use super::findings::Finding;
use super::leaf::At;
use super::origin::Source;
use super::tables::{LimitsTable, RoundsTable, UserFile};
use super::{Settings, SettingsError, names, read, refused, suggest};
use crate::text;

mod commands;
mod personas;
mod reviewers;

/// Puts what the user's file says over the settings.
///
/// # Errors
/// Everything that is wrong with it; the settings are then of no use.
pub(super) fn apply(path: &Utf8Path, text: &str, settings: &mut Settings) -> Result<(), SettingsError> {
    let file: UserFile = match read::read(text, &read::misspelt) {
        Ok(file) => file,
        Err(found) => return refused(path, text, found),
    };
    let source = Source { path, text };
    let mut found = Vec::new();
    reviewers::apply(file.reviewers, &source, settings, &mut found);
    personas::apply(file.personas, &source, settings, &mut found);
    commands::apply(file.commands, &source, settings, &mut found);
    if let Some(name) = file.reviewer {
        match chosen(&name, settings, "`[reviewers.NAME]` adds one") {
            Some(finding) => found.push(finding),
            None => {
                settings.origins.note("reviewer", source.user(name.span.start));
                settings.reviewer = name.value;
            }
        }
    }
    rounds(file.rounds.0, &source, settings);
    limits(file.limits.0, &source, settings);
    if let Some(evidence) = file.evidence {
        settings
            .origins
            .note("evidence", source.user(evidence.span.start));
        settings.evidence = evidence.value.into();
        settings.evidence_in_file = settings.evidence;
    }
    refused(path, text, found)
}

/// What is wrong with the name of a reviewer that a file chooses. `more` says how to have others.
pub(super) fn chosen(name: &At<String>, settings: &Settings, more: &str) -> Option<Finding> {
    let shown = text::one_line(&name.value, 60);
    if name.value == names::AUTO || settings.reviewers.contains_key(&name.value) {
        return None;
    }
    let known: Vec<&str> = std::iter::once(names::AUTO)
        .chain(settings.reviewers.keys().map(String::as_str))
        .collect();
    let finding = Finding::new(
        "claudex::config::reviewer",
        name.span.clone(),
        format!("`{shown}` is no reviewer"),
    );
    Some(
        finding
            .label("no such reviewer")
            .help(suggest::help_and(&name.value, &known, more)),
    )
}

fn rounds(table: RoundsTable, source: &Source<'_>, settings: &mut Settings) {
    let Settings { origins, .. } = settings;
    for (given, value, key) in [
        (table.plan, &mut settings.plan_rounds, "rounds.plan"),
        (table.review, &mut settings.review_rounds, "rounds.review"),
    ] {
        if let Some(given) = given {
            *value = Some(given.value.0);
            origins.note(key, source.user(given.span.start));
        }
    }
}

fn limits(table: LimitsTable, source: &Source<'_>, settings: &mut Settings) {
    let Settings { origins, .. } = settings;
    for (given, value, key) in [
        (table.timeout, &mut settings.limits.timeout, "limits.timeout"),
        (
            table.idle_timeout,
            &mut settings.limits.idle,
            "limits.idle-timeout",
        ),
    ] {
        if let Some(given) = given {
            *value = given.value.0;
            origins.note(key, source.user(given.span.start));
        }
    }
    if let Some(given) = table.max_failures {
        settings.max_failures = Some(given.value.0);
        origins.note("limits.max-failures", source.user(given.span.start));
    }
    if let Some(given) = table.stale_minutes {
        settings.stale_after = std::time::Duration::from_secs(given.value.0.saturating_mul(60));
        origins.note("limits.stale-minutes", source.user(given.span.start));
    }
}
