//! A work tree at one moment, read without changing it, its index or its repository.
//!
//! [`Snapshot`] writes everything that git would add as a tree, with a scratch index and folder of
//! objects. It leaves out the [`own_files`] of the loop.

pub(crate) mod snapshot;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;

use std::time::Instant;

use camino::{Utf8Path, Utf8PathBuf};

pub use snapshot::Snapshot;

use crate::files::TEMPORARY;
pub use crate::git::{MAX_FILES, WorktreeError};
use crate::store::{LoopId, StateHome, Store};
use crate::text::{is_hidden, one_line};

/// The folder of reports, from the project's root.
pub const REPORTS: &str = "reviews";

/// The caveat about different tree ids before and after a review.
pub const CHANGED_DURING_REVIEW: &str = "the work tree changed while the reviewer ran";
/// The final caveat about another tree id than the reviewed one.
pub const CHANGED_SINCE_REVIEW: &str = "The work tree changed since it was reviewed.";

/// Returns git's tree id of a store's project without the loop's own files, or `None` if git is
/// missing or the tree cannot be read by `until`.
pub fn tree_id(store: &Store, until: Option<Instant>) -> Option<String> {
    let snapshot = Snapshot::take(store.root(), &own_files(store), until);
    Some(snapshot.ok()?.tree)
}

/// Returns the parts of an output that end with NUL.
pub(crate) fn names(listed: &[u8]) -> impl Iterator<Item = &[u8]> {
    let names = listed.split(|byte| *byte == 0);
    names.filter(|name| !name.is_empty())
}

/// Returns a path for people: on one line, with hidden characters made visible.
pub(crate) fn readable_name(path: &[u8]) -> String {
    one_line(&visible(&String::from_utf8_lossy(path)), 300)
}

/// Returns a line whose hidden characters are spelled out as `<U+202E>`; line end and tabs stay.
pub fn visible(line: &str) -> String {
    let without_end = line.strip_suffix('\n').unwrap_or(line);
    let body = without_end.strip_suffix('\r').unwrap_or(without_end);
    let spell = |(at, character): (usize, char)| {
        // A name that contains such a spelling must not pass for ours.
        let is_spelled = body[at..].starts_with("<U+");
        if is_spelled || character != '\t' && is_hidden(character) {
            format!("<U+{:04X}>", u32::from(character))
        } else {
            character.to_string()
        }
    };
    let visible: String = body.char_indices().map(spell).collect();
    visible + &line[body.len()..]
}

/// Returns the paths of the report and the proposed patches, from the project root.
pub fn report_paths(id: &LoopId) -> [Utf8PathBuf; 2] {
    ["review", "proposed-fixes"].map(|name| format!("{REPORTS}/{name}-{id}.md").into())
}

/// Returns the pathspecs that exclude a project's loops and reports, and the state home, from git.
pub fn own_files(store: &Store) -> Vec<String> {
    // A crash may leave a temporary file.
    let temporary = format!("{TEMPORARY}*");
    let reports = ["review-*.md", "proposed-fixes-*.md", &temporary];
    let mut paths = Vec::from(reports.map(|name| format!(":(exclude,top,glob){REPORTS}/{name}")));
    let mut folders = Vec::new();
    // If each loop has a folder for its document, other files of the loop are in it, too.
    if let Some((folder, rest)) = store.spec().file.and_then(|file| file.split_once("/{"))
        && rest.contains("}/")
    {
        folders.push(folder);
    }
    let state_folder = store.folder().strip_prefix(store.root()).ok();
    folders.extend(state_folder.map(Utf8Path::as_str));
    // The state home has the user's key, and may be in a repository of dotfiles.
    let home = StateHome::for_user(store.spec().program);
    let home = home
        .folder()
        .ok()
        .and_then(|home| home.canonicalize_utf8().ok());
    let in_root = home
        .as_ref()
        .and_then(|home| home.strip_prefix(store.root()).ok());
    folders.extend(in_root.map(Utf8Path::as_str));
    let folders = folders.into_iter().filter(|folder| !folder.is_empty());
    paths.extend(folders.map(|folder| format!(":(exclude,top,literal){folder}")));
    paths
}
