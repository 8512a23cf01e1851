//! How a reviewer is run, as the person's own configuration says.
//!
//! Values only: where they are written down is the application's, what becomes of them is each reviewer's. A repository
//! under review never supplies any of them.

use std::time::Duration;

/// Which program speaks, and in which way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Deserialize, strum::Display)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum ReviewerKind {
    /// Built in, no model.
    Lint,
    /// The Codex command line.
    Codex,
    /// The Claude Code command line.
    Claude,
    /// Any program that reads the prompt on stdin and writes its findings to stdout.
    Command,
}

/// One reviewer of the configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewerSettings {
    /// Which program speaks.
    pub kind: ReviewerKind,
    /// The program: a name that is looked up in PATH, or an absolute path; None: the kind's own name. A `command` has one.
    pub program: Option<String>,
    /// Arguments, passed as they are: after the kind's own, before the prompt's.
    pub arguments: Vec<String>,
    /// The model that the program is asked for.
    pub model: Option<String>,
    /// Names of environment variables that its process gets besides the usual ones.
    pub environment: Vec<String>,
    /// How long one review may take.
    pub timeout: Option<Duration>,
    /// How long it may be silent.
    pub idle_timeout: Option<Duration>,
}

impl ReviewerSettings {
    /// Returns the reviewer of a kind with nothing set.
    pub fn of(kind: ReviewerKind) -> Self {
        Self {
            kind,
            program: None,
            arguments: Vec::new(),
            model: None,
            environment: Vec::new(),
            timeout: None,
            idle_timeout: None,
        }
    }
}
