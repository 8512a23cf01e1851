//! The id of a loop: a type that cannot hold a path, and the clock's stamp it is made from.

use std::borrow::Borrow;

use jiff::{Timestamp, tz::TimeZone};
use serde::{Deserialize, Serialize};

use super::spec::IdForm;

/// Names of our own in a state folder, which no loop may take.
const RESERVED: [&str; 4] = ["archive", "log", "project", "scratch"];

/// The id of a loop. It is safe as a file name: no separators, no dots, no leading dash in a stamp.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, derive_more::Display,
)]
#[serde(try_from = "String", into = "String")]
pub struct LoopId(String);

/// A text that is no id of a loop.
#[derive(
    Debug, Clone, PartialEq, Eq, derive_more::Display, derive_more::Error, miette::Diagnostic,
)]
#[display("`{}` is not the id of a loop", text.escape_debug())]
#[diagnostic(code(claudex::store::invalid_id), help("{wanted}"))]
pub struct InvalidId {
    /// What was given, cut after 80 characters.
    text: String,
    wanted: &'static str,
}

impl LoopId {
    /// Takes `text` if it has the form.
    pub fn parse(text: &str, form: IdForm) -> Result<Self, InvalidId> {
        if Self::fits(text, form) {
            return Ok(Self(text.to_owned()));
        }
        Err(InvalidId {
            text: text.chars().take(80).collect(),
            wanted: match form {
                IdForm::Stamp => "an id looks like 20261122-005333-0a1b2c",
                IdForm::Name => {
                    "an id is 1 to 64 letters, digits, `_` or `-`, and no folder of the store's"
                }
            },
        })
    }

    /// Returns whether `text` has the form.
    pub(super) fn fits(text: &str, form: IdForm) -> bool {
        match form {
            IdForm::Stamp => is_stamp(text),
            IdForm::Name => is_name(text),
        }
    }

    /// Makes a new id from the time `now` and six random hexadecimal digits.
    ///
    /// # Errors
    /// When the system gives no random bytes.
    pub fn new_stamp(now: Timestamp) -> std::io::Result<Self> {
        let mut random = [0_u8; 3];
        getrandom::fill(&mut random).map_err(std::io::Error::other)?;
        let [a, b, c] = random;
        Ok(Self(format!("{}-{a:02x}{b:02x}{c:02x}", compact(now))))
    }

    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for LoopId {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for LoopId {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl From<LoopId> for String {
    fn from(id: LoopId) -> Self {
        id.0
    }
}

impl TryFrom<String> for LoopId {
    type Error = InvalidId;

    /// Takes either form: a stamp is a name too.
    fn try_from(text: String) -> Result<Self, InvalidId> {
        Self::parse(&text, IdForm::Name)
    }
}

impl std::str::FromStr for LoopId {
    type Err = InvalidId;

    /// Takes either form: a stamp is a name too.
    fn from_str(text: &str) -> Result<Self, InvalidId> {
        Self::parse(text, IdForm::Name)
    }
}

/// `now` as ISO 8601 in UTC, whole seconds: `2026-11-22T00:53:33Z`.
pub(super) fn iso(now: Timestamp) -> String {
    now.to_zoned(TimeZone::UTC)
        .strftime("%Y-%m-%dT%H:%M:%SZ")
        .to_string()
}

/// `now` as it stands in ids: `20261122-005333`.
pub(super) fn compact(now: Timestamp) -> String {
    now.to_zoned(TimeZone::UTC)
        .strftime("%Y%m%d-%H%M%S")
        .to_string()
}

fn is_stamp(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() == 22
        && bytes.iter().enumerate().all(|(at, byte)| match at {
            8 | 15 => *byte == b'-',
            0..15 => byte.is_ascii_digit(),
            _ => matches!(byte, b'0'..=b'9' | b'a'..=b'f'),
        })
}

fn is_name(text: &str) -> bool {
    (1..=64).contains(&text.len())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
        && !RESERVED.contains(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_stamp_is_one_and_says_the_time() {
        let now: Timestamp = "2026-11-22T00:53:33.9Z".parse().unwrap();
        let id = LoopId::new_stamp(now).unwrap();
        assert!(id.as_str().starts_with("20261122-005333-"), "{id}");
        assert_eq!(LoopId::parse(id.as_str(), IdForm::Stamp).unwrap(), id);
        assert_ne!(
            LoopId::new_stamp(now).unwrap(),
            id,
            "two ids of one second differ"
        );
        assert_eq!(iso(now), "2026-11-22T00:53:33Z");
    }

    #[test]
    fn anything_else_is_refused() {
        for text in [
            "",
            "../../../etc/passwd",
            "20261122-005333-0A1B2C",
            "20261122-005333-0a1b2",
            "20261122-005333-0a1b2c\n",
            "20261122-005333-0a1b2c.state",
            "20261122_005333-0a1b2c",
            "２0261122-005333-0a1b2c",
            "20261122-005333-0a1b2g",
        ] {
            assert!(LoopId::parse(text, IdForm::Stamp).is_err(), "{text:?}");
        }
        let long = "a".repeat(65);
        for text in [
            "",
            "a/b",
            "..",
            "a.b",
            "a b",
            "é",
            "a\0",
            "archive",
            "project",
            long.as_str(),
        ] {
            assert!(LoopId::parse(text, IdForm::Name).is_err(), "{text:?}");
        }
        assert!(LoopId::parse("stage-3_b", IdForm::Name).is_ok());
        assert!(serde_json::from_str::<LoopId>("\"../x\"").is_err());
    }
}
