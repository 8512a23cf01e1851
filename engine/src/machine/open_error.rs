//! The reason for which a loop cannot be opened or started as one of a machine.

use thiserror::Error;

use crate::store::{LoopId, StoreError};

/// The reason for which a loop cannot be opened or started. Nothing is left behind.
#[derive(Debug, Error)]
pub enum OpenError {
    /// An error of the store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A loop whose phase is none of the machine's, or one of whose fields is not of its kind.
    #[error("loop {id}: {problem}")]
    Loop {
        /// The loop.
        id: LoopId,
        /// The problem, and what the machine expects.
        problem: String,
    },
    /// A document or a value for a new loop that does not fit the machine.
    #[error("{0}")]
    Unfit(String),
    /// A mode that others start.
    #[error("a loop in mode {mode} is started by {by}, and this call comes from {actor}")]
    Actor {
        /// The mode.
        mode: &'static str,
        /// The actors who may start it.
        by: String,
        /// The actor who tried.
        actor: &'static str,
    },
}

crate::impl_diagnostic!(OpenError, |error| match error {
    OpenError::Store(error) => error.help().map(|help| help.to_string()),
    OpenError::Loop { id, .. } => Some(format!(
        "the last good values are in its journal: `journal {id}`"
    )),
    OpenError::Unfit(_) | OpenError::Actor { .. } => None,
});
