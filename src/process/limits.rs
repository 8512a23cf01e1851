//! Time limits of a child process, and durations as users write them: `90s`, `10m`, `2m30s`, `1h`.

use std::time::Duration;

use jiff::SignedDuration;
use jiff::fmt::friendly::{Spacing, SpanPrinter};
use serde::Deserialize;

use crate::text::one_line;

/// The longest duration that is accepted: a week. Anything longer is a typing error.
const MAX_DURATION: Duration = Duration::from_secs(7 * 24 * 3600);

/// Time limits of one run of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The time from start to end.
    pub timeout: Duration,
    /// The time without a byte on either output stream.
    pub idle: Duration,
}

/// A duration between 1ms and a week. As text, numbers with units, largest first: `2m30s`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Deserialize)]
#[serde(try_from = "String")]
pub struct Spelled(pub Duration);

impl TryFrom<String> for Spelled {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let parsed = text.trim().parse::<SignedDuration>().ok();
        parsed
            .and_then(|parsed| Duration::try_from(parsed).ok())
            .filter(|parsed| parsed.as_millis() > 0 && *parsed <= MAX_DURATION)
            .map(Self)
            .ok_or_else(|| {
                let text = one_line(&text, 40);
                format!("`{text}` is not a duration between 1ms and a week\nwrite it like 90s, 10m, 2m30s or 1h")
            })
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
            let duration = Spelled::try_from(text.to_owned()).unwrap();
            assert_eq!(duration.to_string(), spelled, "{text}");
            assert_eq!(Spelled::try_from(spelled.to_owned()), Ok(duration));
        }
    }

    #[test]
    fn bad_duration_is_refused_with_help() {
        let error = |text: &str| Spelled::try_from(text.to_owned()).unwrap_err();
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
            let error = error(text);
            let problem = "` is not a duration between 1ms and a week\n";
            assert!(error.contains(problem), "{error}");
        }
        assert_eq!(
            error("5\u{1b}\u{202e}s"),
            "`5s` is not a duration between 1ms and a week\nwrite it like 90s, 10m, 2m30s or 1h"
        );
    }
}
