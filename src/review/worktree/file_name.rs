//! Names of files as git writes them and as people can read them, and lines whose hidden characters are spelled out.

use std::fmt::Write as _;

use crate::text::is_hidden;

/// Returns the parts of an output that ends each with NUL.
pub fn names(listed: &[u8]) -> impl Iterator<Item = &[u8]> {
    listed
        .split(|byte| *byte == 0)
        .filter(|name| !name.is_empty())
}

/// Returns a path for people: on one line, with hidden characters made visible.
pub fn shown(path: &[u8]) -> String {
    crate::text::one_line(
        &visible(&String::from_utf8_lossy(&c_quoted(path, false))),
        300,
    )
}

/// Returns a name as git writes it: as it is, or in double quotes with escapes if it has quotes, backslashes or control
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
    let body = body.strip_suffix('\r').unwrap_or(body);
    let mut shown = String::with_capacity(line.len());
    for (at, character) in body.char_indices() {
        // A name that looks spelled out already was written so by a person: it must not pass for ours.
        let is_spelled = body[at..].starts_with("<U+");
        if is_spelled || character != '\t' && is_hidden(character) {
            let _ = write!(shown, "<U+{:04X}>", u32::from(character));
        } else {
            shown.push(character);
        }
    }
    shown + &line[body.len()..]
}
