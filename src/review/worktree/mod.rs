//! A work tree at one moment, taken without a change to it, to its index or to its repository.
//!
//! - [`snapshot`] writes all of it that git would add as a tree, with a scratch index and a scratch folder of objects.
//! - [`walk`] remembers sizes, times and digests where there is no git.
//! - [`before`] is the one of the two that fits, for who wants to know which files a reviewer changed.
//!
//! This room knows no loop and no finding. Which files are ours and not part of the work is told to it by [`Ours`].

pub mod before;
pub mod names;
mod ours;
mod own;
pub mod patch;
pub mod snapshot;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
pub mod walk;

pub use ours::Ours;
pub use snapshot::Snapshot;

pub use crate::git::{MOST_FILES, WorktreeError};
