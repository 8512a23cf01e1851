//! The reason for which a transition did not happen. The loop is always handed back with the reason.

use thiserror::Error;

use super::{Actor, FieldError, Requirement};
use crate::store::StoreError;

/// A transition that did not happen: the loop as it was held, and the reason.
#[derive(Debug, Error)]
#[error("{refusal}")]
pub struct Refused<L> {
    /// The loop, unchanged. After [`StoreError::Stale`] the disk has a newer revision.
    pub held: L,
    /// The reason.
    pub refusal: Box<Refusal>,
}

/// The reason for which a transition did not happen.
#[derive(Debug, Error)]
pub enum Refusal {
    /// No guard of the transition holds.
    #[error("‘{transition}’ is not open in phase {phase}: needs {needs}, and {values}")]
    Guard {
        /// The transition.
        transition: &'static str,
        /// The phase.
        phase: &'static str,
        /// The guards, as machine.toml has them.
        needs: String,
        /// The fields and arguments that they read, with their values.
        values: String,
    },
    /// The evidence is not the kind that the edge requires.
    #[error("‘{transition}’ is not open: {problem}")]
    Evidence {
        /// The transition.
        transition: &'static str,
        /// The requirement of the edge.
        requirement: Requirement,
        /// The problem of the evidence that was shown.
        problem: String,
    },
    /// The edge is not for this actor.
    #[error("‘{transition}’ is not for {actor}: {allowed}")]
    Actor {
        /// The transition.
        transition: &'static str,
        /// The actor who tried.
        actor: Actor,
        /// The actors who may.
        allowed: String,
    },
    /// The machine declares no such edge from the phase on disk.
    #[error("‘{transition}’ is not legal in phase {phase}; legal in: {legal}")]
    Undeclared {
        /// The transition.
        transition: &'static str,
        /// The phase.
        phase: String,
        /// The phases in which it is legal.
        legal: String,
    },
    /// A field of the state document does not fit the machine.
    #[error("{0}")]
    Field(FieldError),
    /// A behaviour could not read the files or the run that it looks at.
    #[error("could not look at {what}: {source}")]
    Observe {
        /// The file or the run.
        what: String,
        /// The system's error.
        source: std::io::Error,
    },
    /// The store could not read or write, or another process changed the loop first.
    #[error(transparent)]
    Store(StoreError),
}

crate::impl_diagnostic!(Refusal, |refusal| match refusal {
    Refusal::Field(_) => {
        Some("the last good values are in its journal: `journal` with its id".to_owned())
    }
    Refusal::Store(error) => error.help().map(|help| help.to_string()),
    _ => None,
});

impl Refusal {
    /// Returns whether another process changed the loop first.
    pub fn is_stale(&self) -> bool {
        matches!(self, Refusal::Store(StoreError::Stale { .. }))
    }

    /// Returns whether a guard refused: the only refusal after which an outcome's next transition is tried.
    pub fn is_guard(&self) -> bool {
        matches!(self, Refusal::Guard { .. })
    }

    /// Returns whether the machine said no: neither a race that was lost nor a fault of the disk.
    pub fn is_rejection(&self) -> bool {
        use Refusal::{Actor, Evidence, Guard, Undeclared};
        matches!(
            self,
            Guard { .. } | Evidence { .. } | Actor { .. } | Undeclared { .. }
        )
    }
}

impl<L> Refused<L> {
    /// Pairs a loop with a reason.
    pub fn new(held: L, refusal: Refusal) -> Self {
        Self {
            held,
            refusal: Box::new(refusal),
        }
    }

    /// Converts the loop to another type, and keeps the reason.
    pub fn map<T>(self, convert: impl FnOnce(L) -> T) -> Refused<T> {
        Refused {
            held: convert(self.held),
            refusal: self.refusal,
        }
    }
}
