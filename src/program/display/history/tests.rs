//! Lines of the journal for notes, also for forged ones.
use super::*;

fn line_of(note: &str, data: Json) -> String {
    let at = Timestamp::UNIX_EPOCH;
    let note = note.to_owned();
    let entry = Entry::Note(NoteEntry { at, note, data });
    let past = LoopHistory::new(crate::plan::INFO.table, Vec::new().into());
    past.lines([&entry]).concat()
}

#[test]
fn note_shows_actor_attempt_and_reason() {
    for (note, data, line) in [
        (
            "refused",
            json!({"by": "agent", "tried": "mark-done", "why": "it is not open"}),
            "refused mark-done by the agent: it is not open",
        ),
        (
            "repaired",
            json!({"what": "the state was edited by hand (phase)", "fields": "phase"}),
            "repaired: the state was edited by hand (phase)",
        ),
        ("refused", json!({"why": "no more"}), "refused: no more"),
        (
            "other",
            json!({"a": [1, 2], "b": "c"}),
            "other: a: 1, 2; b: c",
        ),
    ] {
        assert_eq!(line_of(note, data), line);
    }
}

#[test]
fn forged_note_steers_no_terminal() {
    let forged = json!({"by": ["x"], "tried": "a\u{1b}[2J\nb", "why": "\u{202e}c"});
    assert_eq!(line_of("refused", forged), "refused a[2J b: c");
}
