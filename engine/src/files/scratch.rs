//! Scratch folders: data that is of no use once the process is gone that made it, such as a copy of a work tree's index.
//!
//! A process holds a lock on a file in its folder for as long as it has it. So whoever comes next can tell what a killed
//! process left, and removes it. A process id could not tell.

use std::fs::File;
use std::io::{self, ErrorKind, Write as _};
use std::sync::{Arc, Mutex, MutexGuard};

use camino::{Utf8Path, Utf8PathBuf};

use super::below::{Made, make_all};
use super::folder::{Folder, if_there};
use super::kill_point::kill_point;

/// The file in a scratch folder that is locked. It also keeps git from taking the folder for work.
const LOCK: &str = ".gitignore";
/// How the name of a scratch folder begins.
const PREFIX: &str = "tree-";
/// How the name of one ends that is being removed.
const GONE: &str = ".gone";
/// How often a new folder is tried: another process may take an empty place away, or look at our lock, at the same moment.
const TRIES: usize = 20;

/// The scratch folders of this process.
static LIVE: Mutex<Vec<Arc<Live>>> = Mutex::new(Vec::new());

/// A folder that scratch folders are made in, when one is needed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    base: Utf8PathBuf,
    path: Utf8PathBuf,
}

/// A scratch folder. Dropped, it is removed, and so is the place where it lay if that was made for it.
#[derive(Debug)]
pub struct Scratch(Arc<Live>);

#[derive(Debug)]
struct Live {
    folder: Folder,
    place: Folder,
    name: String,
    /// Folders that were made for it, innermost last.
    made: Vec<Made>,
    _lock: File,
}

impl Place {
    /// Names a place. No symlink is followed below `base`.
    pub fn new(base: impl Into<Utf8PathBuf>, path: impl Into<Utf8PathBuf>) -> Self {
        let (base, path) = (base.into(), path.into());
        Self { base, path }
    }

    /// Makes a scratch folder, after what was left in the place was removed.
    ///
    /// # Errors
    /// The place is not trusted, or the system refuses.
    pub fn scratch(&self) -> io::Result<Scratch> {
        let mut refused = io::Error::from(ErrorKind::ResourceBusy);
        let mut made = Vec::new();
        for _ in 0..TRIES {
            // None that is half made escapes `remove_all`.
            let mut lives = lives();
            match self.try_scratch(&mut made) {
                Ok(live) => {
                    let live = Arc::new(live);
                    lives.push(Arc::clone(&live));
                    return Ok(Scratch(live));
                }
                Err(error) => match error.kind() {
                    ErrorKind::NotFound | ErrorKind::AlreadyExists | ErrorKind::WouldBlock => {
                        refused = error
                    }
                    _ => return Err(error),
                },
            }
        }
        Err(refused)
    }

    fn try_scratch(&self, made: &mut Vec<Made>) -> io::Result<Live> {
        let (place, new) = make_all(&self.base, &self.path)?;
        made.extend(new);
        sweep(&place);
        let mut random = [0_u8; 8];
        getrandom::fill(&mut random).map_err(io::Error::other)?;
        let name = format!("{PREFIX}{:016x}", u64::from_be_bytes(random));
        let folder = place.make_private(&name)?;
        let mut lock = folder.new_file(LOCK)?;
        // Who sweeps may have been faster.
        if lock.try_lock().is_err() || !is_at(&place, &name, &lock) {
            return Err(ErrorKind::WouldBlock.into());
        }
        kill_point();
        lock.write_all(b"*\n")?;
        Ok(Live {
            folder,
            place,
            name,
            made: std::mem::take(made),
            _lock: lock,
        })
    }

    /// Removes what processes left here that are gone. A place that is not trusted is left alone, and so is what is not named
    /// like a scratch folder.
    pub fn sweep(&self) {
        let below = self.path.strip_prefix(&self.base).unwrap_or(&self.path);
        if let Ok(place) = Folder::open(&self.base).and_then(|base| base.below(below)) {
            sweep(&place);
        }
    }
}

impl Scratch {
    /// Returns the folder.
    pub fn folder(&self) -> &Folder {
        &self.0.folder
    }

    /// Returns where it is.
    pub fn path(&self) -> &Utf8Path {
        self.0.folder.path()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let mut lives = lives();
        lives.retain(|live| !Arc::ptr_eq(live, &self.0));
        self.0.remove();
    }
}

impl Live {
    fn remove(&self) {
        remove(&self.place, &self.name);
        for (above, name) in self.made.iter().rev() {
            // Only where it is empty: others may be at work there.
            if if_there(above.remove_folder(name)).is_err() {
                return;
            }
        }
    }
}

/// Removes all scratch folders of this process, which is about to end: whoever wants another one waits until then.
pub fn remove_all() {
    let mut lives = lives();
    for live in lives.drain(..) {
        live.remove();
    }
    std::mem::forget(lives);
}

fn sweep(place: &Folder) {
    for (name, found) in place.list().unwrap_or_default() {
        if !name.starts_with(PREFIX) || !found.is_folder() {
            continue;
        }
        // Its maker locks the file before anything else. Where there is none yet, ours keeps the maker from going on.
        let lock = place
            .below(&name)
            .and_then(|folder| folder.file_or_new(LOCK));
        if lock.is_ok_and(|lock| lock.try_lock().is_ok() && is_at(place, &name, &lock)) {
            remove(place, &name);
        }
    }
}

/// Removes a scratch folder. It is renamed first: a program that still writes there finds its paths gone.
fn remove(place: &Folder, name: &str) {
    let gone = format!("{}{GONE}", name.trim_end_matches(GONE));
    let _ = place.rename(name, place, &gone);
    let _ = place.remove_tree(&gone);
}

fn lives() -> MutexGuard<'static, Vec<Arc<Live>>> {
    // The list is whole whoever panicked beside it.
    LIVE.lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Returns whether this is the lock of the folder that stands under the name.
fn is_at(place: &Folder, name: &str, lock: &File) -> bool {
    let found = place.below(name).and_then(|folder| folder.look(LOCK));
    found.is_ok_and(|found| found.is_some_and(|found| found.is(lock)))
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
        let scratch = Place::new(&folder, &place);
        let mine = scratch.scratch().unwrap();
        for left in ["tree-0123456789abcdef", "tree-0123456789abcdee.gone"] {
            std::fs::create_dir_all(place.join(left).join("objects/ab")).unwrap();
        }
        std::fs::create_dir(place.join("tree-00")).unwrap();
        std::fs::write(place.join("tree-00").join(LOCK), "").unwrap();
        std::fs::write(place.join("notes"), "mine").unwrap();
        scratch.sweep();
        assert_eq!(names(&place).len(), 2, "{:?}", names(&place));
        assert!(mine.path().is_dir() && place.join("notes").is_file());
        drop(mine);
        assert_eq!(names(&place), ["notes"]);
    }

    #[test]
    fn the_place_goes_with_the_last_one_that_made_it() {
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
    fn a_place_that_is_a_link_is_neither_used_nor_swept() {
        let (_kept, folder) = folder();
        std::fs::create_dir_all(folder.join("elsewhere/tree-0123456789abcdef")).unwrap();
        std::fs::create_dir(folder.join("state")).unwrap();
        let place = folder.join("state/scratch");
        std::os::unix::fs::symlink("../elsewhere", &place).unwrap();
        let place = Place::new(&folder, place);
        assert!(place.scratch().is_err());
        place.sweep();
        assert_eq!(names(&folder.join("elsewhere")), ["tree-0123456789abcdef"]);
    }
}
