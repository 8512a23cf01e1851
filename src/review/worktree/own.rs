//! What of git's own folder a later command obeys: the commit that is checked out, the configuration, the hooks.
//!
//! None of it is in a tree, so a snapshot does not see it; and whoever writes there chooses what runs at the next commit.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};

use super::names::shown;
use crate::git::Git;
use crate::review::Digest;

/// The most hooks that are looked at.
const MOST_HOOKS: usize = 200;

/// It at one moment.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Own {
    /// By the name that a person knows it by.
    found: BTreeMap<String, String>,
}

impl Own {
    /// Looks. What cannot be read cannot be told apart from what is not there.
    pub(super) fn look(git: &Git) -> Self {
        let mut found = BTreeMap::new();
        let branch = git.maybe(&["symbolic-ref", "--quiet", "HEAD"]);
        let commit = git.maybe(&["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]);
        let head = [branch, commit].map(|told| told.ok().flatten().unwrap_or_default());
        found.insert(".git/HEAD".to_owned(), head.join(" "));
        // A linked work tree shares the folder with the others.
        let folder = git
            .lines(&["rev-parse", "--git-common-dir"], &[])
            .map_or_else(|_| git.folder().to_owned(), |common| git.root().join(common));
        let hooks = folder.join("hooks");
        let entries = hooks.read_dir_utf8().into_iter().flatten().filter_map(Result::ok);
        let hooks = entries
            .map(|entry| Utf8PathBuf::from("hooks").join(entry.file_name()))
            .filter(|hook| hook.extension() != Some("sample"))
            .take(MOST_HOOKS);
        let fixed = ["config", "info/attributes"].map(Utf8PathBuf::from);
        for name in fixed.into_iter().chain(hooks) {
            if let Some(seen) = seen(&folder.join(&name)) {
                found.insert(shown(format!(".git/{name}").as_bytes()), seen);
            }
        }
        let own = git.folder().join("config.worktree");
        found.extend(seen(&own).map(|seen| (".git/config.worktree".to_owned(), seen)));
        Self { found }
    }

    /// What differs, by name.
    pub(super) fn differs(&self, now: &Self) -> Vec<String> {
        let names = self.found.keys().chain(now.found.keys());
        let mut names: Vec<String> = names
            .filter(|name| self.found.get(*name) != now.found.get(*name))
            .cloned()
            .collect();
        names.sort();
        names.dedup();
        names
    }
}

fn seen(file: &Utf8Path) -> Option<String> {
    let mode = std::os::unix::fs::MetadataExt::mode(&file.symlink_metadata().ok()?);
    let content = crate::files::read(file).map(|bytes| Digest::of(&bytes).to_string());
    Some(format!("{mode:o} {}", content.unwrap_or_default()))
}
