//! Scratch folders: data of a process that is of no use once it has ended, such as a copy of a work tree's index.

use std::io;

use camino::Utf8Path;
use tempfile::TempDir;

/// A folder in the system's folder for temporary files that only this user can open. Dropping it removes it.
#[derive(Debug)]
pub(crate) struct Scratch(TempDir);

impl Scratch {
    /// Makes a folder.
    pub(crate) fn new() -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("claudex-").tempdir()?;
        if Utf8Path::from_path(folder.path()).is_none() {
            return Err(io::ErrorKind::InvalidFilename.into());
        }
        // The folder may lie in the work tree that is read.
        std::fs::write(folder.path().join(".gitignore"), "*\n")?;
        Ok(Self(folder))
    }

    /// Returns the path of the folder.
    pub(crate) fn path(&self) -> &Utf8Path {
        Utf8Path::from_path(self.0.path()).expect("checked by `new`")
    }
}
