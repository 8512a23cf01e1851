//! The changes of a work tree as one text to review: the base, then a unified diff per file.
//!
//! [`read`] takes a [`Snapshot`], finds its `base`, lists the files and writes as many whole diffs
//! as fit (`diff`). Files that do not fit are named with their sizes. The text has no time of day:
//! the same changes give the same bytes, so that findings on them stay open.

pub(crate) mod base;
pub(crate) mod diff;

use camino::{Utf8Path, Utf8PathBuf};

use super::round_error::RoundError;
use super::worktree::{Snapshot, own_files};
use crate::store::{LoopId, Store};
pub use base::{Base, Since};

/// The longest text, in bytes, as a limit for one prompt.
pub const MAX_BYTES: usize = 256 * 1024;
/// The name of the copy of the changes in the loop's folder.
const COPY: &str = "changes.diff";

/// The changes of a work tree.
#[derive(Debug)]
pub struct Changes {
    /// The base.
    pub base: Base,
    /// The text to review, at most [`MAX_BYTES`] long.
    pub text: String,
    /// The work tree that was read.
    pub snapshot: Snapshot,
}

/// Returns the path of the copy of the changes, from the project's root if possible.
pub fn copy_path(store: &Store, id: &LoopId) -> Utf8PathBuf {
    let path = store.loop_folder(id).join(COPY);
    match path.strip_prefix(store.root()) {
        Ok(inside) => inside.to_owned(),
        Err(_) => path,
    }
}

/// Reads the changes of a store's project, without the loop's own files.
///
/// # Errors
/// Returns an error if nothing differs, or if the work tree cannot be read.
pub fn read(store: &Store, since: Since<'_>) -> Result<Changes, RoundError> {
    collect(store.root(), &own_files(store), since)
}

fn collect(root: &Utf8Path, own_files: &[String], since: Since<'_>) -> Result<Changes, RoundError> {
    let snapshot = Snapshot::take(root, own_files, None)?;
    let base = base::find(&snapshot, since)?;
    let differ = snapshot.git.without_attributes()?;
    let changed = diff::list(&differ, [&base.tree, &snapshot.tree], own_files)?;
    if changed.is_empty() && snapshot.passed_over.is_empty() {
        return Err(RoundError::Nothing {
            title: base.title(),
        });
    }
    let text = diff::write(&snapshot, &differ, &base, &changed)?;
    if !text.contains("\ndiff --git ") {
        let lines = text.lines();
        let left_out = lines.filter_map(|line| line.strip_prefix(diff::LEFT_OUT));
        let named = left_out.take(3).collect::<Vec<_>>().join(", ");
        let title = base.title();
        return Err(RoundError::Refused {
            message: format!("cannot review {title}: no file of it can be shown: {named}"),
            help: "have git ignore what is generated; another repository is reviewed in its folder"
                .to_owned(),
        });
    }
    Ok(Changes {
        base,
        text,
        snapshot,
    })
}

#[cfg(test)]
mod tests;
