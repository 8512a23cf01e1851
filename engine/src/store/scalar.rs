//! How one value is written on one line of YAML: plain where it reads back as the same value, else double-quoted.

use super::value::{Value, list, quote};

/// Writes `value` for the right of a colon. With `quoted`, text and numbers alike get quotes.
pub(super) fn write(value: &Value, quoted: bool) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Text(text) => quote(text, false),
        Value::Word(text) if quoted || !is_plain(text) => quote(text, false),
        Value::Word(text) => text.clone(),
        Value::Flag(_) | Value::Count(_) if quoted => quote(&value.to_plain(), false),
        Value::Flag(_) | Value::Count(_) => value.to_plain().into_owned(),
        Value::List(texts) => list(texts),
        Value::Data(_) => value.to_plain().into_owned(),
    }
}

/// Returns whether a plain scalar reads back as these characters, in YAML 1.2 (ours) and in 1.1 (many other readers').
fn is_plain(text: &str) -> bool {
    let safe = |c: char| {
        c.is_ascii_alphanumeric()
            || matches!(c, '_' | '.' | '/' | ':' | '+' | '@' | '-' | '~' | ',')
    };
    let old_flags = ["y", "n", "yes", "no", "on", "off", "true", "false", "null"];
    // YAML 1.1 reads 12:30 as a number of base 60.
    let sexagesimal = text.contains(':') && !text.bytes().any(|byte| byte.is_ascii_alphabetic());
    text.chars().all(safe)
        && text.starts_with(|first: char| {
            first.is_ascii_alphanumeric() || matches!(first, '_' | '/' | '.')
        })
        && !text.ends_with(':')
        && !sexagesimal
        && !old_flags.iter().any(|word| text.eq_ignore_ascii_case(word))
        && (!may_be_number(text) || reads_as_text(text))
}

/// Returns whether a reader may take it for a number: it begins like one, and all of it could be in one. Most digests are none.
fn may_be_number(text: &str) -> bool {
    let in_number: fn(u8) -> bool = match text.as_bytes() {
        [b'0', b'x' | b'X', ..] => |byte| byte.is_ascii_hexdigit() || b"xX_".contains(&byte),
        [b'.', ..] => |byte| byte.is_ascii_alphanumeric() || b"+-._".contains(&byte),
        [first, ..] if first.is_ascii_digit() => {
            |byte| byte.is_ascii_digit() || b"+-._eEoObB:".contains(&byte)
        }
        _ => return false,
    };
    text.bytes().all(in_number)
}

fn reads_as_text(text: &str) -> bool {
    matches!(serde_yaml::from_str(text), Ok(serde_yaml::Value::String(back)) if back == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_words_stay_plain() {
        for word in [
            "reviewing",
            "2026-11-22T00:53:33Z",
            "20261122-005333-0a1b2c",
            "20261122-005333-123456",
            "/a/b.c",
        ] {
            assert_eq!(write(&Value::Word(word.into()), false), word);
        }
    }

    #[test]
    fn what_would_read_back_as_something_else_is_quoted() {
        for word in [
            "", "yes", "No", "on", "null", "~", "true", "1", "1e3", "0x10", "-1", "- a", "12:30",
            "a: b", "a:", "# c", "a #b", ".inf", ".NaN", "a b", "é", "*a", "&a", "!a", "%a", "@a",
            "`a", "{a", "[a", "|", ">", "'a", "?", "---",
        ] {
            let written = write(&Value::Word(word.into()), false);
            assert!(
                written.starts_with('"'),
                "{word:?} was written as {written}"
            );
            assert_eq!(serde_yaml::from_str::<String>(&written).unwrap(), word);
        }
    }

    #[test]
    fn hidden_characters_are_shown_as_escapes() {
        let hostile = "a\nb\r\t\0\u{7f}\u{85}\u{2028}\u{202e}\u{feff}\u{ffff}\u{e0041}é \"\\";
        let written = write(&Value::Text(hostile.into()), false);
        assert_eq!(
            written,
            r#""a\nb\r\t\u0000\u007F\u0085\u2028\u202E\uFEFF\uFFFF\U000E0041é \"\\""#
        );
        assert_eq!(serde_yaml::from_str::<String>(&written).unwrap(), hostile);
    }
}
