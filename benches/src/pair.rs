//! Two kinds of work, measured in turns, so that what slows the machine down slows both.

use std::time::{Duration, Instant};

/// A line of the table.
pub(crate) struct Row {
    /// What it is measured beside.
    pub(crate) beside: String,
    /// Measured ratio of the two times.
    pub(crate) ratio: f64,
    /// Largest ratio that is acceptable.
    pub(crate) most: f64,
}

/// A named measurement.
pub(crate) type Measure = (&'static str, Box<dyn Fn() -> Row>);

/// How often each is measured.
const TURNS: usize = 15;

/// Returns how many times as long the first takes as the second: the ratio of their medians.
pub(crate) fn ratio(mut first: impl FnMut(), mut second: impl FnMut()) -> f64 {
    ratio_of(|| timed(&mut first), || timed(&mut second))
}

/// Does the same with times that the work itself says.
pub(crate) fn ratio_of(
    mut first: impl FnMut() -> Duration,
    mut second: impl FnMut() -> Duration,
) -> f64 {
    let (mut firsts, mut seconds) = (Vec::new(), Vec::new());
    for _ in 0..TURNS {
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
