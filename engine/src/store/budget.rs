//! The time that one call may spend on looking and waiting. A hook's call has little, so that a held lock, full folders or a
//! slow git do not hold up the turn. Any other call has no limit.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The time that a call of a hook has.
pub const HOOK_TIMEOUT: Duration = Duration::from_secs(5);
/// The part of it that may go to waiting for locks.
const HOOK_LOCK_TIMEOUT: Duration = Duration::from_secs(2);

/// What is left of a call's time. Clones share it.
#[derive(Debug, Clone)]
pub struct Budget(Arc<Mutex<Clocks>>);

#[derive(Debug)]
struct Clocks {
    /// The time of the call.
    call: Clock,
    /// The time for locks. It runs only during waits for them.
    locks: Clock,
}

/// A clock that counts down, or stands still.
#[derive(Debug)]
struct Clock {
    left: Duration,
    /// When it was turned on, if it runs.
    since: Option<Instant>,
}

/// A wait for a lock, which counts until this is dropped.
#[derive(Debug)]
pub(super) struct LockWait<'b> {
    budget: &'b Budget,
    call_ran: bool,
}

impl Budget {
    /// Starts the clock of a call of a hook.
    pub fn of_hook() -> Self {
        Self::with_limits(HOOK_TIMEOUT, HOOK_LOCK_TIMEOUT)
    }

    /// Returns the budget of a call without a limit.
    pub(super) fn endless() -> Self {
        Self::with_limits(Duration::MAX, Duration::MAX)
    }

    fn with_limits(call: Duration, locks: Duration) -> Self {
        let mut call = Clock::new(call);
        call.turn(true);
        let locks = Clock::new(locks);
        Self(Arc::new(Mutex::new(Clocks { call, locks })))
    }

    /// Returns whether nothing is left.
    pub fn is_over(&self) -> bool {
        self.left().is_zero()
    }

    /// Runs a wait, which gets the smaller of its own bound and what is left. Its time counts.
    pub fn wait<R>(&self, bound: Duration, wait: impl FnOnce(Duration) -> R) -> R {
        self.turned(true, || wait(bound.min(self.left())))
    }

    /// Runs what the machine asks for while the clock stands still: a command may take an hour, and its result must still be
    /// committed. Waits inside of it count.
    pub fn stand_still<R>(&self, work: impl FnOnce() -> R) -> R {
        self.turned(false, work)
    }

    /// Begins a wait for a lock, and returns how long it may take.
    pub(super) fn wait_for_lock(&self, bound: Duration) -> (LockWait<'_>, Duration) {
        let mut clocks = self.clocks();
        let call_ran = clocks.call.turn(true);
        clocks.locks.turn(true);
        let left = clocks.call.left().min(clocks.locks.left());
        let budget = self;
        (LockWait { budget, call_ran }, bound.min(left))
    }

    fn turned<R>(&self, on: bool, work: impl FnOnce() -> R) -> R {
        let ran = self.clocks().call.turn(on);
        let result = work();
        self.clocks().call.turn(ran);
        result
    }

    fn left(&self) -> Duration {
        self.clocks().call.left()
    }

    fn clocks(&self) -> MutexGuard<'_, Clocks> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clock {
    /// Returns a clock that stands still.
    fn new(left: Duration) -> Self {
        Self { left, since: None }
    }

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

impl Drop for LockWait<'_> {
    fn drop(&mut self) {
        let mut clocks = self.budget.clocks();
        clocks.call.turn(self.call_ran);
        clocks.locks.turn(false);
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
        let budget = Budget::with_limits(LONG, LONG);
        let clone = budget.clone();
        clone.wait(LONG, |bound| {
            assert!(bound <= LONG);
            nap();
        });
        assert!(budget.left() <= LONG - NAP);
        budget.wait(NAP, |bound| {
            assert_eq!(bound, NAP, "its own bound is smaller")
        });

        let budget = Budget::with_limits(NAP, LONG);
        assert!(!budget.is_over());
        nap();
        assert!(budget.is_over() && budget.clone().is_over());
        budget.wait(LONG, |bound| assert_eq!(bound, Duration::ZERO));
        assert_eq!(budget.wait_for_lock(LONG).1, Duration::ZERO);
    }

    #[test]
    fn clock_stands_still_except_for_waits() {
        let budget = Budget::with_limits(LONG, LONG);
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
    fn waits_for_locks_share_one_limit() {
        let budget = Budget::with_limits(LONG, NAP);
        let (counted, bound) = budget.wait_for_lock(LONG);
        assert!(bound <= NAP);
        drop(counted);
        nap();
        assert!(
            !budget.wait_for_lock(LONG).1.is_zero(),
            "time between them is none of theirs"
        );
        let counted = budget.wait_for_lock(LONG).0;
        nap();
        drop(counted);
        assert!(budget.wait_for_lock(LONG).1.is_zero() && !budget.is_over());
    }

    #[test]
    fn endless_budget_never_ends() {
        let budget = Budget::endless();
        budget.wait(LONG, |bound| assert_eq!(bound, LONG));
        assert_eq!(budget.wait_for_lock(LONG).1, LONG);
    }
}
