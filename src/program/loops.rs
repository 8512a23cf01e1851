//! The loops of commands: finding them, opening them, and who may decide about them.

use camino::Utf8Path;

use super::app::{HeldLoop, Program};
use super::caller::Caller;
use super::exit::{Exit, Failure};
use super::info::ProgramInfo;
use super::locate::{FoundLoop, StateFolders};
use super::settings::{Settings, call_environment};
use super::{attempts, locate, next_action, open_error, out};
use crate::machine::{Actor, Raw};
use crate::store::{LoopId, Store};
use crate::text;

const MAX_LINE_CHARS: usize = 300;

pub use super::locate::current_folder;

/// Checks that every state folder above can be used. Otherwise loops in it would be overlooked.
pub(super) fn check_folders(info: &ProgramInfo) -> Result<(), Failure> {
    let refusal = StateFolders::find_here(info.state)?.refusal();
    refusal.map_or(Ok(()), |error| Err(Failure::refusal(error)))
}

/// Finds the loop with an id, or else the session's loop, or else the only active one.
///
/// # Errors
/// Returns an error if there is no such loop.
pub fn find(info: &ProgramInfo, id: Option<&str>) -> Result<(Store, LoopId), Failure> {
    let folders = StateFolders::find_here(info.state)?;
    let Some(id) = id else {
        let found = Caller::from_env().session.and_then(|session| {
            let mut owned = folders.owned(&session).into_iter();
            owned.next().or_else(|| folders.archived(&session))
        });
        return found.map_or_else(|| find_active(info), |found| Ok(found.into_parts()));
    };
    let list = format!("`{} list` shows the loops of this project", info.program);
    let id = LoopId::parse(id, info.state.ids).map_err(|_| {
        let problem = format!("`{}` is not the id of a loop", text::one_line(id, 60));
        Failure::with_help(Exit::Usage, problem, &list)
    })?;
    let has_loop = |store: &Store| {
        let folder = store.loop_folder(&id);
        store.path_of(&id).symlink_metadata().is_ok() || folder.is_dir() || store.has_archived(&id)
    };
    let store = folders.stores.into_iter().find(has_loop);
    let store = store.ok_or_else(|| search_failure(&format!("loop {id} not found"), &list))?;
    Ok((store, id))
}

fn search_failure(problem: &str, help: &str) -> Failure {
    let here = current_folder().unwrap_or_default();
    Failure::refuse(format!("{problem} in {}", text::printable(&here)), help)
}

/// Returns the store that has a loop: the archive or the folder itself.
pub fn place_of(store: &Store, id: &LoopId) -> Store {
    if store.has_archived(id) {
        store.archived_store(id)
    } else {
        store.clone()
    }
}

/// Finds the only active loop, even one that cannot be opened if there is no other.
pub(super) fn find_active(info: &ProgramInfo) -> Result<(Store, LoopId), Failure> {
    let folders = StateFolders::find_here(info.state)?;
    let active = folders.active();
    let usable = active.iter().filter(|one| one.is_usable());
    let ids: Vec<_> = usable.map(|one| one.id.as_str()).collect();
    if ids.len() > 1 {
        let problem = format!("more than one loop is active: {}", ids.join(", "));
        return Err(Failure::refuse(problem, "give one of these ids"));
    }
    if let Some(found) = active.into_iter().next() {
        return Ok(found.into_parts());
    }
    let archived = folders.newest(Store::archived).into_iter().next();
    let help = archived.map_or_else(
        || {
            format!(
                "to see the others:{}",
                info.named_command("history", "list")
            )
        },
        |found| locate::archived_note(info, &found.id, ""),
    );
    Err(search_failure("no loop is active", &help))
}

/// Returns the active loops of the working directory, or else the one that finished last.
pub(super) fn newest(info: &ProgramInfo) -> Result<Vec<(Store, LoopId)>, Failure> {
    let folders = StateFolders::find_here(info.state)?;
    let mut loops = folders.newest(Store::list_active);
    if loops.is_empty() {
        // An older loop is not read.
        let newest_of = |store: &Store| {
            let mut listed = store.list();
            Vec::from_iter(listed.find(|one| store.is_for(one.root.as_deref())))
        };
        loops = folders.newest(newest_of);
        loops.truncate(1);
    }
    Ok(loops.into_iter().map(FoundLoop::into_parts).collect())
}

/// Finds the loop with an id, or the active one, or the one that finished last.
///
/// # Errors
/// Returns an error if there is no such loop, or if more than one is active.
pub fn find_or_newest(info: &ProgramInfo, id: Option<&str>) -> Result<(Store, LoopId), Failure> {
    find(info, id).or_else(|failure| match (id, newest(info)?.as_slice()) {
        (None, [found]) => Ok(found.clone()),
        _ => Err(failure),
    })
}

/// Refuses an agent a command of the user, and notes the attempt in the loop.
///
/// # Errors
/// Returns an error if the call comes from an agent.
pub fn check_person(info: &ProgramInfo, name: &str, id: Option<&str>) -> Result<(), Failure> {
    let actor = Caller::from_env().actor();
    if actor == Actor::Person {
        return Ok(());
    }
    if let Ok((store, id)) = find(info, id) {
        attempts::note(&store, &id, actor, name, "only for the user");
    }
    let problem = format!("an agent may not run ‘{name}’");
    let help = format!("ask the user to:{}", info.command(&typed_line()));
    Err(Failure::refuse(problem, &help))
}

/// Returns the arguments of this process as words of a shell, such as `more --rounds 2`.
pub(super) fn typed_line() -> String {
    let words = std::env::args().skip(1).map(|word| text::shell_word(&word));
    text::one_line(&words.collect::<Vec<_>>().join(" "), MAX_LINE_CHARS)
}

/// Opens a loop for a change, and prints the repairs.
pub(super) fn open(
    program: &Program,
    store: &Store,
    id: &LoopId,
    actor: Actor,
) -> Result<HeldLoop, Failure> {
    let opened = program.app.open(store, id, actor);
    let held = opened.map_err(|error| open_error::failure(program.info, error))?;
    check_opened(program.info, held.raw(), actor)?;
    Ok(held)
}

pub(super) fn open_found(program: &Program, id: Option<&str>) -> Result<HeldLoop, Failure> {
    let actor = Caller::from_env().actor();
    let (store, id) = find(program.info, id)?;
    let settings = settings(program.info, store.root(), None)?;
    let held = open(program, &store, &id, actor)?;
    program.prepare(&*held, &settings, actor);
    Ok(held)
}

/// Prints the repairs of an opened loop, and refuses an agent another session's loop.
///
/// # Errors
/// Returns an error if `actor` is an agent and the loop belongs to another session.
pub fn check_opened(info: &ProgramInfo, raw: &Raw, actor: Actor) -> Result<(), Failure> {
    for repair in raw.record().repairs() {
        out::note(&info.line(repair));
    }
    let owner = owner(raw);
    if actor != Actor::Agent || owner.is_none() || owner == Caller::from_env().session {
        return Ok(());
    }
    let id = raw.id();
    attempts::note(raw.store(), id, actor, "a change", "of another session");
    let adopt = info.command(&format!("adopt {id}"));
    let problem = format!("loop {id} belongs to another session");
    let help = format!("ask the user to take it over:{adopt}");
    Err(Failure::refuse(problem, &help))
}

/// Returns the session of a loop.
pub fn owner(raw: &Raw) -> Option<String> {
    let session = raw.record().session();
    session.filter(|session| locate::is_known(session))
}

/// Loads the settings for a command about this session's loop, and prints those that are ignored.
///
/// # Errors
/// Returns an error if they cannot be used.
pub fn settings(
    info: &'static ProgramInfo,
    root: &Utf8Path,
    session: Option<&str>,
) -> Result<Settings, Failure> {
    let settings = Settings::read(info, root, &call_environment(info, session))?;
    for line in &settings.ignored {
        out::note(line);
    }
    Ok(settings)
}

pub(super) fn settings_here(info: &'static ProgramInfo) -> Result<Settings, Failure> {
    settings(
        info,
        locate::nearest(info.state, &current_folder()?).root(),
        None,
    )
}

pub(super) fn check_active(raw: &Raw) -> Result<(), Failure> {
    if !raw.phase_info().terminal {
        return Ok(());
    }
    let problem = format!("loop {} is over", raw.id());
    Err(Failure::refuse(problem, &next_action::unchanged(raw)))
}
