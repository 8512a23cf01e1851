//! The behaviours of a stop, for any machine: look by reference, then try the outcome's transitions in turn.
//!
//! The generated `OnStop` methods call this module: [`observe`] looks and never moves the loop; [`attempt`], [`or_else`] and
//! [`settle`] carry it through the transitions that an outcome names. Guards decide which edge it is.

pub mod ask;
mod command_runs;
pub mod loop_message;
pub mod observe;
pub mod verify;

use self::observe::Observed;
use crate::machine::{EdgeAt, LoopHandle, Refusal, Refused};
use crate::store::RunLock;

/// The outcome of a stop.
#[derive(Debug)]
pub enum Step<A> {
    /// An edge was taken.
    Moved {
        /// The loop after it.
        now: A,
        /// The edge.
        edge: EdgeAt,
    },
    /// Every guard refused, or the outcome names no transition: the turn ends and the loop waits.
    Waits(A),
    /// The loop is in a terminal phase.
    Over(A),
}

impl<A> Step<A> {
    /// Converts the loop.
    pub fn map<B>(self, convert: impl FnOnce(A) -> B) -> Step<B> {
        match self {
            Step::Moved { now, edge } => Step::Moved {
                now: convert(now),
                edge,
            },
            Step::Waits(now) => Step::Waits(convert(now)),
            Step::Over(now) => Step::Over(convert(now)),
        }
    }
}

/// A loop on its way through the transitions of an outcome.
#[derive(Debug)]
pub enum Attempt<L, A> {
    /// No edge was taken yet.
    Open(L),
    /// An edge was taken.
    Taken(A),
    /// A transition was refused for another reason than its guard.
    Failed(Refused<A>),
}

/// A loop that was looked at, and the outcome.
#[derive(Debug)]
pub struct Looked<L, A, S> {
    /// The loop, before any transition.
    pub attempt: Attempt<L, A>,
    /// The outcome.
    pub seen: S,
    /// Held until the transition was taken: another process must not see the same again.
    _lock: Option<RunLock>,
}

/// Begins an attempt with a loop and the result of a look at it. `note` sets the run that the next change counts.
///
/// # Errors
/// Returns the loop and the reason if the look failed.
pub fn look<L: Into<A>, A, S>(
    held: L,
    observed: Result<Observed<S>, Refusal>,
    note: impl FnOnce(L, Option<String>) -> L,
) -> Result<Looked<L, A, S>, Refused<A>> {
    match observed {
        Ok(observed) => Ok(Looked {
            attempt: Attempt::Open(note(held, observed.run)),
            seen: observed.seen,
            _lock: observed.lock,
        }),
        Err(refusal) => Err(Refused::new(held.into(), refusal)),
    }
}

/// Begins an attempt with the loop that was looked at.
pub fn attempt<L, A>(held: L) -> Attempt<L, A> {
    Attempt::Open(held)
}

/// Tries a transition, if none was taken yet. Only a guard's refusal leaves the way open for the next one.
pub fn or_else<L, A, N>(
    before: Attempt<L, A>,
    transition: impl FnOnce(L) -> Result<N, Refused<L>>,
) -> Attempt<L, A>
where
    N: Into<A>,
    L: Into<A>,
{
    match before {
        Attempt::Open(held) => match transition(held) {
            Ok(next) => Attempt::Taken(next.into()),
            Err(refused) if refused.refusal.is_guard() => Attempt::Open(refused.held),
            Err(refused) => Attempt::Failed(refused.map(Into::into)),
        },
        done => done,
    }
}

/// Converts an attempt into the outcome of the stop.
///
/// # Errors
/// Returns an error if a transition was refused for another reason than its guard.
pub fn settle<L, A>(attempt: Attempt<L, A>) -> Result<Step<A>, Refused<A>>
where
    L: Into<A>,
    A: LoopHandle,
{
    match attempt {
        Attempt::Open(held) => Ok(Step::Waits(held.into())),
        Attempt::Taken(now) => match now.raw().taken() {
            Some(edge) => Ok(Step::Moved { now, edge }),
            None => Ok(Step::Waits(now)),
        },
        Attempt::Failed(refused) => Err(refused),
    }
}
