//! `pause`: the user holds a loop, so that no stop drives it until `resume`.

use super::arguments::Target;
use super::assembled::{App, Program};
use super::caller::Caller;
use super::exit::{Exit, Failure};
use super::{loops, messages, out};
use crate::machine::LoopHandle as _;
use crate::store::{LoopId, Store};

/// Holds a loop.
pub(super) fn pause<M: App>(program: &Program<M>, target: &Target) -> Result<Exit, Failure> {
    let info = program.info;
    let (id, _, actor) = loops::named(info, target, "pause")?;
    loops::person_only(info, actor, "pause", id.as_deref())?;
    let (store, id) = loops::find_called(info, id.as_deref(), &Caller::from_env())?;
    let held = loops::open::<M>(&store, &id, actor)?;
    if messages::phase(held.raw()).terminal {
        return Err(loops::over("claudex::pause", held.raw()));
    }
    set(&store, &id, true)?;
    out::line(&format!(
        "Loop {id} is paused: no stop drives it. To resume it:{}",
        info.command(&format!("resume {id}"))
    ));
    Ok(Exit::Complete)
}

/// Holds a loop, or lets it go. Returns whether that changed anything.
pub(super) fn set(store: &Store, id: &LoopId, paused: bool) -> Result<bool, Failure> {
    let is_new = store
        .pause(id, paused)
        .map_err(|error| Failure::new(Exit::Internal, error))?;
    if is_new {
        store.log(&format!("{id} paused: {paused}"));
    }
    Ok(is_new)
}
