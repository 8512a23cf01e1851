//! `require-file`: whether a file was written since the loop's start.

use std::io;
use std::time::{Duration, SystemTime};

use super::Observed;
use crate::machine::{Raw, Refusal};
use crate::review::Digest;

/// What `require-file` sees.
#[derive(Debug)]
pub enum RequireFileSeen {
    /// The file was written after the loop's start.
    Written,
    /// It is not there, is empty, or is as it was.
    Missing,
}

/// Returns whether a file was written since the loop's start: by its content against the digest `before` that the start took
/// of it, or, where that is empty, by being there.
///
/// A file that was touched and not changed counts when its modification time is later than the start: someone may have
/// saved the plan as it was on purpose.
///
/// # Errors
/// The file is there and cannot be read.
pub fn require_file(
    raw: &Raw,
    path: &str,
    before: &str,
) -> Result<Observed<RequireFileSeen>, Refusal> {
    let file = raw.path(path);
    let unreadable = |source| Refusal::Observe {
        what: file.to_string(),
        source,
    };
    let content = match raw.read(path) {
        Ok(content) => content,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(RequireFileSeen::Missing.into());
        }
        Err(error) => return Err(unreadable(error)),
    };
    if content.iter().all(u8::is_ascii_whitespace) {
        return Ok(RequireFileSeen::Missing.into());
    }
    let before = raw.fill(before);
    let changed = before.is_empty() || before != Digest::of(&content).as_str();
    let written = changed || later_than_start(raw, path).map_err(unreadable)?;
    Ok(if written {
        RequireFileSeen::Written
    } else {
        RequireFileSeen::Missing
    }
    .into())
}

/// Returns whether a file's modification time is after the second in which the loop was started.
fn later_than_start(raw: &Raw, path: &str) -> io::Result<bool> {
    let held = raw.table().state.fields.started_epoch;
    let Some(started) = held.and_then(|field| raw.record().count(field)) else {
        return Ok(false);
    };
    let later = started.checked_add(1).map(Duration::from_secs);
    let Some(started) = later.and_then(|after| SystemTime::UNIX_EPOCH.checked_add(after)) else {
        return Ok(false);
    };
    let (folder, name) = raw.folder_of(path)?;
    Ok(folder
        .look(&name)?
        .is_some_and(|found| found.modified() >= started))
}
