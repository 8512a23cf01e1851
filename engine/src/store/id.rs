//! The id of a loop: a type that cannot hold a path, and the clock's stamp it is made from.

use std::fmt;

use jiff::Timestamp;
use serde::Serialize;

use super::spec::IdForm;
use crate::digest::random_hex;

/// The names of our own files in a state folder, which no loop may have.
const RESERVED: [&str; 3] = ["archive", "log", "project"];

/// The id of a loop. It is safe as a file name: no separators, no dots, no leading dash in a stamp.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct LoopId(String);

impl LoopId {
    /// Parses an id of a form. An error is a sentence with at most 80 characters of the text.
    pub fn parse(text: &str, form: IdForm) -> Result<Self, String> {
        let fits = match form {
            IdForm::Stamp => is_stamp(text),
            IdForm::Name => is_name(text),
        };
        if fits {
            return Ok(Self(text.to_owned()));
        }
        let begin: String = text.chars().take(80).collect();
        Err(format!(
            "`{}` is not the id of a loop",
            begin.escape_debug()
        ))
    }

    /// Makes a new id from the time `now` and six random hexadecimal digits.
    pub fn new_stamp(now: Timestamp) -> std::io::Result<Self> {
        let time = now.strftime("%Y%m%d-%H%M%S");
        Ok(Self(format!("{time}-{}", random_hex::<3>()?)))
    }

    /// Makes the id of a document that was made by hand, from the name of its file.
    pub(super) fn from_file_stem(stem: &str) -> Self {
        Self(stem.to_owned())
    }

    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for LoopId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Returns a time in whole seconds, which is ISO 8601 in UTC as text: `2026-11-22T00:53:33Z`.
pub(super) fn to_seconds(time: Timestamp) -> Timestamp {
    Timestamp::from_second(time.as_second()).unwrap_or(time)
}

fn is_stamp(text: &str) -> bool {
    let is_hex = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let fits = |(at, byte): (usize, &u8)| match at {
        8 | 15 => *byte == b'-',
        0..15 => byte.is_ascii_digit(),
        _ => is_hex(byte),
    };
    text.len() == 22 && text.as_bytes().iter().enumerate().all(fits)
}

fn is_name(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    (1..=64).contains(&text.len()) && text.bytes().all(fits) && !RESERVED.contains(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_stamp_has_the_form_and_the_time() {
        let now: Timestamp = "2026-11-22T00:53:33.9Z".parse().unwrap();
        let id = LoopId::new_stamp(now).unwrap();
        assert!(id.as_str().starts_with("20261122-005333-"), "{id}");
        assert_eq!(LoopId::parse(id.as_str(), IdForm::Stamp).unwrap(), id);
        assert_ne!(
            LoopId::new_stamp(now).unwrap(),
            id,
            "two ids of one second differ"
        );
        assert_eq!(to_seconds(now).to_string(), "2026-11-22T00:53:33Z");
    }

    #[test]
    fn text_of_another_form_is_refused() {
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
    }
}
