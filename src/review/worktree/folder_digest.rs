//! The digest of a folder outside of git: kinds, permissions and contents of its files, up to a bound.

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use camino::Utf8Path;
use fs_err as fs;

use super::{MAX_FILES, OwnFiles, WorktreeError};
use crate::review::digest::Digest;

/// The largest file whose content is read, in bytes. Larger files count by size and time.
const MAX_FILE_BYTES: u64 = 1024 * 1024;
/// The bytes that are read of all files together.
const MAX_TOTAL_BYTES: u64 = 64 * 1024 * 1024;
/// Folders of version control systems, which are passed over.
const VERSION_CONTROL: [&str; 4] = [".git", ".hg", ".svn", ".jj"];

/// Returns the digest of every file in a folder. A file that cannot be opened counts by size and time.
pub(super) fn digest(root: &Utf8Path, own_files: &OwnFiles) -> Result<Digest, WorktreeError> {
    let mut files: BTreeMap<Vec<u8>, String> = BTreeMap::new();
    let mut bytes_left = MAX_TOTAL_BYTES;
    let mut folders = vec![root.as_std_path().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let inside = path.strip_prefix(root).unwrap_or(&path);
            let name = inside.as_os_str().as_bytes();
            let Ok(found) = path.symlink_metadata() else {
                continue;
            };
            let end: &[u8] = if found.is_dir() { b"/" } else { b"" };
            if VERSION_CONTROL.iter().any(|one| entry.file_name() == *one)
                || own_files.contains(&[name, end].concat())
            {
                continue;
            }
            if found.is_dir() {
                folders.push(path);
                continue;
            }
            let content = content(&path, &found, &mut bytes_left);
            files.insert(
                name.to_vec(),
                format!("{} {} {content}", found.len(), found.mode()),
            );
            if files.len() > MAX_FILES {
                return Err(WorktreeError::TooMany);
            }
        }
    }
    Ok(Digest::from_bytes(format!("{files:?}").as_bytes()))
}

/// Returns the digest of a small regular file, the target of a link, or else the file's time.
fn content(path: &Path, found: &std::fs::Metadata, bytes_left: &mut u64) -> String {
    if found.is_symlink() {
        return format!("{:?}", fs::read_link(path).ok());
    }
    let is_small = found.is_file() && found.len() <= MAX_FILE_BYTES.min(*bytes_left);
    if is_small {
        *bytes_left -= found.len();
    }
    let path = Utf8Path::from_path(path).filter(|_| is_small);
    match path.and_then(|path| crate::files::read(path).ok()) {
        Some(bytes) => Digest::from_bytes(&bytes).to_string(),
        None => format!("{}.{:09}", found.mtime(), found.mtime_nsec()),
    }
}
