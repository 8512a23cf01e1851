//! The value of a field: JSON, and how it is written on one line.

use serde_json::Value as Json;

use crate::text::is_hidden;

/// The fields of a loop by name, in the order of its document.
pub type Fields = serde_json::Map<String, Json>;

/// The greatest number in a field: every reader of JSON reads it exactly.
pub const MAX_COUNT: u64 = (1 << 53) - 1;

/// Returns a value for people and shell helpers: text without quotes, null as nothing, else JSON.
pub fn to_plain(value: &Json) -> String {
    match value {
        Json::Null => String::new(),
        Json::String(text) => text.clone(),
        other => escape_json(&other.to_string()),
    }
}

/// Returns a value as a number. It may be in quotes, because people quote numbers by hand.
pub fn to_count(value: &Json) -> Option<u64> {
    parse_count(&to_plain(value))
}

/// Reads a value of a shell helper: `true`, `false`, decimal numbers, and anything else as text.
pub fn parse_plain(text: &str) -> Json {
    match text {
        "true" => true.into(),
        "false" => false.into(),
        _ => parse_count(text).map_or_else(|| text.into(), Json::from),
    }
}

/// Reads a decimal number that is written back with the same characters.
fn parse_count(text: &str) -> Option<u64> {
    let count: u64 = text.parse().ok()?;
    (count <= MAX_COUNT && count.to_string() == text).then_some(count)
}

/// Writes a value behind a colon, as JSON that is also YAML. Quotes plain words only if `quoted`.
pub(super) fn to_scalar(value: &Json, quoted: bool) -> String {
    let json = |value: &Json| escape_json(&value.to_string());
    match value {
        Json::String(text) if !quoted && is_plain_word(text) => text.clone(),
        Json::Bool(_) | Json::Number(_) if quoted => json(&value.to_string().into()),
        _ => json(value),
    }
}

/// Returns whether YAML 1.1 and 1.2 read these characters as the same text without quotes.
fn is_plain_word(text: &str) -> bool {
    let is_safe = |c: char| c.is_ascii_alphanumeric() || "_./:+@-~,".contains(c);
    let begins = |c: char| c.is_ascii_alphanumeric() || "_/.".contains(c);
    let flags = ["y", "n", "yes", "no", "on", "off", "true", "false", "null"];
    text.starts_with(begins)
        && text.chars().all(is_safe)
        && !flags.iter().any(|flag| text.eq_ignore_ascii_case(flag))
        // YAML 1.1 reads 12:30 as a number of base 60.
        && (!text.contains(':') || text.contains(|c: char| c.is_ascii_alphabetic()))
        && serde_yaml::from_str(text).is_ok_and(|read: serde_yaml::Value| read == *text)
}

/// Escapes characters of JSON that could hide or reorder text, up to U+FFFF (no escape above).
pub(super) fn escape_json(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        match u32::from(c) {
            // YAML has no place for the last two characters of a plane.
            code if code <= 0xffff && c != '\n' && (is_hidden(c) || code >= 0xfffe) => {
                out.push_str(&format!("\\u{code:04X}"));
            }
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn shell_text_becomes_what_it_looks_like() {
        assert_eq!(parse_plain("12"), json!(12));
        assert_eq!(parse_plain("9007199254740991"), json!(MAX_COUNT));
        assert_eq!(parse_plain("true"), json!(true));
        for text in ["9007199254740992", "012", "+1", "-1", "1.0", "yes", ""] {
            assert_eq!(parse_plain(text), json!(text));
        }
    }

    #[test]
    fn plain_words_stay_plain() {
        for word in [
            "reviewing",
            "2026-11-22T00:53:33Z",
            "20261122-005333-0a1b2c",
            "20261122-005333-123456",
            "/a/b.c",
        ] {
            assert_eq!(to_scalar(&json!(word), false), word);
        }
    }

    #[test]
    fn text_that_yaml_reads_otherwise_is_quoted() {
        for word in [
            "", "yes", "No", "on", "null", "~", "true", "1", "1e3", "0x10", "-1", "- a", "12:30",
            "a: b", "a:", "# c", "a #b", ".inf", ".NaN", "a b", "é", "*a", "&a", "!a", "%a", "@a",
            "`a", "{a", "[a", "|", ">", "'a", "?", "---",
        ] {
            let written = to_scalar(&json!(word), false);
            assert!(written.starts_with('"'), "{word:?}: {written}");
            assert_eq!(serde_yaml::from_str::<String>(&written).unwrap(), word);
        }
    }

    #[test]
    fn hidden_characters_are_escaped() {
        let hostile = "a\nb\r\t\0\u{7f}\u{85}\u{2028}\u{202e}\u{feff}\u{ffff}\u{e0041}é \"\\";
        let written = to_scalar(&json!(hostile), false);
        assert_eq!(
            written,
            "\"a\\nb\\r\\t\\u0000\\u007F\\u0085\\u2028\\u202E\\uFEFF\\uFFFF\u{e0041}é \\\"\\\\\""
        );
        assert_eq!(serde_yaml::from_str::<String>(&written).unwrap(), hostile);
    }
}
