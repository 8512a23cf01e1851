//! How long a review may take, and how a person writes it: `90s`, `10m`, `2m30s`, `1h`.
//!
//! This file measures nothing; it only knows durations as values and as text.

use std::time::Duration;

use derive_more::{Display, Error};
use miette::Diagnostic;
use serde::{Deserialize, Serialize};

/// The longest duration that is accepted: a week. Anything longer is a slip of the pen.
pub const LONGEST: Duration = Duration::from_secs(7 * 24 * 3600);

/// How long one run of a reviewer may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// From start to end.
    pub timeout: Duration,
    /// Without a byte on either output stream.
    pub idle: Duration,
}

impl Default for Limits {
    /// Fifteen minutes in all, five of silence: a model that thinks is silent for minutes, one that hangs for ever.
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(15 * 60),
            idle: Duration::from_secs(5 * 60),
        }
    }
}

/// Why a text is not a duration.
#[derive(Debug, Clone, PartialEq, Eq, Display, Error, Diagnostic)]
#[diagnostic(
    code(claudex::review::duration),
    help("write a number and a unit, largest unit first: 90s, 10m, 2m30s, 1h, 500ms")
)]
pub enum BadDuration {
    /// Nothing but white space.
    #[display("a duration is missing")]
    Empty,
    /// A number stands at the end, without a unit.
    #[display("`{text}` has no unit")]
    NoUnit {
        /// The duration as it was written.
        text: String,
    },
    /// A unit stands without a number.
    #[display("`{text}` has a unit without a whole number before it")]
    NoNumber {
        /// The duration as it was written.
        text: String,
    },
    /// A unit that is none of ours.
    #[display("`{unit}` in `{text}` is not a unit")]
    UnknownUnit {
        /// The duration as it was written.
        text: String,
        /// What stands where the unit should.
        unit: String,
    },
    /// A unit twice, or a small one before a larger one.
    #[display("`{unit}` in `{text}` comes after a unit that is not larger")]
    OutOfOrder {
        /// The duration as it was written.
        text: String,
        /// The unit that comes too late.
        unit: String,
    },
    /// Nothing can happen in no time.
    #[display("`{text}` is no time at all")]
    Zero {
        /// The duration as it was written.
        text: String,
    },
    /// Longer than [`LONGEST`].
    #[display("`{text}` is longer than a week")]
    TooLong {
        /// The duration as it was written.
        text: String,
    },
}

/// Reads `90s`, `10m`, `2m30s`, `1h`, `500ms`: whole numbers, each with its unit (`h`, `m`, `s`, `ms`), largest first,
/// each unit at most once, with or without white space in between.
///
/// # Errors
/// Says which part is wrong: no number, no unit, an unknown unit, wrong order, zero, more than a week.
pub fn parse_duration(text: &str) -> Result<Duration, BadDuration> {
    let shown = || crate::text::one_line(text, 40);
    let mut rest = text.trim();
    if rest.is_empty() {
        return Err(BadDuration::Empty);
    }
    let mut total: u64 = 0;
    let mut largest_left = u64::MAX;
    while !rest.is_empty() {
        let (digits, after) = rest.split_at(
            rest.find(|c: char| !c.is_ascii_digit())
                .unwrap_or(rest.len()),
        );
        let (unit, next) = after.split_at(
            after
                .find(|c: char| c.is_ascii_digit())
                .unwrap_or(after.len()),
        );
        let unit = unit.trim();
        if digits.is_empty() {
            return Err(BadDuration::NoNumber { text: shown() });
        }
        let milliseconds: u64 = match unit {
            "h" => 3_600_000,
            "m" => 60_000,
            "s" => 1_000,
            "ms" => 1,
            "" => return Err(BadDuration::NoUnit { text: shown() }),
            _ => {
                return Err(BadDuration::UnknownUnit {
                    text: shown(),
                    unit: crate::text::one_line(unit, 20),
                });
            }
        };
        if milliseconds >= largest_left {
            return Err(BadDuration::OutOfOrder {
                text: shown(),
                unit: unit.to_owned(),
            });
        }
        largest_left = milliseconds;
        // More digits than a u64 holds are more than a week in any unit.
        total = digits
            .parse::<u64>()
            .ok()
            .and_then(|count| count.checked_mul(milliseconds))
            .and_then(|part| total.checked_add(part))
            .ok_or_else(|| BadDuration::TooLong { text: shown() })?;
        rest = next;
    }
    match Duration::from_millis(total) {
        Duration::ZERO => Err(BadDuration::Zero { text: shown() }),
        duration if duration > LONGEST => Err(BadDuration::TooLong { text: shown() }),
        duration => Ok(duration),
    }
}

/// A duration as [`parse_duration`] reads it, to the millisecond: `2m30s`.
#[derive(Debug, Clone, Copy)]
pub struct Spelled(pub Duration);

impl std::fmt::Display for Spelled {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let seconds = self.0.as_secs();
        let parts = [
            (seconds / 3600, "h"),
            (seconds / 60 % 60, "m"),
            (seconds % 60, "s"),
            (u64::from(self.0.subsec_millis()), "ms"),
        ];
        if parts.iter().all(|(count, _)| *count == 0) {
            return f.write_str("0s");
        }
        for (count, unit) in parts {
            if count > 0 {
                write!(f, "{count}{unit}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_people_write_is_read() {
        for (text, seconds) in [
            ("90s", 90),
            ("10m", 600),
            ("1h", 3600),
            ("2m30s", 150),
            (" 1h 2m\t3 s ", 3723),
            ("007s", 7),
            ("168h", 604_800),
        ] {
            assert_eq!(
                parse_duration(text),
                Ok(Duration::from_secs(seconds)),
                "{text}"
            );
        }
        assert_eq!(parse_duration("500ms"), Ok(Duration::from_millis(500)));
    }

    #[test]
    fn each_slip_gets_its_own_answer() {
        let wrong = |text| parse_duration(text).unwrap_err().to_string();
        assert_eq!(wrong("  "), "a duration is missing");
        assert_eq!(wrong("90"), "`90` has no unit");
        assert_eq!(wrong("2m30"), "`2m30` has no unit");
        assert_eq!(
            wrong("m"),
            "`m` has a unit without a whole number before it"
        );
        assert_eq!(
            wrong("-5s"),
            "`-5s` has a unit without a whole number before it"
        );
        assert_eq!(wrong("1.5h"), "`.` in `1.5h` is not a unit");
        assert_eq!(wrong("5min"), "`min` in `5min` is not a unit");
        assert_eq!(
            wrong("30s2m"),
            "`m` in `30s2m` comes after a unit that is not larger"
        );
        assert_eq!(
            wrong("1s1s"),
            "`s` in `1s1s` comes after a unit that is not larger"
        );
        assert_eq!(wrong("0s"), "`0s` is no time at all");
        assert_eq!(wrong("169h"), "`169h` is longer than a week");
        assert_eq!(
            wrong("99999999999999999999h"),
            "`99999999999999999999h` is longer than a week"
        );
        assert_eq!(wrong("5\u{1b}\u{202e}s"), "`s` in `5s` is not a unit");
        assert_eq!(
            wrong("５s"),
            "`５s` has a unit without a whole number before it"
        );
    }

    proptest! {
        #[test]
        fn what_is_spelled_is_read_back(milliseconds in 1u64..604_800_000) {
            let duration = Duration::from_millis(milliseconds);
            prop_assert_eq!(parse_duration(&Spelled(duration).to_string()), Ok(duration));
        }

        #[test]
        fn no_text_makes_it_panic(text in any::<String>()) {
            let _ = parse_duration(&text);
        }
    }
}
