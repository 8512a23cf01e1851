//! The time that one call may spend on looking and waiting. A hook's call has little, so that a held lock, full folders or a
//! slow git do not hold up the turn. Any other call has no limit.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The time that a call of a hook has.
pub const HOOK_TIMEOUT: Duration = Duration::from_secs(5);
/// The part of it that one wait for a lock may take.
pub(super) const HOOK_LOCK_TIMEOUT: Duration = Duration::from_secs(2);

/// The rest of a call's time. Clones share it.
#[derive(Debug, Clone)]
pub struct Budget(Arc<Mutex<Clock>>);

/// A clock that counts down, or stands still.
#[derive(Debug)]
struct Clock {
    left: Duration,
    /// The time at which it began, if it runs.
    since: Option<Instant>,
}

impl Budget {
    /// Starts the clock of a call of a hook.
    pub fn of_hook() -> Self {
        Self::with_limit(HOOK_TIMEOUT)
    }

    /// Returns the budget of a call without a limit.
    pub(super) fn endless() -> Self {
        Self::with_limit(Duration::MAX)
    }

    fn with_limit(left: Duration) -> Self {
        let since = Some(Instant::now());
        Self(Arc::new(Mutex::new(Clock { left, since })))
    }

    /// Returns whether nothing is left.
    pub fn is_over(&self) -> bool {
        self.left().is_zero()
    }

    /// Runs a wait, which gets the smaller of its own bound and what is left. Its time counts.
    pub fn wait<R>(&self, bound: Duration, wait: impl FnOnce(Duration) -> R) -> R {
        self.run_with_clock(true, || wait(bound.min(self.left())))
    }

    /// Runs what the machine asks for while the clock stands still: a command may take an hour, and its result must still be
    /// committed. Waits inside of it count.
    pub fn stand_still<R>(&self, work: impl FnOnce() -> R) -> R {
        self.run_with_clock(false, work)
    }

    fn run_with_clock<R>(&self, on: bool, work: impl FnOnce() -> R) -> R {
        let was_on = self.clock().turn(on);
        let result = work();
        self.clock().turn(was_on);
        result
    }

    fn left(&self) -> Duration {
        self.clock().left()
    }

    fn clock(&self) -> MutexGuard<'_, Clock> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clock {
    fn left(&self) -> Duration {
        let gone = self.since.map_or(Duration::ZERO, |since| since.elapsed());
        self.left.saturating_sub(gone)
    }

    /// Lets it run or stand still. Returns whether it ran before.
    fn turn(&mut self, on: bool) -> bool {
        let ran = self.since.is_some();
        if on != ran {
            self.left = self.left();
            self.since = on.then(Instant::now);
        }
        ran
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(3600);
    const NAP: Duration = Duration::from_millis(30);

    fn nap() {
        std::thread::sleep(NAP);
    }

    #[test]
    fn wait_gets_no_more_than_is_left() {
        let budget = Budget::with_limit(LONG);
        let clone = budget.clone();
        clone.wait(LONG, |bound| {
            assert!(bound <= LONG);
            nap();
        });
        assert!(budget.left() <= LONG - NAP);
        budget.wait(NAP, |bound| {
            assert_eq!(bound, NAP, "its own bound is smaller")
        });

        let budget = Budget::with_limit(NAP);
        assert!(!budget.is_over());
        nap();
        assert!(budget.is_over() && budget.clone().is_over());
        budget.wait(LONG, |bound| assert_eq!(bound, Duration::ZERO));
    }

    #[test]
    fn clock_stands_still_except_for_waits() {
        let budget = Budget::with_limit(LONG);
        let before = budget.stand_still(|| {
            let before = budget.left();
            nap();
            assert_eq!(budget.left(), before);
            before
        });
        budget.stand_still(|| budget.wait(LONG, |_| nap()));
        let after = budget.left();
        assert!(after <= before - NAP);
        nap();
        assert!(budget.left() <= after - NAP, "it runs again");
    }

    #[test]
    fn endless_budget_never_ends() {
        let budget = Budget::endless();
        budget.wait(LONG, |bound| assert_eq!(bound, LONG));
    }
}
