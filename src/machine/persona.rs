//! The personas that review, from `[personas]` of a machine file.

use serde::{Deserialize, Serialize};

use super::Message;

/// A point of view of a reviewer, from `[personas]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PersonaInfo {
    /// The name.
    pub name: &'static str,
    /// The label in titles and tables.
    pub label: &'static str,
    /// The description for a model and for people.
    pub prompt: Message,
    /// The checks of the built-in reviewer.
    pub focus: Focus,
}

/// The point of view of a review; the built-in reviewer picks its checks by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Focus {
    /// Steps, scope, acceptance, wording.
    Engineering,
    /// Access, secrets, data and its integrity.
    Security,
    /// Deploying, watching, failing and going back.
    Operations,
}

claudex_loop_engine::words!(Focus);
