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
pub fn readable_name(path: &[u8]) -> String {
    crate::text::one_line(&visible(&String::from_utf8_lossy(path)), 300)
}

/// Returns a line whose hidden characters are spelled out as `<U+202E>`; line end and tabs stay.
pub fn visible(line: &str) -> String {
    let without_end = line.strip_suffix('\n').unwrap_or(line);
    let body = without_end.strip_suffix('\r').unwrap_or(without_end);
    let mut visible = String::with_capacity(line.len());
    for (at, character) in body.char_indices() {
        // A name that looks spelled out already was written so by a person: it must not pass for ours.
        let is_spelled = body[at..].starts_with("<U+");
        if is_spelled || character != '\t' && is_hidden(character) {
            let _ = write!(visible, "<U+{:04X}>", u32::from(character));
        } else {
            visible.push(character);
        }
    }
    visible + &line[body.len()..]
}
