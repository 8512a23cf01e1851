//! A work tree as a git tree, written with an index and objects of our own.
//!
//! The scratch index is a copy of the real one, so that git need not read unchanged files. Files
//! that `git add -A` would add are added to it. That command itself would read submodules, run
//! their configuration, and read large files.
//!
//! One trace remains: git renews the file time of an existing object that it would write.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt as _;
use std::time::Instant;

use camino::{Utf8Path, Utf8PathBuf};
use tempfile::TempDir;

use super::{MAX_FILES, names};
use crate::files;
use crate::git::{Git, WorktreeError, io};
use crate::text;

pub(crate) const MAX_FILE_BYTES: u64 = 8 * 1024 * 1024;
/// The most bytes of all changed and untracked files together.
const MAX_TOTAL_BYTES: u64 = 256 * 1024 * 1024;

/// A work tree at one moment.
#[derive(Debug)]
pub struct Snapshot {
    /// Git with the snapshot's index and objects.
    pub(crate) git: Git,
    /// The id of its tree.
    pub tree: String,
    /// The changed or untracked files that are not in the tree, with their lengths and reasons.
    pub(crate) passed_over: BTreeMap<Vec<u8>, String>,
    // The index and the objects are removed with the snapshot.
    _scratch: TempDir,
}

impl Snapshot {
    /// Takes a snapshot of the work tree at `root`. Commands of git fail after `until`.
    ///
    /// # Errors
    /// Returns an error if it is no work tree, git fails, or a limit of time or size is exceeded.
    pub fn take(
        root: &Utf8Path,
        own_files: &[String],
        until: Option<Instant>,
    ) -> Result<Self, WorktreeError> {
        let mut git = Git::at(root, until)?;
        let place = text::printable(std::env::temp_dir().to_string_lossy());
        let attempt = format!("could not make a scratch folder in {place} (see TMPDIR)");
        let (scratch, folder) = scratch_folder().map_err(io(&attempt))?;
        let index = folder.join("index");
        let paths = git.lines("rev-parse --git-path index --git-path objects", &[])?;
        let (own_index, objects) = paths.split_once('\n').unwrap_or_default();
        copy_index(&root.join(own_index), &index)?;
        let objects = root.join(objects).as_str().replace('\\', "\\\\");
        // Existing objects are read from their repository.
        git.set("GIT_INDEX_FILE", index.as_str());
        git.set("GIT_OBJECT_DIRECTORY", folder.as_str());
        let objects = format!("\"{}\"", objects.replace('"', "\\\""));
        git.set("GIT_ALTERNATE_OBJECT_DIRECTORIES", objects);
        let passed_over = add(&git, own_files)?;
        let tree = git.lines("write-tree --missing-ok", &[])?;
        Ok(Self {
            git,
            tree,
            passed_over,
            _scratch: scratch,
        })
    }

    /// Tries a diff without applying it. Git refuses names outside of the work tree and in `.git`.
    ///
    /// # Errors
    /// Returns the reason on one plain line if the patch does not apply.
    pub fn applies(&self, patch: &str) -> Result<(), String> {
        // A reviewer's JSON often loses the last line end, which git needs.
        let patch = format!("{}\n", patch.strip_suffix('\n').unwrap_or(patch));
        let apply = "apply --check --cached --whitespace=nowarn --no-ignore-whitespace -p1 -";
        match self.git.call(apply, &[], patch.as_bytes()) {
            Ok(_) => Ok(()),
            Err(WorktreeError::Refused { complaint, .. }) => Err(complaint),
            Err(error) => Err(text::one_line(&error.to_string(), 300)),
        }
    }
}

/// Makes a folder for temporary files. Dropping it removes it.
fn scratch_folder() -> std::io::Result<(TempDir, Utf8PathBuf)> {
    let folder = TempDir::with_prefix("claudex-")?;
    // The folder may be in the work tree.
    fs::write(folder.path().join(".gitignore"), "*\n")?;
    let path = Utf8PathBuf::try_from(folder.path().to_owned());
    Ok((
        folder,
        path.map_err(camino::FromPathBufError::into_io_error)?,
    ))
}

/// Updates the scratch index from the work tree. Returns the files that are passed over.
fn add(git: &Git, own_files: &[String]) -> Result<BTreeMap<Vec<u8>, String>, WorktreeError> {
    let unmerged = git.call("ls-files -z --unmerged", &[], &[])?;
    let list = "ls-files -z --modified --others --exclude-standard -- :(top)";
    let own_files: Vec<&str> = own_files.iter().map(String::as_str).collect();
    let changed = git.call(list, &own_files, &[])?;
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
        if let Some(reason) = reason_to_pass_over(&git.root, path, &mut bytes_left) {
            passed_over.insert(path.to_vec(), reason);
        } else {
            input.extend_from_slice(path);
            input.push(0);
        }
    }
    let update = "update-index -z --add --remove --replace --stdin";
    git.call(update, &[], &input)?;
    // The user may track the loop's own files.
    let tracked = own_files
        .iter()
        .map(|path| path.replacen(":(exclude,", ":(", 1));
    let tracked: Vec<String> = tracked.collect();
    let tracked: Vec<&str> = tracked.iter().map(String::as_str).collect();
    if !tracked.is_empty() {
        git.call("rm --cached -r -f -q --ignore-unmatch --", &tracked, &[])?;
    }
    Ok(passed_over)
}

/// Returns the length of a file and why it is passed over, if it is. A missing one is not.
fn reason_to_pass_over(root: &Utf8Path, path: &[u8], bytes_left: &mut u64) -> Option<String> {
    let file = root.as_std_path().join(OsStr::from_bytes(path));
    let found = file.symlink_metadata().ok()?;
    let reason = if path.ends_with(b"/") {
        "a git repository of its own"
    } else if found.is_symlink() || found.is_dir() {
        return None;
    } else if !found.is_file() {
        "no file any more"
    } else if found.len() > MAX_FILE_BYTES.min(*bytes_left) {
        "too large to be read"
    } else {
        *bytes_left -= found.len();
        let error = File::open(file).err()?;
        (error.kind() == ErrorKind::PermissionDenied).then_some("cannot be read")?
    };
    Some(format!("{} bytes, {reason}", found.len()))
}

/// Copies the index with its time, by which git recognizes files that may have changed since.
fn copy_index(from: &Utf8Path, to: &Utf8Path) -> Result<(), WorktreeError> {
    let mut source = match files::open(from) {
        // A repository without an index has no files yet.
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        opened => opened.map_err(io(&format!("could not read {from}")))?,
    };
    let mut copy = || {
        let mut copy = File::create_new(to)?;
        std::io::copy(&mut source, &mut copy)?;
        copy.set_modified(source.metadata()?.modified()?)
    };
    copy().map_err(io(&format!("could not copy {from}")))
}

/// Returns whether a text is an object's id: 40 or 64 hex digits.
pub(crate) fn is_id(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}
