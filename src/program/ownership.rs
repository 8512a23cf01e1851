//! `resume`, `pause`, `use` and `adopt`: which loops are driven, and by which session. No stop
//! drives a paused loop; of a session's several loops, stops drive the one that was chosen last.

use std::io::{self, BufRead, IsTerminal, Write};

use super::app::Program;
use super::caller::{Caller, UNKNOWN};
use super::exit::{CommandResult, Exit, Failure};
use super::info::ProgramInfo;
use super::locate::{StateFolders, is_for_any_session};
use super::session_start::MAX_QUIET_TIME;
use super::{last_message, loops, next_action, open_error, out, verbs};
use crate::machine::{Actor, Raw};
use crate::store::{LoopId, Store, StoreError};
use crate::text;

/// Resumes a loop: restores it from the archive, ends its pause, takes its transition `resume`, if
/// it is open, and takes it over into the caller's session.
pub(super) fn resume(program: &Program, id: Option<&str>) -> CommandResult {
    let info = program.info;
    loops::check_person(info, "resume", id)?;
    let (store, id) = loops::find(info, id)?;
    let settings = loops::settings(info, store.root(), None)?;
    let was_archived = bring_back(program, &store, &id)?;
    let held = loops::open(program, &store, &id, Actor::Person)?;
    if was_archived && held.raw().phase_info().terminal {
        out::line("It is over, so nothing continues it.");
        return Ok(Exit::Complete);
    }
    store.set_paused(&id, false).map_err(Failure::internal)?;
    program.prepare(&*held, &settings, Actor::Person);

    let is_for_any = is_for_any_session(info.table, held.raw().phase());
    let mut edges = info.table.edges_at("resume", held.raw().phase());
    let must_take = held.raw().phase_info().terminal || edges.next().is_some();
    let held = match verbs::parse(info.table, "resume", Vec::new()) {
        Ok(verb) if must_take => verbs::take(program, verb, held)?,
        _ => held,
    };
    let raw = held.raw();
    loops::check_active(raw)?;
    let phase = raw.phase_info().name;
    let action = next_action::describe(program, &*held);
    let waits_for = &action.waits_for;
    out::line(&format!(
        "Loop {id} continues in phase {phase} and waits for {waits_for}"
    ));
    out::line(&format!("Next: {}", action.next));
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
        _ => adopt_held(raw)?,
    }
    last_message::print(program, &*held);
    Ok(Exit::Complete)
}

pub(super) fn pause(program: &Program, id: Option<&str>) -> CommandResult {
    let info = program.info;
    loops::check_person(info, "pause", id)?;
    let (store, id) = loops::find(info, id)?;
    loops::check_active(loops::open(program, &store, &id, Actor::Person)?.raw())?;
    store.set_paused(&id, true).map_err(Failure::internal)?;
    store.log(&format!("{id} paused by the user"));
    let resume = info.command(&format!("resume {id}"));
    let line = format!("Loop {id} is paused: no stop drives it. To continue it:{resume}");
    out::line(&line);
    Ok(Exit::Complete)
}

/// Makes the stops of this session drive a loop; from a terminal, those of the session that has it.
pub(super) fn choose(program: &Program, id: &str) -> CommandResult {
    let caller = Caller::from_env();
    let actor = caller.actor();
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
    out::line(&match loops::owner(held.raw()).or(caller.session) {
        Some(_) => format!(
            "The stops of its session drive loop {id} now, until another of its loops is changed or chosen."
        ),
        None => {
            format!("Loop {id} has no session yet: the next one that ends a turn here takes it.")
        }
    });
    Ok(Exit::Complete)
}

/// Restores an archived loop and a replaced document. Returns whether it was archived.
fn bring_back(program: &Program, store: &Store, id: &LoopId) -> Result<bool, Failure> {
    let is_archived = store.has_archived(id);
    let failed = |error: StoreError| open_error::start_failure(program, store, error.into());
    if is_archived {
        // A loop that cannot be opened stays in the archive, where it is in nobody's way.
        let opened = program
            .app
            .open(&loops::place_of(store, id).read_only(), id, Actor::Person);
        drop(opened.map_err(|error| open_error::failure(program.info, error))?);
        store.unarchive(id).map_err(failed)?;
        let folder = text::printable(store.folder());
        out::line(&format!("Loop {id} was brought back from {folder}/archive"));
    }
    if let Some(kept) = store.render_again(id).map_err(failed)? {
        let [path, kept] = [store.path_of(id), kept].map(text::printable);
        out::line(&format!(
            "Loop {id} keeps its state: {path} was written again, and the file that was there is kept as {kept}"
        ));
    }
    Ok(is_archived)
}

/// Takes a loop over. Asks first if another session may use it, but not after a slash command.
pub(super) fn adopt(program: &Program, id: Option<&str>, yes: bool) -> CommandResult {
    let info = program.info;
    loops::check_person(info, "adopt", id)?;
    let is_named = id.is_some();
    let (store, id) = match id {
        None => loops::find_active(info)?,
        id => loops::find(info, id)?,
    };
    if !yes && !Caller::from_env().is_slash_command {
        check_consent(info, &id)?;
    }
    // A loop that is not the user's is refused below without its name.
    let failed = |error: StoreError| open_error::failure(info, error.into());
    if is_named && store.take_over(&id).map_err(failed)? {
        store.log(&format!("{id} taken over by the user"));
        let root = store.root();
        out::line(&format!("Loop {id} was taken over: it belongs to {root}."));
    }
    let held = loops::open(program, &store, &id, Actor::Person)?;
    adopt_held(held.raw())?;
    last_message::print(program, &*held);
    Ok(Exit::Complete)
}

/// Takes a loop over into the caller's session, or from a terminal into the next that ends a turn.
///
/// # Errors
/// Returns an error if the loop is over or cannot be changed.
pub fn adopt_held(raw: &Raw) -> Result<(), Failure> {
    loops::check_active(raw)?;
    let store = raw.store();
    let id = raw.id();
    let session = Caller::from_env().session;
    let owner = session.as_deref().unwrap_or(UNKNOWN);
    store
        .set_session(raw.record(), owner, "adopt", &raw.actor().to_string())
        .map_err(Failure::internal)?;
    store.log(&format!("{id} adopted by session {owner}"));
    out::line(&match session {
        Some(_) => format!("Loop {id} belongs to this session now."),
        None => format!(
            "Loop {id} belongs to no session now: the next session that ends a turn in this project takes it."
        ),
    });
    Ok(())
}

/// Asks on the terminal for a yes. Without a terminal, `problem` and `help` refuse the command.
pub(super) fn confirm(question: &str, problem: &str, help: &str) -> Result<(), Failure> {
    if !io::stdin().is_terminal() {
        return Err(Failure::refuse(problem, help));
    }
    let _ = write!(io::stderr(), "{question} [y/N] ");
    let mut answer = String::new();
    let _ = io::stdin().lock().read_line(&mut answer);
    match answer.trim().to_lowercase().as_str() {
        "y" | "yes" => Ok(()),
        _ => Err(Failure::refuse("you did not agree", "nothing was changed")),
    }
}

/// Asks before a loop is taken from a session that may still work on it.
///
/// # Errors
/// Returns an error if the user does not agree, or cannot be asked without a terminal.
pub fn check_consent(info: &ProgramInfo, id: &LoopId) -> Result<(), Failure> {
    let session = Caller::from_env().session;
    let active = StateFolders::find_here(info.state)?.active();
    // A loop that was not started here is a copy, and no session waits for it.
    let found = active.iter().find(|one| one.id == *id && one.is_usable());
    let Some((found, owner)) = found.and_then(|found| Some((found, found.owner()?))) else {
        return Ok(());
    };
    let idle = found.modified.elapsed().unwrap_or_default();
    let is_own = session.as_deref() == Some(owner);
    if is_own || found.is_for_any_session(info.table) || idle >= MAX_QUIET_TIME {
        return Ok(());
    }
    let owner = text::one_line(owner, 100);
    let age = text::elapsed(idle.as_secs());
    let risk =
        format!("session {owner} may be working on loop {id}: its last sign of life was {age} ago");
    // A slash command does not ask.
    let adopt = info.named_command(&format!("adopt {id}"), &format!("adopt {id} --yes"));
    let help = format!("nothing was changed; if that session is over:{adopt}");
    confirm(
        &format!("{risk}.\nTake the loop over?"),
        &format!("{risk}; you cannot be asked without a terminal"),
        &help,
    )
}
