//! Times as a machine file writes them, and as the engine counts them.

/// The largest time, 9999-12-30T22:00:00Z, as seconds since 1970.
pub(crate) const LATEST: u64 = 253_402_207_200;

/// Seconds since 1970 of a time such as `2026-11-22T07:00:00Z`, with any offset from UTC; 0 for an empty text, which
/// is a time that is not set. None: it is no time, has fractions of a second, or lies before 1970-01-01T00:00:01Z.
pub(crate) fn seconds(text: &str) -> Option<u64> {
    if text.is_empty() {
        return Some(0);
    }
    let time: jiff::Timestamp = text.parse().ok()?;
    let seconds = u64::try_from(time.as_second()).ok()?;
    (time.subsec_nanosecond() == 0 && (1..=LATEST).contains(&seconds)).then_some(seconds)
}

/// The time as a document has it; empty where it is not set.
pub(crate) fn shown(seconds: u64) -> String {
    let time = i64::try_from(seconds).ok().filter(|seconds| *seconds > 0);
    let time = time.and_then(|seconds| jiff::Timestamp::from_second(seconds).ok());
    time.map(|time| time.to_string()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_whole_seconds_and_lies_after_1970() {
        assert_eq!(seconds("1970-01-01T00:00:01Z"), Some(1));
        assert_eq!(
            seconds("2026-11-22T08:00:00+01:00"),
            seconds("2026-11-22T07:00:00Z")
        );
        assert_eq!(seconds("9999-12-30T22:00:00Z"), Some(LATEST));
        assert_eq!(seconds(""), Some(0));
        for text in [
            "1970-01-01T00:00:00Z",
            "1969-01-01T00:00:00Z",
            "2026-11-22",
            "2026-11-22T07:00:00",
            "now",
            " ",
            "2026-11-22T07:00:00.5Z",
            "2026-13-22T07:00:00Z",
        ] {
            assert_eq!(seconds(text), None, "{text:?}");
        }
    }

    #[test]
    fn what_is_shown_reads_back() {
        for text in ["", "1970-01-01T00:00:01Z", "2026-11-22T07:00:00Z"] {
            assert_eq!(seconds(text).map(shown).as_deref(), Some(text));
        }
    }
}
