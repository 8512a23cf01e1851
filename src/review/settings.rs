//! The user's settings of a reviewer. A repository under review never supplies any of them.

use claudex_loop_engine::__private::word_of;
use serde::{Deserialize, Serialize};

use crate::process::configured::{program, variable_names};
use crate::process::limits::Spelled;

/// The program of a reviewer.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReviewerKind {
    /// Built in, no model.
    Lint,
    /// The Codex command line.
    Codex,
    /// The Claude Code command line.
    Claude,
    /// Any program that reads the prompt on stdin and writes its findings to stdout.
    #[default]
    Command,
}

claudex_loop_engine::words!(ReviewerKind);

/// One reviewer of the configuration.
#[derive(Debug, Default, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[serde(expecting = "a table")]
pub struct ReviewerSettings {
    /// The kind of program.
    pub kind: ReviewerKind,
    /// The program: a name to find in PATH, or an absolute path. `None` means the kind's own name,
    /// which `command` lacks.
    #[serde(default, deserialize_with = "program")]
    pub program: Option<String>,
    /// Arguments, after the kind's own and before the prompt's.
    #[serde(default)]
    pub arguments: Vec<String>,
    /// The model to use.
    pub model: Option<String>,
    /// The process's additional environment variables.
    #[serde(default, deserialize_with = "variable_names")]
    pub environment: Vec<String>,
    /// The time limit of one review.
    pub timeout: Option<Spelled>,
    /// The time limit without output.
    pub idle_timeout: Option<Spelled>,
}

impl ReviewerSettings {
    /// Returns the program: a name to find in PATH, or an absolute path.
    pub fn program(&self) -> &str {
        self.program.as_deref().unwrap_or(word_of(&self.kind))
    }

    /// Returns the problem of unusable settings, and in a second line the next step.
    pub fn problem(&self) -> Option<String> {
        let set = [
            ("program", self.program.is_some()),
            ("model", self.model.is_some()),
            ("arguments", !self.arguments.is_empty()),
            ("environment", !self.environment.is_empty()),
        ];
        let first = set.iter().find(|(_, is_set)| *is_set);
        match (self.kind, first) {
            (ReviewerKind::Command, _) if self.program.is_none() => Some(
                "a reviewer of kind `command` needs a `program`\n\
                 add program = \"/absolute/path\", or a name in PATH"
                    .to_owned(),
            ),
            (ReviewerKind::Lint, Some((key, _))) => Some(format!(
                "`{key}` has no effect on a reviewer of kind `lint`\nremove it: lint is built in"
            )),
            _ => None,
        }
    }
}
