//! A project's file. It may set rounds and raise limits; anything else in it is ignored with one line.
//!
//! An agent or a stranger's repository can write this file. So it names no program, chooses no reviewer, and makes no
//! review shorter than the user's own settings do.

use std::fmt::Display;

use serde::Deserialize as _;
use toml::Spanned;
use toml::de::Deserializer;

use super::Settings;
use super::error::Problem;
use super::origin::Source;
use super::parse::{parse_table, problem_of};
use super::show::initial_failures;
use super::tables::{LimitsTable, ProjectFile};
use super::user::{apply_limits, apply_rounds};
use super::values::{Time, Whole};
use crate::program::suggest;
use crate::text;

/// The keys that a project's file may have.
const KEYS: [&str; 2] = ["rounds", "limits"];

/// Applies the project's file to the settings.
///
/// # Errors
/// Returns the first problem: the text is not TOML, or `rounds` or `limits` has a value that does not fit.
pub(super) fn apply(source: &Source<'_>, settings: &mut Settings) -> Result<(), Problem> {
    let problem = |error: toml::de::Error| problem_of(&error, source.text);
    let table = parse_table(source.text)?;
    let keys = table.get_ref().iter();
    let foreign = keys.filter(|(key, _)| !KEYS.contains(&key.get_ref().as_ref()));
    let mut foreign: Vec<(usize, String)> = foreign
        .map(|(key, _)| (key.span().start, key.get_ref().to_string()))
        .collect();
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
fn raise_limits(mut table: LimitsTable, source: &Source<'_>, settings: &mut Settings) {
    let own = &settings.limits;
    let failures = settings
        .max_failures
        .or_else(|| initial_failures(settings.info.table));
    let minutes = settings.stale_after.as_secs() / 60;
    let lower = [
        drop_lower(&mut table.timeout, "timeout", Time(own.timeout)),
        drop_lower(&mut table.idle_timeout, "idle-timeout", Time(own.idle)),
        drop_lower(
            &mut table.max_failures,
            "max-failures",
            Whole(failures.unwrap_or_default()),
        ),
        drop_lower(&mut table.stale_minutes, "stale-minutes", Whole(minutes)),
    ];
    for (offset, what) in lower.into_iter().flatten() {
        settings.ignored.push(source.ignored(offset, &what));
    }
    apply_limits(table, source, settings);
}

/// Removes a limit that is less than the user's. Returns its place and what is wrong with it.
fn drop_lower<T: PartialOrd + Display>(
    limit: &mut Option<Spanned<T>>,
    key: &str,
    own: T,
) -> Option<(usize, String)> {
    let lower = limit.take_if(|limit| *limit.get_ref() < own)?;
    let what = format!(
        "`limits.{key}`: {} is less than your {own}",
        lower.get_ref()
    );
    Some((lower.span().start, what))
}
