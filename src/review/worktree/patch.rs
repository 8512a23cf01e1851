//! A check of a proposed patch: git tries it against the scratch index, and applies nothing.

use super::{Snapshot, WorktreeError};
use crate::text;

/// The largest patch that is tried, in bytes.
const MAX_PATCH_BYTES: usize = 64 * 1024;

impl Snapshot {
    /// Tries a unified diff against the snapshot. Git refuses names outside of the work tree and in `.git`.
    ///
    /// # Errors
    /// Returns the reason on one plain line if the patch does not apply.
    pub fn applies(&self, patch: &str) -> Result<(), String> {
        if patch.len() > MAX_PATCH_BYTES {
            return Err(format!("it is longer than {} KiB", MAX_PATCH_BYTES / 1024));
        }
        let mut bytes = patch.as_bytes().to_vec();
        // A reviewer's JSON often loses the last line end, which git needs.
        if !bytes.ends_with(b"\n") {
            bytes.push(b'\n');
        }
        let arguments = [
            "apply",
            "--check",
            "--cached",
            "--whitespace=nowarn",
            "--no-ignore-whitespace",
            "-p1",
            "-",
        ];
        match self.git().call(&arguments, &bytes) {
            Ok(_) => Ok(()),
            Err(WorktreeError::Refused { said, .. }) => Err(said),
            Err(error) => Err(text::one_line(&error.to_string(), 300)),
        }
    }
}
