//! Which files of a work tree are the loop's own and not the work: its state folder, its reports. And where scratch data of ours goes.

use crate::review::scratch::Place;

/// Paths from the top of the work tree, as bytes, since not every file's name is UTF-8.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ours {
    scratch: Place,
    folders: Vec<Vec<u8>>,
    files: Vec<(Vec<u8>, Vec<u8>)>,
    exact: Vec<Vec<u8>>,
}

impl Ours {
    /// Returns one with nothing in it. A snapshot has its scratch data in `scratch`.
    pub fn new(scratch: Place) -> Self {
        Self {
            scratch,
            folders: Vec::new(),
            files: Vec::new(),
            exact: Vec::new(),
        }
    }

    /// With everything in this folder. An empty name is no folder.
    #[must_use]
    pub fn folder(mut self, folder: &str) -> Self {
        let folder = folder.trim_matches('/');
        if !folder.is_empty() {
            self.folders.push(format!("{folder}/").into_bytes());
        }
        self
    }

    /// With each file whose path begins and ends like this and has no further slash in between.
    #[must_use]
    pub fn files(mut self, begin: &str, end: &str) -> Self {
        self.files.push((begin.into(), end.into()));
        self
    }

    /// With this file.
    #[must_use]
    pub fn file(mut self, path: &str) -> Self {
        self.exact.push(path.into());
        self
    }

    /// Returns where scratch data goes.
    pub(super) fn scratch(&self) -> &Place {
        &self.scratch
    }

    /// Returns whether a path is one of ours.
    pub fn holds(&self, path: &[u8]) -> bool {
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
    use super::{Ours, Place};

    #[test]
    fn folders_and_reports_are_ours_and_their_neighbours_are_not() {
        let ours = Ours::new(Place::new("/", "/scratch"))
            .folder("")
            .folder(".claude/claudex/")
            .files("reviews/review-", ".md");
        for path in [
            ".claude/claudex/x.state",
            "reviews/review-1.md",
            "reviews/review-.md",
        ] {
            assert!(ours.holds(path.as_bytes()), "{path}");
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
            assert!(!ours.holds(path.as_bytes()), "{path}");
        }
    }
}
