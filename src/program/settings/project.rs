//! A project's file. It may set rounds and raise limits; anything else in it is ignored with one line.
//!
//! An agent or a stranger's repository can write this file. So it names no program, chooses no reviewer, and makes no
//! review shorter than the user's own settings do.

use std::time::Duration;

use camino::Utf8Path;
use serde::Deserialize as _;
use toml::Spanned;
use toml::de::Deserializer;

use super::error::Problem;
use super::origin::{Source, Whose};
use super::parse::{parse_table, problem_of};
use super::show::initial_failures;
use super::tables::{LimitsTable, ProjectFile};
use super::user::apply_rounds;
use super::{Settings, SettingsError, files};
use crate::process::limits::Spelled;
use crate::program::suggest;
use crate::text;

/// The keys that a project's file may have.
const KEYS: [&str; 2] = ["rounds", "limits"];

/// Applies the project's file to the settings.
///
/// # Errors
/// Returns the first problem: the text is not TOML, or `rounds` or `limits` has a value that does not fit.
pub(super) fn apply(
    root: &Utf8Path,
    text: &str,
    settings: &mut Settings,
) -> Result<(), SettingsError> {
    let path = files::project_path(settings.info, root);
    let source = Source {
        whose: Whose::Project,
        path: &path,
        text,
    };
    apply_tables(&source, settings).map_err(|problem| problem.in_file(&path, text))
}

fn apply_tables(source: &Source<'_>, settings: &mut Settings) -> Result<(), Problem> {
    let problem = |error: toml::de::Error| problem_of(&error, source.text);
    let mut table = parse_table(source.text)?;
    let mut foreign: Vec<(usize, String)> = table
        .get_ref()
        .iter()
        .filter(|(key, _)| !KEYS.contains(&key.get_ref().as_ref()))
        .map(|(key, _)| (key.span().start, key.get_ref().to_string()))
        .collect();
    for (_, key) in &foreign {
        table.get_mut().remove(key.as_str());
    }
    let file = ProjectFile::deserialize(Deserializer::from(table)).map_err(problem)?;

    foreign.sort();
    if let Some((first, _)) = foreign.first() {
        let names: Vec<&str> = foreign.iter().map(|(_, name)| name.as_str()).collect();
        let names = text::one_line(&suggest::list(&names), 200);
        let rule = "a project's file may set only `rounds` and `limits`";
        let line = source.ignored(*first, &format!("{names}: {rule}"));
        settings.ignored.push(line);
    }
    apply_rounds(file.rounds, source, settings)?;
    raise_limits(file.limits, source, settings);
    Ok(())
}

/// Applies the limits that are at least the user's.
fn raise_limits(table: LimitsTable, source: &Source<'_>, settings: &mut Settings) {
    let time = |time: Spanned<super::values::Time>| (time.span().start, time.into_inner().0);
    let minutes = |minutes: u64| Duration::from_secs(minutes.saturating_mul(60));
    let times = [
        ("timeout", table.timeout.map(time), settings.limits.timeout),
        (
            "idle-timeout",
            table.idle_timeout.map(time),
            settings.limits.idle,
        ),
        (
            "stale-minutes",
            table
                .stale_minutes
                .map(|given| (given.span().start, minutes(given.get_ref().0))),
            settings.stale_after,
        ),
    ];
    for (key, given, own) in times {
        let Some((offset, given)) = given else {
            continue;
        };
        if given < own {
            let (given, own) = (Spelled(given), Spelled(own));
            let what = format!("`limits.{key}`: {given} is less than your {own}");
            settings.ignored.push(source.ignored(offset, &what));
            continue;
        }
        settings
            .origins
            .note(format!("limits.{key}"), source.origin(offset));
        match key {
            "timeout" => settings.limits.timeout = given,
            "idle-timeout" => settings.limits.idle = given,
            _ => settings.stale_after = given,
        }
    }
    if let Some(given) = table.max_failures {
        let own = settings
            .max_failures
            .or_else(|| initial_failures(settings.info.table))
            .unwrap_or_default();
        let (offset, given) = (given.span().start, given.get_ref().0);
        if given < own {
            let what = format!("`limits.max-failures`: {given} is less than your {own}");
            settings.ignored.push(source.ignored(offset, &what));
        } else {
            let origin = source.origin(offset);
            settings.origins.note("limits.max-failures", origin);
            settings.max_failures = Some(given);
        }
    }
}
