//! The loops that commands are about: finding them, opening them, and who may decide about them.

use camino::Utf8Path;

use super::app::HeldLoop;
use super::arguments::Target;
use super::builder::Program;
use super::caller::{Caller, UNKNOWN};
use super::exit::{Exit, Failure};
use super::incompatible::{self, ends_anywhere};
use super::info::ProgramInfo;
use super::settings::Settings;
use super::{attempts, locate, messages, out, session_loops, slash_arguments};
use crate::machine::held::OpenError;
use crate::machine::{Actor, Raw, Table};
use crate::store::{Listed, LoopId, Store};
use crate::text;

pub use super::locate::here;

/// Checks that every state folder above the working directory can be used.
///
/// # Errors
/// Returns an error if one cannot be used, because its loops are unknown then.
pub fn all_usable(info: &ProgramInfo) -> Result<(), Failure> {
    let stores = locate::stores(info.state, &[&here()?]);
    match stores.iter().find_map(Store::refusal) {
        Some(error) => Err(Failure::new(Exit::Refused, error)),
        None => Ok(()),
    }
}

/// Finds the loop with an id, or the active one.
///
/// # Errors
/// Returns an error if there is no such loop.
pub fn find(info: &ProgramInfo, id: Option<&str>) -> Result<(Store, LoopId), Failure> {
    let here = here()?;
    match id {
        Some(id) => locate::by_id(info, &here, id),
        None => locate::active(info, &here),
    }
}

/// Finds the loop with an id, or the active one, or the one that finished last.
///
/// # Errors
/// Returns an error if there is no such loop, or if more than one is active.
pub fn find_to_look(info: &ProgramInfo, id: Option<&str>) -> Result<(Store, LoopId), Failure> {
    let newest = |failure: Failure| {
        let here = here()?;
        if id.is_some() || !locate::active_loops(info.state, &here).is_empty() {
            return Err(failure);
        }
        let last = locate::last_over(info.state, &here);
        last.map(|(store, listed)| (store, listed.id))
            .ok_or(failure)
    };
    find(info, id).or_else(newest)
}

/// Finds the loop that the caller means without an id: the one that the stops of the session drive, or an archived one of the
/// session, or the only active one.
///
/// # Errors
/// Returns an error if there is no such loop.
pub fn find_for(info: &ProgramInfo, caller: &Caller) -> Result<(Store, LoopId), Failure> {
    let here = here()?;
    if let Some(session) = caller.session.as_deref() {
        let own = |listed: &Listed| listed.session.as_deref() == Some(session) && !listed.terminal;
        let mut active = locate::active_loops(info.state, &here);
        active.retain(|(_, listed)| own(listed));
        session_loops::order(info, session, &mut active);
        if let Some((store, listed)) = active.into_iter().next() {
            return Ok((store, listed.id));
        }
        if let Some(archived) =
            session_loops::archived(&locate::stores(info.state, &[&here]), session)
        {
            return Ok(archived);
        }
    }
    find(info, None)
}

/// Finds the loop with an id, or the one that the caller means ([`find_for`]).
pub(super) fn find_called(
    info: &ProgramInfo,
    id: Option<&str>,
    caller: &Caller,
) -> Result<(Store, LoopId), Failure> {
    match id {
        Some(_) => find(info, id),
        None => find_for(info, caller),
    }
}

/// Refuses a command of the user's to an agent, and notes the attempt in the loop that it is about. `command` is the command line.
///
/// # Errors
/// Returns an error if the call comes from an agent.
pub fn person_only(
    info: &ProgramInfo,
    actor: Actor,
    command: &str,
    id: Option<&str>,
) -> Result<(), Failure> {
    if actor == Actor::Person {
        return Ok(());
    }
    let name = command.split(' ').next().unwrap_or(command);
    if let Ok((store, id)) = find(info, id) {
        store.log(&format!("{id} {name} refused: it came from an agent"));
        attempts::note(&store, &id, actor, name, "only for the user");
    }
    let help = match info.slash(command) {
        Some(typed) => format!(
            "ask the user to type {typed}, or to run in a terminal:{}",
            text::command_lines(&[format!("{} {command}", info.program)])
        ),
        None => format!(
            "ask the user to run in a terminal:{}",
            info.command(command)
        ),
    };
    Err(Failure::plain(
        Exit::Refused,
        format!("an agent may not run ‘{name}’"),
        &help,
    ))
}

/// Refuses an agent a change of another session's loop, and notes the attempt there.
///
/// # Errors
/// Returns an error if `actor` is an agent and the loop belongs to another session.
pub fn own_session(info: &ProgramInfo, raw: &Raw, actor: Actor) -> Result<(), Failure> {
    let id = raw.id();
    let owner = raw.text(info.state.fields.session);
    let is_own = Caller::from_env().session.as_ref() == Some(&owner);
    if actor != Actor::Agent || is_own || [UNKNOWN, ""].contains(&owner.as_str()) {
        return Ok(());
    }
    attempts::note(raw.store(), id, actor, "a change", "of another session");
    let adopt = info.command(&format!("adopt {id}"));
    Err(Failure::plain(
        Exit::Refused,
        format!("loop {id} belongs to another session"),
        &format!("ask the user to take it over:{adopt}"),
    ))
}

/// Prints the repairs of a loop that was opened for a change.
pub fn tell_repairs(info: &ProgramInfo, raw: &Raw) {
    for repair in raw.repairs() {
        out::note(&info.line(&repair.to_string()));
    }
}

/// Opens a loop for a change, and prints the repairs.
pub(super) fn open(
    program: &Program,
    store: &Store,
    id: &LoopId,
    actor: Actor,
) -> Result<HeldLoop, Failure> {
    opened(program.info, program.app.open(store, id, actor))
}

/// Checks a loop that was opened for a change, and prints the repairs.
pub(super) fn opened(
    info: &ProgramInfo,
    opened: Result<HeldLoop, OpenError>,
) -> Result<HeldLoop, Failure> {
    let held = opened.map_err(|error| incompatible::failure(info, error))?;
    tell_repairs(info, held.raw());
    own_session(info, held.raw(), held.raw().actor())?;
    Ok(held)
}

/// Returns whether a transition gives up a loop that this version of the machine cannot open. It must end loops in any phase.
pub fn can_be_given_up<T>(opened: &Result<T, OpenError>, table: &Table, transition: &str) -> bool {
    matches!(
        opened,
        Err(OpenError::Phase { .. } | OpenError::Field { .. })
    ) && ends_anywhere(table, transition)
}

/// Archives a loop that this version of the machine cannot open.
///
/// # Errors
/// Returns an error if its review or command is running, or if the files cannot be moved.
pub fn give_up(store: &Store, id: &LoopId) -> Result<Exit, Failure> {
    store
        .archive(id)
        .map_err(|error| Failure::new(Exit::Refused, error))?;
    out::line(&format!(
        "Loop {id} was given up; its files were moved to {}/archive/{id}",
        text::shown(store.folder())
    ));
    Ok(Exit::Complete)
}

/// Returns the id that was typed here or after the slash command, whether `--adopt` was typed there, and the actor.
pub(super) fn named(
    info: &ProgramInfo,
    target: &Target,
    command: &str,
) -> Result<(Option<String>, bool, Actor), Failure> {
    let caller = Caller::from_env();
    if !target.from_prompt {
        return Ok((target.id.clone(), false, caller.actor(false)));
    }
    let typed = slash_arguments::taken(info, command, &caller)?;
    let words = typed.split_whitespace();
    let (flags, id): (Vec<&str>, Vec<&str>) =
        words.partition(|word| ["--adopt", "--yes"].contains(word));
    let id = Some(id.join(" ")).filter(|id| !id.is_empty());
    Ok((id, flags.contains(&"--adopt"), caller.actor(true)))
}

/// Returns the id that was typed here or after one of these slash commands, which only show a loop.
pub(super) fn id_to_show(
    info: &ProgramInfo,
    target: &Target,
    commands: &[&str],
) -> Result<Option<String>, Failure> {
    if !target.from_prompt {
        return Ok(target.id.clone());
    }
    let caller = Caller::from_env();
    for command in commands {
        if let Some(typed) = slash_arguments::take(info, command, &caller)? {
            return Ok(Some(typed.trim().to_owned()).filter(|id| !id.is_empty()));
        }
    }
    Ok(None)
}

/// Loads the settings of a project for a command about a loop of this session, and prints the settings that are ignored.
///
/// # Errors
/// Returns an error if they cannot be used.
pub fn settings(
    info: &'static ProgramInfo,
    root: &Utf8Path,
    session: Option<&str>,
) -> Result<Settings, Failure> {
    let settings = Settings::for_call(info, root, &Caller::from_env(), session)
        .map_err(|error| Failure::new(Exit::Usage, error))?;
    for line in &settings.ignored {
        out::note(line);
    }
    Ok(settings)
}

/// Loads the settings of the project of the working directory.
pub(super) fn settings_here(info: &'static ProgramInfo) -> Result<Settings, Failure> {
    settings(info, &locate::root(info.state, &here()?), None)
}

/// Returns the error about a loop that is over.
pub(super) fn over(raw: &Raw) -> Failure {
    let why = format!("loop {} is over", raw.id());
    Failure::plain(Exit::Refused, why, &messages::unchanged(raw))
}
