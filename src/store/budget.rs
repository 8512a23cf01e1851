//! What one call may spend: how long it waits for locks in all, and until when it looks at loops. A stop has little of both, so
//! that nobody who holds a lock, and nobody who fills folders, holds the turn.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// What is left of a call's time. Clones share it.
#[derive(Debug, Clone)]
pub struct Budget {
    waits: Arc<Mutex<Duration>>,
    looks_until: Instant,
}

impl Budget {
    /// Makes one of `waits` for all locks together, and of `looks` from now on for looking at loops. The work that is done under
    /// a lock counts for neither: a command that a stop runs may take its time.
    pub fn new(waits: Duration, looks: Duration) -> Self {
        Self {
            waits: Arc::new(Mutex::new(waits)),
            looks_until: Instant::now() + looks,
        }
    }

    /// Returns whether the time for looking is over.
    pub fn is_over(&self) -> bool {
        Instant::now() >= self.looks_until
    }

    pub(super) fn waits_left(&self) -> Duration {
        *self.waits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn waited(&self, time: Duration) {
        let mut left = self.waits.lock().unwrap_or_else(PoisonError::into_inner);
        *left = left.saturating_sub(time);
    }
}
