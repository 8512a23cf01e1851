//! What a review is about: which point of view it takes, and what kind of text it reads.
//!
//! Values only. Who takes which point of view in which round is the application's.

use serde::{Deserialize, Serialize};

/// The point of view of a review; the built-in reviewer picks its checks by it.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    Serialize,
    Deserialize,
    strum::Display,
    strum::EnumIter,
    strum::EnumString,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Focus {
    /// Steps, scope, acceptance, wording.
    Engineering,
    /// Access, secrets, data and its integrity.
    Security,
    /// Deploying, watching, failing and going back.
    Operations,
}

/// What kind of text is under review.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A document, such as a plan.
    Document,
    /// Changes of a work tree, as a unified diff.
    Diff,
}
