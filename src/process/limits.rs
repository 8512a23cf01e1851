//! Time limits of a child process, and durations as users write them: `90s`, `10m`, `2m30s`, `1h`.

use std::time::Duration;

use jiff::SignedDuration;
use jiff::fmt::friendly::{Spacing, SpanPrinter};
use serde::Deserialize;

use crate::text::one_line;

/// The longest duration that is accepted: a week. Anything longer is a slip of the pen.
const MAX_DURATION: Duration = Duration::from_secs(7 * 24 * 3600);

/// Time limits of one run of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The time from start to end.
    pub timeout: Duration,
    /// The time without a byte on either output stream.
    pub idle: Duration,
}

/// Reads `90s`, `10m`, `2m30s`, `1h`, `500ms`: numbers with their units, largest first.
///
/// # Errors
/// Returns an error if the text is not a duration, or one of zero, less than zero or more than a week.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let parsed = text.trim().parse::<SignedDuration>().ok();
    parsed
        .and_then(|parsed| Duration::try_from(parsed).ok())
        .filter(|parsed| parsed.as_millis() > 0 && *parsed <= MAX_DURATION)
        .ok_or_else(|| {
            let text = one_line(text, 40);
            format!("`{text}` is not a duration between 1ms and a week")
        })
}

/// A duration as [`parse_duration`] reads it, to the millisecond: `2m30s`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Deserialize)]
#[serde(try_from = "String")]
pub struct Spelled(pub Duration);

impl TryFrom<String> for Spelled {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let help = "write it like 90s, 10m, 2m30s or 1h";
        parse_duration(&text)
            .map(Self)
            .map_err(|error| format!("{error}\n{help}"))
    }
}

impl std::fmt::Display for Spelled {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let nanos = self.0.subsec_nanos() % 1_000_000;
        let whole = self.0 - Duration::from_nanos(nanos.into());
        let printer = SpanPrinter::new().spacing(Spacing::None);
        f.write_str(&printer.unsigned_duration_to_string(&whole))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duration_is_read_and_spelled_again() {
        for (text, spelled) in [
            ("90s", "1m30s"),
            ("10m", "10m"),
            ("2m30s", "2m30s"),
            (" 1h 2m 3s ", "1h2m3s"),
            ("007s", "7s"),
            ("168h", "168h"),
            ("500ms", "500ms"),
        ] {
            let duration = parse_duration(text).unwrap();
            assert_eq!(Spelled(duration).to_string(), spelled, "{text}");
            assert_eq!(parse_duration(spelled), Ok(duration));
        }
    }

    #[test]
    fn bad_duration_is_refused_in_one_line() {
        for text in [
            "  ",
            "90",
            "2m30",
            "m",
            "-5s",
            "30s2m",
            "1s1s",
            "0s",
            "169h",
            "５s",
            "99999999999999999999h",
        ] {
            let error = parse_duration(text).unwrap_err();
            assert!(
                error.ends_with("` is not a duration between 1ms and a week"),
                "{error}"
            );
        }
        assert_eq!(
            parse_duration("5\u{1b}\u{202e}s").unwrap_err(),
            "`5s` is not a duration between 1ms and a week"
        );
    }
}
