//! The reason for which a transition did not happen. The loop is always handed back with the reason.

use std::fmt;

use miette::Diagnostic;

use crate::machine::{Actor, Requirement, fields::FieldError};
pub use crate::store::Snapshot;
use crate::store::StoreError;

/// A transition that did not happen: the loop as it was held, and the reason.
#[derive(Debug)]
pub struct Refused<L> {
    /// The loop, unchanged. Where the refusal is [`Refusal::Stale`] the disk has moved on.
    pub held: L,
    /// The reason.
    pub refusal: Box<Refusal>,
}

/// The reason for which a transition did not happen.
#[derive(Debug)]
pub enum Refusal {
    /// Another process changed the loop first.
    Stale {
        /// The loop that was held.
        expected: Snapshot,
        /// The loop on disk.
        found: Snapshot,
    },
    /// No guard of the transition holds.
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
    Evidence {
        /// The transition.
        transition: &'static str,
        /// The requirement of the edge.
        requirement: Requirement,
        /// The problem of the evidence that was shown.
        problem: String,
    },
    /// The edge is not for this actor.
    Actor {
        /// The transition.
        transition: &'static str,
        /// The actor who tried.
        actor: Actor,
        /// The actors who may.
        allowed: String,
    },
    /// The machine declares no such edge from the phase on disk.
    Undeclared {
        /// The transition.
        transition: &'static str,
        /// The phase.
        phase: String,
        /// The phases in which it is legal.
        legal: String,
    },
    /// A field of the state document is not what the machine says.
    Field(FieldError),
    /// A behaviour could not read the files or the run that it looks at.
    Observe {
        /// The file or the run.
        what: String,
        /// The system's error.
        source: std::io::Error,
    },
    /// The store could not read or write.
    Store(StoreError),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stale { expected, found } => write!(
                f,
                "the loop moved on meanwhile: expected {expected}, found {found}"
            ),
            Self::Guard {
                transition,
                phase,
                needs,
                values,
            } => write!(
                f,
                "‘{transition}’ is not open in phase {phase}: needs {needs}, and {values}"
            ),
            Self::Evidence {
                transition,
                problem,
                ..
            } => write!(f, "‘{transition}’ is not open: {problem}"),
            Self::Actor {
                transition,
                actor,
                allowed,
            } => write!(f, "‘{transition}’ is not for {actor}: {allowed}"),
            Self::Undeclared {
                transition,
                phase,
                legal,
            } => write!(
                f,
                "‘{transition}’ is not legal in phase {phase}; legal in: {legal}"
            ),
            Self::Field(error) => error.fmt(f),
            Self::Observe { what, source } => write!(f, "could not look at {what}: {source}"),
            Self::Store(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Refusal {}

impl Diagnostic for Refusal {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new(match self {
            Self::Store(error) => return error.code(),
            Self::Stale { .. } => "claudex::refused::stale",
            Self::Guard { .. } => "claudex::refused::guard",
            Self::Evidence { .. } => "claudex::refused::evidence",
            Self::Actor { .. } => "claudex::refused::actor",
            Self::Undeclared { .. } => "claudex::refused::undeclared",
            Self::Field(_) => "claudex::refused::field",
            Self::Observe { .. } => "claudex::refused::observe",
        }))
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        match self {
            Self::Store(error) => error.help(),
            Self::Stale { .. } => Some(Box::new("read the loop again and decide anew")),
            Self::Field(_) => Some(Box::new(
                "the last good values are in its journal: `journal` with its id",
            )),
            _ => None,
        }
    }
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

    /// Converts the loop to another type, and keeps the reason.
    pub fn map<T>(self, convert: impl FnOnce(L) -> T) -> Refused<T> {
        Refused {
            held: convert(self.held),
            refusal: self.refusal,
        }
    }
}

impl<L> fmt::Display for Refused<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.refusal.fmt(f)
    }
}

impl<L: fmt::Debug> std::error::Error for Refused<L> {}
