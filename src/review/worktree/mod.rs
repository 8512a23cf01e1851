//! A work tree at one moment, taken without a change to it, to its index or to its repository.
//!
//! - [`snapshot`] writes all of it that git would add as a tree, with a scratch index and a scratch folder of objects.
//! - [`walk`] remembers sizes, times and digests where there is no git.
//! - [`before`] is the one of the two that fits, for who wants to know which files a reviewer changed.
//! - `git` is how git is called. It must not run anything that the repository's configuration names.
//!
//! This room knows no loop and no finding. Which files are ours and not part of the work is told to it by [`Ours`].

pub mod before;
pub(crate) mod git;
pub(crate) mod names;
mod ours;
mod own;
pub mod patch;
pub mod snapshot;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
pub mod walk;

pub use git::WorktreeError;
pub use ours::Ours;
pub use snapshot::Snapshot;

/// The most changed and untracked files of one work tree that are read.
pub const MOST_FILES: usize = 20_000;
