//! Scratch folders: data that is of no use once the process is gone that made it, such as a copy of a work tree's index.
//!
//! Each has a lock file beside it, `<name>.lock`, which its process holds from before the folder is made until after it is removed. So
//! whoever comes next can tell what a killed process left, and removes it. A process id could not tell.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::sync::Mutex;

use camino::{Utf8Path, Utf8PathBuf};
use rustix::fs::OFlags;

/// What is added to a scratch folder's name for its lock file.
const LOCK: &str = "lock";
/// How the name of a scratch folder begins.
const PREFIX: &str = "tree-";
/// How often a new folder is tried: another process may take an empty place away, or look at our lock, at the same moment.
const TRIES: usize = 20;

/// The scratch folders of this process.
static LIVE: Mutex<Vec<Utf8PathBuf>> = Mutex::new(Vec::new());

/// A scratch folder. Dropped, it is removed, and so is the place where it lay if that was made for it.
#[derive(Debug)]
pub(crate) struct Scratch {
    path: Utf8PathBuf,
    /// Folders that were made for it, innermost first.
    made: Vec<Utf8PathBuf>,
    _lock: File,
}

impl Scratch {
    /// Makes one in `place`, after what was left there was removed. A `.gitignore` in it keeps git from taking it for work.
    ///
    /// # Errors
    /// The place is a link or another user's, or the system refuses.
    pub(crate) fn new_in(place: &Utf8Path) -> io::Result<Self> {
        let missing = |path: &&Utf8Path| !path.as_str().is_empty() && path.symlink_metadata().is_err();
        let made = place.ancestors().take_while(missing);
        let made: Vec<Utf8PathBuf> = made.map(Utf8Path::to_owned).collect();
        let mut refused = io::Error::from(ErrorKind::ResourceBusy);
        for _ in 0..TRIES {
            match Self::try_in(place) {
                Ok((path, lock)) => {
                    live(|paths| paths.push(path.clone()));
                    let scratch = Self {
                        path,
                        made,
                        _lock: lock,
                    };
                    std::fs::DirBuilder::new().mode(0o700).create(&scratch.path)?;
                    std::fs::write(scratch.path.join(".gitignore"), "*\n")?;
                    return Ok(scratch);
                }
                Err(error) if [ErrorKind::NotFound, ErrorKind::WouldBlock].contains(&error.kind()) => {
                    refused = error;
                }
                Err(error) => return Err(error),
            }
        }
        Err(refused)
    }

    fn try_in(place: &Utf8Path) -> io::Result<(Utf8PathBuf, File)> {
        std::fs::create_dir_all(place)?;
        for folder in place.ancestors().take(2) {
            if !is_own_folder(folder) {
                let why = format!("{folder} is no folder of yours");
                return Err(io::Error::new(ErrorKind::NotADirectory, why));
            }
        }
        sweep(place);
        let mut random = [0_u8; 8];
        getrandom::fill(&mut random).map_err(io::Error::other)?;
        let path = place.join(format!("{PREFIX}{:016x}", u64::from_be_bytes(random)));
        let lock_path = path.with_extension(LOCK);
        let lock = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&lock_path)?;
        // Who sweeps may have been faster.
        if lock.try_lock().is_err() || !is_at(&lock, &lock_path) {
            return Err(ErrorKind::WouldBlock.into());
        }
        Ok((path, lock))
    }

    pub(crate) fn path(&self) -> &Utf8Path {
        &self.path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        live(|paths| paths.retain(|path| *path != self.path));
        remove(&self.path);
        for folder in &self.made {
            if std::fs::remove_dir(folder).is_err() {
                return;
            }
        }
    }
}

/// Removes all scratch folders of this process, which is about to end.
pub fn remove_all() {
    for path in live(std::mem::take) {
        remove(&path);
        // Only where it is empty: others may be at work there.
        for folder in path.ancestors().skip(1).take(2) {
            let _ = std::fs::remove_dir(folder);
        }
    }
}

/// Removes what processes left in `place` that are gone. A place that is a link is left alone, and so is what is not named like a
/// scratch folder.
pub(crate) fn sweep(place: &Utf8Path) {
    if !is_own_folder(place) {
        return;
    }
    for entry in place.read_dir_utf8().into_iter().flatten().flatten() {
        let path = entry.path();
        if !entry.file_name().starts_with(PREFIX) {
            continue;
        }
        let lock_path = path.with_extension(LOCK);
        let nofollow = OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let lock = OpenOptions::new()
            .read(true)
            .custom_flags(nofollow.bits().cast_signed())
            .open(&lock_path);
        let gone = match &lock {
            Ok(lock) => lock.try_lock().is_ok() && is_at(lock, &lock_path),
            Err(error) => error.kind() == ErrorKind::NotFound,
        };
        if gone {
            remove(&path.with_extension(""));
        }
    }
}

/// Removes a scratch folder, then its lock file. It is renamed first: a program that still writes there finds its paths gone.
fn remove(path: &Utf8Path) {
    let gone = path.with_extension("gone");
    if path.symlink_metadata().is_ok_and(|found| found.is_dir()) {
        let _ = std::fs::rename(path, &gone);
    }
    if gone.symlink_metadata().is_ok_and(|found| found.is_dir()) {
        let _ = std::fs::remove_dir_all(&gone);
    }
    let _ = std::fs::remove_file(path.with_extension(LOCK));
}

fn live<R>(work: impl FnOnce(&mut Vec<Utf8PathBuf>) -> R) -> R {
    // A list of paths is whole whoever panicked beside it.
    work(&mut LIVE.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
}

fn is_own_folder(path: &Utf8Path) -> bool {
    path.symlink_metadata()
        .is_ok_and(|found| found.is_dir() && found.uid() == rustix::process::geteuid().as_raw())
}

fn is_at(file: &File, path: &Utf8Path) -> bool {
    match (file.metadata(), path.symlink_metadata()) {
        (Ok(ours), Ok(there)) => (ours.dev(), ours.ino()) == (there.dev(), there.ino()),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::testing::folder;

    fn names(place: &Utf8Path) -> Vec<String> {
        let entries = place.read_dir_utf8().into_iter().flatten().flatten();
        entries.map(|entry| entry.file_name().to_owned()).collect()
    }

    #[test]
    fn what_lives_stays_and_what_was_left_goes() {
        let (_kept, folder) = folder();
        let place = folder.join("state/scratch");
        let mine = Scratch::new_in(&place).unwrap();
        for left in ["tree-0123456789abcdef", "tree-0123456789abcdee.gone"] {
            std::fs::create_dir_all(place.join(left).join("objects/ab")).unwrap();
        }
        std::fs::create_dir(place.join("tree-00")).unwrap();
        std::fs::write(place.join("tree-00.lock"), "").unwrap();
        std::fs::write(place.join("tree-01.lock"), "").unwrap();
        std::fs::write(place.join("notes"), "mine").unwrap();
        sweep(&place);
        let (path, lock) = (mine.path().to_owned(), mine.path().with_extension(LOCK));
        assert_eq!(names(&place).len(), 3, "{:?}", names(&place));
        assert!(path.is_dir() && lock.is_file() && place.join("notes").is_file());
        drop(mine);
        assert_eq!(names(&place), ["notes"]);
    }

    #[test]
    fn the_place_goes_with_the_last_one_that_made_it() {
        let (_kept, folder) = folder();
        let place = folder.join("state/scratch");
        let first = Scratch::new_in(&place).unwrap();
        let second = Scratch::new_in(&place).unwrap();
        assert_ne!(first.path(), second.path());
        drop(second);
        drop(first);
        assert_eq!(names(&folder), Vec::<String>::new());
    }

    #[test]
    fn a_place_that_is_a_link_is_neither_used_nor_swept() {
        let (_kept, folder) = folder();
        std::fs::create_dir_all(folder.join("elsewhere/tree-0123456789abcdef")).unwrap();
        std::fs::create_dir(folder.join("state")).unwrap();
        let place = folder.join("state/scratch");
        std::os::unix::fs::symlink("../elsewhere", &place).unwrap();
        assert!(Scratch::new_in(&place).is_err());
        sweep(&place);
        assert_eq!(names(&folder.join("elsewhere")), ["tree-0123456789abcdef"]);
    }
}
