//! The loops that commands are about: finding them, opening them, and who may decide about them.

use camino::Utf8Path;

use super::app::HeldLoop;
use super::arguments::LoopArgs;
use super::builder::Program;
use super::caller::{Caller, UNKNOWN};
use super::exit::{Exit, Failure};
use super::info::ProgramInfo;
use super::settings::Settings;
use super::{attempts, incompatible, locate, messages, out, session_loops, slash_arguments};
use crate::machine::OpenError;
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

/// Finds the loop with an id. Without one: the loop that the stops of the caller's session drive, or an archived one of the
/// session, or the only active one.
///
/// # Errors
/// Returns an error if there is no such loop.
pub fn find(info: &ProgramInfo, id: Option<&str>) -> Result<(Store, LoopId), Failure> {
    let here = here()?;
    let stores = locate::stores(info.state, &[&here]);
    let Some(id) = id else {
        let own = Caller::from_env().session.and_then(|session| {
            let loops = session_loops::own(info, locate::loops_in(&stores), &session);
            let own = loops.into_iter().next();
            own.map(|(store, listed)| (store, listed.id))
                .or_else(|| session_loops::archived(&stores, &session))
        });
        return own.map_or_else(|| find_active(info), Ok);
    };

    let list = format!("`{} list` shows the loops of this project", info.program);
    let id = LoopId::parse(id, info.state.ids).map_err(|_| {
        let problem = format!("`{}` is not the id of a loop", text::one_line(id, 60));
        Failure::plain(Exit::Usage, problem, &list)
    })?;
    let has_loop = |store: &Store| {
        let folder = store.loop_folder(&id);
        store.path_of(&id).symlink_metadata().is_ok() || folder.is_dir() || store.has_archived(&id)
    };
    match stores.into_iter().find(has_loop) {
        Some(store) => Ok((store, id)),
        None => {
            let problem = format!("loop {id} not found in {}", text::shown(&here));
            Err(Failure::plain(Exit::Refused, problem, &list))
        }
    }
}

/// Finds the only active loop.
///
/// # Errors
/// Returns an error if none or more than one is active.
pub(super) fn find_active(info: &ProgramInfo) -> Result<(Store, LoopId), Failure> {
    let here = here()?;
    let (active, unusable): (Vec<_>, Vec<_>) = locate::active_loops(info.state, &here)
        .into_iter()
        .partition(|(_, listed)| listed.problem.is_none());
    let (problem, help) = match active.as_slice() {
        [(store, listed)] => return Ok((store.clone(), listed.id.clone())),
        [] => {
            let mut unusable = unusable.iter();
            let not_ours =
                unusable.find(|(store, one)| one.left_alone && store.has_journal(&one.id));
            let archived = locate::archived(info.state, &here);
            let help = if let Some((_, Listed { id, .. })) = not_ours {
                let help = incompatible::take_over(info, id.as_str());
                format!("loop {id} exists, but it is not yours; {help}")
            } else if let Some((_, Listed { id, .. })) = archived.first() {
                let help = incompatible::bring_back(info, id.as_str());
                format!("loop {id} is in the archive; {help}")
            } else {
                let list = info.named_command("history", "list");
                format!("to see finished loops:{list}")
            };
            (format!("no loop is active in {}", text::shown(&here)), help)
        }
        _ => {
            let ids = active.iter().map(|(_, listed)| listed.id.as_str());
            let ids = ids.collect::<Vec<_>>().join(", ");
            (
                format!("more than one loop is active: {ids}"),
                "give one of these ids".to_owned(),
            )
        }
    };
    Err(Failure::plain(Exit::Refused, problem, &help))
}

/// Returns the active loops of the working directory, or else the one that finished last.
///
/// # Errors
/// Returns an error if the working directory does not exist any more.
pub(super) fn newest(info: &ProgramInfo) -> Result<Vec<(Store, Listed)>, Failure> {
    let mut loops = locate::loops(info.state, &here()?);
    if loops.iter().any(|(_, listed)| !listed.terminal) {
        loops.retain(|(_, listed)| !listed.terminal);
    } else {
        loops.truncate(1);
    }
    Ok(loops)
}

/// Finds the loop with an id, or the active one, or the one that finished last.
///
/// # Errors
/// Returns an error if there is no such loop, or if more than one is active.
pub fn find_to_look(info: &ProgramInfo, id: Option<&str>) -> Result<(Store, LoopId), Failure> {
    find(info, id).or_else(|failure| match (id, newest(info)?.as_slice()) {
        (None, [(store, listed)]) => Ok((store.clone(), listed.id.clone())),
        _ => Err(failure),
    })
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

/// Opens a loop for a change, and prints the repairs.
pub(super) fn open(
    program: &Program,
    store: &Store,
    id: &LoopId,
    actor: Actor,
) -> Result<HeldLoop, Failure> {
    opened(program.info, program.app.open(store, id, actor))
}

/// Finds and opens a loop for a change by the caller, and loads its project's settings.
pub(super) fn open_found(
    program: &Program,
    id: Option<&str>,
) -> Result<(HeldLoop, Settings), Failure> {
    let actor = Caller::from_env().actor(false);
    let (store, id) = find(program.info, id)?;
    let settings = settings(program.info, store.root(), None)?;
    let held = open(program, &store, &id, actor)?;
    program.prepare(&*held, &settings, actor);
    Ok((held, settings))
}

/// Checks a loop that was opened for a change, and prints the repairs.
pub(super) fn opened(
    info: &ProgramInfo,
    opened: Result<HeldLoop, OpenError>,
) -> Result<HeldLoop, Failure> {
    let held = opened.map_err(|error| incompatible::failure(info, error))?;
    check_opened(info, held.raw(), held.raw().actor())?;
    Ok(held)
}

/// Prints the repairs of a loop that was opened for a change, and refuses an agent the loop of another session.
///
/// # Errors
/// Returns an error if `actor` is an agent and the loop belongs to another session.
pub fn check_opened(info: &ProgramInfo, raw: &Raw, actor: Actor) -> Result<(), Failure> {
    for repair in raw.repairs() {
        out::note(&info.line(repair));
    }
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

/// Returns whether a transition gives up a loop that this version of the machine cannot open. It must end loops in any phase.
pub fn can_be_given_up<T>(opened: &Result<T, OpenError>, table: &Table, transition: &str) -> bool {
    matches!(
        opened,
        Err(OpenError::Phase { .. } | OpenError::Field { .. })
    ) && incompatible::ends_anywhere(table, transition)
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

/// Returns the id that the user typed here or after the slash command, and whether `--adopt` was typed there.
///
/// # Errors
/// Returns an error if the call comes from an agent.
pub(super) fn named_by_user(
    info: &ProgramInfo,
    target: &LoopArgs,
    command: &str,
) -> Result<(Option<String>, bool), Failure> {
    if target.from_prompt {
        let typed = slash_arguments::taken(info, command, &Caller::from_env())?;
        let (flags, id): (Vec<&str>, Vec<&str>) = typed
            .split_whitespace()
            .partition(|word| ["--adopt", "--yes"].contains(word));
        let id = Some(id.join(" ")).filter(|id| !id.is_empty());
        return Ok((id, flags.contains(&"--adopt")));
    }
    let actor = Caller::from_env().actor(false);
    person_only(info, actor, command, target.id.as_deref())?;
    Ok((target.id.clone(), false))
}

/// Returns the id that was typed here or after one of these slash commands, which only show a loop.
pub(super) fn id_to_show(
    info: &ProgramInfo,
    target: &LoopArgs,
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
