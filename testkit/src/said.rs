//! Checks of a program's output.

/// Checks that a text contains a part, and shows the text if it does not.
///
/// # Panics
/// Panics if it does not.
#[track_caller]
pub fn has(text: &str, part: &str) {
    assert!(text.contains(part), "not there: {part}\n{text}");
}
