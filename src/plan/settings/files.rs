//! Where the two configuration files are, and their text. Nothing is created here.

use camino::{Utf8Path, Utf8PathBuf};

use crate::drive::user_file::{self, is_missing};

pub(super) use crate::drive::user_file::text as user;
pub use crate::drive::user_file::{FileError, path as user_path};

/// The project's file, from the loop's root.
const PROJECT: &str = ".claude/claudex.toml";
/// The largest project's file, in bytes.
const MOST_PROJECT: u64 = 64 * 1024;

/// Where a project's file is, there or not.
pub fn project_path(root: &Utf8Path) -> Utf8PathBuf {
    root.join(PROJECT)
}

/// A project's file; None where there is none.
pub(super) fn project(root: &Utf8Path) -> Result<Option<String>, FileError> {
    let path = project_path(root);
    let io = |source| FileError::Io {
        path: path.clone(),
        source,
    };
    match path.symlink_metadata() {
        Err(error) if is_missing(&error) => return Ok(None),
        Err(error) => return Err(io(error)),
        Ok(_) => {}
    }
    let target = path.canonicalize_utf8().map_err(io)?;
    if !target.starts_with(root.canonicalize_utf8().map_err(io)?) {
        return Err(FileError::Outside { path, target });
    }
    user_file::read(&target, &path, MOST_PROJECT)
}
