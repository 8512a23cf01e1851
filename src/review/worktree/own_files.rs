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

/// A set of paths from the top of the work tree, as bytes, since not every file's name is UTF-8.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OwnFiles {
    /// The begin and the end of the paths of files in one folder.
    files: Vec<(String, &'static str)>,
    /// Single files, and folders with a slash at their end.
    exact: Vec<String>,
}

impl OwnFiles {
    /// Returns the files of a store's project: the loops' state and the reports.
    pub fn in_store(store: &Store, root: &Utf8Path) -> Self {
        // If each loop has a folder for its document, other files of the loop are in it, too.
        let document = store.spec().file.and_then(|file| file.split_once("/{"));
        let folder = document.filter(|(_, rest)| rest.contains("}/"));
        let state = store.folder().strip_prefix(root);
        Self::default()
            .files(&format!("{REPORTS}/review-"), ".md")
            .files(&format!("{REPORTS}/proposed-fixes-"), ".md")
            // A crash may leave a temporary file.
            .files(&format!("{REPORTS}/{TEMPORARY}"), "")
            .folder(folder.map_or("", |(folder, _)| folder))
            .folder(state.map_or("", Utf8Path::as_str))
    }

    /// Adds everything in a folder. An empty name is no folder.
    #[must_use]
    pub fn folder(self, folder: &str) -> Self {
        match folder.trim_matches('/') {
            "" => self,
            folder => self.file(&format!("{folder}/")),
        }
    }

    /// Adds each file whose path begins and ends like this and has no slash in between.
    #[must_use]
    pub fn files(mut self, begin: &str, end: &'static str) -> Self {
        self.files.push((begin.to_owned(), end));
        self
    }

    /// Adds one file.
    #[must_use]
    pub fn file(mut self, path: &str) -> Self {
        self.exact.push(path.to_owned());
        self
    }

    /// Returns whether a path is in the set.
    pub fn contains(&self, path: &[u8]) -> bool {
        let is_between = |(begin, end): &(String, &str)| {
            let rest = path.strip_prefix(begin.as_bytes());
            let between = rest.and_then(|rest| rest.strip_suffix(end.as_bytes()));
            between.is_some_and(|between| !between.contains(&b'/'))
        };
        let is_exact = |exact: &String| {
            path == exact.as_bytes() || exact.ends_with('/') && path.starts_with(exact.as_bytes())
        };
        self.exact.iter().any(is_exact) || self.files.iter().any(is_between)
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
