//! The state folders above a folder, and the loops in them. Creates nothing.

use std::cmp::Reverse;

use camino::{Utf8Path, Utf8PathBuf};

use super::exit::{Exit, Failure};
use super::info::ProgramInfo;
use crate::store::{Listed, StateHome, StateSpec, Store};
use crate::text;

/// The most state folders that are looked at. An unpacked archive with hundreds must not hold up a turn.
pub(super) const MAX_FOLDERS: usize = 32;

/// Finds the state folders in each start and its ancestors, nearest first, each once, at most 32. One that is not
/// trusted is among them: see [`Store::refusal`].
pub fn stores(state: &'static StateSpec, starts: &[&Utf8Path]) -> Vec<Store> {
    let named = named_folder(state);
    let mut stores: Vec<Store> = Vec::new();
    for start in starts {
        let Ok(start) = start.canonicalize_utf8() else {
            continue;
        };
        for ancestor in start.ancestors() {
            let found = state_folder(ancestor, &named);
            // This follows symlinks: a store that is refused later must not be passed over in silence.
            if !found.exists() || stores.iter().any(|store| store.folder() == found) {
                continue;
            }
            let root = if named.is_absolute() {
                git_top(&start).unwrap_or(&start)
            } else {
                ancestor
            };
            stores.push(store_at(state, found, root));
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
    let root = git_top(&dir).unwrap_or(&dir);
    store_at(state, state_folder(root, &named_folder(state)), root)
}

/// Returns the folder that the machine's environment variable names, or the one that the machine names.
///
/// An absolute path names one folder for all projects: the root of its store is then the project of the first start, which the
/// caller compares with the root of each loop.
fn named_folder(state: &StateSpec) -> Utf8PathBuf {
    state
        .folder_env
        .and_then(|name| std::env::var(name).ok())
        .filter(|value| !value.trim().is_empty())
        .map_or_else(|| state.folder.into(), Utf8PathBuf::from)
}

fn store_at(state: &'static StateSpec, folder: Utf8PathBuf, root: &Utf8Path) -> Store {
    Store::at(
        folder,
        root.to_owned(),
        state,
        StateHome::of_user(state.program),
    )
}

/// Returns the nearest ancestor of `folder`, itself included, that holds `.git`.
fn git_top(folder: &Utf8Path) -> Option<&Utf8Path> {
    let mut ancestors = folder.ancestors();
    ancestors.find(|ancestor| ancestor.join(".git").exists())
}

/// Returns the state folder of a root. An absolute path is the user's own choice, so symlinks on the way to it are followed,
/// here and never again.
fn state_folder(root: &Utf8Path, named: &Utf8Path) -> Utf8PathBuf {
    if !named.is_absolute() {
        return root.join(named);
    }
    let real = |there: &Utf8Path| {
        let rest = named.strip_prefix(there).ok()?;
        Some(there.canonicalize_utf8().ok()?.join(rest))
    };
    let found = named.ancestors().find_map(real);
    found.unwrap_or_else(|| named.to_owned())
}

/// Returns the working directory.
///
/// # Errors
/// Returns an error if it does not exist any more, or if its path is not UTF-8.
pub fn here() -> Result<Utf8PathBuf, Failure> {
    let here = std::env::current_dir().map_err(|error| error.to_string());
    here.and_then(|path| {
        Utf8PathBuf::from_path_buf(path)
            .map_err(|path| format!("the path {} is not UTF-8", path.display()))
    })
    .map_err(|problem| {
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

/// Returns the loops of this project in these state folders, in the order of the folders, the newest first in each.
pub(super) fn loops_in(stores: &[Store]) -> Vec<(Store, Listed)> {
    let loops = stores.iter().flat_map(|store| {
        let listed = store.list().into_iter();
        listed.map(|listed| (store.clone(), listed))
    });
    loops
        .filter(|(store, listed)| store.is_for(listed.root.as_deref()))
        .collect()
}

/// Returns the loops above a folder, the newest first.
pub fn loops(state: &'static StateSpec, from: &Utf8Path) -> Vec<(Store, Listed)> {
    let mut loops = loops_in(&stores(state, &[from]));
    loops.sort_by_key(|(_, listed)| Reverse(listed.modified));
    loops
}

/// Returns the active loops above a folder, the newest first.
pub fn active_loops(state: &'static StateSpec, from: &Utf8Path) -> Vec<(Store, Listed)> {
    let mut active = loops(state, from);
    active.retain(|(_, listed)| !listed.terminal);
    active
}

/// Returns the archived loops above a folder, each with its store in the archive.
pub fn archived(state: &'static StateSpec, from: &Utf8Path) -> Vec<(Store, Listed)> {
    let stores = stores(state, &[from]);
    let archived = stores.iter().flat_map(|store| {
        let listed = store.archived().into_iter();
        let ours = listed.filter(|listed| store.is_for(listed.root.as_deref()));
        ours.map(|listed| (store.archived_store(listed.id.as_str()), listed))
    });
    archived.collect()
}

/// Returns a sentence for each state folder of these folders that is gone with the user's loops in it. A hook names each folder
/// once.
pub(super) fn name_vanished(
    info: &ProgramInfo,
    folders: &[&Utf8Path],
    hook: Option<&str>,
) -> Vec<String> {
    let stores = folders.iter().map(|folder| for_start(info.state, folder));
    let mut vanished: Vec<Store> = stores.filter(|store| store.has_vanished(hook)).collect();
    vanished.dedup_by(|one, other| one.folder() == other.folder());
    let sentence = |store: &Store| {
        format!(
            "the state folder {} is gone with its loops (removed, moved, or on another branch); put it back to continue them",
            text::shown(store.folder())
        )
    };
    vanished.iter().map(sentence).collect()
}

#[cfg(all(test, feature = "plan"))]
mod tests;
