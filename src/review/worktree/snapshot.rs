//! A work tree as a git tree, written with an index and objects of our own.
//!
//! The scratch index is a copy of the real one, so that git need not read unchanged files. Into it goes what
//! `git add -A` would add. That command itself is not used: it would look into submodules, run their configuration, and
//! read large files around.
//!
//! The one trace that is left: git renews the file time of an object that it would write and that the repository has.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::time::Instant;

use camino::Utf8Path;
use fs_err as fs;
use fs_err::os::unix::fs::OpenOptionsExt as _;

use super::own_files::without;
use super::{MAX_FILES, names};
use crate::digest::sha256;
use crate::files;
use crate::git::{Git, WorktreeError, io};
use crate::review::scratch::Scratch;
use crate::text;

/// The largest file that is read, in bytes.
pub(crate) const MAX_FILE_BYTES: u64 = 8 * 1024 * 1024;
/// The most that is read of all changed and untracked files together, in bytes.
const MAX_TOTAL_BYTES: u64 = 256 * 1024 * 1024;

/// Folders of other version control systems than git.
const VERSION_CONTROL: [&str; 3] = [".hg", ".svn", ".jj"];
/// The attempt that may fail first.
const NO_SCRATCH: &str = "could not make a scratch folder";

/// A work tree at one moment.
#[derive(Debug)]
pub struct Snapshot {
    /// Git with the snapshot's index and objects.
    pub(crate) git: Git,
    tree: String,
    /// The files that were passed over.
    pub(crate) passed_over: BTreeMap<Vec<u8>, PassedOver>,
    // The index and the objects are removed with the snapshot.
    _scratch: Scratch,
}

/// A file that is there, changed or untracked, and not in the tree as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PassedOver {
    /// The reason.
    pub(crate) why: &'static str,
    /// The length in bytes.
    pub(crate) bytes: u64,
    /// Seconds and nanoseconds since 1970.
    modified: (i64, i64),
}

impl Snapshot {
    /// Takes a snapshot of the work tree whose top is `root`. Commands of git that are not done by `until` fail, also later ones.
    ///
    /// # Errors
    /// Returns an error if there is no such work tree, git refuses or is missing, the time is over, or there is too much to read.
    pub fn take(
        root: &Utf8Path,
        own_files: &[String],
        until: Option<Instant>,
    ) -> Result<Self, WorktreeError> {
        let mut git = Git::at(root, until)?;
        let scratch = Scratch::new().map_err(io(NO_SCRATCH))?;
        let index = scratch.path().join("index");
        let call = words("rev-parse --git-path index --git-path objects");
        let paths = git.lines(&call, &[])?;
        let (own_index, objects) = paths.split_once('\n').unwrap_or_default();
        copy_index(&root.join(own_index), &index)?;
        let objects = root.join(objects).as_str().replace('\\', "\\\\");
        // The old objects are read where they are.
        git.set("GIT_INDEX_FILE", index.as_str());
        git.set("GIT_OBJECT_DIRECTORY", scratch.path().as_str());
        let objects = format!("\"{}\"", objects.replace('"', "\\\""));
        git.set("GIT_ALTERNATE_OBJECT_DIRECTORIES", objects);
        Self::from_index(git, own_files, scratch)
    }

    /// Takes a snapshot of a folder outside of git, with a scratch repository.
    pub(super) fn from_folder(
        root: &Utf8Path,
        own_files: &[String],
    ) -> Result<Self, WorktreeError> {
        let scratch = Scratch::new().map_err(io(NO_SCRATCH))?;
        let git = Git::init(root, &scratch.path().join("git"))?;
        let others = VERSION_CONTROL.map(without);
        Self::from_index(git, &[own_files, &others].concat(), scratch)
    }

    fn from_index(git: Git, own_files: &[String], scratch: Scratch) -> Result<Self, WorktreeError> {
        let passed_over = add(&git, own_files)?;
        let tree = git.lines(&["write-tree", "--missing-ok"], &[])?;
        if !is_id(&tree) {
            return Err(WorktreeError::unreadable("write-tree", tree.as_bytes()));
        }
        Ok(Self {
            git,
            tree,
            passed_over,
            _scratch: scratch,
        })
    }

    /// Returns the id of its tree.
    pub fn tree(&self) -> &str {
        &self.tree
    }

    /// Returns the digest of its tree, and of files that are not in it as they are.
    pub(crate) fn digest(&self) -> String {
        let mut all = self.tree.clone().into_bytes();
        for (path, over) in &self.passed_over {
            let (seconds, nanoseconds) = over.modified;
            all.extend_from_slice(format!("\0{} {seconds} {nanoseconds} ", over.bytes).as_bytes());
            all.extend_from_slice(path);
        }
        sha256(all)
    }

    /// Tries a unified diff against the snapshot, and applies nothing. Git refuses names outside of the work tree and in `.git`.
    ///
    /// # Errors
    /// Returns the reason on one plain line if the patch does not apply.
    pub fn applies(&self, patch: &str) -> Result<(), String> {
        // A reviewer's JSON often loses the last line end, which git needs.
        let patch = format!("{}\n", patch.strip_suffix('\n').unwrap_or(patch));
        let apply = "apply --check --cached --whitespace=nowarn --no-ignore-whitespace -p1 -";
        match self.git.call(&words(apply), patch.as_bytes()) {
            Ok(_) => Ok(()),
            Err(WorktreeError::Refused { said, .. }) => Err(said),
            Err(error) => Err(text::one_line(&error.to_string(), 300)),
        }
    }
}

/// Returns the words of a command line without quotes.
fn words(command: &str) -> Vec<&str> {
    command.split(' ').collect()
}

/// Brings the scratch index up to the work tree. Returns the files that are passed over.
fn add(git: &Git, own_files: &[String]) -> Result<BTreeMap<Vec<u8>, PassedOver>, WorktreeError> {
    let unmerged = git.call(&["ls-files", "-z", "--unmerged"], &[])?;
    let list = "ls-files -z --modified --others --exclude-standard -- :(top)";
    let own_files = own_files.iter().map(String::as_str);
    let list: Vec<&str> = words(list).into_iter().chain(own_files).collect();
    let changed = git.call(&list, &[])?;
    // "mode id stage<TAB>path"
    let unmerged = names(&unmerged).filter_map(|entry| {
        let tab = entry.iter().position(|byte| *byte == b'\t')?;
        Some(&entry[tab + 1..])
    });
    let paths: BTreeSet<&[u8]> = unmerged.chain(names(&changed)).collect();
    if paths.len() > MAX_FILES {
        return Err(WorktreeError::TooMany);
    }
    let mut passed_over = BTreeMap::new();
    let mut input = Vec::new();
    let mut bytes_left = MAX_TOTAL_BYTES;
    for path in paths {
        if let Some(over) = look(git.root(), path, &mut bytes_left) {
            passed_over.insert(path.to_vec(), over);
        } else {
            input.extend_from_slice(path);
            input.push(0);
        }
    }
    let update = "update-index -z --add --remove --replace --stdin";
    git.call(&words(update), &input)?;
    Ok(passed_over)
}

/// Returns whether a file has to be passed over; one that is gone does not.
fn look(root: &Utf8Path, path: &[u8], bytes_left: &mut u64) -> Option<PassedOver> {
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
        return over("a git repository of its own");
    }
    if found.is_symlink() || found.is_dir() {
        return None;
    }
    if !found.is_file() {
        return over("no file any more");
    }
    if found.len() > MAX_FILE_BYTES.min(*bytes_left) {
        return over("too large to be read");
    }
    *bytes_left -= found.len();
    let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let opened = fs::OpenOptions::new()
        .read(true)
        .custom_flags(flags)
        .open(file);
    match opened {
        Err(error) if error.kind() == ErrorKind::PermissionDenied => over("cannot be read"),
        _ => None,
    }
}

/// Copies the index with its time: by that git knows which files may have changed within the clock's grain.
fn copy_index(from: &Utf8Path, to: &Utf8Path) -> Result<(), WorktreeError> {
    let mut source = match files::open(from) {
        // A repository without an index has nothing in it yet.
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        opened => opened.map_err(io(format!("could not read {from}")))?,
    };
    let mut copy = || {
        let mut copy = std::fs::File::create_new(to)?;
        std::io::copy(&mut source, &mut copy)?;
        copy.set_modified(source.metadata()?.modified()?)
    };
    copy().map_err(io(format!("could not copy {from}")))
}

/// Returns whether it is an object's id: 40 hex digits, or 64.
pub(crate) fn is_id(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}
