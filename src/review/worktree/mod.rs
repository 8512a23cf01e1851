//! A work tree at one moment, taken without a change to it, to its index or to its repository.
//!
//! [`Snapshot`] writes all of it that git would add as a tree, with a scratch index and a scratch folder of objects. Which
//! files are ours and not part of the work is told to it by [`Ours`].

pub mod names;
mod ours;
pub mod patch;
pub mod snapshot;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
mod walk;

use camino::Utf8Path;

pub use ours::Ours;
pub use snapshot::Snapshot;

pub use crate::git::{MOST_FILES, WorktreeError};
use crate::review::Digest;

/// What is said of a review if the tree ids before and after it differ.
pub const CHANGED_DURING_REVIEW: &str = "the work tree changed while the reviewer ran";
/// What is said at the end if the tree id is not the one that was reviewed.
pub const CHANGED_SINCE_REVIEW: &str = "The work tree changed since it was reviewed.";

/// Returns the digest of a work tree: of git's tree, or of every file outside of git.
///
/// # Errors
/// Returns an error if the work tree cannot be read, or has too many files.
pub fn digest(root: &Utf8Path, ours: Ours) -> Result<Digest, WorktreeError> {
    match Snapshot::take(root, ours.clone()) {
        Ok(snapshot) => Ok(snapshot.digest()),
        Err(WorktreeError::NoRepository { .. } | WorktreeError::NoGit) => walk::digest(root, &ours),
        Err(error) => Err(error),
    }
}
