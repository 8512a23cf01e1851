//! The behaviours of a stop: look by reference, then try the outcome's transitions in turn.
//!
//! The generated `OnStop` methods call this module: [`observe`] looks and never moves the loop;
//! [`decide`] takes it through an outcome's transitions. Guards decide which edge it is.

pub mod ask;
mod command_runs;
pub mod loop_message;
pub mod observe;
pub mod verify;

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

/// Tries the transitions of `attempts` for the outcome of a look. `note` sets the run that the next
/// change counts. The run lock is held until then, so that no other process sees the same.
///
/// # Errors
/// Returns the loop and the reason if the look failed, or a refusal was not that of a guard.
pub fn decide<L, A, S>(
    held: L,
    observed: Result<Observed<S>, Refusal>,
    note: impl FnOnce(L, Option<String>) -> L,
    attempts: impl FnOnce(L, S) -> Result<Step<A>, Refused<A>>,
) -> Result<Step<A>, Refused<A>>
where
    L: Into<A>,
{
    match observed {
        Ok(Observed {
            seen,
            run,
            lock: _lock,
        }) => attempts(note(held, run), seen),
        Err(refusal) => Err(Refused::new(held.into(), refusal)),
    }
}

/// Tries transitions in turn until one is taken. Continues only after a guard's refusal.
///
/// # Errors
/// Returns the loop and the reason if a transition was refused for another reason than its guard.
pub fn try_in_turn<L, A>(
    mut held: L,
    transitions: &[&dyn Fn(L) -> Result<A, Refused<L>>],
) -> Result<Step<A>, Refused<A>>
where
    L: Into<A>,
    A: LoopHandle,
{
    for transition in transitions {
        match transition(held) {
            Ok(now) => {
                return Ok(match now.raw().last_edge() {
                    Some(edge) => Step::Moved { now, edge },
                    None => Step::Waits(now),
                });
            }
            Err(refused) if matches!(*refused.refusal, Refusal::Guard(_)) => held = refused.held,
            Err(refused) => return Err(refused.map(Into::into)),
        }
    }
    Ok(Step::Waits(held.into()))
}
