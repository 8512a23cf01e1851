//! The locks of a state folder.
//!
//! - `.lock` and `.start.lock` are held for milliseconds, while a loop is changed or started ([`with_lock`]).
//! - `<id>/run.lock` is held while a review runs ([`RunLock`]).
//! - `<id>.lock` has a process id for shell helpers and people ([`PidLock`]). Nothing is decided by it, since process ids are
//!   reused and differ between namespaces.
//!
//! All but the last are advisory locks, which the system frees when the process ends.

use std::fs::{File, TryLockError};
use std::io::{self, ErrorKind};
use std::time::{Duration, Instant};

use camino::Utf8Path;
use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

use super::error::{StoreError, io_error};
use crate::files::{Folder, folder_of, read_to_string};

/// How often a lock that is held is tried.
const POLL_INTERVAL: Duration = Duration::from_millis(5);
/// How often it is tried at most. A process that has waited long tries more often, so it goes before newer ones.
const MIN_POLL_INTERVAL: Duration = Duration::from_micros(100);
/// How often a run lock is tried. A process that only asks whether it is held ([`RunLock::is_held`]) holds it too for a moment.
const RUN_LOCK_TRIES: usize = 4;

/// The name of the project's lock in a state folder.
pub(super) const PROJECT: &str = ".lock";
/// The name of the lock of starts in a state folder.
pub(super) const STARTING: &str = ".start.lock";
/// The name of the lock of a running review in a loop's folder.
pub(super) const RUN: &str = "run.lock";

/// Runs work while the lock `name` of a folder is held. Makes the lock file, which nothing deletes while the folder is in use.
/// The lock is not reentrant: work must not take it again.
///
/// # Errors
/// Returns [`StoreError::Busy`] if the lock is not free within the deadline, and [`StoreError::Io`] if it cannot be opened.
pub(super) fn with_lock<R>(
    folder: &Folder,
    name: &str,
    deadline: Duration,
    work: impl FnOnce() -> R,
) -> Result<R, StoreError> {
    let path = folder.path().join(name);
    let failed = |error| io_error("lock", &path)(error);
    let begun = Instant::now();
    loop {
        let mut lock = fd_lock::RwLock::new(folder.file_or_new(name).map_err(failed)?);
        match lock.try_write() {
            // If the file was removed before it was locked, the lock guards nothing.
            Ok(file) if folder.has_file(name, &file).map_err(failed)? => {
                return Ok(work());
            }
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(failed(error)),
        }
        let waited = begun.elapsed();
        if waited >= deadline {
            return Err(StoreError::Busy { path, waited });
        }
        let interval = POLL_INTERVAL.saturating_sub(waited / 100);
        std::thread::sleep(interval.max(MIN_POLL_INTERVAL).min(deadline - waited));
    }
}

/// The lock of a running review. It is held until this is dropped or the process ends.
#[derive(Debug)]
pub struct RunLock {
    file: File,
}

impl Drop for RunLock {
    fn drop(&mut self) {
        // A child of another thread that has not reached its `exec` has the file too, and would hold the lock until then.
        let _ = self.file.unlock();
    }
}

impl RunLock {
    /// Takes the lock in a loop's folder. `None`: another process holds it.
    ///
    /// # Errors
    /// Returns an error if the file cannot be opened or locked.
    pub fn try_take(folder: &Folder) -> Result<Option<Self>, StoreError> {
        let path = folder.path().join(RUN);
        let failed = |error| io_error("lock", &path)(error);
        for _ in 0..RUN_LOCK_TRIES {
            let file = folder.file_or_new(RUN).map_err(failed)?;
            match file.try_lock() {
                // A folder that is moved away takes its lock along, so that it guards nothing here.
                Ok(()) if folder.has_file(RUN, &file).map_err(failed)? => {
                    return Ok(Some(Self { file }));
                }
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => std::thread::sleep(POLL_INTERVAL),
                Err(TryLockError::Error(error)) => return Err(failed(error)),
            }
        }
        Ok(None)
    }

    /// Returns whether the lock in a loop's folder is held. A lock that cannot be opened is not.
    pub fn is_held(folder: &Folder) -> bool {
        let lock = folder.file(RUN);
        lock.is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }
}

/// The file `<id>.lock`, which has a process id.
#[derive(Debug, Clone, Copy)]
pub struct PidLock;

impl PidLock {
    /// Writes a process id to the file.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn write(path: &Utf8Path, pid: u32) -> io::Result<()> {
        let (folder, name) = folder_of(&[], path)?;
        folder.replace(&name, format!("{pid}\n").as_bytes())
    }

    /// Returns whether the process of the file is alive, as far as this machine can tell. It is not if the file cannot be read
    /// or has no process id.
    pub fn is_active(path: &Utf8Path) -> bool {
        let text = read_to_string(path).unwrap_or_default();
        let pid = text.trim().parse().ok().filter(|pid: &i32| *pid > 0);
        // A process of another user refuses the signal.
        pid.and_then(Pid::from_raw)
            .is_some_and(|pid| matches!(test_kill_process(pid), Ok(()) | Err(Errno::PERM)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::testing::folder;
    use std::sync::atomic::{AtomicU32, Ordering};

    fn hold<R>(
        folder: &Utf8Path,
        deadline: Duration,
        work: impl FnOnce() -> R,
    ) -> Result<R, StoreError> {
        with_lock(&Folder::open(folder).unwrap(), PROJECT, deadline, work)
    }

    #[test]
    fn lock_is_held_by_one_at_a_time() {
        let (_kept, folder) = folder();
        let inside = AtomicU32::new(0);
        std::thread::scope(|scope| {
            for _ in 0..16 {
                scope.spawn(|| {
                    hold(&folder, Duration::from_secs(30), || {
                        assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                        std::thread::yield_now();
                        inside.fetch_sub(1, Ordering::SeqCst);
                    })
                    .unwrap();
                });
            }
        });
        assert!(folder.join(".lock").exists(), "the file stays");
    }

    #[test]
    fn lock_that_stays_held_times_out() {
        let (_kept, folder) = folder();
        let inner = hold(&folder, Duration::ZERO, || {
            hold(&folder, Duration::from_millis(20), || ())
        })
        .unwrap();
        match inner.unwrap_err() {
            StoreError::Busy { path, waited } => {
                assert_eq!(path, folder.join(".lock"));
                assert!(waited >= Duration::from_millis(20));
            }
            other => panic!("{other}"),
        }
        hold(&folder, Duration::ZERO, || ()).unwrap();
    }

    #[test]
    fn lock_whose_file_was_removed_is_taken_again() {
        let (_kept, folder) = folder();
        let path = folder.join(".lock");
        hold(&folder, Duration::ZERO, || {
            std::fs::remove_file(&path).unwrap();
            hold(&folder, Duration::ZERO, || ()).expect("a new file, a new lock");
        })
        .unwrap();
        std::fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink("elsewhere", &path).unwrap();
        assert!(
            matches!(
                hold(&folder, Duration::ZERO, || ()),
                Err(error) if error.untrusted().is_some()
            ),
            "no symlink"
        );
        assert!(!folder.join("elsewhere").exists());
    }

    #[test]
    fn run_lock_is_held_until_dropped() {
        let (_kept, folder) = folder();
        let opened = Folder::open(&folder).unwrap();
        assert!(!RunLock::is_held(&opened));
        assert!(!folder.join(RUN).exists(), "asking creates nothing");
        let held = RunLock::try_take(&opened).unwrap().unwrap();
        assert!(RunLock::is_held(&opened));
        assert!(RunLock::try_take(&opened).unwrap().is_none());
        drop(held);
        assert!(!RunLock::is_held(&opened));
    }

    #[test]
    fn run_lock_that_is_asked_for_is_not_held() {
        let (_kept, folder) = folder();
        let folder = Folder::open(&folder).unwrap();
        drop(RunLock::try_take(&folder).unwrap());
        let asked = folder.file(RUN).unwrap();
        asked.lock_shared().unwrap();
        assert!(!RunLock::is_held(&folder), "others who ask do not count");
    }

    #[test]
    fn pid_file_says_whether_its_process_lives() {
        let (_kept, folder) = folder();
        let path = folder.join("x.lock");
        assert!(!PidLock::is_active(&path));
        PidLock::write(&path, std::process::id()).unwrap();
        assert!(PidLock::is_active(&path));
        let mut child = std::process::Command::new("true").spawn().unwrap();
        PidLock::write(&path, child.id()).unwrap();
        child.wait().unwrap();
        assert!(!PidLock::is_active(&path), "it ended");
        for text in ["", "x", "-1", "0", "99999999999999", "\u{0}"] {
            std::fs::write(&path, text).unwrap();
            assert!(!PidLock::is_active(&path), "{text:?}");
        }
    }
}
