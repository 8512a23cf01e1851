//! Which files changed while something ran: a look before and a look after, through git where there is one.

use camino::Utf8Path;

use super::walk::Walk;
use super::{Ours, Snapshot, WorktreeError};

/// The look before.
#[derive(Debug)]
pub enum Before {
    /// Through git.
    Git(Box<Snapshot>),
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
            Ok(snapshot) => Ok(Self::Git(Box::new(snapshot))),
            Err(WorktreeError::NoRepository { .. } | WorktreeError::NoGit) => {
                Ok(Self::Walk(Walk::take(root, ours)))
            }
            Err(error) => Err(error),
        }
    }

    /// Looks again, and names the files that differ, each on one plain line.
    ///
    /// # Errors
    /// The work tree cannot be read any more.
    pub fn changed(&mut self) -> Result<Vec<String>, WorktreeError> {
        match self {
            Self::Git(snapshot) => snapshot.changed_since(),
            Self::Walk(walk) => Ok(walk.changed_since()),
        }
    }
}
