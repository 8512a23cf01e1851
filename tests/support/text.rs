//! Checks of a text's content.

/// Checks that a text lacks this part.
#[track_caller]
pub(crate) fn lacks(text: &str, part: &str) {
    assert!(!text.contains(part), "there: {part}\n{text}");
}

/// Checks the beginning of a text.
#[track_caller]
pub(crate) fn begins(text: &str, start: &str) {
    assert!(text.starts_with(start), "not its start: {start}\n{text}");
}

/// Checks the end of a text.
#[track_caller]
pub(crate) fn ends(text: &str, end: &str) {
    assert!(text.ends_with(end), "not its end: {end}\n{text}");
}
