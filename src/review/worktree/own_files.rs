//! The files of a work tree that are the loop's own, such as its state folder and its reports. They are no part of the work.

use camino::{Utf8Path, Utf8PathBuf};

use crate::files::TEMPORARY;
use crate::store::{LoopId, Store};

/// The folder of reports, from the project's root.
pub const REPORTS: &str = "reviews";
/// The beginning of a report's name, before the loop's id.
const REPORT: &str = "review-";
/// The beginning of the name of the proposed patches, before the loop's id.
const FIXES: &str = "proposed-fixes-";

/// Returns the path of a loop's report, from the project's root: `reviews/review-<id>.md`.
pub fn report_path(id: &LoopId) -> Utf8PathBuf {
    Utf8Path::new(REPORTS).join(format!("{REPORT}{id}.md"))
}

/// Returns the path of the proposed patches, from the project's root: `reviews/proposed-fixes-<id>.md`.
pub fn fixes_path(id: &LoopId) -> Utf8PathBuf {
    Utf8Path::new(REPORTS).join(format!("{FIXES}{id}.md"))
}

/// A set of paths from the top of the work tree, as bytes, since not every file's name is UTF-8.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OwnFiles {
    folders: Vec<Vec<u8>>,
    files: Vec<(Vec<u8>, Vec<u8>)>,
    exact: Vec<Vec<u8>>,
}

impl OwnFiles {
    /// Returns the files of a store's project: the loops' state and the reports.
    pub fn in_store(store: &Store, root: &Utf8Path) -> Self {
        let own = Self::default()
            .files(&format!("{REPORTS}/{REPORT}"), ".md")
            .files(&format!("{REPORTS}/{FIXES}"), ".md")
            // A crash may leave a temporary file.
            .files(&format!("{REPORTS}/{TEMPORARY}"), "");
        // If each loop has a folder for its document, other files of the loop are in it, too.
        let own = match store.spec().file.and_then(|file| file.split_once("/{")) {
            Some((folder, rest)) if rest.contains("}/") => own.folder(folder),
            _ => own,
        };
        match store.folder().strip_prefix(root) {
            Ok(folder) => own.folder(folder.as_str()),
            Err(_) => own,
        }
    }

    /// Adds everything in a folder. An empty name is no folder.
    #[must_use]
    pub fn folder(mut self, folder: &str) -> Self {
        let folder = folder.trim_matches('/');
        if !folder.is_empty() {
            self.folders.push(format!("{folder}/").into_bytes());
        }
        self
    }

    /// Adds each file whose path begins and ends like this and has no slash in between.
    #[must_use]
    pub fn files(mut self, begin: &str, end: &str) -> Self {
        self.files.push((begin.into(), end.into()));
        self
    }

    /// Adds one file.
    #[must_use]
    pub fn file(mut self, path: &str) -> Self {
        self.exact.push(path.into());
        self
    }

    /// Returns whether a path is in the set.
    pub fn contains(&self, path: &[u8]) -> bool {
        self.folders.iter().any(|folder| path.starts_with(folder))
            || self.exact.iter().any(|exact| path == exact)
            || self.files.iter().any(|(begin, end)| {
                path.strip_prefix(begin.as_slice())
                    .and_then(|rest| rest.strip_suffix(end.as_slice()))
                    .is_some_and(|between| !between.contains(&b'/'))
            })
    }
}

#[cfg(test)]
mod tests {
    use super::OwnFiles;

    #[test]
    fn own_files_exclude_their_neighbours() {
        let own = OwnFiles::default()
            .folder("")
            .folder(".claude/claudex/")
            .files("reviews/review-", ".md");
        for path in [
            ".claude/claudex/x.state",
            "reviews/review-1.md",
            "reviews/review-.md",
        ] {
            assert!(own.contains(path.as_bytes()), "{path}");
        }
        for path in [
            "",
            "x",
            ".claude/claudex",
            ".claude/claudex2/x",
            "a/.claude/claudex/x",
            "reviews/review-1.md.txt",
            "reviews/review-x/a.md",
            "reviews/notes.md",
            "reviews/review-m",
        ] {
            assert!(!own.contains(path.as_bytes()), "{path}");
        }
    }
}
