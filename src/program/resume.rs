//! `pause` and `resume`: no stop drives a loop that the user paused; a paused, archived or waiting loop continues.

use super::arguments::LoopArgs;
use super::builder::Program;
use super::caller::{Caller, UNKNOWN};
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
    let command = format!("resume {id} --adopt");
    if adopt && !yes && !target.from_prompt && !adopt::is_consented(info, &id, &command)? {
        out::line("Nothing was changed.");
        return Ok(Exit::Refused);
    }

    let settings = loops::settings(info, store.root(), None)?;
    bring_back(info, &store, &id)?;
    let held = loops::open(program, &store, &id, Actor::Person)?;
    if set_paused(&store, &id, false)? {
        out::line(&format!("Loop {id} is no longer paused."));
    }
    program.prepare(&*held, &settings, Actor::Person);

    let phase = messages::phase(held.raw());
    let adopt = adopt || messages::is_for_any_session(info.table, held.raw().phase());
    let mut edges = info.table.edges_at("resume", held.raw().phase());
    let verb = program
        .app
        .plain("resume", &id)
        .filter(|_| phase.terminal || edges.next().is_some());
    if let Some(verb) = verb {
        let held = verbs::take(program, verb, held, &settings)?;
        let raw = held.raw();
        let phase = messages::phase(raw);
        let round = phase.review().filter(|spec| !spec.is_numbered());
        let round = round.map(|spec| format!(", {}", rounds::of_most(raw, spec)));
        out::line(&format!(
            "Loop {id} goes on in phase {}{}.",
            phase.name,
            round.unwrap_or_default()
        ));
        return print_session(info, raw, adopt);
    }
    if phase.terminal {
        return Err(loops::over(held.raw()));
    }
    let next = next_action::describe(program, &*held);
    out::line(&format!(
        "Loop {id} is in phase {} and waits for {}\nNext: {}",
        phase.name, next.waits_for, next.next
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
    let held = loops::open(program, &store, &id, Actor::Person)?;
    if messages::phase(held.raw()).terminal {
        return Err(loops::over(held.raw()));
    }
    set_paused(&store, &id, true)?;
    out::line(&format!(
        "Loop {id} is paused: no stop drives it. To continue it:{}",
        info.command(&format!("resume {id}"))
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
    let owner = text::one_line(&raw.text(info.state.fields.session), 200);
    if adopt && session.as_ref() != Some(&owner) {
        return adopt::adopt_held(raw);
    }
    out::line(&match session {
        _ if [UNKNOWN, ""].contains(&owner.as_str()) => {
            "It belongs to no session: the next one that ends a turn in this project takes it."
                .to_owned()
        }
        Some(session) if session == owner => "The next stop of this session drives it.".to_owned(),
        Some(_) => format!(
            "It belongs to session {owner}; to take it over into this one:{}",
            info.command(&format!("adopt {id}"))
        ),
        None => format!(
            "The stops of session {owner} drive it. To hand it to the next session that ends a turn in this project:{}",
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
