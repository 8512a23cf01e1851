//! Two kinds of work, measured in turns, so that a slow moment of the machine slows both.

use std::time::{Duration, Instant};

/// A line of the table.
pub(crate) struct Row {
    /// The other kind of work.
    pub(crate) beside: String,
    /// Measured ratio of the two times.
    pub(crate) ratio: f64,
    /// Largest ratio that is acceptable.
    pub(crate) most: f64,
}

/// A named measurement.
pub(crate) type Measure = (&'static str, Box<dyn Fn() -> Row>);

/// The number of measurements of each.
const TURN_COUNT: usize = 15;

/// Returns the ratio of the medians of both times.
pub(crate) fn ratio(mut first: impl FnMut(), mut second: impl FnMut()) -> f64 {
    ratio_of(|| timed(&mut first), || timed(&mut second))
}

/// Returns the ratio of the medians of times that the work itself measures.
pub(crate) fn ratio_of(
    mut first: impl FnMut() -> Duration,
    mut second: impl FnMut() -> Duration,
) -> f64 {
    let mut firsts = Vec::new();
    let mut seconds = Vec::new();
    for _ in 0..TURN_COUNT {
        firsts.push(first());
        seconds.push(second());
    }
    median(firsts).as_secs_f64() / median(seconds).as_secs_f64()
}

fn timed(work: &mut impl FnMut()) -> Duration {
    let begun = Instant::now();
    work();
    begun.elapsed()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}
