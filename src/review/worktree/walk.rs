//! A folder at one moment where there is no git: sizes, times and digests of its files, up to a bound.
//!
//! It serves only to tell which files changed while something ran; folders of version control are passed over.

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use camino::{Utf8Path, Utf8PathBuf};
use fs_err as fs;

use super::Ours;
use super::names::shown;
use crate::review::Digest;

/// The most files that are looked at.
pub const MOST_FILES: usize = 20_000;
/// The largest file whose content is read, in bytes; of larger ones size and time have to do.
const MOST_FILE_BYTES: u64 = 1024 * 1024;
/// The most that is read altogether, in bytes.
const MOST_BYTES: u64 = 64 * 1024 * 1024;
/// How deep folders are followed.
const DEPTH: usize = 64;
/// Folders that hold a version control's own files.
const PASSED_OVER: [&str; 4] = [".git", ".hg", ".svn", ".jj"];

/// What a folder held at one moment.
#[derive(Debug)]
pub struct Walk {
    root: Utf8PathBuf,
    ours: Ours,
    files: BTreeMap<Vec<u8>, Seen>,
    cut: bool,
}

#[derive(Debug)]
struct Seen {
    bytes: u64,
    /// Kind and permissions.
    mode: u32,
    modified: (i64, i64),
    content: Option<Digest>,
}

impl Seen {
    /// Returns whether it is the same file. A time says nothing where the content is known.
    fn is_as(&self, other: &Self) -> bool {
        match (&self.content, &other.content) {
            (Some(one), Some(two)) => one == two && self.mode == other.mode,
            _ => {
                (self.bytes, self.mode, self.modified) == (other.bytes, other.mode, other.modified)
            }
        }
    }
}

impl Walk {
    /// Looks at the folder. What cannot be opened is passed over: it cannot be told apart from what is not there.
    pub fn take(root: &Utf8Path, ours: Ours) -> Self {
        let mut walk = Self {
            root: root.to_owned(),
            ours,
            files: BTreeMap::new(),
            cut: false,
        };
        walk.look();
        walk
    }

    /// Returns whether there were more files than are looked at.
    pub fn is_cut(&self) -> bool {
        self.cut
    }

    /// Returns the digest of its files. A time says nothing where the content is known.
    pub fn digest(&self) -> Digest {
        let mut all = Vec::new();
        for (path, seen) in &self.files {
            let content = match &seen.content {
                Some(digest) => digest.to_string(),
                None => format!("{:?}", seen.modified),
            };
            all.extend_from_slice(path);
            all.extend_from_slice(format!("\0{} {} {content}\0", seen.bytes, seen.mode).as_bytes());
        }
        Digest::of(&all)
    }

    /// Looks anew and tells which files differ from what they were, in the order of their names.
    pub fn changed_since(&mut self) -> Vec<String> {
        let before = std::mem::take(&mut self.files);
        self.look();
        let mut changed: Vec<&Vec<u8>> = before
            .keys()
            .chain(self.files.keys().filter(|path| !before.contains_key(*path)))
            .filter(|path| match (before.get(*path), self.files.get(*path)) {
                (Some(old), Some(new)) => !old.is_as(new),
                _ => true,
            })
            .collect();
        changed.sort();
        changed.into_iter().map(|path| shown(path)).collect()
    }

    fn look(&mut self) {
        let mut left = MOST_BYTES;
        let mut folders = vec![(self.root.clone().into_std_path_buf(), 0)];
        while let Some((folder, depth)) = folders.pop() {
            let Ok(entries) = fs::read_dir(&folder) else {
                continue;
            };
            let mut entries: Vec<_> = entries.filter_map(Result::ok).collect();
            entries.sort_by_key(fs::DirEntry::file_name);
            for entry in entries {
                let path = entry.path();
                let Ok(inside) = path.strip_prefix(&self.root) else {
                    continue;
                };
                let name = inside.as_os_str().as_bytes().to_vec();
                let Ok(found) = path.symlink_metadata() else {
                    continue;
                };
                if found.is_dir() {
                    let mut folder_name = name.clone();
                    folder_name.push(b'/');
                    let known = PASSED_OVER.iter().any(|known| entry.file_name() == *known);
                    if depth < DEPTH && !known && !self.ours.holds(&folder_name) {
                        folders.push((path, depth + 1));
                    }
                    continue;
                }
                if self.ours.holds(&name) {
                    continue;
                }
                if self.files.len() >= MOST_FILES {
                    self.cut = true;
                    return;
                }
                let content = content(&path, &found, &mut left);
                let seen = Seen {
                    bytes: found.len(),
                    mode: found.mode(),
                    modified: (found.mtime(), found.mtime_nsec()),
                    content,
                };
                self.files.insert(name, seen);
            }
        }
    }
}

/// Returns the digest of a regular file that is small enough, or of where a symlink points.
fn content(path: &Path, found: &std::fs::Metadata, left: &mut u64) -> Option<Digest> {
    if found.is_symlink() {
        return Some(Digest::of(fs::read_link(path).ok()?.as_os_str().as_bytes()));
    }
    if !found.is_file() || found.len() > MOST_FILE_BYTES || found.len() > *left {
        return None;
    }
    *left -= found.len();
    // Of a name that is not UTF-8, size and time have to do.
    let bytes = crate::files::read(Utf8Path::from_path(path)?).ok()?;
    Some(Digest::of(&bytes))
}
