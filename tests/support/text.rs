//! Checks of a text's content.

#[track_caller]
pub(crate) fn lacks(text: &str, part: &str) {
    assert!(!text.contains(part), "there: {part}\n{text}");
}

#[track_caller]
pub(crate) fn begins(text: &str, start: &str) {
    assert!(text.starts_with(start), "not its start: {start}\n{text}");
}

#[track_caller]
pub(crate) fn ends(text: &str, end: &str) {
    assert!(text.ends_with(end), "not its end: {end}\n{text}");
}
