//! Names of files as git writes them and as people can read them, and lines whose hidden characters are spelled out.

use std::fmt::Write as _;

use crate::text::plain;

/// Returns the parts of an output that ends each with NUL.
pub fn names(listed: &[u8]) -> impl Iterator<Item = &[u8]> {
    listed
        .split(|byte| *byte == 0)
        .filter(|name| !name.is_empty())
}

/// Returns a path for people: on one line, and what is no text in it made visible.
pub fn shown(path: &[u8]) -> String {
    crate::text::one_line(
        &visible(&String::from_utf8_lossy(&c_quoted(path, false))),
        300,
    )
}

/// Returns a name as git writes it: as it is, or in double quotes with escapes where it has quotes, backslashes or control
/// characters. `always` puts it in quotes in any case.
pub fn c_quoted(name: &[u8], always: bool) -> Vec<u8> {
    let plain = |byte: &u8| *byte >= 0x20 && *byte != 0x7f && *byte != b'"' && *byte != b'\\';
    if !always && name.iter().all(plain) {
        return name.to_vec();
    }
    let mut quoted: Vec<u8> = vec![b'"'];
    for byte in name {
        match byte {
            b'"' | b'\\' => quoted.extend([b'\\', *byte]),
            b'\n' => quoted.extend(b"\\n"),
            b'\t' => quoted.extend(b"\\t"),
            b'\r' => quoted.extend(b"\\r"),
            0x07 => quoted.extend(b"\\a"),
            0x08 => quoted.extend(b"\\b"),
            0x0b => quoted.extend(b"\\v"),
            0x0c => quoted.extend(b"\\f"),
            byte if plain(byte) => quoted.push(*byte),
            byte => quoted.extend(format!("\\{byte:03o}").into_bytes()),
        }
    }
    quoted.push(b'"');
    quoted
}

/// Returns a line whose hidden characters are spelled out as `<U+202E>`; line end and tabs stay.
pub fn visible(line: &str) -> String {
    let body = line.strip_suffix('\n').unwrap_or(line);
    let end = &line[body.len()..];
    let (body, end) = match body.strip_suffix('\r') {
        Some(body) => (body, format!("\r{end}")),
        None => (body, end.to_owned()),
    };
    let mut shown = String::with_capacity(line.len());
    let mut buffer = [0; 4];
    for (at, character) in body.char_indices() {
        // What looks spelled out already was written so by somebody: it must not pass for ours.
        let kept = character != '\r'
            && !body[at..].starts_with("<U+")
            && !plain(character.encode_utf8(&mut buffer)).is_empty();
        if kept {
            shown.push(character);
        } else {
            let _ = write!(shown, "<U+{:04X}>", u32::from(character));
        }
    }
    shown + &end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted_as_git_does() {
        assert_eq!(c_quoted(b"a b/\xc3\xa9\xff", false), b"a b/\xc3\xa9\xff");
        assert_eq!(
            c_quoted(b"a\"\\\n\t\x01\x7f", false),
            br#""a\"\\\n\t\001\177""#
        );
        assert_eq!(c_quoted(b"a", true), b"\"a\"");
    }

    #[test]
    fn what_is_hidden_in_a_line_is_spelled_out() {
        assert_eq!(visible("a\tb\rc\r\n"), "a\tb<U+000D>c\r\n");
        assert_eq!(visible("\u{202e}x\u{1b}"), "<U+202E>x<U+001B>");
        assert_eq!(
            visible("<U+202E> <b>"),
            "<U+003C>U+202E> <b>",
            "what a file says itself"
        );
        assert_eq!(shown("r\u{202e}l\n".as_bytes()), r#""r<U+202E>l\n""#);
    }
}
