//! The value of one field, as every form of document knows it, and how its texts are written on one line.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Limits the numbers that are read from a file: what every reader of JSON has exactly, and nothing overflows that adds to it.
pub const MOST_COUNT: u64 = (1 << 53) - 1;

/// The value of one field.
///
/// `Word` and `Text` differ only in how they are written: two values with the same characters are equal.
#[derive(Debug, Clone)]
pub enum Value {
    /// Nothing.
    Null,
    /// True or false.
    Flag(bool),
    /// A whole number, never negative, and of what is read never more than `MOST_COUNT`.
    Count(u64),
    /// Text that is written plain where it can be.
    Word(String),
    /// Text that is always quoted.
    Text(String),
    /// Texts in order.
    List(Vec<String>),
    /// Data of a machine's own that is none of these: a map, a list of other things, a fraction.
    Data(serde_json::Value),
}

impl Value {
    /// Makes a value of what JSON holds. Texts become words; whoever knows that one was quoted makes it a `Text`.
    pub fn of_json(json: serde_json::Value) -> Self {
        use serde_json::Value as Json;
        match json {
            Json::Null => Self::Null,
            Json::Bool(flag) => Self::Flag(flag),
            Json::Number(ref number) => {
                match number.as_u64().filter(|number| *number <= MOST_COUNT) {
                    Some(count) => Self::Count(count),
                    None => Self::Data(json),
                }
            }
            Json::String(text) => Self::Word(text),
            Json::Array(ref items) => {
                let texts = items.iter().map(|item| item.as_str().map(str::to_owned));
                match texts.collect() {
                    Some(texts) => Self::List(texts),
                    None => Self::Data(json),
                }
            }
            Json::Object(_) => Self::Data(json),
        }
    }

    /// Returns a number that is too large to be read again.
    pub(super) fn beyond_range(&self) -> Option<u64> {
        let count = match self {
            Self::Count(count) => Some(*count),
            Self::Data(json) => json.as_u64(),
            _ => None,
        };
        count.filter(|count| *count > MOST_COUNT)
    }

    /// Returns the value as JSON.
    pub fn to_json(&self) -> serde_json::Value {
        match self {
            Self::Null => serde_json::Value::Null,
            Self::Flag(flag) => (*flag).into(),
            Self::Count(number) => (*number).into(),
            Self::Word(text) | Self::Text(text) => text.as_str().into(),
            Self::List(texts) => texts.as_slice().into(),
            Self::Data(json) => json.clone(),
        }
    }

    /// Makes a value from what a shell helper was given: `true`, `false` and decimal numbers are what they look like,
    /// anything else is a word.
    pub fn from_plain(text: &str) -> Self {
        match text {
            "true" => Self::Flag(true),
            "false" => Self::Flag(false),
            _ => decimal(text).map_or_else(|| Self::Word(text.to_owned()), Self::Count),
        }
    }

    /// Returns the characters of a word or a text.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::Word(text) | Self::Text(text) => Some(text),
            Self::Null | Self::Flag(_) | Self::Count(_) | Self::List(_) | Self::Data(_) => None,
        }
    }

    /// Returns the number, also of a quoted one: people quote numbers by hand.
    pub fn as_count(&self) -> Option<u64> {
        match self {
            Self::Count(number) => Some(*number),
            Self::Word(text) | Self::Text(text) => decimal(text),
            Self::Null | Self::Flag(_) | Self::List(_) | Self::Data(_) => None,
        }
    }

    /// Returns the flag, also of a quoted one.
    pub fn as_flag(&self) -> Option<bool> {
        match self {
            Self::Flag(flag) => Some(*flag),
            Self::Word(text) | Self::Text(text) => text.parse().ok(),
            Self::Null | Self::Count(_) | Self::List(_) | Self::Data(_) => None,
        }
    }

    /// Returns the texts of a list.
    pub fn as_list(&self) -> Option<&[String]> {
        match self {
            Self::List(texts) => Some(texts),
            _ => None,
        }
    }

    /// Returns the value as shell helpers print it: no quotes, nothing for null, a list and data as JSON on one line.
    pub fn to_plain(&self) -> Cow<'_, str> {
        match self {
            Self::Null => Cow::Borrowed(""),
            Self::Flag(flag) => Cow::Borrowed(if *flag { "true" } else { "false" }),
            Self::Count(number) => Cow::Owned(number.to_string()),
            Self::Word(text) | Self::Text(text) => Cow::Borrowed(text),
            Self::List(texts) => Cow::Owned(list(texts)),
            Self::Data(json) => Cow::Owned(shown(&json.to_string())),
        }
    }
}

/// Writes a list on one line, a sequence of double-quoted scalars that YAML and JSON read as the same texts.
pub(super) fn list(texts: &[String]) -> String {
    let quoted: Vec<String> = texts.iter().map(|text| quote(text, true)).collect();
    format!("[{}]", quoted.join(", "))
}

/// Writes a double-quoted scalar of YAML on one line. What could end the line, hide or reorder text is escaped; other characters
/// stay as they are. As `json`, it has only escapes that mean the same there: above U+FFFF there is none, so those characters
/// stay.
pub(super) fn quote(text: &str, json: bool) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        let code = u32::from(c);
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            _ if !is_hidden(c) || json && code > 0xffff => out.push(c),
            _ if code <= 0xffff => out.push_str(&format!("\\u{code:04X}")),
            _ => out.push_str(&format!("\\U{code:08X}")),
        }
    }
    out.push('"');
    out
}

/// Returns JSON with escapes for what could reorder or hide text: in JSON that stands in strings alone. Above U+FFFF there is no such
/// escape, so those characters stay.
pub(super) fn shown(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        match u32::from(c) {
            code if is_hidden(c) && c != '\n' && code <= 0xffff => {
                out.push_str(&format!("\\u{code:04X}"))
            }
            _ => out.push(c),
        }
    }
    out
}

/// Characters that end a line for some reader, reorder what is shown, or are shown as nothing at all: C0 and C1
/// controls, line and paragraph separators, marks and controls of text direction, tags, byte-order marks.
pub(super) fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
            | '\u{feff}' | '\u{fffe}' | '\u{ffff}' | '\u{e0000}'..='\u{e007f}')
}

/// Reads a decimal number without sign and without leading zeros: what reads back as the same characters.
fn decimal(text: &str) -> Option<u64> {
    let number: u64 = text.parse().ok()?;
    (number <= MOST_COUNT && number.to_string() == text).then_some(number)
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Null, Self::Null) => true,
            (Self::Flag(a), Self::Flag(b)) => a == b,
            (Self::Count(a), Self::Count(b)) => a == b,
            (Self::Word(a) | Self::Text(a), Self::Word(b) | Self::Text(b)) => a == b,
            (Self::List(a), Self::List(b)) => a == b,
            (Self::Data(a), Self::Data(b)) => a == b,
            _ => false,
        }
    }
}

impl Eq for Value {}

impl fmt::Display for Value {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.to_plain())
    }
}

impl From<bool> for Value {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl From<u64> for Value {
    fn from(number: u64) -> Self {
        Self::Count(number)
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        self.to_json().serialize(out)
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        serde_json::Value::deserialize(from).map(Self::of_json)
    }
}

/// Returns the value of a field among fields.
pub(super) fn value_in<'a>(fields: &'a [(String, Value)], field: &str) -> Option<&'a Value> {
    fields
        .iter()
        .find_map(|(name, value)| (name == field).then_some(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn word_and_text_are_equal_by_content_and_nothing_else_is() {
        assert_eq!(Value::Word("a".into()), Value::Text("a".into()));
        assert_ne!(Value::Word("a".into()), Value::Text("b".into()));
        assert_ne!(Value::Word("1".into()), Value::Count(1));
        assert_ne!(Value::Text("true".into()), Value::Flag(true));
        assert_ne!(Value::Null, Value::Text(String::new()));
    }

    #[test]
    fn shell_text_becomes_what_it_looks_like() {
        for (text, count) in [("9007199254740991", true), ("9007199254740992", false)] {
            assert_eq!(
                matches!(Value::from_plain(text), Value::Count(_)),
                count,
                "{text}"
            );
            let read: Value = serde_json::from_str(text).unwrap();
            assert_eq!(matches!(read, Value::Count(_)), count, "{text}");
        }
        assert!(matches!(Value::from_plain("12"), Value::Count(12)));
        assert!(matches!(Value::from_plain("true"), Value::Flag(true)));
        for word in ["012", "+1", "-1", "1.0", "yes", "", "99999999999999999999"] {
            assert!(
                matches!(Value::from_plain(word), Value::Word(text) if text == word),
                "{word:?}"
            );
        }
    }

    #[test]
    fn json_keeps_every_value() {
        let list =
            |texts: &[&str]| Value::List(texts.iter().map(|text| (*text).to_owned()).collect());
        for value in [
            Value::Null,
            true.into(),
            7.into(),
            Value::Word("a b\n\"".into()),
            list(&[]),
            list(&["", "a\n", "\u{202e}\"]", "\u{e0041}"]),
        ] {
            let json = serde_json::to_string(&value).unwrap();
            assert_eq!(
                serde_json::from_str::<Value>(&json).unwrap(),
                value,
                "{json}"
            );
        }
        for json in ["-1", "1.5", "[1]", "[[]]", "[null]", "{}"] {
            let value: Value = serde_json::from_str(json).unwrap();
            assert!(matches!(value, Value::Data(_)), "{json}");
            assert_eq!(value.to_plain(), json);
        }
    }
}
