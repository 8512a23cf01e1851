//! The lock of a running review.

use std::time::Duration;

use super::error::{StoreError, io_error};
use crate::files::{Folder, Lock};

/// The name of the lock in a loop's folder.
pub(super) const RUN: &str = "run.lock";
/// The time to wait for it. A process that only asks whether it is held holds it too for a moment.
const RUN_TIMEOUT: Duration = Duration::from_millis(20);

/// The lock of a running review. It is held until this is dropped or the process ends.
#[derive(Debug)]
pub struct RunLock {
    _lock: Lock,
}

impl RunLock {
    /// Takes the lock in a loop's folder. Returns `None` if another process holds it.
    ///
    /// # Errors
    /// Returns an error if the file cannot be opened or locked.
    pub fn try_take(folder: &Folder) -> Result<Option<Self>, StoreError> {
        let lock = Lock::take(folder, RUN, RUN_TIMEOUT);
        let lock = lock.map_err(io_error("lock", &folder.path().join(RUN)))?;
        Ok(lock.map(|_lock| Self { _lock }))
    }

    /// Returns whether the lock in a loop's folder is held. A lock that cannot be opened is not.
    pub fn is_held(folder: &Folder) -> bool {
        Lock::is_held(folder, RUN)
    }
}
