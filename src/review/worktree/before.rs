//! Which files changed while something ran: a look before and a look after, through git where there is one.

use camino::Utf8Path;

use super::own::Own;
use super::walk::{self, Walk};
use super::{Ours, Snapshot, WorktreeError};
use crate::review::Digest;

/// A work tree, and what of git's own folder a later command obeys.
#[derive(Debug)]
pub struct Seen {
    snapshot: Snapshot,
    own: Own,
}

/// Returns the digest of a work tree: through git where there is one, so that what git ignores does not count, else of every file.
///
/// # Errors
/// It cannot be read, or there are too many files to look at.
pub fn digest(root: &Utf8Path, ours: Ours) -> Result<Digest, WorktreeError> {
    match Snapshot::take(root, ours.clone()) {
        Ok(snapshot) => Ok(snapshot.digest()),
        Err(WorktreeError::NoRepository { .. } | WorktreeError::NoGit) => {
            let walk = Walk::take(root, ours);
            match walk.is_cut() {
                true => Err(WorktreeError::TooMany {
                    most: walk::MOST_FILES,
                }),
                false => Ok(walk.digest()),
            }
        }
        Err(error) => Err(error),
    }
}

/// The look before.
#[derive(Debug)]
pub enum Before {
    /// Through git.
    Git(Box<Seen>),
    /// File by file.
    Walk(Walk),
}

impl Before {
    /// Looks.
    ///
    /// # Errors
    /// There is a git work tree and it cannot be read.
    pub fn look(root: &Utf8Path, ours: Ours) -> Result<Self, WorktreeError> {
        match Snapshot::take(root, ours.clone()) {
            Ok(snapshot) => {
                let own = Own::look(&snapshot);
                Ok(Self::Git(Box::new(Seen { snapshot, own })))
            }
            Err(WorktreeError::NoRepository { .. } | WorktreeError::NoGit) => {
                Ok(Self::Walk(Walk::take(root, ours)))
            }
            Err(error) => Err(error),
        }
    }

    /// Returns whether there was more than is looked at.
    pub fn is_cut(&self) -> bool {
        match self {
            Self::Git(seen) => seen.own.is_cut(),
            Self::Walk(walk) => walk.is_cut(),
        }
    }

    /// Looks again, and names the files that differ, each on one plain line.
    ///
    /// # Errors
    /// The work tree cannot be read any more.
    pub fn changed(&mut self) -> Result<Vec<String>, WorktreeError> {
        match self {
            Self::Git(seen) => {
                let mut changed = seen.own.differs(&Own::look(&seen.snapshot));
                for file in seen.snapshot.changed_since()? {
                    // A repository in the work tree has been named with its files.
                    let named = |known: &String| file.ends_with('/') && known.starts_with(&file);
                    if !changed.iter().any(named) {
                        changed.push(file);
                    }
                }
                Ok(changed)
            }
            Self::Walk(walk) => Ok(walk.changed_since()),
        }
    }
}
