//! The user's configuration, as far as a loop asks for it.

use std::collections::BTreeMap;
use std::time::Duration;

use camino::Utf8PathBuf;
use serde::{Deserialize, Serialize};

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

/// One command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfiguredCommand {
    /// The program: a name that is looked up in PATH, or an absolute path.
    pub program: String,
    /// Arguments, passed as they are, without a shell.
    pub arguments: Vec<String>,
    /// The environment variables that its process gets in addition to the usual ones.
    pub environment: Vec<String>,
    /// The time that it may take.
    pub timeout: Duration,
}

impl ConfiguredCommand {
    /// The time that a command may take unless its table says otherwise. Less than that of the plugin's Stop hook.
    pub const USUAL_TIMEOUT: Duration = Duration::from_secs(50);
    /// The longest time that a table may give: a minute less than a client gives a hook by default.
    pub const LONGEST_TIMEOUT: Duration = Duration::from_secs(540);

    /// Makes a command that runs a line in a shell.
    pub fn of_shell(line: &str, timeout: Duration) -> Self {
        Self {
            program: "/bin/sh".to_owned(),
            arguments: vec!["-c".to_owned(), line.to_owned()],
            environment: Vec::new(),
            timeout,
        }
    }
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
