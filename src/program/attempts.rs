//! Refused attempts to change a loop, as notes in its journal.
//!
//! Only refusals are noted, not lost races or full disks.

use crate::machine::{Actor, Refusal};
use crate::store::{Entry, Fields, LoopId, NoteEntry, REFUSED, REPAIRED, Store};
use crate::text;

/// The most characters of each text in a note.
const MAX_TEXT_CHARS: usize = 500;

/// Records that a verb was refused by the machine.
pub fn note_refusal(store: &Store, id: &LoopId, by: Actor, tried: &str, refusal: &Refusal) {
    if refusal.is_rejection() {
        note(store, id, by, tried, &refusal.to_string());
    }
}

/// Records another refusal: a shell helper that would skip a transition, or a user's command from an agent. It is recorded
/// unless the loop is over or its journal ends with the same note. Failing to fails nothing.
pub fn note(store: &Store, id: &LoopId, by: Actor, tried: &str, why: &str) {
    let texts = [("by", &*by.to_string()), ("tried", tried), ("why", why)];
    let data: Fields = (texts.iter())
        .map(|(key, text)| {
            (
                (*key).to_owned(),
                text::one_line(text, MAX_TEXT_CHARS).into(),
            )
        })
        .collect();
    let entries = store.journal(id).unwrap_or_default();
    let last = entries
        .last()
        .and_then(|entry| entry.note_data::<Fields>(REFUSED));
    let newest = entries.iter().rev().find_map(Entry::change);
    let phase = newest.and_then(|newest| newest.to.as_deref());
    if store.spec().is_terminal(phase) || last.as_ref() == Some(&data) {
        return;
    }
    if let Err(error) = store.note(id, REFUSED, &data) {
        store.log(&format!(
            "{id} {REFUSED} {data:?}: could not be noted: {error}"
        ));
    }
}

/// Returns the line of a note of an attempt: `refused mark-done by the agent: it is not open …`. `None` for other notes.
pub(super) fn describe(note: &NoteEntry) -> Option<String> {
    let name = match note.note.as_str() {
        REFUSED => "refused",
        REPAIRED => "repaired",
        _ => return None,
    };
    let text = |key: &str| Some(text::one_line(note.data[key].as_str()?, 400));
    let tried = text("tried").map(|tried| format!(" {tried}"));
    let by = text("by").map(|by| format!(" by {}", super::display::actor(&by)));
    let why = text("why").or_else(|| text("what"));
    let [tried, by, why] = [tried, by, why].map(Option::unwrap_or_default);
    Some(format!("{name}{tried}{by}: {why}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn line_of(note: &str, data: serde_json::Value) -> Option<String> {
        describe(&NoteEntry {
            at: jiff::Timestamp::UNIX_EPOCH,
            note: note.to_owned(),
            data,
        })
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
        ] {
            assert_eq!(line_of(note, data).as_deref(), Some(line));
        }
        assert_eq!(line_of("run-began", json!({})), None);
    }

    #[test]
    fn forged_note_steers_no_terminal() {
        let forged = json!({"by": ["x"], "tried": "a\u{1b}[2J\nb", "why": "\u{202e}c"});
        assert_eq!(
            line_of("refused", forged).as_deref(),
            Some("refused a[2J b: c")
        );
    }
}
