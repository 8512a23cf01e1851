//! The behaviours of a stop, for any machine: look by reference, then try the outcome's transitions in turn.
//!
//! The generated `OnStop` methods call this module: [`observe`] looks and never moves the loop; [`decide`] takes it through
//! the transitions that an outcome names. Guards decide which edge it is.

pub mod ask;
mod command_runs;
pub mod loop_message;
pub mod observe;
pub mod verify;

use std::ops::ControlFlow;

use self::observe::Observed;
use crate::machine::{EdgeAt, LoopHandle, Refusal, Refused};

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

/// A loop on its way through the transitions of an outcome: `Continue` until one of them was taken, or was refused for another
/// reason than its guard.
pub type Attempt<L, A> = ControlFlow<Result<A, Refused<A>>, L>;

/// Takes a loop through the transitions that `attempts` tries for the result of a look at it. `note` sets the run that the
/// next change counts. The run lock is held until then: another process must not see the same again.
///
/// # Errors
/// Returns the loop and the reason if the look failed, or a transition was refused for another reason than its guard.
pub fn decide<L, A, S>(
    held: L,
    observed: Result<Observed<S>, Refusal>,
    note: impl FnOnce(L, Option<String>) -> L,
    attempts: impl FnOnce(Attempt<L, A>, S) -> Attempt<L, A>,
) -> Result<Step<A>, Refused<A>>
where
    L: Into<A>,
    A: LoopHandle,
{
    match observed {
        Ok(Observed {
            seen,
            run,
            lock: _lock,
        }) => settle(attempts(attempt(note(held, run)), seen)),
        Err(refusal) => Err(Refused::new(held.into(), refusal)),
    }
}

/// Begins an attempt.
pub fn attempt<L, A>(held: L) -> Attempt<L, A> {
    Attempt::Continue(held)
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
    match transition(before?) {
        Ok(next) => Attempt::Break(Ok(next.into())),
        Err(Refused { held, refusal }) if matches!(*refusal, Refusal::Guard(_)) => {
            Attempt::Continue(held)
        }
        Err(refused) => Attempt::Break(Err(refused.map(Into::into))),
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
        Attempt::Continue(held) => Ok(Step::Waits(held.into())),
        Attempt::Break(taken) => taken.map(|now| match now.raw().last_edge() {
            Some(edge) => Step::Moved { now, edge },
            None => Step::Waits(now),
        }),
    }
}
