//! The behaviours of the catalogue: what each looks at, and what it can see there. Nothing here changes a loop.
//!
//! `claudex_build::model::Behaviour` has the same names, and generated code matches the enums exhaustively, so that the two
//! cannot drift apart.

mod require_file;
mod review;
mod run;
mod verify;
mod wait_for;

pub use require_file::{RequireFileSeen, require_file};
pub use review::{ReviewSeen, review};
pub use run::{RunSeen, run};
pub use verify::{VerifySeen, verify};
pub use wait_for::{WaitForSeen, wait_for};

use crate::machine::{Raw, Refusal};
use crate::store::RunLock;

/// The outcome of a look, and the run that a change on its account is counted for.
#[derive(Debug)]
pub struct Observed<S> {
    /// The outcome.
    pub seen: S,
    /// The run that it comes from.
    pub run: Option<String>,
    /// Held until the transition was taken: who comes meanwhile must not see the same again.
    _lock: Option<RunLock>,
}

impl<S> From<S> for Observed<S> {
    fn from(seen: S) -> Self {
        Self::of_run(seen, None, None)
    }
}

impl<S> Observed<S> {
    fn of_run(seen: S, run: Option<String>, lock: Option<RunLock>) -> Self {
        Self {
            seen,
            run,
            _lock: lock,
        }
    }
}

/// The outcome of `announce`, whose transition blocks with its message.
#[derive(Debug)]
pub enum AnnounceSeen {
    /// The only one.
    Then,
}

/// Looks at nothing.
///
/// # Errors
/// Never.
pub fn announce(_raw: &Raw) -> Result<Observed<AnnounceSeen>, Refusal> {
    Ok(AnnounceSeen::Then.into())
}

/// The outcome of `approve`, whose transition lets the turn end.
#[derive(Debug)]
pub enum ApproveSeen {
    /// The only one.
    Then,
}

/// Looks at nothing.
///
/// # Errors
/// Never.
pub fn approve(_raw: &Raw) -> Result<Observed<ApproveSeen>, Refusal> {
    Ok(ApproveSeen::Then.into())
}

/// The outcome of `ask`.
#[derive(Debug)]
pub enum AskSeen {
    /// The loop is still here, so nobody has answered.
    Unanswered,
}

/// Looks at nothing: an answer is taken when it is given, by the hook of the client's dialog or by a verb.
///
/// # Errors
/// Never.
pub fn ask(_raw: &Raw) -> Result<Observed<AskSeen>, Refusal> {
    Ok(AskSeen::Unanswered.into())
}
