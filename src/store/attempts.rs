//! Notes in a loop's journal of what was tried and did not come to pass: a verb that was refused, an edit by hand that was
//! undone. Bounded, so that nobody can fill a journal with them.
//!
//! What is an attempt worth a note is for the callers to say; this file only keeps count.

use serde_json::{Map, json};

use super::entry::{Entry, NoteEntry};
use super::error::StoreError;
use super::id::LoopId;
use super::journal::{self, Loaded};
use super::lock::LockGuard;
use super::store::Store;
use super::validation;

/// A verb or a helper was refused; `by`, `tried` and `why` say the rest.
pub const REFUSED: &str = "refused";
/// What stood on disk was not what the journal says, and was put right; `what` says how.
pub const HEALED: &str = "healed";
/// A file is there that nothing in the journal explains; `file` and `why` say the rest.
pub const UNEXPLAINED: &str = "unexplained";
/// The most notes of these kinds in one journal. The last says that no more are written.
pub const MOST_ATTEMPTS: usize = 100;
/// The longest text in such a note, in characters.
const LONGEST: usize = 500;

impl Store {
    /// Appends one where the lock is held, the journal is whole and the loop is not over. See [`Store::note_attempt`].
    pub(super) fn append_attempt(
        &self,
        lock: &LockGuard,
        id: &LoopId,
        note: &str,
        data: &[(&str, &str)],
    ) -> Result<(), StoreError> {
        let storage = self.storage(lock.folder(), id)?;
        let owned = self.ownership(id)?;
        let Some(loaded) = Loaded::read(&*storage, &validation::possible(self, owned.as_ref()))?
        else {
            return Ok(());
        };
        let data: Map<_, _> = (data.iter())
            .map(|(key, text)| ((*key).to_owned(), json!(shortened(text))))
            .collect();
        let mut entry = journal::note(&*storage, note, &data)?;
        let before = loaded
            .entries
            .iter()
            .filter(|entry| is_attempt(entry))
            .count();
        if before >= MOST_ATTEMPTS || is_repeated(&loaded, &entry) {
            return Ok(());
        }
        if before + 1 == MOST_ATTEMPTS {
            let why = format!("{before} notes like this were written; further ones are not");
            entry = journal::note(&*storage, note, &json!({"why": why}))?;
        }
        journal::append(&*storage, &Entry::Note(entry)).map(drop)
    }
}

fn is_attempt(entry: &Entry) -> bool {
    matches!(entry, Entry::Note(note) if [REFUSED, HEALED, UNEXPLAINED].contains(&note.note.as_str()))
}

/// Returns whether the same was noted since the last change.
fn is_repeated(loaded: &Loaded, entry: &NoteEntry) -> bool {
    let since = loaded.entries.iter().rev().map_while(|known| match known {
        Entry::Note(note) => Some(note),
        Entry::Change(_) => None,
    });
    since
        .into_iter()
        .any(|known| known.note == entry.note && known.data == entry.data)
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}
