//! What of git's own folder later commands obey: the commit that is checked out, refs, the index, the configuration, the hooks, what is
//! ignored, where objects come from. And the same of repositories in the work tree, with their files.
//!
//! None of it is in a tree, so a snapshot does not see it; and whoever writes there chooses what runs at the next commit, or what the next
//! look passes over. Only files are read, but for two questions to git: the commit, and the index, whose bytes change with every look.

use std::collections::{BTreeMap, BTreeSet};

use camino::{Utf8Path, Utf8PathBuf};

use super::names::{names, shown};
use super::walk::Walk;
use super::{Ours, Snapshot};
use crate::git::Git;
use crate::review::Digest;

/// Limits the files of git's that are looked at, in all repositories together.
const MOST_FILES: usize = 20_000;
/// Limits their bytes.
const MOST_BYTES: u64 = 64 * 1024 * 1024;
/// Limits the repositories in the work tree that are looked at.
const MOST_REPOSITORIES: usize = 20;
/// Limits how deep folders such as `refs` are followed.
const DEPTH: usize = 16;
/// Names single files of git's folder.
const FILES: [&str; 6] = [
    "config",
    "config.worktree",
    "packed-refs",
    "shallow",
    "objects/info/alternates",
    "objects/info/http-alternates",
];
/// Names folders of which every file counts.
const FOLDERS: [&str; 4] = ["hooks", "info", "refs", "reftable"];

/// It at one moment.
#[derive(Debug)]
pub(super) struct Own {
    /// By the name that a person knows it by.
    found: BTreeMap<String, String>,
    /// The repositories in the work tree, by their paths.
    nested: BTreeMap<Vec<u8>, Walk>,
    files: usize,
    bytes: u64,
    cut: bool,
}

impl Own {
    /// Looks. What cannot be read cannot be told apart from what is not there.
    pub(super) fn look(snapshot: &Snapshot) -> Self {
        let git = snapshot.real();
        let mut own = Self {
            found: BTreeMap::new(),
            nested: BTreeMap::new(),
            files: 0,
            bytes: 0,
            cut: false,
        };
        let branch = git.maybe(&["symbolic-ref", "--quiet", "HEAD"]);
        let commit = git.maybe(&["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]);
        let head = [branch, commit].map(|told| told.ok().flatten().unwrap_or_default());
        own.found.insert(".git/HEAD".to_owned(), head.join(" "));
        let submodules = own.index(git);
        // A linked work tree shares the folder with the others.
        let folder = git
            .lines(&["rev-parse", "--git-common-dir"], &[])
            .map_or_else(
                |_| git.folder().to_owned(),
                |common| git.root().join(common),
            );
        own.git_folder(&folder, ".git");
        if folder != git.folder() {
            own.git_folder(git.folder(), ".git");
        }
        own.file(&git.root().join(".git"), ".git".to_owned());
        let over = snapshot.passed_over().keys();
        let nested = over
            .filter_map(|path| path.strip_suffix(b"/"))
            .map(<[u8]>::to_vec);
        for path in nested.chain(submodules).collect::<BTreeSet<_>>() {
            own.repository(snapshot, path);
        }
        own
    }

    /// Returns whether there was more than is looked at.
    pub(super) fn is_cut(&self) -> bool {
        self.cut || self.nested.values().any(Walk::is_cut)
    }

    /// Returns what differs, by name. Repositories in the work tree are looked at anew for it.
    pub(super) fn differs(&mut self, now: &Self) -> Vec<String> {
        let names = self.found.keys().chain(now.found.keys());
        let mut changed: BTreeSet<String> = names
            .filter(|name| self.found.get(*name) != now.found.get(*name))
            .cloned()
            .collect();
        for (path, walk) in &mut self.nested {
            let files = walk.changed_since();
            changed.extend(
                files
                    .into_iter()
                    .map(|file| format!("{}/{file}", shown(path))),
            );
        }
        changed.into_iter().collect()
    }

    /// Reads the index as git lists it, with the marks that hide a file's changes; gives the submodules.
    fn index(&mut self, git: &Git) -> Vec<Vec<u8>> {
        let Ok(answer) = git.ask(&["ls-files", "-z", "-v", "--stage"], &[]) else {
            return Vec::new();
        };
        self.cut |= answer.cut;
        self.found.insert(
            ".git/index".to_owned(),
            Digest::of(&answer.stdout).to_string(),
        );
        // "H mode id stage<TAB>path"
        names(&answer.stdout)
            .filter(|entry| {
                entry
                    .get(2..)
                    .is_some_and(|entry| entry.starts_with(b"160000 "))
            })
            .filter_map(|entry| {
                Some(entry[entry.iter().position(|byte| *byte == b'\t')? + 1..].to_vec())
            })
            .collect()
    }

    /// Reads a repository in the work tree: its files, and its own folder, of which git is asked nothing.
    fn repository(&mut self, snapshot: &Snapshot, path: Vec<u8>) {
        let place = std::str::from_utf8(&path)
            .ok()
            .map(|path| snapshot.root().join(path));
        let Some(place) =
            place.filter(|place| place.symlink_metadata().is_ok_and(|found| found.is_dir()))
        else {
            return;
        };
        if self.nested.len() >= MOST_REPOSITORIES {
            self.cut = true;
            return;
        }
        let name = format!("{}/.git", shown(&path));
        let git = place.join(".git");
        self.file(&git, name.clone());
        let folder = crate::files::read_to_string(&git)
            .ok()
            .and_then(|text| Some(place.join(text.strip_prefix("gitdir: ")?.trim_end())))
            .unwrap_or(git);
        self.git_folder(&folder, &name);
        for file in ["HEAD", "index"] {
            self.file(&folder.join(file), format!("{name}/{file}"));
        }
        let ours = Ours::new(snapshot.ours().scratch().clone());
        self.nested.insert(path, Walk::take(&place, ours));
    }

    fn git_folder(&mut self, folder: &Utf8Path, name: &str) {
        for file in FILES {
            self.file(&folder.join(file), format!("{name}/{file}"));
        }
        for inside in FOLDERS {
            self.folder(&folder.join(inside), &format!("{name}/{inside}"), DEPTH);
        }
    }

    fn folder(&mut self, folder: &Utf8Path, name: &str, depth: usize) {
        let entries = folder.read_dir_utf8().into_iter().flatten().flatten();
        for entry in entries {
            let name = format!("{name}/{}", shown(entry.file_name().as_bytes()));
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            match is_folder {
                true if depth > 0 => self.folder(entry.path(), &name, depth - 1),
                true => self.cut = true,
                false if name.ends_with(".sample") => {}
                false => self.file(entry.path(), name),
            }
        }
    }

    /// Reads a file's kind, permissions and content.
    fn file(&mut self, file: &Utf8Path, name: String) {
        let Ok(found) = file.symlink_metadata() else {
            return;
        };
        if found.is_dir() {
            return;
        }
        if self.files >= MOST_FILES || self.bytes + found.len() > MOST_BYTES {
            self.cut = true;
            return;
        }
        self.files += 1;
        self.bytes += found.len();
        let content = content(file, &found);
        let mode = std::os::unix::fs::MetadataExt::mode(&found);
        self.found.insert(name, format!("{mode:o} {content}"));
    }
}

fn content(file: &Utf8Path, found: &std::fs::Metadata) -> String {
    let target = || {
        file.read_link_utf8()
            .map(Utf8PathBuf::into_string)
            .unwrap_or_default()
    };
    let link = if found.is_symlink() {
        target()
    } else {
        String::new()
    };
    let bytes = crate::files::read(file).map(|bytes| Digest::of(&bytes).to_string());
    format!("{link} {}", bytes.unwrap_or_default())
}
