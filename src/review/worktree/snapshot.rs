//! A work tree as a git tree, written with an index and objects of our own.
//!
//! The scratch index is a copy of the real one, so that git need not read what has not changed. Into it goes what
//! `git add -A` would add. That command itself is not used: it would look into submodules, run their configuration, and
//! read whatever lies around, however large.
//!
//! The one trace that is left: git renews the file time of an object that it would write and that the repository has.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::time::Instant;

use camino::{Utf8Path, Utf8PathBuf};
use fs_err as fs;
use fs_err::os::unix::fs::OpenOptionsExt as _;

use super::file_name::{c_quoted, names};
use super::{MAX_FILES, OwnFiles};
use crate::files;
use crate::git::{Git, WorktreeError, io};
use crate::review::digest::Digest;
use crate::review::scratch::Scratch;

/// The largest file that is read, in bytes.
pub const MAX_FILE_BYTES: u64 = 8 * 1024 * 1024;
/// The most that is read of all changed and untracked files together, in bytes.
pub const MAX_TOTAL_BYTES: u64 = 256 * 1024 * 1024;

/// A work tree at one moment.
#[derive(Debug)]
pub struct Snapshot {
    git: Git,
    differ: Git,
    own_files: OwnFiles,
    tree: String,
    untracked: BTreeSet<Vec<u8>>,
    passed_over: BTreeMap<Vec<u8>, PassedOver>,
    // The index and the objects are removed with the snapshot.
    _scratch: Scratch,
}

/// A file that is there, changed or untracked, and not in the tree as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PassedOver {
    /// The reason.
    pub why: Why,
    /// Its length in bytes.
    pub bytes: u64,
    /// Seconds and nanoseconds since 1970.
    modified: (i64, i64),
}

/// The reason for which a file is passed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Why {
    /// It is too large, or came after too much.
    #[error("too large to be read")]
    Large,
    /// The system refuses to open it.
    #[error("cannot be read")]
    Unreadable,
    /// A pipe, a socket or a device has replaced a tracked file.
    #[error("no file any more")]
    NoFile,
    /// A git repository of its own that is no submodule of this one.
    #[error("a git repository of its own")]
    Repository,
}

impl Snapshot {
    /// Takes one of the work tree whose top is `root`.
    ///
    /// # Errors
    /// Returns an error if there is no such work tree, git refuses or is missing, or there is too much to read.
    pub fn take(root: &Utf8Path, own_files: OwnFiles) -> Result<Self, WorktreeError> {
        Self::take_until(root, own_files, None)
    }

    /// Takes one with a deadline: commands of git that are not done by `until` fail, also later ones.
    ///
    /// # Errors
    /// Returns the errors of [`take`](Self::take), and an error if the time is over.
    pub fn take_until(
        root: &Utf8Path,
        own_files: OwnFiles,
        until: Option<Instant>,
    ) -> Result<Self, WorktreeError> {
        let mut git = Git::at(root, until)?;
        let scratch = own_files.scratch().scratch();
        let scratch = scratch.map_err(io("could not make a scratch folder"))?;
        let place = scratch.path();
        let own_files = match place.strip_prefix(root) {
            Ok(inside) => own_files.folder(inside.as_str()),
            Err(_) => own_files,
        };
        let objects = place.join("objects");
        borrow_objects(&git, &objects)?;
        let index = place.join("index");
        copy_index(&git.folder().join("index"), &index)?;
        git.redirect(&index, &objects);
        let mut snapshot = Self {
            differ: git.without_attributes()?,
            git,
            own_files,
            tree: String::new(),
            untracked: BTreeSet::new(),
            passed_over: BTreeMap::new(),
            _scratch: scratch,
        };
        snapshot.write_tree()?;
        Ok(snapshot)
    }

    /// Returns the id of its tree.
    pub fn tree(&self) -> &str {
        &self.tree
    }

    /// Returns the digest of its tree, and of what is not in it as it is.
    pub fn digest(&self) -> Digest {
        let mut all = self.tree.clone().into_bytes();
        for (path, over) in &self.passed_over {
            let (seconds, nanoseconds) = over.modified;
            all.extend_from_slice(format!("\0{} {seconds} {nanoseconds} ", over.bytes).as_bytes());
            all.extend_from_slice(path);
        }
        Digest::of(&all)
    }

    /// Returns the top of the work tree.
    pub fn root(&self) -> &Utf8Path {
        self.git.root()
    }

    /// Returns which files were not tracked when it was taken.
    pub fn untracked(&self) -> &BTreeSet<Vec<u8>> {
        &self.untracked
    }

    /// Returns which files were passed over, and why.
    pub fn passed_over(&self) -> &BTreeMap<Vec<u8>, PassedOver> {
        &self.passed_over
    }

    /// Returns the loop's own files.
    pub fn own_files(&self) -> &OwnFiles {
        &self.own_files
    }

    /// Returns git with the snapshot's index and objects.
    pub(crate) fn git(&self) -> &Git {
        &self.git
    }

    /// Returns git for a diff of trees, whatever the attributes of the work tree say of it.
    pub(crate) fn differ(&self) -> &Git {
        &self.differ
    }

    /// Brings the scratch index up to the work tree, and writes its tree. Files come and go while this looks: what
    /// failed is tried once more.
    fn write_tree(&mut self) -> Result<(), WorktreeError> {
        let added = match self.add() {
            Err(WorktreeError::Refused { .. }) => self.add(),
            added => added,
        };
        added?;
        let tree = self.git.lines(&["write-tree", "--missing-ok"], &[])?;
        if !is_id(&tree) {
            return Err(WorktreeError::unreadable("write-tree", tree.as_bytes()));
        }
        self.tree = tree;
        Ok(())
    }

    fn add(&mut self) -> Result<(), WorktreeError> {
        let unmerged = self.git.call(&["ls-files", "-z", "--unmerged"], &[])?;
        let modified = self.git.call(&["ls-files", "-z", "--modified"], &[])?;
        let others = self
            .git
            .call(&["ls-files", "-z", "--others", "--exclude-standard"], &[])?;
        // "mode id stage<TAB>path"
        let unmerged = names(&unmerged).filter_map(|entry| {
            let tab = entry.iter().position(|byte| *byte == b'\t')?;
            Some(&entry[tab + 1..])
        });
        let tracked: BTreeSet<&[u8]> = unmerged.chain(names(&modified)).collect();
        let own_files = &self.own_files;
        let others: BTreeSet<&[u8]> = names(&others)
            .filter(|path| !own_files.contains(path))
            .collect();
        if tracked.len() + others.len() > MAX_FILES {
            return Err(WorktreeError::TooMany { most: MAX_FILES });
        }

        let mut passed_over = BTreeMap::new();
        let mut input = Vec::new();
        let mut left = MAX_TOTAL_BYTES;
        for path in tracked.iter().chain(&others) {
            match look(self.git.root(), path, &mut left) {
                Some(over) => {
                    passed_over.insert(path.to_vec(), over);
                }
                None => {
                    input.extend_from_slice(path);
                    input.push(0);
                }
            }
        }
        if !input.is_empty() {
            self.git.call(
                &[
                    "update-index",
                    "-z",
                    "--add",
                    "--remove",
                    "--replace",
                    "--stdin",
                ],
                &input,
            )?;
        }
        // On a second try what was untracked is in the scratch index, and still untracked in the real one.
        self.untracked
            .extend(others.into_iter().map(<[u8]>::to_vec));
        self.passed_over = passed_over;
        Ok(())
    }
}

/// Returns whether a file has to be passed over; one that is gone does not.
fn look(root: &Utf8Path, path: &[u8], left: &mut u64) -> Option<PassedOver> {
    let file = root.as_std_path().join(OsStr::from_bytes(path));
    let found = file.symlink_metadata().ok()?;
    let over = |why| {
        Some(PassedOver {
            why,
            bytes: found.len(),
            modified: (found.mtime(), found.mtime_nsec()),
        })
    };
    if path.ends_with(b"/") {
        return over(Why::Repository);
    }
    if found.is_symlink() || found.is_dir() {
        return None;
    }
    if !found.is_file() {
        return over(Why::NoFile);
    }
    if found.len() > MAX_FILE_BYTES || found.len() > *left {
        return over(Why::Large);
    }
    *left -= found.len();
    let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let opened = fs::OpenOptions::new()
        .read(true)
        .custom_flags(flags)
        .open(file);
    if opened.is_err_and(|error| error.kind() == std::io::ErrorKind::PermissionDenied) {
        return over(Why::Unreadable);
    }
    None
}

/// Makes a folder of objects that finds all others in the repository's.
fn borrow_objects(git: &Git, objects: &Utf8Path) -> Result<(), WorktreeError> {
    let theirs = git.lines(&["rev-parse", "--git-path", "objects"], &[])?;
    let theirs = git.root().join(theirs);
    // Only one level at a time: a signal may have removed the scratch folder, which must not come back.
    for folder in [objects.to_owned(), objects.join("info")] {
        fs::create_dir(folder).map_err(io("could not make a scratch folder"))?;
    }
    let mut line = c_quoted(theirs.as_str().as_bytes(), true);
    line.push(b'\n');
    fs::write(objects.join("info/alternates"), line).map_err(io("could not write a scratch file"))
}

/// Copies the index with its time: by that git knows which files may have changed within the clock's grain.
fn copy_index(from: &Utf8Path, to: &Utf8PathBuf) -> Result<(), WorktreeError> {
    let read = || io(format!("could not read {from}"));
    let write = || io("could not write a scratch file");
    let mut source = match files::open(from) {
        Ok(opened) => opened,
        // A repository without an index has nothing in it yet.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(read()(error)),
    };
    let mut copy = std::fs::File::create_new(to).map_err(write())?;
    let found = source.metadata().map_err(read())?;
    std::io::copy(&mut source, &mut copy).map_err(write())?;
    copy.set_modified(found.modified().map_err(read())?)
        .map_err(write())
}

/// Returns whether it is an object's id: 40 hex digits, or 64.
pub(crate) fn is_id(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}
