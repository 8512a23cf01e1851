//! Where the two configuration files are, and their text. Nothing is created here.

use std::io::ErrorKind;

use camino::{Utf8Path, Utf8PathBuf};

use super::user_file::{is_missing, utf8};
use crate::files::{Distrust, Folder, UntrustedError};
use crate::program::info::ProgramInfo;

pub(super) use super::user_file::text as user;
pub use super::user_file::{FileError, path as user_path};

/// The folder of the project's file, in the loop's root.
const FOLDER: &str = ".claude";
/// The largest project's file, in bytes.
const MOST_PROJECT: u64 = 64 * 1024;

/// Where a project's file is, there or not.
pub fn project_path(info: &ProgramInfo, root: &Utf8Path) -> Utf8PathBuf {
    root.join(FOLDER).join(name(info))
}

/// Returns its name there, such as `claudex.toml`.
fn name(info: &ProgramInfo) -> String {
    format!("{}.toml", info.name)
}

/// A project's file; None where there is none. No symlink is followed below the root.
pub(super) fn project(info: &ProgramInfo, root: &Utf8Path) -> Result<Option<String>, FileError> {
    let path = project_path(info, root);
    let folder = Folder::open(root).and_then(|root| root.below(FOLDER));
    let source = match folder.and_then(|folder| folder.read(&name(info), MOST_PROJECT)) {
        Ok(bytes) => return utf8(bytes, &path).map(Some),
        Err(source) => source,
    };
    match UntrustedError::of(&source) {
        Some(UntrustedError { why, .. }) if *why == Distrust::NoFolder => Ok(None),
        Some(UntrustedError { why, .. }) if *why == Distrust::NoFile => {
            Err(FileError::Kind { path })
        }
        Some(UntrustedError { path, why }) => Err(FileError::Untrusted {
            path: path.clone(),
            why: *why,
        }),
        None if is_missing(&source) => Ok(None),
        None if source.kind() == ErrorKind::FileTooLarge => Err(FileError::Large {
            path,
            most: MOST_PROJECT,
        }),
        None => Err(FileError::Io { path, source }),
    }
}
