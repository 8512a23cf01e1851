//! Simulated crashes, for tests alone: at a named point of a write the process "dies" (a panic that no code of ours
//! undoes), and the test then opens what is on disk. Outside of tests there is half a journal line alone, and that is a kill point.

#[cfg(not(test))]
use crate::files::kill_point;

/// Where a crash can be simulated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Point {
    /// Half of the journal's line is written.
    HalfLine,
    /// The journal's line is synced, the document is old.
    Journaled,
    /// The document is replaced.
    Renamed,
}

#[cfg(test)]
thread_local! {
    static ARMED: std::cell::Cell<Option<Point>> = const { std::cell::Cell::new(None) };
}

#[cfg(test)]
pub(super) fn is_armed(point: Point) -> bool {
    ARMED.get() == Some(point)
}

#[cfg(not(test))]
pub(super) fn is_armed(point: Point) -> bool {
    point == Point::HalfLine && kill_point::is_next()
}

#[cfg(not(test))]
pub(super) use kill_point::die;

#[cfg(test)]
pub(super) fn die() -> ! {
    panic!("simulated crash");
}

/// Dies here if a test wants it so.
pub(super) fn point(point: Point) {
    if is_armed(point) {
        die();
    }
}

/// Runs `work`, which must die at `point`.
#[cfg(test)]
pub(super) fn crash_at<R>(point: Point, work: impl FnOnce() -> R) {
    ARMED.set(Some(point));
    let died = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).is_err();
    ARMED.set(None);
    assert!(died, "the point {point:?} was not reached");
}
