//! The copy of the work tree's changes that a loop reviews, taken anew for each run.
//!
//! The copy lies in the loop's folder, so that what was reviewed can be read afterwards. What a diff is, and how it is
//! taken, is `changes`'s.

use std::time::Instant;

use camino::Utf8PathBuf;

use crate::review::changes::{self, Changes, ChangesError, base};
use crate::review::reports;
use crate::review::worktree::Snapshot;
use crate::store::{LoopId, Store};

/// The copy's name.
const COPY: &str = "changes.diff";

/// Returns where a loop's copy lies: from the root, where the state folder is below it.
pub fn copy_of(store: &Store, id: &LoopId) -> Utf8PathBuf {
    let path = store.loop_folder(id).join(COPY);
    match path.strip_prefix(store.root()) {
        Ok(inside) => inside.to_owned(),
        Err(_) => path,
    }
}

/// Returns the changes of a store's project now, its own files left out, since its branch left the base that the user names, if any.
///
/// # Errors
/// There are none, or they cannot be read.
pub fn now(store: &Store, base: Option<&str>) -> Result<Changes, ChangesError> {
    let ours = reports::ours(store, store.root());
    changes::collect(store.root(), ours, |snapshot| match base {
        Some(base) => base::of_revision(snapshot, base),
        None => base::find(snapshot),
    })
}

/// Returns git's tree id of a store's project, our own files left out. `None`: there is no git, or the tree cannot be read by
/// `until`.
pub fn tree_id(store: &Store, until: Option<Instant>) -> Option<String> {
    let root = store.root();
    let snapshot = Snapshot::take_until(root, reports::ours(store, root), until);
    Some(snapshot.ok()?.tree().to_owned())
}
