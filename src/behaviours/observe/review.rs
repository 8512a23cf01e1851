//! `review`: what the round's review came to.

use super::Observed;
use crate::behaviours::command_runs::unobserved;
use crate::machine::{Raw, Refusal};
use crate::review::evidence::{self, Found};
use crate::review::{ReviewSpec, Reviewed, Settled};
use crate::store::UNEXPLAINED;

/// The outcome of `review`.
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

/// Returns the round's review.
///
/// # Errors
/// Returns an error if the journal or the findings cannot be read.
pub fn review(raw: &Raw, spec: &'static ReviewSpec) -> Result<Observed<ReviewSeen>, Refusal> {
    let what = format!("the reviews of loop {}", raw.id());
    let found = evidence::inspect(raw, spec).map_err(unobserved(&what))?;
    let run = match &found {
        Found::Clean(evidence) => evidence.run().map(str::to_owned),
        Found::Findings(evidence) | Found::Stalled(evidence) => evidence.run().map(str::to_owned),
        Found::Failed { run } => Some(run.clone()),
        Found::Nothing | Found::Running => None,
    };
    let seen = match found {
        Found::Clean(evidence) => ReviewSeen::Clean(evidence),
        Found::Findings(evidence) => ReviewSeen::Findings(evidence),
        Found::Stalled(evidence) => ReviewSeen::Stalled(evidence),
        Found::Failed { .. } => ReviewSeen::Failed,
        Found::Running => ReviewSeen::Running,
        Found::Nothing => {
            note_unexplained(raw, spec);
            ReviewSeen::Nothing
        }
    };
    Ok(Observed::of_run(seen, run, None))
}

/// Notes findings that lie there without a review, for a user who reads the journal: someone made them up.
fn note_unexplained(raw: &Raw, spec: &'static ReviewSpec) {
    if let Ok(Some(file)) = evidence::unexplained(raw, spec) {
        let file = ("file", file.file_name().unwrap_or_default());
        let why = (
            "why",
            "no review of this loop wrote it; it counts for nothing",
        );
        raw.store()
            .note_attempt(raw.id(), UNEXPLAINED, &[file, why]);
    }
}
