//! The user's configuration, as far as a loop asks for it.

use std::collections::BTreeMap;

use camino::Utf8PathBuf;
use serde::{Deserialize, Serialize};

use crate::process::configured::ConfiguredCommand;

/// Whether a round counts without a review.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EvidencePolicy {
    /// A round counts with a review only.
    #[default]
    Required,
    /// A round counts without one too, and the summary says so.
    Optional,
}

/// The permissions that the configuration gives a loop, set once in [`super::facts::ProgramFacts`].
#[derive(Debug, Clone, Default)]
pub struct Permissions {
    /// Whether a round counts without a review.
    pub evidence: EvidencePolicy,
    /// The commands that a phase's `run` may name.
    pub commands: BTreeMap<String, ConfiguredCommand>,
    /// The lines that a verification may run in a shell. A line is compared as a whole.
    pub allow_commands: Vec<String>,
    /// The file that has the commands, if it is known.
    pub file: Option<Utf8PathBuf>,
}
