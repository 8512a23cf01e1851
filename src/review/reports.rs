//! Where a review of changes is reported in the project, and which files of a work tree are therefore no changes.
//!
//! Names only: what the reports say is the application's.

use camino::{Utf8Path, Utf8PathBuf};

use super::scratch::Place;
use crate::files::TEMPORARY;
use crate::review::worktree::Ours;
use crate::store::{LoopId, Store};

/// The folder, from the project's root.
pub const FOLDER: &str = "reviews";
/// How a report's name begins, before the loop's id.
const REPORT: &str = "review-";
/// How the name of the proposed patches begins, before the loop's id.
const FIXES: &str = "proposed-fixes-";

/// `reviews/review-<id>.md`, from the project's root.
pub fn report(id: &LoopId) -> Utf8PathBuf {
    Utf8Path::new(FOLDER).join(format!("{REPORT}{id}.md"))
}

/// `reviews/proposed-fixes-<id>.md`, from the project's root.
pub fn fixes(id: &LoopId) -> Utf8PathBuf {
    Utf8Path::new(FOLDER).join(format!("{FIXES}{id}.md"))
}

/// Returns the files below a root that a review of changes passes over: the loops' state and the reports.
pub fn ours(store: &Store, root: &Utf8Path) -> Ours {
    let ours = Ours::new(Place::in_store(store))
        .files(&format!("{FOLDER}/{REPORT}"), ".md")
        .files(&format!("{FOLDER}/{FIXES}"), ".md")
        // What a crash left of either.
        .files(&format!("{FOLDER}/{TEMPORARY}"), "");
    // Documents that have a folder for each loop share it with other files of the loop.
    let ours = match store.spec().file.and_then(|file| file.split_once("/{")) {
        Some((folder, rest)) if rest.contains("}/") => ours.folder(folder),
        _ => ours,
    };
    match store.folder().strip_prefix(root) {
        Ok(folder) => ours.folder(folder.as_str()),
        Err(_) => ours,
    }
}
