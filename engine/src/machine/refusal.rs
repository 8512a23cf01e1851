//! Why a transition did not happen. The loop is always handed back with the reason.

use derive_more::{Display, Error};

use crate::machine::{Actor, Requirement, fields::FieldError};
pub use crate::store::Snapshot;
use crate::store::StoreError;

/// A transition that did not happen: the loop as it was held, and the reason.
#[derive(Debug)]
pub struct Refused<L> {
    /// The loop, unchanged. Where the refusal is [`Refusal::Stale`] the disk has moved on.
    pub held: L,
    /// Why.
    pub refusal: Box<Refusal>,
}

/// Why a transition did not happen.
#[derive(Debug, Display, Error, miette::Diagnostic)]
pub enum Refusal {
    /// Another process changed the loop first.
    #[display("the loop moved on meanwhile: expected {expected}, found {found}")]
    #[diagnostic(
        code(claudex::refused::stale),
        help("read the loop again and decide anew")
    )]
    Stale {
        /// What was held.
        expected: Snapshot,
        /// What is on disk.
        found: Snapshot,
    },
    /// No guard of the transition holds.
    #[display("‘{transition}’ is not open in phase {phase}: needs {needs}, and {values}")]
    #[diagnostic(code(claudex::refused::guard))]
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
    /// The evidence shown is not what the edge needs.
    #[display("‘{transition}’ is not open: {problem}")]
    #[diagnostic(code(claudex::refused::evidence))]
    Evidence {
        /// The transition.
        transition: &'static str,
        /// What the edge requires.
        requirement: Requirement,
        /// What is wrong with what was shown.
        problem: String,
    },
    /// The edge is not for this actor.
    #[display("‘{transition}’ is not for {actor}: {allowed}")]
    #[diagnostic(code(claudex::refused::actor))]
    Actor {
        /// The transition.
        transition: &'static str,
        /// Who tried.
        actor: Actor,
        /// Who may.
        allowed: String,
    },
    /// The machine declares no such edge from the phase on disk.
    #[display("‘{transition}’ is not legal in phase {phase}; legal in: {legal}")]
    #[diagnostic(code(claudex::refused::undeclared))]
    Undeclared {
        /// The transition.
        transition: &'static str,
        /// The phase.
        phase: String,
        /// Where it would be legal.
        legal: String,
    },
    /// A field of the state document is not what the machine says.
    #[display("{_0}")]
    #[diagnostic(
        code(claudex::refused::field),
        help("the last good values are in its journal: `journal` with its id")
    )]
    Field(FieldError),
    /// What a behaviour has to look at could not be read.
    #[display("could not look at {what}: {source}")]
    #[diagnostic(code(claudex::refused::observe))]
    Observe {
        /// The file or the run.
        what: String,
        /// What the system says.
        source: std::io::Error,
    },
    /// The store could not read or write.
    #[display("{_0}")]
    #[diagnostic(transparent)]
    Store(StoreError),
}

impl Refusal {
    /// Returns whether a guard refused: the only refusal after which an outcome's next transition is tried.
    pub fn is_guard(&self) -> bool {
        matches!(self, Refusal::Guard { .. })
    }

    /// Returns whether the machine said no: neither a race that was lost nor a fault of the disk.
    pub fn is_a_no(&self) -> bool {
        match self {
            Refusal::Guard { .. }
            | Refusal::Evidence { .. }
            | Refusal::Actor { .. }
            | Refusal::Undeclared { .. } => true,
            Refusal::Stale { .. }
            | Refusal::Field(_)
            | Refusal::Observe { .. }
            | Refusal::Store(_) => false,
        }
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

    /// The same reason, with the loop in another type.
    pub fn map<T>(self, convert: impl FnOnce(L) -> T) -> Refused<T> {
        Refused {
            held: convert(self.held),
            refusal: self.refusal,
        }
    }
}

impl<L> std::fmt::Display for Refused<L> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.refusal.fmt(f)
    }
}

impl<L: std::fmt::Debug> std::error::Error for Refused<L> {}
