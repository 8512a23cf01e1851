//! A work tree at one moment, read without a change to it, to its index or to its repository.
//!
//! [`Snapshot`] writes everything that git would add as a tree, with a scratch index and a scratch folder of objects. It leaves
//! out the [`own_files()`] of the loop.

pub mod own_files;
pub(crate) mod snapshot;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;

use std::time::Instant;

pub use own_files::own_files;
pub use snapshot::Snapshot;

pub use crate::git::{MAX_FILES, WorktreeError};
use crate::store::Store;
use crate::text::{is_hidden, one_line};

/// The caveat if the tree ids before and after a review differ.
pub const CHANGED_DURING_REVIEW: &str = "the work tree changed while the reviewer ran";
/// The caveat at the end if the tree id is not the one that was reviewed.
pub const CHANGED_SINCE_REVIEW: &str = "The work tree changed since it was reviewed.";

/// Returns git's tree id of a store's project without the loop's own files, or `None` if there is no git, or if the tree cannot be
/// read by `until`.
pub fn tree_id(store: &Store, until: Option<Instant>) -> Option<String> {
    let root = store.root();
    let snapshot = Snapshot::take(root, &own_files(store, root), until);
    Some(snapshot.ok()?.tree().to_owned())
}

/// Returns the parts of an output that ends each with NUL.
pub(crate) fn names(listed: &[u8]) -> impl Iterator<Item = &[u8]> {
    listed
        .split(|byte| *byte == 0)
        .filter(|name| !name.is_empty())
}

/// Returns a path for people: on one line, with hidden characters made visible.
pub(crate) fn readable_name(path: &[u8]) -> String {
    one_line(&visible(&String::from_utf8_lossy(path)), 300)
}

/// Returns a line whose hidden characters are spelled out as `<U+202E>`; line end and tabs stay.
pub fn visible(line: &str) -> String {
    let without_end = line.strip_suffix('\n').unwrap_or(line);
    let body = without_end.strip_suffix('\r').unwrap_or(without_end);
    let spell = |(at, character): (usize, char)| {
        // A name that looks spelled out already was written so by a person: it must not pass for ours.
        let is_spelled = body[at..].starts_with("<U+");
        if is_spelled || character != '\t' && is_hidden(character) {
            format!("<U+{:04X}>", u32::from(character))
        } else {
            character.to_string()
        }
    };
    let visible: String = body.char_indices().map(spell).collect();
    visible + &line[body.len()..]
}
