//! The three locks of a state folder.
//!
//! - `.lock`, one for all changes of a project's state, held for milliseconds ([`with_lock`]);
//! - `<id>/run.lock`, held while a review runs: liveness is this lock ([`RunLock`]);
//! - `<id>.lock`, a file with a process id for shell helpers and people ([`PidLock`]). Nothing is decided by it,
//!   since process ids are reused and differ between namespaces.
//!
//! The first two are the system's advisory locks, so the end of a process frees them.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use rustix::process::{Pid, test_kill_process};

use crate::files::{Folder, Found, if_there, read_to_string, replace};

/// How long one waits between two tries.
const POLL: Duration = Duration::from_millis(5);
/// How long one waits at least: who has waited long asks more often, and so gets it before who just came.
const SHORTEST_POLL: Duration = Duration::from_micros(100);

/// Name of the project's lock in a state folder.
pub(super) const PROJECT: &str = ".lock";

/// The name of the lock of starts in a state folder.
pub(super) const STARTING: &str = ".start.lock";

/// Names the lock of a running review in a loop's folder.
pub(super) const RUN: &str = "run.lock";

/// Proof that the project's lock is held; operations that need it take a reference.
#[derive(Debug)]
pub struct LockGuard {
    folder: Folder,
}

impl LockGuard {
    /// Returns the folder whose lock it is.
    pub(super) fn folder(&self) -> &Folder {
        &self.folder
    }
}

/// Why a lock was not taken.
#[derive(Debug, derive_more::Display, derive_more::Error, miette::Diagnostic)]
pub enum LockError {
    /// Someone else held it for all of the time.
    #[display("{path} is still held after {} ms", waited.as_millis(), path = crate::text::shown(path))]
    #[diagnostic(
        code(claudex::store::locked),
        help(
            "another process changes this project's loops; try again, or end that process if it hangs"
        )
    )]
    TimedOut {
        /// The lock file.
        path: Utf8PathBuf,
        /// How long one waited.
        waited: Duration,
    },
    /// The lock file could not be opened or locked.
    #[display("cannot lock {path}: {source}", path = crate::text::shown(path), source = crate::text::shown(source.to_string()))]
    #[diagnostic(
        code(claudex::store::lock_io),
        help("the folder must exist and be writable for you")
    )]
    Io {
        /// The lock file.
        path: Utf8PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// Runs `work` while the lock of the state folder `folder` is held. The folder must exist; the lock file is made,
/// and never deleted while the folder is in use.
///
/// The lock is not reentrant: `work` must not come here again for the same folder.
///
/// # Errors
/// [`LockError::TimedOut`] when the lock is not free within `deadline`, [`LockError::Io`] when it cannot be opened.
pub fn with_lock<R>(
    folder: &Utf8Path,
    deadline: Duration,
    work: impl FnOnce(&LockGuard) -> R,
) -> Result<R, LockError> {
    match Folder::open(folder) {
        Ok(folder) => with_lock_in(folder, PROJECT, deadline, work),
        Err(source) => Err(LockError::Io {
            path: folder.join(PROJECT),
            source,
        }),
    }
}

/// Runs `work` while the lock of a folder is held, which it then works in.
pub(super) fn with_lock_in<R>(
    folder: Folder,
    name: &str,
    deadline: Duration,
    work: impl FnOnce(&LockGuard) -> R,
) -> Result<R, LockError> {
    let held = LockGuard { folder };
    let folder = &held.folder;
    let path = folder.path().join(name);
    let failed = |source| LockError::Io {
        path: path.clone(),
        source,
    };
    let open = || folder.file_or_new(name).map_err(failed);
    let begun = Instant::now();
    let mut lock = fd_lock::RwLock::new(open()?);
    loop {
        // The guard borrows the lock, so what comes after it is decided before the lock is opened anew.
        let replaced = match lock.try_write() {
            Ok(guard) => match still_in(folder, name, &guard).map_err(failed)? {
                Some(_) => return Ok(work(&held)),
                // The file was removed between opening and locking: this lock guards nothing.
                None => true,
            },
            Err(error)
                if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) =>
            {
                false
            }
            Err(error) => return Err(failed(error)),
        };
        let waited = begun.elapsed();
        if waited >= deadline {
            return Err(LockError::TimedOut { path, waited });
        }
        if replaced {
            lock = fd_lock::RwLock::new(open()?);
        } else {
            let poll = POLL.saturating_sub(waited / 100).max(SHORTEST_POLL);
            std::thread::sleep(poll.min(deadline.saturating_sub(waited)));
        }
    }
}

/// The lock of a running review. Held as long as the value lives, or until the process ends.
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
    /// Takes the lock in a loop's folder; `None` if someone holds it.
    ///
    /// # Errors
    /// When the file cannot be opened or locked.
    pub fn try_take(folder: &Folder) -> Result<Option<Self>, LockError> {
        let failed = |source| LockError::Io {
            path: folder.path().join(RUN),
            source,
        };
        // Someone who only asks (`is_held`) holds it too, for an instant, so one refusal is no answer.
        for last in [false, false, false, true] {
            let file = folder.file_or_new(RUN).map_err(failed)?;
            match file.try_lock() {
                // A folder that was moved away takes its lock along: then the lock is of no use here.
                Ok(()) if still_in(folder, RUN, &file).map_err(failed)?.is_some() => {
                    return Ok(Some(Self { file }));
                }
                Ok(()) => {}
                Err(std::fs::TryLockError::WouldBlock) if last => {}
                Err(std::fs::TryLockError::WouldBlock) => std::thread::sleep(POLL),
                Err(std::fs::TryLockError::Error(error)) => return Err(failed(error)),
            }
        }
        Ok(None)
    }

    /// Runs `work` while the lock in a loop's folder is held; `None` if someone else holds it.
    ///
    /// # Errors
    /// See [`RunLock::try_take`].
    pub fn try_hold<R>(
        folder: &Folder,
        work: impl FnOnce(&Self) -> R,
    ) -> Result<Option<R>, LockError> {
        Ok(Self::try_take(folder)?.map(|lock| work(&lock)))
    }

    /// Returns whether someone holds the lock in a loop's folder. Creates nothing; what cannot be opened is not held.
    pub fn is_held(folder: &Folder) -> bool {
        let Ok(file) = folder.file(RUN) else {
            return false;
        };
        matches!(
            file.try_lock_shared(),
            Err(std::fs::TryLockError::WouldBlock)
        )
    }
}

/// The file `<id>.lock` that holds a process id.
#[derive(Debug, Clone, Copy)]
pub struct PidLock;

impl PidLock {
    /// Writes `pid`, a positive process id, to the file at `path`.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write(path: &Utf8Path, pid: u32) -> io::Result<()> {
        replace(path, format!("{pid}\n").as_bytes())
    }

    /// Returns whether the process whose id the file holds is alive, as far as this machine can tell. A missing or unreadable
    /// file, and a text that is no process id, count as dead.
    pub fn is_active(path: &Utf8Path) -> bool {
        let text = read_to_string(path).unwrap_or_default();
        let pid = text.trim().parse().ok().filter(|pid: &i32| *pid > 0);
        // A process of another user refuses the signal, but is there.
        pid.and_then(Pid::from_raw).is_some_and(|pid| {
            matches!(
                test_kill_process(pid),
                Ok(()) | Err(rustix::io::Errno::PERM)
            )
        })
    }

    /// Removes the file; it is no error if there is none.
    ///
    /// # Errors
    /// When the file is there and cannot be removed.
    pub fn remove(path: &Utf8Path) -> io::Result<()> {
        let folder = Folder::open(path.parent().unwrap_or(path));
        let removed = folder.and_then(|folder| folder.remove(path.file_name().unwrap_or_default()));
        if_there(removed).map(drop)
    }
}

/// Returns what stands under the name now, if that is `file`.
fn still_in(folder: &Folder, name: &str, file: &File) -> io::Result<Option<Found>> {
    let found = folder.look(name)?;
    Ok(found.filter(|found| found.is(file)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::testing::folder;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[test]
    fn one_at_a_time() {
        let (_kept, folder) = folder();
        let inside = AtomicU32::new(0);
        std::thread::scope(|scope| {
            for _ in 0..16 {
                scope.spawn(|| {
                    with_lock(&folder, Duration::from_secs(30), |_| {
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
    fn a_lock_that_stays_held_is_a_typed_error() {
        let (_kept, folder) = folder();
        let inner = with_lock(&folder, Duration::ZERO, |_| {
            with_lock(&folder, Duration::from_millis(20), |_| ())
        })
        .unwrap();
        match inner.unwrap_err() {
            LockError::TimedOut { path, waited } => {
                assert_eq!(path, folder.join(".lock"));
                assert!(waited >= Duration::from_millis(20));
            }
            other @ LockError::Io { .. } => panic!("{other}"),
        }
        with_lock(&folder, Duration::ZERO, |_| ()).unwrap();
    }

    #[test]
    fn a_lock_whose_file_was_removed_guards_nothing_and_is_taken_anew() {
        let (_kept, folder) = folder();
        let path = folder.join(".lock");
        with_lock(&folder, Duration::ZERO, |_| {
            std::fs::remove_file(&path).unwrap();
            with_lock(&folder, Duration::ZERO, |_| ()).expect("a new file, a new lock");
        })
        .unwrap();
        std::fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink("elsewhere", &path).unwrap();
        assert!(
            matches!(
                with_lock(&folder, Duration::ZERO, |_| ()),
                Err(LockError::Io { .. })
            ),
            "no symlink"
        );
        assert!(!folder.join("elsewhere").exists());
    }

    #[test]
    fn a_run_lock_is_held_by_one_and_freed_by_its_end() {
        let (_kept, folder) = folder();
        let opened = Folder::open(&folder).unwrap();
        assert!(!RunLock::is_held(&opened));
        assert!(!folder.join(RUN).exists(), "asking creates nothing");
        let held = RunLock::try_take(&opened).unwrap().unwrap();
        assert!(RunLock::is_held(&opened));
        assert!(RunLock::try_take(&opened).unwrap().is_none());
        drop(held);
        assert!(!RunLock::is_held(&opened));
        assert_eq!(
            RunLock::try_hold(&opened, |_| RunLock::is_held(&opened)).unwrap(),
            Some(true)
        );
    }

    #[test]
    fn asking_whether_a_run_lock_is_held_does_not_keep_others_from_taking_it() {
        let (_kept, folder) = folder();
        let folder = Folder::open(&folder).unwrap();
        drop(RunLock::try_take(&folder).unwrap());
        let asked = folder.file(RUN).unwrap();
        asked.lock_shared().unwrap();
        assert!(!RunLock::is_held(&folder), "others who ask do not count");
    }

    #[test]
    fn a_pid_file_says_whether_its_process_lives() {
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
        PidLock::remove(&path).unwrap();
        PidLock::remove(&path).unwrap();
    }
}
