//! Who reviews, as `[personas]` of a machine file declares it.

use serde::{Deserialize, Serialize};

use super::table::Message;

/// Describes a point of view of a reviewer, as `[personas]` declares it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PersonaInfo {
    /// Its name.
    pub name: &'static str,
    /// As titles and tables name it.
    pub label: &'static str,
    /// Who it is and what it looks at, for a model and for people.
    pub prompt: Message,
    /// What the built-in reviewer looks at.
    pub focus: Focus,
}

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
