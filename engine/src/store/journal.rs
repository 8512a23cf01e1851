//! Journals behind one trait: each loop has lines of JSON, of which the last change is the loop's state.
//!
//! `files` keeps them in a state folder, each line with this user's seal. `memory` keeps them in a process.

use std::fmt::Debug;

use super::error::StoreError;
use super::id::LoopId;

/// The end of a journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tail {
    /// The newest change, as JSON.
    pub(super) change: Vec<u8>,
    /// The loop's document, if there is one that is not too large.
    pub(super) document: Option<Vec<u8>>,
}

/// The journal to which a line is appended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum After {
    /// Any journal of this user. For notes.
    Any,
    /// One whose newest change has this revision, or none if that is 0.
    Revision(u64),
    /// One that is not this user's. The line begins the journal anew.
    Foreign,
}

impl After {
    /// Returns whether a line may follow a change of this revision.
    pub(super) fn allows(self, revision: u64) -> bool {
        match self {
            Self::Any => true,
            Self::Revision(after) => after == revision,
            Self::Foreign => revision == 0,
        }
    }
}

/// Keeps the journals and the documents of loops.
///
/// A line is complete in itself and never changes. A line that was appended survives a power loss. The document does not
/// have to: it is rendered again from the last change.
pub(crate) trait Journal: Debug + Send + Sync {
    /// Appends a line, one entry as JSON, and replaces the document after it. A note has no document.
    ///
    /// # Errors
    /// Returns [`StoreError::Stale`] if the newest change is not the one that the line follows.
    fn append(
        &self,
        id: &LoopId,
        after: After,
        json: &[u8],
        document: Option<&[u8]>,
    ) -> Result<(), StoreError>;

    /// Returns the end of a journal, or `None` if there is no such loop.
    ///
    /// # Errors
    /// Returns an error if the journal is not this user's, lost lines, or cannot be read.
    fn tail(&self, id: &LoopId) -> Result<Option<Tail>, StoreError>;

    /// Replaces the document if the newest change still has this revision.
    fn restore(&self, id: &LoopId, revision: u64, document: &[u8]) -> Result<(), StoreError>;

    /// Returns the lines of a journal as JSON, oldest first: all of them, or at least those since a revision.
    fn entries(&self, id: &LoopId, since: Option<u64>) -> Result<Vec<Vec<u8>>, StoreError>;

    /// Returns the length of a journal. As long as it is the same, so is the journal.
    fn length(&self, id: &LoopId) -> Option<u64>;

    /// Returns the loops that have a journal, by id.
    fn list(&self) -> Result<Vec<LoopId>, StoreError>;

    /// Returns a guard. As long as it lives, no other process starts or restores a loop here.
    fn alone(&self) -> Result<Box<dyn Debug + '_>, StoreError>;

    /// Moves a loop out of the way, with everything of it.
    fn archive(&self, id: &LoopId) -> Result<(), StoreError>;

    /// Moves a loop back.
    fn unarchive(&self, id: &LoopId) -> Result<(), StoreError>;
}
