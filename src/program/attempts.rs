//! Refused attempts to change a loop, as notes in its journal.
//!
//! Only refusals are noted, not lost races or full disks.

use serde_json::json;

use crate::machine::{Actor, Refusal};
use crate::store::{Entry, LoopId, Store};
use crate::text;

/// The note of a verb or a helper that was refused.
pub const REFUSED: &str = "refused";
const MAX_TEXT_CHARS: usize = 500;

/// Records that a verb was refused by the machine.
pub fn note_refusal(store: &Store, id: &LoopId, by: Actor, tried: &str, refusal: &Refusal) {
    let is_fault = matches!(
        refusal,
        Refusal::Unfit(_) | Refusal::Observe { .. } | Refusal::Store(_)
    );
    if !is_fault {
        note(store, id, by, tried, &describe(tried, refusal));
    }
}

/// Returns the text of a refused verb, with the name that was typed: `mark-done`.
pub(super) fn describe(typed: &str, refusal: &Refusal) -> String {
    let transition = format!("‘{}’", typed.replace('-', "_"));
    (refusal.to_string()).replace(&transition, &format!("‘{typed}’"))
}

/// Records another refusal, such as a user's command from an agent. It is not recorded if the loop
/// is over or its journal ends with the same note. Failing to record it is not an error.
pub fn note(store: &Store, id: &LoopId, by: Actor, tried: &str, why: &str) {
    let [tried, why] = [tried, why].map(|text| text::one_line(text, MAX_TEXT_CHARS));
    let data = json!({ "by": by.to_string(), "tried": tried, "why": why });
    let entries = store.journal(id).unwrap_or_default();
    let last = entries.last().and_then(|last| last.note_data(REFUSED));
    let newest = entries.iter().rev().find_map(Entry::change);
    let phase = newest.and_then(|newest| newest.to.as_deref());
    if store.spec().is_terminal(phase) || last.as_ref() == Some(&data) {
        return;
    }
    if let Err(error) = store.note(id, REFUSED, &data) {
        let line = format!("{id} {REFUSED} {data}: could not be noted: {error}");
        store.log(&line);
    }
}
