//! `pause` and `resume`: no stop drives a loop that the user paused; a paused, archived or waiting loop continues.

use super::arguments::Target;
use super::builder::Program;
use super::caller::{Caller, UNKNOWN};
use super::exit::{Exit, Failure};
use super::info::ProgramInfo;
use super::{adopt, incompatible, last_message, loops, messages, next_action, out, rounds, verbs};
use crate::machine::held::OpenError;
use crate::machine::{PhaseDeclaration as _, Raw};
use crate::store::{LoopId, Store};
use crate::text;

/// Resumes a loop: brings it back from the archive, ends its pause, and takes its transition `resume`, if it has one here.
pub(super) fn resume(
    program: &Program,
    target: &Target,
    adopt: bool,
    yes: bool,
) -> Result<Exit, Failure> {
    let info = program.info;
    let caller = Caller::from_env();
    let (id, is_adopt_typed, actor) = loops::named(info, target, "resume")?;
    let adopt = adopt || is_adopt_typed;
    loops::person_only(info, actor, "resume", id.as_deref())?;
    let (store, id) = loops::find_called(info, id.as_deref(), &caller)?;
    let command = format!("resume {id} --adopt");
    if adopt && !yes && !target.from_prompt && !adopt::is_consented(info, &id, &command)? {
        out::line("Nothing was changed.");
        return Ok(Exit::Refused);
    }

    let settings = loops::settings(info, store.root(), None)?;
    bring_back(&store, &id)?;
    write_again(info, &store, &id)?;
    let held = loops::open(program, &store, &id, actor)?;
    if set_paused(&store, &id, false)? {
        out::line(&format!("Loop {id} is no longer paused."));
    }
    program.prepare(&*held, &settings, actor);

    let phase = messages::phase(held.raw());
    let adopt = adopt || messages::is_for_any_session(info.table, held.raw().phase());
    let mut edges = info.table.edges_at("resume", held.raw().phase());
    let verb = program
        .app
        .plain("resume", &id)
        .filter(|_| phase.terminal || edges.next().is_some());
    if let Some(verb) = verb {
        let held = verbs::take(program, verb, held, &settings)?;
        out::line(&format!(
            "Loop {id} goes on in phase {}.",
            describe_phase(held.raw())
        ));
        return print_session(info, held.raw(), &caller, adopt);
    }
    if phase.terminal {
        return Err(loops::over(held.raw()));
    }
    let next = next_action::describe(program, &*held);
    out::line(&format!(
        "Loop {id} is in phase {} and waits for {}\nNext: {}",
        phase.name, next.waits_for, next.next
    ));
    print_session(info, held.raw(), &caller, adopt)?;
    last_message::print(program, &*held);
    Ok(Exit::Complete)
}

/// Pauses a loop.
pub(super) fn pause(program: &Program, target: &Target) -> Result<Exit, Failure> {
    let info = program.info;
    let (id, _, actor) = loops::named(info, target, "pause")?;
    loops::person_only(info, actor, "pause", id.as_deref())?;
    let (store, id) = loops::find_called(info, id.as_deref(), &Caller::from_env())?;
    let held = loops::open(program, &store, &id, actor)?;
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

/// Returns the phase of a loop, with its round if it has rounds.
fn describe_phase(raw: &Raw) -> String {
    let phase = messages::phase(raw);
    match phase.review().filter(|spec| !spec.is_numbered()) {
        Some(spec) => format!("{}, {}", phase.name, rounds::of_most(raw, spec)),
        None => phase.name.to_owned(),
    }
}

/// Prints whose stops drive a loop, and takes it over before that if `adopt` says so.
fn print_session(
    info: &ProgramInfo,
    raw: &Raw,
    caller: &Caller,
    adopt: bool,
) -> Result<Exit, Failure> {
    let id = raw.id();
    let owner = text::one_line(&raw.text(info.state.fields.session), 200);
    if adopt && caller.session.as_ref() != Some(&owner) {
        return adopt::adopt_held(raw);
    }
    let line = match &caller.session {
        _ if [UNKNOWN, ""].contains(&owner.as_str()) => {
            "It belongs to no session: the next one that ends a turn in this project takes it."
                .to_owned()
        }
        Some(session) if *session == owner => "The next stop of this session drives it.".to_owned(),
        Some(_) => format!(
            "It belongs to session {owner}; to take it over into this one:{}",
            info.command(&format!("adopt {id}"))
        ),
        None => format!(
            "The stops of session {owner} drive it. To hand it to the next session that ends a turn in this project:{}",
            text::command_lines(&[format!("{} resume {id} --adopt", info.program)])
        ),
    };
    out::line(&line);
    Ok(Exit::Complete)
}

/// Brings a loop back if it is archived.
fn bring_back(store: &Store, id: &LoopId) -> Result<(), Failure> {
    if !store.has_archived(id) {
        return Ok(());
    }
    store
        .unarchive(id)
        .map_err(|error| Failure::new(Exit::Refused, error))?;
    out::line(&format!(
        "Loop {id} was brought back from {}/archive",
        text::shown(store.folder())
    ));
    Ok(())
}

/// Writes the document of a loop again if an older one was put back, such as by a checkout.
fn write_again(info: &ProgramInfo, store: &Store, id: &LoopId) -> Result<(), Failure> {
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
