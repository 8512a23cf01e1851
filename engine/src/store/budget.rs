//! The time that one call may spend on looking and waiting. A hook's call has little, so that a held lock, full folders or a
//! slow git do not hold up the turn. Any other call has no limit.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The time that a call of a hook has.
pub const HOOK_TIMEOUT: Duration = Duration::from_secs(5);
/// The part of it that one wait for a lock may take.
pub(super) const HOOK_LOCK_TIMEOUT: Duration = Duration::from_secs(2);

/// The rest of a call's time, up to an end. Clones share it. Without an end it has no limit.
#[derive(Debug, Clone, Default)]
pub struct Budget(Arc<Mutex<Option<Instant>>>);

impl Budget {
    /// Starts the clock of a call of a hook.
    pub fn of_hook() -> Self {
        Self::until(Instant::now() + HOOK_TIMEOUT)
    }

    fn until(end: Instant) -> Self {
        Self(Arc::new(Mutex::new(Some(end))))
    }

    /// Returns whether nothing is left.
    pub fn is_over(&self) -> bool {
        self.time_left().is_zero()
    }

    /// Runs a command of the machine without counting its time: a command may take an hour, and its result must still be
    /// committed.
    pub fn stand_still<R>(&self, work: impl FnOnce() -> R) -> R {
        let left = self.time_left();
        self.with_end(|end| *end = None);
        let result = work();
        self.with_end(|end| *end = Instant::now().checked_add(left));
        result
    }

    /// Returns the time that a wait may take: its own bound, or the time that is left.
    pub fn limit(&self, bound: Duration) -> Duration {
        bound.min(self.time_left())
    }

    fn time_left(&self) -> Duration {
        let end = self.with_end(|end| *end);
        end.map_or(Duration::MAX, |end| {
            end.saturating_duration_since(Instant::now())
        })
    }

    fn with_end<R>(&self, change: impl FnOnce(&mut Option<Instant>) -> R) -> R {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(3600);

    #[test]
    fn budget_bounds_waits_and_stands_still() {
        let endless = Budget::default();
        assert!(endless.time_left() >= LONG);
        endless.stand_still(|| ());
        assert!(!endless.is_over());

        let budget = Budget::until(Instant::now() + LONG);
        assert!(budget.clone().time_left() <= LONG);
        budget.stand_still(|| std::thread::sleep(Duration::from_millis(30)));
        assert!(budget.time_left() > LONG - Duration::from_millis(20));

        let over = Budget::until(Instant::now());
        assert!(over.is_over());
    }
}
