//! The files of a work tree that are the loop's own, such as its state folder and its reports. They are no part of the work.

use camino::{Utf8Path, Utf8PathBuf};

use crate::files::TEMPORARY;
use crate::store::{LoopId, Store};

/// The folder of reports, from the project's root.
pub const REPORTS: &str = "reviews";

/// Returns the path of a loop's report, from the project's root.
pub fn report_path(id: &LoopId) -> Utf8PathBuf {
    Utf8Path::new(REPORTS).join(format!("review-{id}.md"))
}

/// Returns the path of the proposed patches, from the project's root.
pub fn fixes_path(id: &LoopId) -> Utf8PathBuf {
    Utf8Path::new(REPORTS).join(format!("proposed-fixes-{id}.md"))
}

/// Returns the pathspecs that keep git from the own files of a store's project: the loops' state and the reports.
pub fn own_files(store: &Store, root: &Utf8Path) -> Vec<String> {
    // A crash may leave a temporary file.
    let reports = [
        "review-*.md",
        "proposed-fixes-*.md",
        &format!("{TEMPORARY}*"),
    ]
    .map(|name| format!(":(exclude,top,glob){REPORTS}/{name}"));
    // If each loop has a folder for its document, other files of the loop are in it, too.
    let document = store
        .spec()
        .file
        .and_then(|file| file.split_once("/{"))
        .filter(|(_, rest)| rest.contains("}/"));
    let state = store.folder().strip_prefix(root).ok();
    let folders = [
        document.map(|(folder, _)| folder),
        state.map(Utf8Path::as_str),
    ]
    .into_iter()
    .flatten()
    .filter(|folder| !folder.is_empty());
    reports.into_iter().chain(folders.map(without)).collect()
}

/// Returns the pathspec that leaves out a file or a folder.
pub fn without(path: &str) -> String {
    format!(":(exclude,top,literal){path}")
}
