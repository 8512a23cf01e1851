//! `require-file`: whether a file was written since the loop's start.

use std::io;
use std::time::{Duration, SystemTime};

use super::Observed;
use crate::behaviours::command_runs::unobserved;
use crate::files::if_there;
use crate::machine::{Raw, Refusal};
use crate::review::Digest;

/// The outcome of `require-file`.
#[derive(Debug)]
pub enum RequireFileSeen {
    /// The file was written after the loop's start.
    Written,
    /// The file is not there, is empty, or is as it was.
    Missing,
}

/// Returns whether a file was written since the loop's start: whether its content has another digest than `before`, which the
/// start took of it, or, if that is empty, whether it is there.
///
/// A file that was touched and not changed counts if its modification time is later than the start: someone may have
/// saved the plan as it was on purpose.
///
/// # Errors
/// Returns an error if the file is there and cannot be read.
pub fn require_file(
    raw: &Raw,
    path: &str,
    before: &str,
) -> Result<Observed<RequireFileSeen>, Refusal> {
    let written = is_written(raw, path, &raw.fill(before));
    let written = written.map_err(unobserved(raw.path(path).as_str()))?;
    Ok(match written {
        true => RequireFileSeen::Written.into(),
        false => RequireFileSeen::Missing.into(),
    })
}

fn is_written(raw: &Raw, path: &str, before: &str) -> io::Result<bool> {
    let content = if_there(raw.read(path))?.unwrap_or_default();
    if content.iter().all(u8::is_ascii_whitespace) {
        return Ok(false);
    }
    let is_changed = before.is_empty() || before != Digest::of(&content).as_str();
    Ok(is_changed || is_later_than_start(raw, path)?)
}

/// Returns whether a file's modification time is after the second in which the loop was started.
fn is_later_than_start(raw: &Raw, path: &str) -> io::Result<bool> {
    let field = raw.table().state.fields.started_epoch;
    let started = field.and_then(|field| raw.record().count(field));
    let after = started.and_then(|started| {
        SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(started.checked_add(1)?))
    });
    let (folder, name) = raw.folder_of(path)?;
    let found = folder.look(&name)?;
    Ok(found
        .zip(after)
        .is_some_and(|(found, after)| found.modified() >= after))
}
