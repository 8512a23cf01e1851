//! Advisory locks on files, which the system frees when the process ends.

use std::fs::{File, TryLockError};
use std::io::{self, ErrorKind};
use std::time::{Duration, Instant};

use super::folder::Folder;

/// The time between two tries of a lock that is held.
const POLL_INTERVAL: Duration = Duration::from_millis(5);
/// The shortest time between two tries. A process that has waited long tries more often, so it goes before newer ones.
const MIN_POLL_INTERVAL: Duration = Duration::from_micros(100);

/// A lock that this process holds until this is dropped. It is not reentrant.
#[derive(Debug)]
pub struct Lock(File);

impl Lock {
    /// Takes the lock `name` of a folder. Makes its file, which must not be deleted while the folder is in use. Returns `None`
    /// if the lock is not free within the timeout.
    pub fn take(folder: &Folder, name: &str, timeout: Duration) -> io::Result<Option<Self>> {
        let begun = Instant::now();
        loop {
            let file = folder.file_or_new(name)?;
            match file.try_lock() {
                // If the file was removed or moved before it was locked, the lock guards nothing.
                Ok(()) if folder.has_file(name, &file)? => return Ok(Some(Self(file))),
                Ok(()) | Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) if error.kind() == ErrorKind::Interrupted => {}
                Err(TryLockError::Error(error)) => return Err(error),
            }
            let waited = begun.elapsed();
            if waited >= timeout {
                return Ok(None);
            }
            let interval = POLL_INTERVAL.saturating_sub(waited / 100);
            std::thread::sleep(interval.max(MIN_POLL_INTERVAL).min(timeout - waited));
        }
    }

    /// Returns whether the lock is held. A lock that cannot be opened is not.
    pub fn is_held(folder: &Folder, name: &str) -> bool {
        let tried = folder.file(name).map(|file| file.try_lock_shared());
        matches!(tried, Ok(Err(TryLockError::WouldBlock)))
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // A child of another thread that has not reached its `exec` has the file too, and would hold the lock until then.
        let _ = self.0.unlock();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::UntrustedError;
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
        assert!(UntrustedError::in_error(&error).is_some(), "{error}");
        assert!(!path.join("elsewhere").exists());
    }
}
