//! Scratch folders: data of a process that is of no use once it has ended, such as a copy of a work tree's index.
//!
//! A process holds a lock on a file in each of its folders. So the next process can tell which ones a killed process left,
//! and removes them. A process id could not tell.

use std::io::{self, ErrorKind, Write as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};

use crate::digest::random_hex;
use crate::files::kill_point::kill_point;
use crate::files::{Folder, Lock, Made, make_all, remove_made};
use crate::store::Store;

/// The file in a scratch folder that is locked. It also keeps git out of the folder.
const LOCK: &str = ".gitignore";
/// The beginning of the name of a scratch folder.
const PREFIX: &str = "tree-";
/// The end of the name of a scratch folder that is being removed.
const REMOVED: &str = ".gone";
/// The number of tries to make a folder. Another process may remove an empty place, or try our lock, at the same moment.
const MAX_TRIES: usize = 20;

/// The scratch folders of this process.
static LIVE: Mutex<Vec<Arc<Live>>> = Mutex::new(Vec::new());

/// The folder that scratch folders are made in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    base: Utf8PathBuf,
    path: Utf8PathBuf,
}

/// A scratch folder. Dropping it removes it, and its place if that was made for it.
#[derive(Debug)]
pub struct Scratch(Arc<Live>);

#[derive(Debug)]
struct Live {
    folder: Folder,
    place: Folder,
    name: String,
    /// The folders that were made for it, innermost last.
    made: Vec<Made>,
    _lock: Lock,
}

impl Place {
    /// Makes a place. No symlink is followed below `base`.
    pub fn new(base: impl Into<Utf8PathBuf>, path: impl Into<Utf8PathBuf>) -> Self {
        Self {
            base: base.into(),
            path: path.into(),
        }
    }

    /// Returns the place in a state folder.
    pub fn in_store(store: &Store) -> Self {
        let base = match store.folder().starts_with(store.root()) {
            true => store.root(),
            false => store.folder(),
        };
        Self::new(base, store.folder().join("scratch"))
    }

    /// Makes a scratch folder, and removes those that killed processes left here.
    ///
    /// # Errors
    /// Returns an error if the place is not trusted, or the system refuses.
    pub fn scratch(&self) -> io::Result<Scratch> {
        use ErrorKind::{NotFound, WouldBlock};
        let mut made = Vec::new();
        // Held meanwhile, so that `remove_all` misses no folder.
        let mut live = live();
        let mut tried = self.try_scratch(&mut made);
        for _ in 1..MAX_TRIES {
            if let Err(error) = &tried
                && matches!(error.kind(), NotFound | WouldBlock)
            {
                tried = self.try_scratch(&mut made);
            }
        }
        let new = Arc::new(tried?);
        live.push(Arc::clone(&new));
        Ok(Scratch(new))
    }

    fn try_scratch(&self, made: &mut Vec<Made>) -> io::Result<Live> {
        let (place, new) = make_all(&self.base, &self.path)?;
        made.extend(new);
        remove_left(&place);
        let name = format!("{PREFIX}{}", random_hex::<8>()?);
        let folder = place.make_private(&name)?;
        // Another process may have taken the folder for one that was left.
        let lock = Lock::take(&folder, LOCK, Duration::ZERO)?.ok_or(ErrorKind::WouldBlock)?;
        folder.file_to_append(LOCK)?.write_all(b"*\n")?;
        Ok(Live {
            folder,
            place,
            name,
            made: std::mem::take(made),
            _lock: lock,
        })
    }
}

impl Scratch {
    /// Returns the folder.
    pub fn folder(&self) -> &Folder {
        &self.0.folder
    }

    /// Returns the path of the folder.
    pub fn path(&self) -> &Utf8Path {
        self.0.folder.path()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let mut live = live();
        live.retain(|live| !Arc::ptr_eq(live, &self.0));
        self.0.remove();
    }
}

impl Live {
    fn remove(&self) {
        remove(&self.place, &self.name);
        remove_made(&self.made);
    }
}

/// Removes all scratch folders of this process, which is about to end. Making or dropping one waits until then.
pub fn remove_all() {
    let mut live = live();
    for live in live.drain(..) {
        live.remove();
    }
    std::mem::forget(live);
}

fn live() -> MutexGuard<'static, Vec<Arc<Live>>> {
    LIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes the folders of processes that have ended.
fn remove_left(place: &Folder) {
    for (name, found) in place.list().unwrap_or_default() {
        if !name.starts_with(PREFIX) || !found.is_folder() {
            continue;
        }
        // If its process has not made the lock yet, ours keeps that process from going on.
        let folder = place.below(&name);
        let lock = folder.and_then(|folder| Lock::take(&folder, LOCK, Duration::ZERO));
        if let Ok(Some(_lock)) = lock {
            remove(place, &name);
        }
    }
}

/// Removes a scratch folder. It is renamed first, so that a program that still writes there does not find it.
fn remove(place: &Folder, name: &str) {
    let removed = format!("{}{REMOVED}", name.trim_end_matches(REMOVED));
    let _ = place.rename(name, place, &removed);
    kill_point();
    let _ = std::fs::remove_dir_all(place.path().join(removed));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> (tempfile::TempDir, Utf8PathBuf) {
        let made = tempfile::tempdir().unwrap();
        let path = Utf8PathBuf::try_from(made.path().canonicalize().unwrap()).unwrap();
        (made, path)
    }

    fn names(place: &Utf8Path) -> Vec<String> {
        let entries = place.read_dir_utf8().into_iter().flatten().flatten();
        entries.map(|entry| entry.file_name().to_owned()).collect()
    }

    #[test]
    fn folder_of_an_ended_process_is_removed() {
        let (_kept, folder) = folder();
        let place = folder.join("state/scratch");
        let scratch = Place::new(&folder, &place);
        let mine = scratch.scratch().unwrap();
        for left in ["tree-0123456789abcdef", "tree-0123456789abcdee.gone"] {
            std::fs::create_dir_all(place.join(left).join("objects/ab")).unwrap();
        }
        std::fs::create_dir(place.join("tree-00")).unwrap();
        std::fs::write(place.join("tree-00").join(LOCK), "").unwrap();
        std::fs::write(place.join("notes"), "mine").unwrap();
        drop(scratch.scratch().unwrap());
        assert_eq!(names(&place).len(), 2, "{:?}", names(&place));
        assert!(mine.path().is_dir() && place.join("notes").is_file());
        drop(mine);
        assert_eq!(names(&place), ["notes"]);
    }

    #[test]
    fn place_goes_with_the_last_folder() {
        let (_kept, folder) = folder();
        let place = folder.join("state/scratch");
        let place = Place::new(&folder, place);
        let first = place.scratch().unwrap();
        let second = place.scratch().unwrap();
        assert_ne!(first.path(), second.path());
        drop(second);
        drop(first);
        assert_eq!(names(&folder), Vec::<String>::new());
    }

    #[test]
    fn place_that_is_a_symlink_is_not_used() {
        let (_kept, folder) = folder();
        std::fs::create_dir_all(folder.join("elsewhere/tree-0123456789abcdef")).unwrap();
        std::fs::create_dir(folder.join("state")).unwrap();
        let place = folder.join("state/scratch");
        std::os::unix::fs::symlink("../elsewhere", &place).unwrap();
        let place = Place::new(&folder, place);
        assert!(place.scratch().is_err());
        assert_eq!(names(&folder.join("elsewhere")), ["tree-0123456789abcdef"]);
    }
}
