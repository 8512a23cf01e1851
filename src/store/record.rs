//! A loop as it was read from disk, at one revision. Only the store makes one.

use super::document::Document;
use super::id::LoopId;
use super::spec::StateSpec;
use super::storage::{Stamp, Storage};
use super::value::Value;

/// A loop as it was read from disk, at one revision.
#[derive(Debug, Clone)]
pub struct Record {
    pub(super) id: LoopId,
    pub(super) revision: u64,
    pub(super) visit: Option<u64>,
    pub(super) phase: String,
    pub(super) document: Box<dyn Document>,
    /// Tells whether something was written to the journal since; `None` where nobody knows.
    pub(super) journal: Option<Stamp>,
    pub(super) spec: &'static StateSpec,
}

impl Record {
    /// Returns whether the loop on disk is still what this one is: the same document, beside a journal to which nothing came since.
    pub(super) fn stands_in(&self, storage: &dyn Storage) -> bool {
        let is_same = |journal: Stamp| storage.stamp().is_ok_and(|now| now == Some(journal));
        self.journal.is_some_and(is_same)
            && storage
                .document()
                .is_ok_and(|bytes| bytes == self.document.to_bytes())
    }

    /// Returns the loop's id.
    pub fn id(&self) -> &LoopId {
        &self.id
    }

    /// Returns how many changes were made to it, its start included.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Returns the change with which its visit began: the one that entered the phase, or began the round of it; `None` where an earlier
    /// version of the engine made that.
    pub fn visit(&self) -> Option<u64> {
        self.visit
    }

    /// Returns the stored form of its phase.
    pub fn phase(&self) -> &str {
        &self.phase
    }

    /// Returns whether it is in a terminal phase.
    pub fn is_terminal(&self) -> bool {
        self.spec.is_terminal(&self.phase)
    }

    /// Returns the session that owns it, or `unknown`.
    pub fn session(&self) -> Option<String> {
        self.text(self.spec.fields.session)
    }

    /// Returns the folder that it belongs to, as it was written at its start.
    pub fn root(&self) -> Option<String> {
        self.text(self.spec.fields.root)
    }

    /// Returns the machine's description of its documents.
    pub fn spec(&self) -> &'static StateSpec {
        self.spec
    }

    /// Returns the document as it stands on disk.
    pub fn document(&self) -> &dyn Document {
        &*self.document
    }

    /// Returns the value of a field.
    pub fn get(&self, field: &str) -> Option<Value> {
        self.document.get(field)
    }

    /// Returns the value of a field that holds a count.
    pub fn count(&self, field: &str) -> Option<u64> {
        self.get(field)?.as_count()
    }

    /// Returns the value of a field that holds text, a word included.
    pub fn text(&self, field: &str) -> Option<String> {
        self.get(field)?.as_str().map(str::to_owned)
    }

    /// Returns the value of a field that holds a flag.
    pub fn flag(&self, field: &str) -> Option<bool> {
        self.get(field)?.as_flag()
    }
}
