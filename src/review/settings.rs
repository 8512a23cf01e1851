//! How a reviewer is run, as the user's own configuration says. A repository under review never supplies any of it.

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
    /// The program that speaks.
    pub kind: ReviewerKind,
    /// The program's file: a name that is looked up in PATH, or an absolute path; `None`: the kind's own name. A
    /// `command` has one.
    #[serde(default, deserialize_with = "program")]
    pub program: Option<String>,
    /// Arguments, passed as they are: after the kind's own, before the prompt's.
    #[serde(default)]
    pub arguments: Vec<String>,
    /// The model that the program is asked for.
    pub model: Option<String>,
    /// Environment variables that the process gets in addition to the usual ones.
    #[serde(default, deserialize_with = "variable_names")]
    pub environment: Vec<String>,
    /// The time of one review.
    pub timeout: Option<Spelled>,
    /// The time that it may be silent.
    pub idle_timeout: Option<Spelled>,
}

impl ReviewerSettings {
    /// Returns the program: a name that is looked up in PATH, or an absolute path.
    pub fn program(&self) -> &str {
        let usual = word_of(&self.kind);
        self.program.as_deref().unwrap_or(usual)
    }

    /// Returns why the settings cannot be used, and in a second line the next step.
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
