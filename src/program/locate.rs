//! The loop that a call is about: by id, or the active one of the working directory.

use camino::{Utf8Path, Utf8PathBuf};

use super::exit::{Exit, Failure};
use super::info::ProgramInfo;
use super::{incompatible, suggest};
use crate::store::{IdForm, Listed, LoopId, StateSpec, Store};
use crate::text;

pub use super::state_folders::{for_start, stores};

/// Returns the working directory.
///
/// # Errors
/// Returns an error if it does not exist any more, or if its path is not UTF-8.
pub fn here() -> Result<Utf8PathBuf, Failure> {
    let here = std::env::current_dir().and_then(|path| {
        let not_text =
            |path: std::path::PathBuf| format!("the path {} is not UTF-8", path.display());
        Utf8PathBuf::from_path_buf(path).map_err(|path| std::io::Error::other(not_text(path)))
    });
    here.map_err(|error| {
        Failure::plain(
            Exit::Internal,
            error.to_string(),
            "change to a folder that exists and has a UTF-8 path",
        )
    })
}

/// Returns the root of the project of a folder: that of the nearest state folder, or else of the one that a start would make.
pub fn root(state: &'static StateSpec, from: &Utf8Path) -> Utf8PathBuf {
    let nearest = stores(state, &[from]).into_iter().next();
    let store = nearest.unwrap_or_else(|| for_start(state, from));
    store.root().to_owned()
}

/// Returns the loops above a folder, the newest first.
pub fn loops(state: &'static StateSpec, from: &Utf8Path) -> Vec<(Store, Listed)> {
    of_stores(state, from, Store::list)
}

/// Returns the active loops above a folder, the newest first. Finished loops are not opened.
pub fn active_loops(state: &'static StateSpec, from: &Utf8Path) -> Vec<(Store, Listed)> {
    of_stores(state, from, Store::list_active)
}

/// Returns the loop above a folder that finished last.
pub fn last_over(state: &'static StateSpec, from: &Utf8Path) -> Option<(Store, Listed)> {
    let last = |store: &Store| store.last_over().into_iter().collect();
    of_stores(state, from, last).into_iter().next()
}

/// Returns the loops of this project that `look` finds in each state folder above a folder, the newest first.
pub(super) fn of_stores(
    state: &'static StateSpec,
    from: &Utf8Path,
    mut look: impl FnMut(&Store) -> Vec<Listed>,
) -> Vec<(Store, Listed)> {
    let mut loops = Vec::new();
    for store in stores(state, &[from]) {
        let listed = look(&store).into_iter();
        let ours = listed.filter(|listed| store.is_for(listed.root.as_deref()));
        loops.extend(ours.map(|listed| (store.clone(), listed)));
    }
    loops.sort_by_key(|(_, listed)| std::cmp::Reverse(listed.modified));
    loops
}

/// Returns the archived loops above a folder, each with its store in the archive.
pub fn archived(state: &'static StateSpec, from: &Utf8Path) -> Vec<(Store, Listed)> {
    let mut found = Vec::new();
    for store in stores(state, &[from]) {
        for listed in store.archived() {
            if !store.is_for(listed.root.as_deref()) {
                continue;
            }
            found.push((store.archived_store(listed.id.as_str()), listed));
        }
    }
    found
}

/// Returns the store that has a loop.
pub(super) fn by_id(
    info: &ProgramInfo,
    from: &Utf8Path,
    text: &str,
) -> Result<(Store, LoopId), Failure> {
    let program = info.program;
    let near = || near_id(info.state, from, text);
    let id = LoopId::parse(text, info.state.ids).map_err(|_| {
        let shape = match info.state.ids {
            IdForm::Stamp => "an id looks like 20261122-005333-0a1b2c",
            IdForm::Name => "an id is 1 to 64 of A-Z, a-z, 0-9, _ and -",
        };
        Failure::plain(
            Exit::Usage,
            format!("`{}` is not the id of a loop", text::one_line(text, 60)),
            &suggest::help(
                near().as_deref(),
                &format!("{shape}; `{program} list` shows them"),
            ),
        )
    })?;
    let holds = |store: &Store| {
        let folder = store.loop_folder(&id);
        store.path_of(&id).symlink_metadata().is_ok() || folder.is_dir() || store.has_archived(&id)
    };
    let store = stores(info.state, &[from]).into_iter().find(holds);
    let store = store.ok_or_else(|| {
        let list = format!("`{program} list` shows the loops of this project");
        Failure::plain(
            Exit::Refused,
            format!("there is no loop {id} in {}", text::shown(from)),
            &suggest::help(near().as_deref(), &list),
        )
    })?;
    Ok((store, id))
}

/// Returns the id of the loop above a folder that was probably meant.
pub fn near_id(state: &'static StateSpec, from: &Utf8Path, given: &str) -> Option<String> {
    let mut known: Vec<LoopId> = Vec::new();
    for store in stores(state, &[from]) {
        let of_store = store.list().into_iter().chain(store.archived());
        known.extend(
            of_store
                .filter(|one| store.is_for(one.root.as_deref()))
                .map(|one| one.id),
        );
    }
    suggest::word(given, known.iter().map(LoopId::as_str)).map(str::to_owned)
}

/// Returns the help if no loop is active: how to continue one that is not the user's or is archived, or to list finished ones.
fn none_active(info: &ProgramInfo, from: &Utf8Path) -> String {
    let not_ours = active_loops(info.state, from)
        .into_iter()
        .find(|(store, listed)| listed.left_alone && store.has_journal(&listed.id));
    if let Some((_, listed)) = not_ours {
        let id = listed.id.as_str();
        let help = incompatible::take_over(info, id);
        return format!("loop {id} exists, but it is not yours; {help}");
    }
    match (archived(info.state, from).first(), info.plugin) {
        (Some((_, archived)), _) => format!(
            "loop {} is in the archive; {}",
            archived.id,
            incompatible::bring_back(info, archived.id.as_str())
        ),
        (None, Some(plugin)) => format!(
            "to see finished loops: /{plugin}:history, or in a terminal `{} list`",
            info.program
        ),
        (None, None) => format!("to see finished loops: `{} list`", info.program),
    }
}

/// Returns the only active loop above a folder.
pub(super) fn active(info: &ProgramInfo, from: &Utf8Path) -> Result<(Store, LoopId), Failure> {
    let mut active = active_loops(info.state, from);
    active.retain(|(_, listed)| listed.problem.is_none());
    let refused = |message: String, help: &str| Err(Failure::plain(Exit::Refused, message, help));
    match active.as_slice() {
        [] => {
            let message = format!("no loop is active in {}", text::shown(from));
            refused(message, &none_active(info, from))
        }
        [(store, listed)] => Ok((store.clone(), listed.id.clone())),
        _ => {
            let ids: Vec<&str> = active
                .iter()
                .map(|(_, listed)| listed.id.as_str())
                .collect();
            let message = format!("more than one loop is active: {}", ids.join(", "));
            refused(message, "give one of these ids")
        }
    }
}

/// Returns a sentence for each state folder of these folders that is gone with the user's loops in it.
pub(super) fn name_vanished(info: &ProgramInfo, folders: &[&Utf8Path]) -> Vec<String> {
    vanished(info, folders)
        .iter()
        .map(vanished_sentence)
        .collect()
}

/// Returns a sentence for each folder that this hook has not named yet.
pub(super) fn name_vanished_once(
    info: &ProgramInfo,
    folders: &[&Utf8Path],
    hook: &str,
) -> Vec<String> {
    let mut vanished = vanished(info, folders);
    vanished.retain(|store| store.note_vanished(hook));
    vanished.iter().map(vanished_sentence).collect()
}

fn vanished(info: &ProgramInfo, folders: &[&Utf8Path]) -> Vec<Store> {
    let mut stores: Vec<Store> = Vec::new();
    for folder in folders {
        let store = for_start(info.state, folder);
        let is_known = stores.iter().any(|other| other.folder() == store.folder());
        if !is_known && store.has_vanished() {
            stores.push(store);
        }
    }
    stores
}

fn vanished_sentence(store: &Store) -> String {
    format!(
        "the state folder {} is gone with its loops (removed, moved, or on another branch); put it back to continue them",
        text::shown(store.folder())
    )
}
