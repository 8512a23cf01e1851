use super::*;

#[test]
fn lines_of_progress_are_short_and_plain() {
    let root = Utf8Path::new("/p q");
    assert_eq!(shown_path("/p q/src/a\u{202e}.rs", root), "src/a.rs");
    assert_eq!(shown_path("/p q", root), "/p q");
    assert_eq!(shown_path("/p quiet/x", root), "/p quiet/x");
    assert_eq!(
        message_line("**I look.**\nMore"),
        Some("I look.".to_owned())
    );
    for answer in [
        "",
        " \n",
        "{\"verdict\"",
        "[1]",
        "```json",
        "# Round 1 findings",
    ] {
        assert_eq!(message_line(answer), None, "{answer}");
    }
    assert_eq!(shown(&"x".repeat(1000)).chars().count(), MAX_SHOWN_CHARS);
}
