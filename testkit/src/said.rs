//! Checks what a program said.

/// Checks that a text has this in it, and shows the text where it has not.
///
/// # Panics
/// It has not.
#[track_caller]
pub fn has(text: &str, part: &str) {
    assert!(text.contains(part), "not there: {part}\n{text}");
}
