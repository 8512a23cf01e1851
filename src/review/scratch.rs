//! Scratch folders: data of a process that is of no use once it has ended, such as a copy of a work tree's index. They lie in the
//! system's folder for temporary files.

use std::io::{self, ErrorKind};
use std::sync::{Mutex, MutexGuard, PoisonError};

use camino::{Utf8Path, Utf8PathBuf};
use fs_err as fs;

/// The scratch folders of this process.
static LIVE: Mutex<Vec<Utf8PathBuf>> = Mutex::new(Vec::new());

/// A scratch folder that only this user can open. Dropping it removes it.
#[derive(Debug)]
pub(crate) struct Scratch(Utf8PathBuf);

impl Scratch {
    /// Makes a folder.
    pub(crate) fn new() -> io::Result<Self> {
        // Held meanwhile, so that `remove_all` misses no folder.
        let mut live = live();
        let folder = tempfile::Builder::new().prefix("claudex-").tempdir()?;
        let path = Utf8PathBuf::try_from(folder.keep())
            .map_err(|error| io::Error::new(ErrorKind::InvalidFilename, error))?;
        live.push(path.clone());
        // The folder may lie in the work tree that is read.
        fs::write(path.join(".gitignore"), "*\n")?;
        Ok(Self(path))
    }

    /// Returns the path of the folder.
    pub(crate) fn path(&self) -> &Utf8Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        live().retain(|path| *path != self.0);
        remove(&self.0);
    }
}

/// Removes all scratch folders of this process, which is about to end. Making or dropping one waits until then.
pub fn remove_all() {
    let mut live = live();
    live.drain(..).for_each(|path| remove(&path));
    std::mem::forget(live);
}

/// Removes a folder. It is renamed first, so that a program that still writes there does not find it.
fn remove(path: &Utf8Path) {
    let removed = format!("{path}.gone");
    let _ = fs::rename(path, &removed);
    let _ = fs::remove_dir_all(removed);
}

fn live() -> MutexGuard<'static, Vec<Utf8PathBuf>> {
    LIVE.lock().unwrap_or_else(PoisonError::into_inner)
}
