//! `pause`: the user pauses a loop, so that no stop drives it until `resume`.

use super::arguments::Target;
use super::builder::Program;
use super::caller::Caller;
use super::exit::{Exit, Failure};
use super::{loops, messages, out};
use crate::store::{LoopId, Store};

/// Pauses a loop.
pub(super) fn pause(program: &Program, target: &Target) -> Result<Exit, Failure> {
    let info = program.info;
    let (id, _, actor) = loops::named(info, target, "pause")?;
    loops::person_only(info, actor, "pause", id.as_deref())?;
    let (store, id) = loops::find_called(info, id.as_deref(), &Caller::from_env())?;
    let held = loops::open(program, &store, &id, actor)?;
    if messages::phase(held.raw()).terminal {
        return Err(loops::over("claudex::pause", held.raw()));
    }
    set(&store, &id, true)?;
    out::line(&format!(
        "Loop {id} is paused: no stop drives it. To continue it:{}",
        info.command(&format!("resume {id}"))
    ));
    Ok(Exit::Complete)
}

/// Pauses a loop, or ends its pause. Returns whether that changed anything.
pub(super) fn set(store: &Store, id: &LoopId, paused: bool) -> Result<bool, Failure> {
    let is_new = store
        .pause(id, paused)
        .map_err(|error| Failure::new(Exit::Internal, error))?;
    if is_new {
        store.log(&format!("{id} paused: {paused}"));
    }
    Ok(is_new)
}
