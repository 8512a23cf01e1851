//! Digests of subjects and of findings.

use serde::{Deserialize, Serialize};

use crate::digest::sha256;

/// A SHA-256 digest, as 64 lower-case hex digits.
#[derive(
    Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize, derive_more::Display,
)]
#[serde(transparent)]
pub struct Digest(String);

impl Digest {
    /// Makes the digest of some bytes.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        Self(sha256(bytes))
    }

    /// Returns the hex digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}
