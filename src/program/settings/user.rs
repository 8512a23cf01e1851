//! The user's file: what it says, checked as a whole, over the defaults.

use std::collections::BTreeMap;

use camino::Utf8Path;

use super::findings::Finding;
use super::leaf::{At, Whole};
use super::origin::Source;
use super::tables::{Evidence, LimitsTable, ProgramTable, UserFile};
use super::{MOST_ROUNDS, Settings, SettingsError, read, refused};
use crate::program::suggest;
use crate::text;

mod commands;
mod personas;
mod reviewers;

/// Puts what the user's file says over the settings.
///
/// # Errors
/// Everything that is wrong with it; the settings are then of no use.
pub(super) fn apply(
    path: &Utf8Path,
    text: &str,
    settings: &mut Settings,
) -> Result<(), SettingsError> {
    let file: UserFile = match read::read(text, &read::misspelt) {
        Ok(file) => file,
        Err(found) => return refused(path, text, found),
    };
    let source = Source { path, text };
    let mut found = Vec::new();
    reviewers::apply(file.reviewers, &source, settings, &mut found);
    commands::apply(file.commands, &source, settings, &mut found);
    commands::allow(file.allow_commands, &source, settings, &mut found);
    reviewer(file.reviewer, &source, settings, &mut found);
    limits(file.limits.0, &source, settings);
    evidence(file.evidence, &source, settings);
    let mut sections = file.programs.into_iter();
    if let Some((_, section)) = sections.find(|(name, _)| name.value == settings.info.program) {
        let ProgramTable {
            reviewer: own,
            personas: own_personas,
            rounds: own_rounds,
            limits: own_limits,
            evidence: own_evidence,
        } = section.0;
        reviewer(own, &source, settings, &mut found);
        personas::apply(own_personas, &source, settings, &mut found);
        rounds(own_rounds, &source, settings, &mut found);
        limits(own_limits.0, &source, settings);
        evidence(own_evidence, &source, settings);
    }
    refused(path, text, found)
}

fn reviewer(
    given: Option<At<String>>,
    source: &Source<'_>,
    settings: &mut Settings,
    found: &mut Vec<Finding>,
) {
    let Some(name) = given else { return };
    match chosen(&name, settings, "`[reviewers.NAME]` adds one") {
        Some(finding) => found.push(finding),
        None => {
            settings
                .origins
                .note("reviewer", source.user(name.span.start));
            settings.reviewer = name.value;
        }
    }
}

fn evidence(given: Option<At<Evidence>>, source: &Source<'_>, settings: &mut Settings) {
    let Some(evidence) = given else { return };
    settings
        .origins
        .note("evidence", source.user(evidence.span.start));
    settings.evidence = evidence.value.into();
    settings.evidence_in_file = settings.evidence;
}

/// What is wrong with the name of a reviewer that a file chooses. `more` says how to have others.
pub(super) fn chosen(name: &At<String>, settings: &Settings, more: &str) -> Option<Finding> {
    let shown = text::one_line(&name.value, 60);
    let known = settings.reviewer_names();
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    if known.contains(&name.value.as_str()) {
        return None;
    }
    let finding = Finding::new(
        "claudex::config::reviewer",
        name.span.clone(),
        format!("`{shown}` is no reviewer"),
    );
    Some(
        finding
            .label("no such reviewer")
            .help(suggest::among_and(&name.value, &known, more)),
    )
}

fn rounds(
    given: BTreeMap<At<String>, At<Whole<MOST_ROUNDS>>>,
    source: &Source<'_>,
    settings: &mut Settings,
    found: &mut Vec<Finding>,
) {
    let modes: Vec<&str> = settings
        .info
        .table
        .modes
        .iter()
        .map(|mode| mode.name)
        .collect();
    for (mode, rounds) in given {
        let shown = text::one_line(&mode.value, 60);
        if !modes.contains(&mode.value.as_str()) {
            let message = format!("`{shown}` is no mode of {}", settings.info.program);
            let finding = Finding::new("claudex::config::mode", mode.span, message);
            found.push(
                finding
                    .label("no such mode")
                    .help(suggest::among(&mode.value, &modes)),
            );
            continue;
        }
        let origin = source.user(rounds.span.start);
        settings.origins.note(format!("rounds.{shown}"), origin);
        settings.rounds.insert(mode.value, rounds.value.0);
    }
}

fn limits(table: LimitsTable, source: &Source<'_>, settings: &mut Settings) {
    let Settings { origins, .. } = settings;
    for (given, value, key) in [
        (
            table.timeout,
            &mut settings.limits.timeout,
            "limits.timeout",
        ),
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
