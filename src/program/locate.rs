//! The state folders above a folder, the loops in them, and those of a session. Creates nothing.
//!
//! If a session may have many loops of a machine, its stops drive the one that was changed or chosen (`use`) last.

use std::cmp::Reverse;

use camino::{FromPathBufError, Utf8Path, Utf8PathBuf};

use super::caller::UNKNOWN;
use super::exit::{Exit, Failure, with_help};
use super::incompatible;
use super::info::ProgramInfo;
use crate::store::{Active, Listed, LoopId, StateHome, StateSpec, Store};
use crate::text;

/// The most state folders that are looked at. An unpacked archive with hundreds must not hold up a turn.
const MAX_FOLDERS: usize = 32;
/// The longest note about a state folder that is not used, in characters.
const MAX_PROBLEM_CHARS: usize = 700;

/// Finds the state folders in each start and its ancestors, nearest first, each once, at most 32. One that is not
/// trusted is among them: see [`Store::refusal`].
pub fn stores(state: &'static StateSpec, starts: &[&Utf8Path]) -> Vec<Store> {
    let mut stores: Vec<Store> = Vec::new();
    for start in starts {
        let Ok(start) = start.canonicalize_utf8() else {
            continue;
        };
        for ancestor in start.ancestors() {
            let store = store_in(state, ancestor, &start);
            let is_new = stores.iter().all(|known| known.folder() != store.folder());
            // This follows symlinks: a store that is refused later must not be passed over in silence.
            if is_new && store.folder().exists() {
                stores.push(store);
            }
            if stores.len() == MAX_FOLDERS {
                return stores;
            }
        }
    }
    stores
}

/// Returns the store for a loop that is started in `dir`: at the git top level of `dir`, or in `dir` if there is none.
pub fn for_start(state: &'static StateSpec, dir: &Utf8Path) -> Store {
    let dir = dir.canonicalize_utf8().unwrap_or_else(|_| dir.to_owned());
    let root = git_top(&dir);
    store_in(state, root, root)
}

/// Returns the store of the project at `root`, in the folder that the machine's environment variable names, or else the machine.
///
/// An absolute path names one folder for all projects: the root of its store is then the project of `start`, which the caller
/// compares with the root of each loop. It is the user's own choice, so symlinks on the way to it are followed, here and never again.
fn store_in(state: &'static StateSpec, root: &Utf8Path, start: &Utf8Path) -> Store {
    let named = state
        .folder_env
        .and_then(|name| std::env::var(name).ok())
        .filter(|value| !value.trim().is_empty())
        .map_or_else(|| state.folder.into(), Utf8PathBuf::from);
    let (folder, root) = if named.is_absolute() {
        (real_path(&named).unwrap_or(named), git_top(start))
    } else {
        (root.join(named), root)
    };
    let home = StateHome::of_user(state.program);
    Store::at(folder, root.to_owned(), state, home)
}

/// Returns the nearest ancestor of `folder`, itself included, that holds `.git`, or else the folder.
fn git_top(folder: &Utf8Path) -> &Utf8Path {
    let mut ancestors = folder.ancestors();
    let top = ancestors.find(|ancestor| ancestor.join(".git").exists());
    top.unwrap_or(folder)
}

/// Returns an absolute path without symlinks, or `None` if one of them leads nowhere. A part that is not there yet stays as it is.
pub(super) fn real_path(path: &Utf8Path) -> Option<Utf8PathBuf> {
    let mut ancestors = path.ancestors();
    let there = ancestors.find(|folder| folder.symlink_metadata().is_ok())?;
    let real = there.canonicalize_utf8().ok()?;
    let rest = path.strip_prefix(there).ok()?;
    // A path that is joined with nothing ends with a slash.
    Some(real.components().chain(rest.components()).collect())
}

/// Returns the working directory.
///
/// # Errors
/// Returns an error if it does not exist any more, or if its path is not UTF-8.
pub fn here() -> Result<Utf8PathBuf, Failure> {
    let here = std::env::current_dir()
        .and_then(|path| Utf8PathBuf::try_from(path).map_err(FromPathBufError::into_io_error));
    here.map_err(|error| {
        let problem = format!("cannot use the working directory: {error}");
        let help = "change to a folder that exists and has a UTF-8 path";
        Failure::with_help(Exit::Internal, problem, help)
    })
}

/// Returns the root of the project of a folder, as `nearest` finds it.
pub fn root(state: &'static StateSpec, from: &Utf8Path) -> Utf8PathBuf {
    nearest(state, from).root().to_owned()
}

/// Returns the nearest state folder above a folder, or else the one that a start would make.
pub(super) fn nearest(state: &'static StateSpec, from: &Utf8Path) -> Store {
    let nearest = stores(state, &[from]).into_iter().next();
    nearest.unwrap_or_else(|| for_start(state, from))
}

/// Returns the loops of this project that `list` finds in these state folders, in the order of the folders.
pub(super) fn loops_in(stores: &[Store], list: fn(&Store) -> Vec<Listed>) -> Vec<(Store, Listed)> {
    let loops = stores.iter().flat_map(|store| {
        let mut listed = list(store);
        listed.retain(|one| store.is_for(one.root.as_deref()));
        listed.into_iter().map(|one| (store.clone(), one))
    });
    loops.collect()
}

/// Returns the loops that `list` finds above a folder, the newest first.
pub(super) fn loops(
    state: &'static StateSpec,
    from: &Utf8Path,
    list: fn(&Store) -> Vec<Listed>,
) -> Vec<(Store, Listed)> {
    let mut loops = loops_in(&stores(state, &[from]), list);
    loops.sort_by_key(|(_, listed)| Reverse(listed.modified));
    loops
}

/// Returns the archived loop of a session that is not over.
pub(super) fn archived_of_session(stores: &[Store], session: &str) -> Option<(Store, LoopId)> {
    let (store, listed) = loops_in(stores, Store::archived)
        .into_iter()
        .find(|(_, one)| one.session.as_deref() == Some(session) && one.problem.is_none())?;
    Some((store, listed.id))
}

/// Returns why a session's loop is in the archive, and the command that continues it.
pub(super) fn archived_note(info: &ProgramInfo, id: &LoopId) -> String {
    let resume = info.command(&format!("resume {id}"));
    format!("was archived because it was idle for too long. To continue it:{resume}")
}

/// Returns whether a session may have several loops of a machine.
pub(super) fn has_many(info: &ProgramInfo) -> bool {
    info.state.active == Active::Many
}

/// Returns the session in a loop's field, or `None` if no session has taken the loop yet.
pub(super) fn owner(session: Option<&str>) -> Option<&str> {
    session.filter(|session| !["", UNKNOWN].contains(session))
}

/// Returns whether no session has taken a loop yet.
pub(super) fn is_unowned(listed: &Listed) -> bool {
    owner(listed.session.as_deref()).is_none()
}

/// Returns the loops that a stop could drive, those of a session first; of many at once, the one that was changed last first.
pub(super) fn drivable(
    info: &ProgramInfo,
    mut loops: Vec<(Store, Listed)>,
) -> Vec<(Store, Listed)> {
    loops.retain(|(_, one)| one.problem.is_none() && !one.terminal);
    loops.sort_by_key(|(_, one)| {
        let newest = has_many(info).then_some(Reverse(one.modified));
        (is_unowned(one), newest)
    });
    loops
}

/// Returns the active loops of a session in these state folders, first the one that its next stop drives.
pub fn owned(info: &ProgramInfo, stores: &[Store], session: &str) -> Vec<(Store, LoopId)> {
    let loops = drivable(info, loops_in(stores, Store::list_active)).into_iter();
    loops
        .filter(|(_, one)| owner(one.session.as_deref()) == Some(session))
        .map(|(store, listed)| (store, listed.id))
        .collect()
}

/// Finds the loop that a stop drives: the session's own, or one of no session. An error is a note about one that cannot be driven.
pub(super) fn find_for_stop(
    info: &ProgramInfo,
    stores: &[Store],
    session: Option<&str>,
) -> Result<Option<(Store, LoopId)>, String> {
    let loops = loops_in(stores, Store::list_active);
    let found = drivable(info, loops.clone())
        .into_iter()
        .find(|(_, one)| is_unowned(one) || one.session.as_deref() == session);
    if let Some((store, listed)) = found {
        return Ok(Some((store, listed.id)));
    }
    if let Some(error) = stores.iter().find_map(Store::refusal) {
        return Err(text::note(&with_help(&error), MAX_PROBLEM_CHARS));
    }
    let unusable = loops.iter().find(|(_, one)| one.problem.is_some());
    if let Some((store, one)) = unusable
        && let Err(error) = store.open(&one.id)
    {
        return Err(incompatible::line(info, store, &one.id, &error.into()));
    }
    if stores.len() == MAX_FOLDERS {
        return Err(format!(
            "{MAX_FOLDERS} state folders or more are above this one; only the nearest were searched"
        ));
    }
    match session.and_then(|session| archived_of_session(stores, session)) {
        Some((_, id)) => Err(format!("loop {id} {}", archived_note(info, &id))),
        None => Ok(None),
    }
}

/// Returns a sentence for each state folder that is gone with the user's loops in it. A hook names each folder once.
pub(super) fn name_vanished(
    info: &ProgramInfo,
    folders: &[&Utf8Path],
    hook: Option<&str>,
) -> Vec<String> {
    let stores = folders.iter().map(|folder| for_start(info.state, folder));
    let vanished = stores.filter(|store| store.has_vanished(hook)).map(|store| {
        format!(
            "the state folder {} is gone with its loops (removed, moved, or on another branch); put it back to continue them",
            text::shown(store.folder())
        )
    });
    let mut sentences: Vec<String> = vanished.collect();
    sentences.dedup();
    sentences
}

#[cfg(all(test, feature = "plan"))]
mod tests;
