//! The user's file over the defaults.

use std::time::Duration;

use toml::Spanned;

use super::Settings;
use super::error::Problem;
use super::origin::Source;
use super::parse::parse;
use super::tables::{Evidence, LimitsTable, RoundsTable, UserFile};
use crate::program::suggest;
use crate::text;

mod commands;
mod personas;
mod reviewers;

/// Applies the user's file to the settings.
///
/// # Errors
/// Returns the first problem in the file; the settings must not be used then.
pub(super) fn apply(source: &Source<'_>, settings: &mut Settings) -> Result<(), Problem> {
    let file: UserFile = parse(source.text)?;
    reviewers::apply(file.reviewers, source, settings)?;
    commands::apply(file.commands, source, settings);
    commands::allow(file.allow_commands, source, settings);
    choose_reviewer(file.reviewer, source, settings)?;
    apply_limits(file.limits, source, settings);
    apply_evidence(file.evidence, source, settings);

    let mut programs = file.programs;
    if let Some(own) = programs.remove(settings.info.program) {
        choose_reviewer(own.reviewer, source, settings)?;
        personas::apply(own.personas, source, settings)?;
        apply_rounds(own.rounds, source, settings)?;
        apply_limits(own.limits, source, settings);
        apply_evidence(own.evidence, source, settings);
    }
    Ok(())
}

fn choose_reviewer(
    name: Option<Spanned<String>>,
    source: &Source<'_>,
    settings: &mut Settings,
) -> Result<(), Problem> {
    let Some(name) = name else { return Ok(()) };
    let known = settings.reviewer_names();
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    if !known.contains(&name.get_ref().as_str()) {
        let message = format!("`{}` is no reviewer", text::one_line(name.get_ref(), 60));
        let help = suggest::among_and(name.get_ref(), &known, "`[reviewers.NAME]` adds one");
        return Err(Problem::new(name.span(), message, help));
    }
    let mut taker = source.taker(&mut settings.origins, "");
    taker.take("reviewer", Some(name), |name| settings.reviewer = name);
    Ok(())
}

fn apply_evidence(
    evidence: Option<Spanned<Evidence>>,
    source: &Source<'_>,
    settings: &mut Settings,
) {
    let mut taker = source.taker(&mut settings.origins, "");
    taker.take("evidence", evidence, |evidence| {
        settings.evidence = evidence.into();
        settings.evidence_in_file = settings.evidence;
    });
}

/// Applies a table of rounds.
///
/// # Errors
/// Returns a problem if a mode is not one of the machine's.
pub(super) fn apply_rounds(
    table: RoundsTable,
    source: &Source<'_>,
    settings: &mut Settings,
) -> Result<(), Problem> {
    let info = settings.info;
    let modes: Vec<&str> = info.table.modes.iter().map(|mode| mode.name).collect();
    for (mode, rounds) in table {
        if !modes.contains(&mode.get_ref().as_str()) {
            let shown = text::one_line(mode.get_ref(), 60);
            let message = format!("`{shown}` is no mode of {}", info.program);
            let help = suggest::among(mode.get_ref(), &modes);
            return Err(Problem::new(mode.span(), message, help));
        }
        let mode = mode.into_inner();
        let mut taker = source.taker(&mut settings.origins, "rounds.");
        taker.take(&mode, Some(rounds), |rounds| {
            settings.rounds.insert(mode.clone(), rounds.0);
        });
    }
    Ok(())
}

/// Applies a table of limits.
pub(super) fn apply_limits(table: LimitsTable, source: &Source<'_>, settings: &mut Settings) {
    let mut taker = source.taker(&mut settings.origins, "limits.");
    let limits = &mut settings.limits;
    taker.take("timeout", table.timeout, |time| limits.timeout = time.0);
    taker.take("idle-timeout", table.idle_timeout, |time| {
        limits.idle = time.0
    });
    taker.take("max-failures", table.max_failures, |failures| {
        settings.max_failures = Some(failures.0);
    });
    taker.take("stale-minutes", table.stale_minutes, |minutes| {
        settings.stale_after = Duration::from_secs(minutes.0.saturating_mul(60));
    });
}
