//! What a text must or must not have.

/// Checks that a text does not have this part.
#[track_caller]
pub(crate) fn lacks(text: &str, part: &str) {
    assert!(!text.contains(part), "there: {part}\n{text}");
}

/// Checks how a text begins.
#[track_caller]
pub(crate) fn begins(text: &str, start: &str) {
    assert!(text.starts_with(start), "not its start: {start}\n{text}");
}

/// Checks how a text ends.
#[track_caller]
pub(crate) fn ends(text: &str, end: &str) {
    assert!(text.ends_with(end), "not its end: {end}\n{text}");
}
