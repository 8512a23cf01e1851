//! What one call may spend on looking and waiting: one clock, which every wait of the call asks. A call of a hook has little of it, so
//! that nobody who holds a lock, fills folders, or makes git slow holds the turn. Any other call has no end.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Limits what a call of a hook waits for in all.
pub const OF_A_HOOK: Duration = Duration::from_secs(5);
/// Limits how much of it may go to locks, all of them together.
const FOR_LOCKS: Duration = Duration::from_secs(2);

/// What is left of a call's time. Clones share it.
#[derive(Debug, Clone)]
pub struct Budget {
    whole: Clock,
    locks: Clock,
}

impl Budget {
    /// Starts the clock of a call of a hook.
    pub fn of_hook() -> Self {
        Self::of(OF_A_HOOK, FOR_LOCKS)
    }

    /// Returns the budget of a call that may take its time.
    pub(super) fn endless() -> Self {
        Self::of(Duration::MAX, Duration::MAX)
    }

    fn of(whole: Duration, locks: Duration) -> Self {
        let whole = Clock::of(whole);
        whole.turn(true);
        let locks = Clock::of(locks);
        Self { whole, locks }
    }

    /// Returns whether nothing is left.
    pub fn is_over(&self) -> bool {
        self.whole.left().is_zero()
    }

    /// Runs what waits. It gets the smaller of its own bound and what is left, and its time counts.
    pub fn wait<R>(&self, bound: Duration, wait: impl FnOnce(Duration) -> R) -> R {
        let _counted = self.whole.until_dropped(true);
        wait(bound.min(self.whole.left()))
    }

    /// Runs what the machine itself asks for while the clock stands still: a command may take an hour, and its result must still be
    /// committed. Waits inside of it count all the same.
    pub fn stand_still<R>(&self, work: impl FnOnce() -> R) -> R {
        let _stands = self.whole.until_dropped(false);
        work()
    }

    /// Counts a wait for a lock, until the first that this returns is dropped. The second is how long it may take.
    pub(super) fn wait_for_lock(&self, bound: Duration) -> ([Turned<'_>; 2], Duration) {
        let counted = [&self.whole, &self.locks].map(|clock| clock.until_dropped(true));
        let left = self.whole.left().min(self.locks.left());
        (counted, bound.min(left))
    }
}

/// A clock that runs backwards, or stands still.
#[derive(Debug, Clone)]
struct Clock(Arc<Mutex<Reading>>);

#[derive(Debug)]
struct Reading {
    left: Duration,
    /// Since when it runs.
    since: Option<Instant>,
}

impl Clock {
    /// Makes one that stands still.
    fn of(left: Duration) -> Self {
        Self(Arc::new(Mutex::new(Reading { left, since: None })))
    }

    fn left(&self) -> Duration {
        self.reading().left()
    }

    /// Has it run, or stand still. Returns which it did before.
    fn turn(&self, on: bool) -> bool {
        let mut reading = self.reading();
        let was_on = reading.since.is_some();
        if on != was_on {
            reading.left = reading.left();
            reading.since = on.then(Instant::now);
        }
        was_on
    }

    /// The same for as long as what this returns lives.
    fn until_dropped(&self, on: bool) -> Turned<'_> {
        let before = self.turn(on);
        Turned {
            clock: self,
            before,
        }
    }

    fn reading(&self) -> MutexGuard<'_, Reading> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Reading {
    fn left(&self) -> Duration {
        let gone = self.since.map_or(Duration::ZERO, |since| since.elapsed());
        self.left.saturating_sub(gone)
    }
}

/// A clock that was turned on or off, and is turned back when this is dropped.
#[derive(Debug)]
pub(super) struct Turned<'c> {
    clock: &'c Clock,
    before: bool,
}

impl Drop for Turned<'_> {
    fn drop(&mut self) {
        self.clock.turn(self.before);
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
    fn every_wait_takes_from_one_clock_and_gets_no_more_than_is_left() {
        let budget = Budget::of(LONG, LONG);
        let clone = budget.clone();
        clone.wait(LONG, |bound| {
            assert!(bound <= LONG);
            nap();
        });
        assert!(budget.whole.left() <= LONG - NAP);
        budget.wait(NAP, |bound| {
            assert_eq!(bound, NAP, "its own bound is smaller")
        });

        let budget = Budget::of(NAP, LONG);
        assert!(!budget.is_over());
        nap();
        assert!(budget.is_over() && budget.clone().is_over());
        budget.wait(LONG, |bound| assert_eq!(bound, Duration::ZERO));
        assert_eq!(budget.wait_for_lock(LONG).1, Duration::ZERO);
    }

    #[test]
    fn the_clock_stands_still_while_the_machine_works_and_not_for_waits_in_it() {
        let budget = Budget::of(LONG, LONG);
        let before = budget.stand_still(|| {
            let before = budget.whole.left();
            nap();
            assert_eq!(budget.whole.left(), before);
            before
        });
        budget.stand_still(|| budget.wait(LONG, |_| nap()));
        let after = budget.whole.left();
        assert!(after <= before - NAP);
        nap();
        assert!(budget.whole.left() <= after - NAP, "it runs again");
    }

    #[test]
    fn waits_for_locks_have_a_bound_for_all_of_them() {
        let budget = Budget::of(LONG, NAP);
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
    fn a_call_without_a_budget_has_no_end() {
        let budget = Budget::endless();
        budget.wait(LONG, |bound| assert_eq!(bound, LONG));
        assert_eq!(budget.wait_for_lock(LONG).1, LONG);
    }
}
