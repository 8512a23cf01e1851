//! The changes of a work tree as one text to review: what they are compared with, then a unified diff per file.
//!
//! [`collect`] takes a [`Snapshot`], finds what to compare it with ([`base`]), lists the files (`list`) and writes as
//! many of their diffs, whole, as fit ([`text`]). What did not fit is named with its size. The text says nothing of the
//! time of day: the same changes give the same bytes, so that what was found in them stays found.

pub mod base;
mod list;
pub mod text;

use camino::Utf8Path;
use derive_more::{Display, Error, From};

use crate::review::worktree::{Ours, Snapshot, WorktreeError};
pub use base::Base;
pub use list::Changed;

/// The longest text, in bytes: what a model is shown at once.
pub const MOST_BYTES: usize = 256 * 1024;

/// The changes of a work tree.
#[derive(Debug)]
pub struct Changes {
    /// What is compared, such as `changes of feature-x against main`.
    pub title: String,
    /// What it is compared with.
    pub base: Base,
    /// The text to review, at most [`MOST_BYTES`] long.
    pub text: String,
    /// How many files differ.
    pub files: usize,
    /// The files whose diff the text does not hold, each with its reason, on one plain line.
    pub left_out: Vec<String>,
    /// The work tree that was read.
    pub snapshot: Snapshot,
}

/// Why there are no changes to review.
#[derive(Debug, Display, Error, From, miette::Diagnostic)]
#[non_exhaustive]
pub enum ChangesError {
    /// Nothing differs.
    #[display("there is nothing to review: no {title}")]
    #[diagnostic(
        code(claudex::changes::none),
        help("change something first; files that git ignores are never part of a review")
    )]
    Nothing {
        /// What was compared.
        title: String,
    },
    /// The work tree cannot be read.
    #[display("{_0}")]
    #[diagnostic(transparent)]
    #[from]
    Worktree(WorktreeError),
}

/// Reads the changes of the work tree whose top is `root`, since this base.
///
/// # Errors
/// See [`ChangesError`].
pub fn collect(
    root: &Utf8Path,
    ours: Ours,
    base: impl FnOnce(&Snapshot) -> Result<Base, WorktreeError>,
) -> Result<Changes, ChangesError> {
    let snapshot = Snapshot::take(root, ours)?;
    let base = base(&snapshot)?;
    let title = base.title();
    let changed = list::list(&snapshot, &base)?;
    let over: Vec<_> = snapshot
        .passed_over()
        .iter()
        .filter(|(path, _)| !snapshot.ours().holds(path))
        .collect();
    let files = changed.len() + over.len();
    if files == 0 {
        return Err(ChangesError::Nothing { title });
    }
    let (text, left_out) = text::write(&snapshot, &base, &changed, MOST_BYTES)?;
    Ok(Changes {
        title,
        base,
        text,
        files,
        left_out,
        snapshot,
    })
}

#[cfg(test)]
mod tests;
