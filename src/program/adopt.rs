//! `adopt`: the user takes a loop over into this session.

use super::arguments::Target;
use super::builder::Program;
use super::caller::{Caller, UNKNOWN};
use super::exit::{Exit, Failure};
use super::{consent, last_message, loops, messages, out};
use crate::machine::{Actor, Raw};
use crate::store::{LoopId, Store};

/// Takes a loop over into this session. Asks first if another session may be at work on it, but not after a slash command.
pub(super) fn adopt(program: &Program, target: &Target, yes: bool) -> Result<Exit, Failure> {
    let info = program.info;
    let (id, _, actor) = loops::named(info, target, "adopt")?;
    loops::person_only(info, actor, "adopt", id.as_deref())?;
    let (store, id) = loops::find(info, id.as_deref())?;
    if !yes && !target.from_prompt && !consent::to_take_over(info, &id, &format!("adopt {id}"))? {
        out::line("Nothing was changed.");
        return Ok(Exit::Refused);
    }
    take_over(&store, &id, actor)?;
    let held = loops::open(program, &store, &id, actor)?;
    let exit = adopt_held(held.raw())?;
    last_message::print(program, &*held);
    Ok(exit)
}

/// Takes over a loop that does not have the user's seal. Does nothing to one that has it.
///
/// # Errors
/// Returns an error if another loop is active, or if the loop cannot be read or written.
fn take_over(store: &Store, id: &LoopId, actor: Actor) -> Result<(), Failure> {
    let taken = store.take_over(id, &actor.to_string());
    if taken.map_err(|error| Failure::new(Exit::Refused, error))? {
        store.log(&format!("{id} taken over by {actor}"));
        out::line(&format!(
            "Loop {id} was taken over: it belongs to {} now.",
            store.root()
        ));
    }
    Ok(())
}

/// Takes a loop over into the caller's session. A terminal has no session, so there the next session that ends a turn takes it.
///
/// # Errors
/// Returns an error if the loop is over or cannot be changed.
pub fn adopt_held(raw: &Raw) -> Result<Exit, Failure> {
    let store = raw.store();
    let id = raw.id();
    let actor = raw.actor();
    if messages::phase(raw).terminal {
        return Err(loops::over("claudex::adopt", raw));
    }
    let session = Caller::from_env()
        .session
        .unwrap_or_else(|| UNKNOWN.to_owned());
    store
        .set_session(raw.record(), &session, "adopt", &actor.to_string())
        .map_err(|error| Failure::new(Exit::Internal, error))?;
    store.log(&format!("{id} adopted by session {session}"));
    out::line(&if session == UNKNOWN {
        format!(
            "Loop {id} belongs to no session now: the next session that ends a turn in this project takes it."
        )
    } else {
        format!("Loop {id} belongs to this session now.")
    });
    Ok(Exit::Complete)
}
