//! State folders that are gone: removed, moved, or on another branch.

use camino::Utf8Path;

use super::info::ProgramInfo;
use super::locate;
use crate::store::Store;
use crate::text;

/// Returns a sentence for each state folder of these folders that is gone with the user's loops in it.
pub(super) fn name(info: &ProgramInfo, folders: &[&Utf8Path]) -> Vec<String> {
    vanished(info, folders).iter().map(sentence).collect()
}

/// Returns a sentence for each folder that this hook has not named yet.
pub(super) fn name_once(info: &ProgramInfo, folders: &[&Utf8Path], hook: &str) -> Vec<String> {
    let mut vanished = vanished(info, folders);
    vanished.retain(|store| store.note_vanished(hook));
    vanished.iter().map(sentence).collect()
}

fn vanished(info: &ProgramInfo, folders: &[&Utf8Path]) -> Vec<Store> {
    let mut stores: Vec<Store> = Vec::new();
    for folder in folders {
        let store = locate::for_start(info.state, folder);
        let is_known = stores.iter().any(|other| other.folder() == store.folder());
        if !is_known && store.has_vanished() {
            stores.push(store);
        }
    }
    stores
}

fn sentence(store: &Store) -> String {
    format!(
        "the state folder {} is gone with its loops (removed, moved, or on another branch); put it back to continue them",
        text::shown(store.folder())
    )
}
