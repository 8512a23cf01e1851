//! Durations as people read them.

use jiff::Timestamp;

pub(super) fn seconds_between(from: Timestamp, to: Timestamp) -> u64 {
    u64::try_from(to.as_second() - from.as_second()).unwrap_or_default()
}

/// Returns a duration as `Ns`, `Nm Ns` or `Nh Nm`.
pub fn elapsed(seconds: u64) -> String {
    let minutes = seconds / 60 % 60;
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{minutes}m {}s", seconds % 60),
        _ => format!("{}h {minutes}m", seconds / 3600),
    }
}

/// Returns an age in one unit, for a column: `5s`, `12m`, `3h`, `9d`.
pub(super) fn age(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3_600 => format!("{}m", seconds / 60),
        3_600..172_800 => format!("{}h", seconds / 3_600),
        _ => format!("{}d", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_few_units() {
        for (seconds, long, short) in [
            (0, "0s", "0s"),
            (59, "59s", "59s"),
            (60, "1m 0s", "1m"),
            (3_599, "59m 59s", "59m"),
            (3_600, "1h 0m", "1h"),
            (90_061, "25h 1m", "25h"),
            (172_799, "47h 59m", "47h"),
            (172_800, "48h 0m", "2d"),
        ] {
            assert_eq!(elapsed(seconds), long);
            assert_eq!(age(seconds), short);
        }
        let then: Timestamp = "2026-11-22T00:00:00Z".parse().unwrap();
        let now: Timestamp = "2026-11-22T00:02:03Z".parse().unwrap();
        assert_eq!(seconds_between(then, now), 123);
        assert_eq!(seconds_between(now, then), 0);
    }
}
