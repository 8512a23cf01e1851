//! The behaviours of the catalogue: what each looks at, and what it can see there.
//!
//! One file, one function and one enum per behaviour. `claudex_build::model::Behaviour` has the same names, and generated code
//! matches the enums exhaustively, so that the two cannot drift apart. Nothing here changes a loop.

mod announce;
mod approve;
mod ask;
mod require_file;
mod review;
mod run;
mod verify;
mod wait_for;

pub use announce::{AnnounceSeen, announce};
pub use approve::{ApproveSeen, approve};
pub use ask::{AskSeen, ask};
pub use require_file::{RequireFileSeen, require_file};
pub use review::{ReviewSeen, review};
pub use run::{RunSeen, run};
pub use verify::{VerifySeen, verify};
pub use wait_for::{WaitForSeen, wait_for};

use crate::store::RunLock;

/// What was seen, and the run that a change on its account is counted for.
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
        Self::of_run(seen, None)
    }
}

impl<S> Observed<S> {
    /// Returns what was seen of a run.
    fn of_run(seen: S, run: Option<String>) -> Self {
        Self {
            seen,
            run,
            _lock: None,
        }
    }

    /// The same, with the lock of the run that was made for it.
    fn holding(self, lock: RunLock) -> Self {
        Self {
            _lock: Some(lock),
            ..self
        }
    }
}
