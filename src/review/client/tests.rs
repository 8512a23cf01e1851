use std::time::Duration;

use super::*;

/// Returns the outcome of a client that printed these events, and its lines of progress.
pub(in crate::review) fn play(read: Read, status: i32, events: &[Value]) -> (Outcome, Vec<String>) {
    let trace = Trace::default();
    let mut session = Session::new(Utf8Path::new("/p q"), &trace, &[]);
    let lines = events.iter().map(|event| event.to_string().into_bytes());
    let shown = lines.filter_map(|line| session.line(&line, read)).collect();
    let ended = ProcessOutput {
        how: ProcessEnd::Exited(status),
        stdout: Vec::new(),
        dropped: 0,
        stdout_end: Vec::new(),
        stderr_tail: "warning: noise\n".to_owned(),
        elapsed: Duration::from_secs(1),
    };
    (session.judge(&ended), shown)
}

/// Returns the kind of a cause, and whether the reviewer ran to its end.
pub(in crate::review) fn cause(outcome: &Outcome) -> (bool, CauseKind) {
    let kind = outcome.cause().expect("no verdict").kind;
    (matches!(outcome, Outcome::Unreadable(_)), kind)
}

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
