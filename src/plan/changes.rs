//! Review mode's own part of a loop: what is reviewed is a copy of the work tree's changes, taken anew for each run.
//!
//! The copy lies in the loop's folder, so that what was reviewed can be read afterwards. What a diff is, and how it is
//! taken, is `review::changes`'s.

use std::time::Instant;

use camino::Utf8PathBuf;
use derive_more::{Display, Error};

use crate::plan::{AnyLoop, Mode};
use crate::review::changes::{self, Changes, ChangesError};
use crate::review::reports;
use crate::review::worktree::WorktreeError;
use crate::store::{LoopId, Store};

/// The copy's name.
const COPY: &str = "changes.diff";

/// A run that cannot be made ready.
#[derive(Debug, Display, Error, miette::Diagnostic)]
pub enum PrepareError {
    /// There are no changes, or they cannot be read.
    #[display("{_0}")]
    #[diagnostic(transparent)]
    Changes(ChangesError),
    /// The copy cannot be written.
    #[display("could not write {path}: {source}", path = crate::text::shown(path), source = crate::text::shown(source.to_string()))]
    #[diagnostic(code(claudex::changes::write))]
    Write {
        /// The copy.
        path: Utf8PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
}

/// Whether a loop reviews changes.
pub fn are_reviewed(held: &AnyLoop) -> bool {
    held.fields().mode() == Mode::Review.to_string()
}

/// Where a loop's copy lies: from the root, where the state folder is below it.
pub fn copy_of(store: &Store, id: &LoopId) -> Utf8PathBuf {
    let path = store.loop_folder(id).join(COPY);
    match path.strip_prefix(store.root()) {
        Ok(inside) => inside.to_owned(),
        Err(_) => path,
    }
}

/// The changes of a store's project now, its own files left out.
///
/// # Errors
/// There are none, or they cannot be read.
pub fn now(store: &Store) -> Result<Changes, ChangesError> {
    changes::collect(store.root(), reports::ours(store, store.root()))
}

/// Reads the changes of a store's project now, also where there are none.
///
/// # Errors
/// They cannot be read, or not by `until`.
pub fn look(store: &Store, until: Instant) -> Result<Changes, WorktreeError> {
    changes::look(store.root(), reports::ours(store, store.root()), Some(until))
}

/// Takes the changes for the run that is about to begin, and writes the copy.
///
/// # Errors
/// There are no changes any more, they cannot be read, or the copy cannot be written.
pub fn make(held: &AnyLoop) -> Result<Changes, Box<dyn miette::Diagnostic + Send + Sync>> {
    let changes = now(held.raw().store()).map_err(PrepareError::Changes)?;
    let path = held.raw().path("{subject}");
    held.raw()
        .store()
        .replace(&path, changes.text.as_bytes())
        .map_err(|source| PrepareError::Write { path, source })?;
    Ok(changes)
}
