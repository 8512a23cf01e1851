//! `pause`, `resume` and `use`: no stop drives a loop that the user paused; a paused, archived or waiting loop continues; of
//! several loops of a session the stops drive the one that was chosen last.

use super::arguments::LoopArgs;
use super::builder::Program;
use super::caller::Caller;
use super::exit::{Exit, Failure};
use super::info::ProgramInfo;
use super::{adopt, incompatible, last_message, loops, messages, next_action, out, rounds, verbs};
use crate::machine::OpenError;
use crate::machine::{Actor, PhaseDeclaration as _, Raw};
use crate::store::{LoopId, Store};
use crate::text;

/// Resumes a loop: brings it back from the archive, ends its pause, and takes its transition `resume`, if it has one here.
pub(super) fn resume(
    program: &Program,
    target: &LoopArgs,
    adopt: bool,
    yes: bool,
) -> Result<Exit, Failure> {
    let info = program.info;
    let (id, is_adopt_typed) = loops::named_by_user(info, target, "resume")?;
    let adopt = adopt || is_adopt_typed;
    let (store, id) = loops::find(info, id.as_deref())?;
    if adopt && !yes && !target.from_prompt {
        adopt::check_consent(info, &id, &format!("resume {id} --adopt"))?;
    }

    let settings = loops::settings(info, store.root(), None)?;
    bring_back(info, &store, &id)?;
    let held = loops::open(program, &store, &id, Actor::Person)?;
    if set_paused(&store, &id, false)? {
        out::line(&format!("Loop {id} is no longer paused."));
    }
    program.prepare(&*held, &settings, Actor::Person);

    let phase = held.raw().phase();
    let is_over = messages::phase(held.raw()).terminal;
    let adopt = adopt || messages::is_for_any_session(info.table, phase);
    let has_edge = info.table.edges_at("resume", phase).next().is_some();
    let verb = program.app.plain("resume", &id);
    if let Some(verb) = verb.filter(|_| is_over || has_edge) {
        let held = verbs::take(program, verb, held, &settings)?;
        let raw = held.raw();
        let phase = messages::phase(raw);
        let spec = phase.review().filter(|spec| !spec.is_numbered());
        let round = spec.map(|spec| format!(", {}", rounds::of_most(raw, spec)));
        out::line(&format!(
            "Loop {id} goes on in phase {}{}.",
            phase.name,
            round.unwrap_or_default()
        ));
        return print_session(info, raw, adopt);
    }
    loops::check_active(held.raw())?;
    let next = next_action::describe(program, &*held);
    out::line(&format!(
        "Loop {id} is in phase {} and waits for {}\nNext: {}",
        messages::phase(held.raw()).name,
        next.waits_for,
        next.next
    ));
    print_session(info, held.raw(), adopt)?;
    last_message::print(program, &*held);
    Ok(Exit::Complete)
}

/// Pauses a loop.
pub(super) fn pause(program: &Program, target: &LoopArgs) -> Result<Exit, Failure> {
    let info = program.info;
    let (id, _) = loops::named_by_user(info, target, "pause")?;
    let (store, id) = loops::find(info, id.as_deref())?;
    loops::open_active(program, &store, &id, Actor::Person)?;
    set_paused(&store, &id, true)?;
    out::line(&format!(
        "Loop {id} is paused: no stop drives it. To continue it:{}",
        info.command(&format!("resume {id}"))
    ));
    Ok(Exit::Complete)
}

/// Makes the stops of a session drive a loop: of this session, or, from a terminal, of the session that has the loop.
pub(super) fn choose(program: &Program, id: &str) -> Result<Exit, Failure> {
    let caller = Caller::from_env();
    let actor = caller.actor(false);
    let (store, id) = loops::find(program.info, Some(id))?;
    let held = loops::open_active(program, &store, &id, actor)?;
    if let (None, Some(session)) = (loops::owner(held.raw()), &caller.session) {
        store
            .set_session(held.raw().record(), session, "bind", &actor.to_string())
            .map_err(|error| Failure::new(Exit::Internal, error))?;
    }
    store
        .touch(&id)
        .map_err(|error| Failure::new(Exit::Internal, error))?;
    store.log(&format!("{id} chosen by {actor}"));
    out::line(&format!(
        "The stops of its session drive loop {id} now, until another of its loops is changed or chosen."
    ));
    Ok(Exit::Complete)
}

/// Pauses a loop, or ends its pause. Returns whether that changed anything.
fn set_paused(store: &Store, id: &LoopId, paused: bool) -> Result<bool, Failure> {
    let is_new = store
        .pause(id, paused)
        .map_err(|error| Failure::new(Exit::Internal, error))?;
    if is_new {
        store.log(&format!("{id} paused: {paused}"));
    }
    Ok(is_new)
}

/// Prints whose stops drive a loop, and takes it over before that if `adopt` says so.
fn print_session(info: &ProgramInfo, raw: &Raw, adopt: bool) -> Result<Exit, Failure> {
    let id = raw.id();
    let session = Caller::from_env().session;
    let owner = loops::owner(raw);
    if adopt && (session.is_none() || session != owner) {
        return adopt::adopt_held(raw);
    }
    let shown = text::one_line(owner.as_deref().unwrap_or_default(), 200);
    out::line(&match session {
        _ if owner.is_none() => {
            "It belongs to no session: the next one that ends a turn in this project takes it."
                .to_owned()
        }
        Some(_) if session == owner => "The next stop of this session drives it.".to_owned(),
        Some(_) => format!(
            "It belongs to session {shown}; to take it over into this one:{}",
            info.command(&format!("adopt {id}"))
        ),
        None => format!(
            "The stops of session {shown} drive it. To hand it to the next session that ends a turn in this project:{}",
            text::command_lines(&[format!("{} resume {id} --adopt", info.program)])
        ),
    });
    Ok(Exit::Complete)
}

/// Brings a loop back if it is archived, and writes its document again if an older one was put back, such as by a checkout.
fn bring_back(info: &ProgramInfo, store: &Store, id: &LoopId) -> Result<(), Failure> {
    if store.has_archived(id) {
        store
            .unarchive(id)
            .map_err(|error| Failure::new(Exit::Refused, error))?;
        let folder = text::shown(store.folder());
        out::line(&format!("Loop {id} was brought back from {folder}/archive"));
    }
    let kept = store
        .render_again(id)
        .map_err(|error| incompatible::failure(info, OpenError::Store(error)))?;
    if let Some(kept) = kept {
        out::line(&format!(
            "Loop {id} keeps its state: {} was written again, and the file that was there is kept as {}",
            text::shown(store.path_of(id)),
            text::shown(&kept)
        ));
    }
    Ok(())
}
