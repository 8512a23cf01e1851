//! Advisory locks on files, which the system frees when the process ends.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt as _;
use std::time::{Duration, Instant};

use fd_lock::RwLock;

use super::folder::Folder;

const POLL_INTERVAL: Duration = Duration::from_millis(1);

/// A lock that this process holds until this is dropped. It is not reentrant.
#[derive(Debug)]
pub struct Lock(RwLock<File>);

impl Lock {
    /// Takes the lock `name` of a folder, and makes its file. Returns `None` after the timeout.
    pub fn take(folder: &Folder, name: &str, timeout: Duration) -> io::Result<Option<Self>> {
        let begun = Instant::now();
        loop {
            let mut lock = RwLock::new(folder.file_or_new(name)?);
            let locked = lock.try_write().and_then(|guard| {
                let file = guard.metadata();
                // The guard would unlock the file here, instead of in `drop`.
                std::mem::forget(guard);
                file
            });
            match locked {
                // A lock whose file was removed before it was locked guards nothing.
                Ok(file) if file.nlink() > 0 => return Ok(Some(Self(lock))),
                Err(error) if error.kind() != ErrorKind::WouldBlock => return Err(error),
                Ok(_) | Err(_) => {}
            }
            if begun.elapsed() >= timeout {
                return Ok(None);
            }
            std::thread::sleep(POLL_INTERVAL);
        }
    }

    /// Returns whether the lock is held. A lock that cannot be opened is not.
    pub fn is_held(folder: &Folder, name: &str) -> bool {
        let is_locked = |file| match RwLock::new(file).try_read() {
            Ok(_) => false,
            Err(error) => error.kind() == ErrorKind::WouldBlock,
        };
        folder.file(name).is_ok_and(is_locked)
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Closing is not enough: a child of another thread has the file until its `exec`.
        let guard = self.0.try_write();
        drop(guard);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::testing::folder;

    const NAME: &str = ".lock";

    fn take(folder: &Folder, timeout: Duration) -> Option<Lock> {
        Lock::take(folder, NAME, timeout).unwrap()
    }

    #[test]
    fn lock_is_held_until_dropped() {
        let (_kept, path) = folder();
        let folder = Folder::open(&path).unwrap();
        assert!(!Lock::is_held(&folder, NAME));
        assert!(!path.join(NAME).exists(), "asking creates nothing");
        let held = take(&folder, Duration::ZERO).unwrap();
        assert!(Lock::is_held(&folder, NAME));
        let begun = Instant::now();
        let timeout = Duration::from_millis(20);
        assert!(take(&folder, timeout).is_none() && begun.elapsed() >= timeout);
        drop(held);
        assert!(!Lock::is_held(&folder, NAME));
        let file = folder.file(NAME).unwrap();
        file.lock_shared().unwrap();
        assert!(!Lock::is_held(&folder, NAME), "others who ask do not count");
    }

    #[test]
    fn lock_whose_file_was_removed_is_taken_again() {
        let (_kept, path) = folder();
        let folder = Folder::open(&path).unwrap();
        let _held = take(&folder, Duration::ZERO).unwrap();
        std::fs::remove_file(path.join(NAME)).unwrap();
        assert!(
            take(&folder, Duration::ZERO).is_some(),
            "a new file, a new lock"
        );
        std::fs::remove_file(path.join(NAME)).unwrap();
        std::os::unix::fs::symlink("elsewhere", path.join(NAME)).unwrap();
        let error = Lock::take(&folder, NAME, Duration::ZERO).unwrap_err();
        assert!(error.to_string().contains("it is a symlink"), "{error}");
        assert!(!path.join("elsewhere").exists());
    }
}
