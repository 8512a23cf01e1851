//! `pause`, `resume` and `use`: no stop drives a loop that the user paused; a paused, archived or waiting loop continues; of
//! several loops of a session the stops drive the one that was chosen last.

use super::arguments::LoopArgs;
use super::builder::Program;
use super::caller::Caller;
use super::exit::{Ended, Exit, Failure};
use super::info::ProgramInfo;
use super::{adopt, incompatible, loops, messages, next_action, out, verbs};
use crate::machine::Actor;
use crate::store::{LoopId, Store};
use crate::text;

/// Resumes a loop: brings it back from the archive, ends its pause, takes its transition `resume`, if it has one here, and
/// takes it over into the caller's session.
pub(super) fn resume(program: &Program, target: &LoopArgs) -> Ended {
    let info = program.info;
    loops::person_only(info, target.actor(), "resume", target.id.as_deref())?;
    let (store, id) = loops::find(info, target.id.as_deref())?;
    let settings = loops::settings(info, store.root(), None)?;
    let was_archived = bring_back(info, &store, &id)?;
    let held = loops::open(program, &store, &id, Actor::Person)?;
    if was_archived && messages::phase(held.raw()).terminal {
        out::line("It is over, so nothing continues it.");
        return Ok(Exit::Complete);
    }
    store.pause(&id, false).map_err(Failure::internal)?;
    program.prepare(&*held, &settings, Actor::Person);

    let is_for_any = messages::is_for_any_session(info.table, held.raw().phase());
    let mut edges = info.table.edges_at("resume", held.raw().phase());
    let is_taken = messages::phase(held.raw()).terminal || edges.next().is_some();
    let held = match verbs::parse(info.table, "resume", Vec::new()) {
        Ok(verb) if is_taken => verbs::take(program, verb, held)?,
        _ => held,
    };
    let raw = held.raw();
    loops::check_active(raw)?;
    let next = next_action::describe(program, &*held);
    out::line(&format!(
        "Loop {id} continues in phase {} and waits for {}\nNext: {}",
        messages::phase(raw).name,
        next.waits_for,
        next.next
    ));
    let session = Caller::from_env().session;
    match loops::owner(raw) {
        owner if session.is_some() && session == owner => {
            out::line("The next stop of this session drives it.");
        }
        Some(owner) if session.is_none() && !is_for_any => out::line(&format!(
            "The stops of session {} drive it. To hand it to the next session that ends a turn in this project:{}",
            text::one_line(&owner, 200),
            text::command_lines(&[format!("{} adopt {id}", info.program)])
        )),
        _ => adopt::adopt_held(raw)?,
    }
    messages::print_last(program, &*held);
    Ok(Exit::Complete)
}

/// Pauses a loop.
pub(super) fn pause(program: &Program, target: &LoopArgs) -> Ended {
    let info = program.info;
    loops::person_only(info, target.actor(), "pause", target.id.as_deref())?;
    let (store, id) = loops::find(info, target.id.as_deref())?;
    let held = loops::open(program, &store, &id, Actor::Person)?;
    loops::check_active(held.raw())?;
    store.pause(&id, true).map_err(Failure::internal)?;
    store.log(&format!("{id} paused by the user"));
    out::line(&format!(
        "Loop {id} is paused: no stop drives it. To continue it:{}",
        info.command(&format!("resume {id}"))
    ));
    Ok(Exit::Complete)
}

/// Makes the stops of a session drive a loop: of this session, or, from a terminal, of the session that has the loop.
pub(super) fn choose(program: &Program, id: &str) -> Ended {
    let caller = Caller::from_env();
    let actor = caller.actor(false);
    let (store, id) = loops::find(program.info, Some(id))?;
    let held = loops::open(program, &store, &id, actor)?;
    loops::check_active(held.raw())?;
    if let (None, Some(session)) = (loops::owner(held.raw()), &caller.session) {
        store
            .set_session(held.raw().record(), session, "bind", &actor.to_string())
            .map_err(Failure::internal)?;
    }
    store.touch(&id).map_err(Failure::internal)?;
    store.log(&format!("{id} chosen by {actor}"));
    out::line(&format!(
        "The stops of its session drive loop {id} now, until another of its loops is changed or chosen."
    ));
    Ok(Exit::Complete)
}

/// Brings a loop back if it is archived, and writes its document again if an older one was put back, such as by a checkout.
/// Returns whether it was archived.
fn bring_back(info: &ProgramInfo, store: &Store, id: &LoopId) -> Result<bool, Failure> {
    let is_archived = store.has_archived(id);
    if is_archived {
        store.unarchive(id).map_err(Failure::refusal)?;
        let folder = text::shown(store.folder());
        out::line(&format!("Loop {id} was brought back from {folder}/archive"));
    }
    let kept = store
        .render_again(id)
        .map_err(|error| incompatible::failure(info, error.into()))?;
    if let Some(kept) = kept {
        out::line(&format!(
            "Loop {id} keeps its state: {} was written again, and the file that was there is kept as {}",
            text::shown(store.path_of(id)),
            text::shown(&kept)
        ));
    }
    Ok(is_archived)
}
