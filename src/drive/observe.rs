//! The behaviours of the catalogue: what each looks at, and what it can see there.
//!
//! One function and one enum per behaviour; `claudex_build::catalogue` lists the same names, and generated code matches
//! the enums exhaustively, so that the two cannot drift apart. Nothing here changes a loop.

use std::io;
use std::time::{Duration, SystemTime};

use camino::Utf8Path;
use fs_err as fs;

use crate::machine::{Raw, Refusal};
use crate::review::evidence::{self, Found};
use crate::review::{Digest, ReviewSpec, Reviewed, Settled};

/// What was seen, and the run that a change on its account is counted for.
#[derive(Debug)]
pub struct Observed<S> {
    /// The outcome.
    pub seen: S,
    /// The review run that it comes from.
    pub run: Option<String>,
}

impl<S> From<S> for Observed<S> {
    fn from(seen: S) -> Self {
        Self { seen, run: None }
    }
}

/// What `require-file` sees.
#[derive(Debug)]
pub enum RequireFileSeen {
    /// The file was written after the loop's start.
    Written,
    /// It is not there, is empty, or is as it was.
    Missing,
}

/// What `review` sees.
#[derive(Debug)]
pub enum ReviewSeen {
    /// The reviewer found nothing, and what it reviewed is unchanged.
    Clean(Settled),
    /// The round was reviewed.
    Findings(Reviewed),
    /// The round was reviewed, and the rounds go nowhere.
    Stalled(Reviewed),
    /// There is no review of this round that counts.
    Nothing,
    /// A review is running.
    Running,
    /// The last review could not run, or could not be read.
    Failed,
}

/// What `approve` sees.
#[derive(Debug)]
pub enum ApproveSeen {
    /// Always.
    Then,
}

/// Whether a file was written since the loop's start: by its content against the digest `before` that the start took
/// of it, or, where that is empty, by being there.
///
/// A file that was touched and not changed counts when its modification time is later than the start: someone may have
/// saved the plan as it was on purpose.
///
/// # Errors
/// The file is there and cannot be read.
pub fn require_file(raw: &Raw, path: &str, before: &str) -> Result<Observed<RequireFileSeen>, Refusal> {
    let file = raw.path(path);
    let unreadable = |source| Refusal::Observe {
        what: file.to_string(),
        source,
    };
    let content = match crate::store::read(&file) {
        Ok(content) => content,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(RequireFileSeen::Missing.into()),
        Err(error) => return Err(unreadable(error)),
    };
    if content.iter().all(u8::is_ascii_whitespace) {
        return Ok(RequireFileSeen::Missing.into());
    }
    let before = raw.fill(before);
    let changed = before.is_empty() || before != Digest::of(&content).as_str();
    let written = changed || later_than_start(raw, &file).map_err(unreadable)?;
    Ok(if written {
        RequireFileSeen::Written
    } else {
        RequireFileSeen::Missing
    }
    .into())
}

/// Whether a file's modification time is after the second in which the loop was started.
fn later_than_start(raw: &Raw, file: &Utf8Path) -> io::Result<bool> {
    let held = raw.table().state.fields.started_epoch;
    let Some(started) = held.and_then(|field| raw.record().count(field)) else {
        return Ok(false);
    };
    let later = started.checked_add(1).map(Duration::from_secs);
    let Some(started) = later.and_then(|after| SystemTime::UNIX_EPOCH.checked_add(after)) else {
        return Ok(false);
    };
    Ok(fs::metadata(file)?.modified()? >= started)
}

/// The round's review.
///
/// # Errors
/// The journal or the findings cannot be read.
pub fn review(raw: &Raw, spec: &'static ReviewSpec) -> Result<Observed<ReviewSeen>, Refusal> {
    let found = evidence::look(raw, spec).map_err(|source| Refusal::Observe {
        what: format!("the reviews of loop {}", raw.id()),
        source,
    })?;
    Ok(match found {
        Found::Clean(evidence) => {
            let run = evidence.run().map(str::to_owned);
            Observed {
                seen: ReviewSeen::Clean(evidence),
                run,
            }
        }
        Found::Findings(evidence) => {
            let run = evidence.run().map(str::to_owned);
            Observed {
                seen: ReviewSeen::Findings(evidence),
                run,
            }
        }
        Found::Stalled(evidence) => {
            let run = evidence.run().map(str::to_owned);
            Observed {
                seen: ReviewSeen::Stalled(evidence),
                run,
            }
        }
        Found::Nothing => ReviewSeen::Nothing.into(),
        Found::Running => ReviewSeen::Running.into(),
        Found::Failed { run } => Observed {
            seen: ReviewSeen::Failed,
            run: Some(run),
        },
    })
}

/// Nothing to look at.
///
/// # Errors
/// None; the signature is that of every behaviour.
pub fn approve(_raw: &Raw) -> Result<Observed<ApproveSeen>, Refusal> {
    Ok(ApproveSeen::Then.into())
}
