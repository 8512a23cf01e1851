//! Times in a state document: ISO 8601 in UTC, whole seconds, as a word; or nothing.
//!
//! A time is later than 1970-01-01T00:00:00Z, so that one which is not set can count as that: it is before every other.

use jiff::Timestamp;

use crate::store::Value;

/// Seconds since 1970 of what a document has: 0 for a time that is not set. None: it is no time.
pub(super) fn seconds(value: &Value) -> Option<u64> {
    let text = match value {
        Value::Null => return Some(0),
        other => other.as_str()?,
    };
    if text.is_empty() {
        return Some(0);
    }
    let time: Timestamp = text.parse().ok()?;
    let seconds = u64::try_from(time.as_second()).ok()?;
    (time.subsec_nanosecond() == 0 && seconds > 0).then_some(seconds)
}

/// Returns the time as a document has it. Fractions of a second are cut off, and a time before 1970-01-01T00:00:01Z becomes
/// that.
pub fn of(time: Timestamp) -> Value {
    let second = time.as_second().max(1);
    let time = Timestamp::from_second(second).unwrap_or(time);
    Value::Word(time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())
}

/// Returns the time so many seconds after 1970; nothing for 0. None: beyond what a time can be.
pub(super) fn from_seconds(seconds: u64) -> Option<Value> {
    if seconds == 0 {
        return Some(Value::Null);
    }
    let second = i64::try_from(seconds).ok()?;
    Timestamp::from_second(second).ok().map(of)
}

/// Returns what a document has, as a time.
pub(super) fn timestamp(value: &Value) -> Option<Timestamp> {
    let second = seconds(value).filter(|seconds| *seconds > 0)?;
    Timestamp::from_second(i64::try_from(second).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_reads_back_and_is_plain() {
        for text in [
            "1970-01-01T00:00:01Z",
            "2026-11-22T07:00:00Z",
            "9999-12-30T22:00:00Z",
        ] {
            let time: Timestamp = text.parse().unwrap();
            assert_eq!(of(time), Value::Word(text.into()));
            assert_eq!(timestamp(&of(time)), Some(time));
            assert_eq!(from_seconds(seconds(&of(time)).unwrap()), Some(of(time)));
        }
    }

    #[test]
    fn a_time_has_whole_seconds_and_is_later_than_the_first_of_1970() {
        let of = |text: &str| of(text.parse().unwrap()).to_plain().into_owned();
        assert_eq!(of("2026-11-22T07:00:00.9Z"), "2026-11-22T07:00:00Z");
        assert_eq!(of("1969-07-20T20:17:40Z"), "1970-01-01T00:00:01Z");
    }

    #[test]
    fn nothing_is_a_time_that_is_not_set_and_everything_else_is_none() {
        assert_eq!(seconds(&Value::Null), Some(0));
        assert_eq!(seconds(&Value::Text(String::new())), Some(0));
        assert_eq!(timestamp(&Value::Null), None);
        for text in [
            " ",
            "now",
            "2026-11-22",
            "2026-11-22T07:00:00",
            "2026-11-22T07:00:00.5Z",
            "1970-01-01T00:00:00Z",
        ] {
            assert_eq!(seconds(&Value::Word(text.into())), None, "{text:?}");
        }
        assert_eq!(seconds(&Value::Count(3)), None);
        assert_eq!(seconds(&Value::List(vec![])), None);
        assert_eq!(from_seconds(u64::MAX), None);
    }
}
