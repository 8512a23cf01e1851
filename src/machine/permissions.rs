//! What the person's configuration permits a loop.

use std::collections::BTreeMap;

use camino::Utf8PathBuf;

use super::evidence_record::EvidencePolicy;
use crate::process::configured::ConfiguredCommand;

/// Says what a loop may do besides what its machine says. Whoever opens a loop tells it once, with [`super::raw::Told`].
#[derive(Debug, Clone, Default)]
pub struct Permissions {
    /// Whether a round counts without a review.
    pub evidence: EvidencePolicy,
    /// The commands that a phase's `run` may name.
    pub commands: BTreeMap<String, ConfiguredCommand>,
    /// The lines that a verification may run in a shell. A line is compared as a whole.
    pub allow_commands: Vec<String>,
    /// The file that the commands are written in; `None` where nobody says where that is.
    pub file: Option<Utf8PathBuf>,
}
