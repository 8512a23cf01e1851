//! `review`: what the round's review came to.

use super::Observed;
use crate::machine::{Raw, Refusal};
use crate::review::evidence::{self, Found};
use crate::review::{ReviewSpec, Reviewed, Settled};
use crate::store::UNEXPLAINED;

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

/// Returns the round's review.
///
/// # Errors
/// The journal or the findings cannot be read.
pub fn review(raw: &Raw, spec: &'static ReviewSpec) -> Result<Observed<ReviewSeen>, Refusal> {
    let found = evidence::inspect(raw, spec).map_err(|source| Refusal::Observe {
        what: format!("the reviews of loop {}", raw.id()),
        source,
    })?;
    Ok(match found {
        Found::Clean(evidence) => {
            let run = evidence.run().map(str::to_owned);
            Observed::of_run(ReviewSeen::Clean(evidence), run)
        }
        Found::Findings(evidence) => {
            let run = evidence.run().map(str::to_owned);
            Observed::of_run(ReviewSeen::Findings(evidence), run)
        }
        Found::Stalled(evidence) => {
            let run = evidence.run().map(str::to_owned);
            Observed::of_run(ReviewSeen::Stalled(evidence), run)
        }
        Found::Nothing => {
            note_unexplained(raw, spec);
            ReviewSeen::Nothing.into()
        }
        Found::Running => ReviewSeen::Running.into(),
        Found::Failed { run } => Observed::of_run(ReviewSeen::Failed, Some(run)),
    })
}

/// Findings that lie there without a review are noted: a person who reads the journal should know that someone made them up.
fn note_unexplained(raw: &Raw, spec: &'static ReviewSpec) {
    // What cannot be read was said by the look already.
    let Ok(Some(file)) = evidence::unexplained(raw, spec) else {
        return;
    };
    let why = "no review of this loop wrote it; it counts for nothing";
    raw.store().note_attempt(
        raw.id(),
        UNEXPLAINED,
        &[("file", file.file_name().unwrap_or_default()), ("why", why)],
    );
}
