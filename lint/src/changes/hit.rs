//! What a check of changes finds.

use crate::Severity;

/// Holds what one check found in one file: all places of it together.
pub(super) struct FileHit {
    pub(super) check: &'static str,
    pub(super) severity: Severity,
    pub(super) what: String,
    pub(super) add: &'static str,
    /// Line numbers with what stands there.
    pub(super) places: Vec<(u32, String)>,
    /// A unified diff.
    pub(super) patch: Option<String>,
}
