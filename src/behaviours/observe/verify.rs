//! `verify`: commands that the user allows, and whether they passed on the work tree as it is.

use std::ops::ControlFlow;

use super::Observed;
use crate::behaviours::verify::{self, Purpose, Verification, Verified};
use crate::machine::{Raw, Refusal};

/// The outcome of `verify`.
#[derive(Debug)]
pub enum VerifySeen {
    /// Every command passed.
    Passed(Verified),
    /// One did not, or they changed the work tree.
    Failed,
    /// The user's configuration does not allow them all, or there is none.
    Missing,
    /// Another stop runs them, or a review is at work in this loop.
    Running,
}

/// Runs the phase's commands and waits for their end, or takes the result that is there.
///
/// # Errors
/// See [`verify::verify`].
pub fn verify(raw: &Raw) -> Result<Observed<VerifySeen>, Refusal> {
    let ran = verify::verify(raw, Purpose::Stop, &mut |_| ControlFlow::Continue(()))?;
    let seen = match ran.came_to {
        Verification::Passed(verified) => VerifySeen::Passed(verified),
        Verification::Failed(_) => VerifySeen::Failed,
        Verification::Missing(_) => VerifySeen::Missing,
        Verification::Running | Verification::Interrupted => VerifySeen::Running,
    };
    Ok(Observed::of_run(seen, ran.run, ran.lock))
}
