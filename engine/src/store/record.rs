//! A loop at one revision. Only the store makes one.

use serde_json::Value as Json;

use super::entry::ChangeEntry;
use super::id::LoopId;
use super::spec::StateSpec;
use super::value::{FieldValue as _, Fields};

/// A loop at one revision.
#[derive(Debug, Clone)]
pub struct Record {
    pub(super) id: LoopId,
    /// The newest change.
    pub(super) newest: ChangeEntry,
    /// The document as it is on disk.
    pub(super) document: Vec<u8>,
    pub(super) spec: &'static StateSpec,
}

impl Record {
    /// Returns the loop's id.
    pub fn id(&self) -> &LoopId {
        &self.id
    }

    /// Returns the number of its changes, its start included.
    pub fn revision(&self) -> u64 {
        self.newest.revision
    }

    /// Returns the revision with which its visit began: the change that entered the phase, or began its round.
    pub fn visit(&self) -> Option<u64> {
        self.newest.visit
    }

    /// Returns the stored form of its phase.
    pub fn phase(&self) -> &str {
        self.newest.to.as_deref().unwrap_or_default()
    }

    /// Returns whether it is in a terminal phase.
    pub fn is_terminal(&self) -> bool {
        self.spec.is_terminal(self.phase())
    }

    /// Returns the session that owns it, or `unknown`.
    pub fn session(&self) -> Option<String> {
        self.text(self.spec.fields.session)
    }

    /// Returns the folder that it belongs to, as its start wrote it.
    pub fn root(&self) -> Option<String> {
        self.text(self.spec.fields.root)
    }

    /// Returns the machine's description of its documents.
    pub fn spec(&self) -> &'static StateSpec {
        self.spec
    }

    /// Returns the bytes of its document.
    pub fn document(&self) -> &[u8] {
        &self.document
    }

    /// Returns its fields by name.
    pub fn fields(&self) -> &Fields {
        &self.newest.fields
    }

    /// Returns the value of a field.
    pub fn get(&self, field: &str) -> Option<&Json> {
        self.newest.fields.get(field)
    }

    /// Returns the value of a field that holds a count.
    pub fn count(&self, field: &str) -> Option<u64> {
        self.get(field)?.as_count()
    }

    /// Returns the value of a field that holds text.
    pub fn text(&self, field: &str) -> Option<String> {
        self.get(field)?.as_str().map(str::to_owned)
    }
}
