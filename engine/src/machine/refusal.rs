//! The reasons why a transition, an opening or a start of a loop is refused.

use thiserror::Error;

use super::Actor;
use crate::store::{LoopId, StoreError};

/// A transition that did not happen: the loop as it was held, and the reason.
#[derive(Debug, Error)]
#[error("{refusal}")]
pub struct Refused<L> {
    /// The loop, unchanged. After [`StoreError::Stale`] the disk has a newer revision.
    pub held: L,
    /// The reason.
    pub refusal: Box<Refusal>,
}

/// The reason why a transition, an opening or a start was refused. Nothing was changed.
#[derive(Debug, Error)]
pub enum Refusal {
    /// No guard of the transition holds: the guards, and the values that they read.
    #[error("{0}")]
    Guard(String),
    /// The evidence is not the kind that the edge requires.
    #[error("‘{transition}’ is not possible: {problem}")]
    Evidence {
        /// The transition.
        transition: &'static str,
        /// The problem of the evidence that was shown.
        problem: String,
    },
    /// The edge, or the mode of a start, is not for this actor.
    #[error("{0}")]
    Actor(String),
    /// The machine declares no such edge in the phase.
    #[error("‘{transition}’ is not legal in phase {phase}; legal in: {legal}")]
    Undeclared {
        /// The transition.
        transition: &'static str,
        /// The phase.
        phase: &'static str,
        /// The phases in which it is legal.
        legal: String,
    },
    /// A value, or a document for a new loop, that does not fit the machine.
    #[error("{0}")]
    Unfit(String),
    /// A loop whose phase the machine does not have, or with a field of the wrong kind.
    #[error("loop {id}: {problem}")]
    Loop {
        /// The loop.
        id: LoopId,
        /// The problem, and the expected value.
        problem: String,
    },
    /// A behaviour could not read the files or the run that it looks at.
    #[error("could not read {what}: {source}")]
    Observe {
        /// The file or the run.
        what: String,
        /// The system's error.
        source: std::io::Error,
    },
    /// The store could not read or write, or another process changed the loop first.
    #[error(transparent)]
    Store(#[from] StoreError),
}

crate::impl_diagnostic!(Refusal, |refusal| match refusal {
    Refusal::Loop { id, .. } => Some(format!(
        "the last good values are in its journal: `journal {id}`"
    )),
    Refusal::Store(error) => error.help().map(|help| help.to_string()),
    _ => None,
});

impl Refusal {
    /// Makes the refusal of an actor. `by` are the actors who may take the edge or start the mode.
    pub(super) fn actor(refused: &str, actor: Actor, by: &[Actor]) -> Self {
        let name = |actor: &Actor| match actor {
            Actor::Hook => "the Stop hook",
            Actor::Agent => "an agent",
            Actor::Person => "the user",
        };
        let names: Vec<&str> = by.iter().map(name).collect();
        let allowed = match &*names {
            [] => "the Stop hook".to_owned(),
            names => names.join(" or "),
        };
        let caller = name(&actor);
        Self::Actor(format!(
            "{refused} is for {allowed} only, and this call comes from {caller}"
        ))
    }

    /// Returns whether another process changed the loop first.
    pub fn is_stale(&self) -> bool {
        matches!(self, Self::Store(StoreError::Stale { .. }))
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
