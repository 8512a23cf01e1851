//! The facts that the program sets for a held loop, and declarations only for the program.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use super::declarations::{Question, ReviewSpec, Subject};
use super::table::PhaseInfo;
use super::{Facts, Raw};
use crate::process::configured::ConfiguredCommand;
use crate::text;

/// The most characters of a violation. It may quote a file.
const MAX_VIOLATION_CHARS: usize = 1000;

/// Whether a round counts without a review.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EvidencePolicy {
    /// A round counts with a review only.
    #[default]
    Required,
    /// A round also counts without one, which the summary mentions.
    Optional,
}

/// The permissions that the configuration gives a loop, set once in [`ProgramFacts`].
#[derive(Debug, Clone, Default)]
pub struct Permissions {
    /// Whether a round counts without a review.
    pub evidence: EvidencePolicy,
    /// The commands that a phase's `run` may name.
    pub commands: BTreeMap<String, ConfiguredCommand>,
    /// The lines that a verification may run in a shell. A line is compared as a whole.
    pub allow_commands: Vec<String>,
    /// The file that has the commands, for messages.
    pub file: String,
}

/// Facts that the program sets for a held loop, each once.
#[derive(Debug, Clone, Default)]
pub struct ProgramFacts {
    /// The user's permissions. Without them, evidence is required and no command runs.
    pub permissions: OnceLock<Permissions>,
    /// The rules of this machine that the loop breaks.
    pub violations: OnceLock<Vec<String>>,
    /// The commands that verify the work in the loop's phase, or why they are not known.
    pub commands: OnceLock<Result<Vec<String>, String>>,
    /// The subjects of the review in the loop's phase, or the reason why they are unknown.
    pub subjects: OnceLock<Result<Vec<Subject>, String>>,
}

impl Facts for ProgramFacts {
    fn after_transition(&self) -> Box<dyn Facts> {
        // Commands and subjects are those of a phase.
        Box::new(Self {
            permissions: self.permissions.clone(),
            violations: self.violations.clone(),
            ..Self::default()
        })
    }
}

/// The facts of a held loop.
pub trait LoopFacts {
    /// Returns the facts, which the program sets.
    fn program_facts(&self) -> &ProgramFacts;

    /// Sets the violations. Returns whether there is one.
    fn set_violations(&self, violations: Vec<String>) -> bool {
        let plain = violations
            .iter()
            .map(|one| text::one_line(one, MAX_VIOLATION_CHARS));
        let _ = self.program_facts().violations.set(plain.collect());
        !violations.is_empty()
    }

    /// Returns the violations, each a sentence.
    fn violations(&self) -> &[String] {
        self.program_facts()
            .violations
            .get()
            .map_or(&[], Vec::as_slice)
    }

    /// Returns whether a round counts without a review. By default it does not.
    fn evidence_policy(&self) -> EvidencePolicy {
        let permissions = self.program_facts().permissions.get();
        permissions
            .map(|permissions| permissions.evidence)
            .unwrap_or_default()
    }
}

impl LoopFacts for Raw {
    fn program_facts(&self) -> &ProgramFacts {
        self.facts()
    }
}

/// The declarations of a phase that the engine does not read.
pub trait PhaseDeclaration {
    /// Returns the review in the phase.
    fn review(&self) -> Option<&'static ReviewSpec>;

    /// Returns the question to the user in the phase.
    fn question(&self) -> Option<&'static Question>;
}

impl PhaseDeclaration for PhaseInfo {
    fn review(&self) -> Option<&'static ReviewSpec> {
        self.extra.downcast_ref()
    }

    fn question(&self) -> Option<&'static Question> {
        self.extra.downcast_ref()
    }
}
