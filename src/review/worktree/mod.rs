//! A work tree at one moment, read without a change to it, to its index or to its repository.
//!
//! [`Snapshot`] writes everything that git would add as a tree, with a scratch index and a scratch folder of objects. It leaves
//! out the [`own_files()`] of the loop.

pub mod file_name;
pub mod own_files;
pub(crate) mod snapshot;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;

use std::time::Instant;

use camino::Utf8Path;

pub use own_files::own_files;
pub use snapshot::Snapshot;

pub use crate::git::{MAX_FILES, WorktreeError};
use crate::store::Store;

/// The caveat if the tree ids before and after a review differ.
pub const CHANGED_DURING_REVIEW: &str = "the work tree changed while the reviewer ran";
/// The caveat at the end if the tree id is not the one that was reviewed.
pub const CHANGED_SINCE_REVIEW: &str = "The work tree changed since it was reviewed.";

/// Returns the digest of a work tree, or of a folder outside of git.
pub(crate) fn digest(root: &Utf8Path, own_files: &[String]) -> Result<String, WorktreeError> {
    let snapshot = match Snapshot::take(root, own_files, None) {
        Err(WorktreeError::NoRepository { .. }) => Snapshot::from_folder(root, own_files),
        taken => taken,
    };
    Ok(snapshot?.digest())
}

/// Returns git's tree id of a store's project without the loop's own files, or `None` if there is no git, or if the tree cannot be
/// read by `until`.
pub fn tree_id(store: &Store, until: Option<Instant>) -> Option<String> {
    let root = store.root();
    let snapshot = Snapshot::take(root, &own_files(store, root), until);
    Some(snapshot.ok()?.tree().to_owned())
}
