//! What happens in a scenario, one step after the other. `do` names the kind of a step. Every text of a step is a template.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::Pattern;
use crate::e2e::home::OURS;

/// One step.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case")]
pub(in crate::e2e) enum Step {
    /// A prompt to Claude Code without a screen (`claude -p`), up to the end of its turn.
    Say(Say),
    /// The end of a session that a `say` with `wait = false` left running.
    Wait { session: String },
    /// A session's client is killed with its process group (SIGKILL).
    Kill { session: String },
    /// A person's command in a terminal of their own.
    Person(Person),
    /// A file is written, or removed where there is no text.
    Write(Write),
    /// The interactive client is started in a terminal.
    Open(Open),
    /// Something is typed there.
    Type(Type),
    /// Something must appear there.
    See(See),
    /// The terminal is closed.
    Close { session: String },
    /// What must be true now.
    Check(Box<Check>),
}

impl Step {
    /// Returns the word that `do` has for it.
    pub(in crate::e2e) fn name(&self) -> &'static str {
        match self {
            Self::Say(_) => "say",
            Self::Wait { .. } => "wait",
            Self::Kill { .. } => "kill",
            Self::Person(_) => "person",
            Self::Write(_) => "write",
            Self::Open(_) => "open",
            Self::Type(_) => "type",
            Self::See(_) => "see",
            Self::Close { .. } => "close",
            Self::Check(_) => "check",
        }
    }
}

/// A prompt without a screen.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(in crate::e2e) struct Say {
    /// What is said.
    pub(in crate::e2e) text: String,
    /// A name for the conversation, for this scenario only.
    #[serde(default = "main")]
    pub(in crate::e2e) session: String,
    /// `--continue` instead of `--resume` with the session's id, where the conversation goes on.
    #[serde(default)]
    pub(in crate::e2e) r#continue: bool,
    /// The agent of `tests/e2e/agents` that plays this session's model from here on.
    pub(in crate::e2e) agent: Option<String>,
    /// `--permission-mode`.
    #[serde(default = "default_mode")]
    pub(in crate::e2e) mode: String,
    /// Further arguments of the client.
    #[serde(default)]
    pub(in crate::e2e) arguments: Vec<String>,
    /// Variables of this run alone.
    #[serde(default)]
    pub(in crate::e2e) env: BTreeMap<String, String>,
    /// The folder that it is started in, relative to the project's.
    #[serde(default)]
    pub(in crate::e2e) folder: String,
    /// Whether the step ends with the client's turn.
    #[serde(default = "yes")]
    pub(in crate::e2e) wait: bool,
    /// The exit status that is expected.
    #[serde(default)]
    pub(in crate::e2e) exit: i32,
    /// How many of the agent's tool calls are expected to be refused for want of a permission.
    #[serde(default)]
    pub(in crate::e2e) denials: usize,
    /// Whether a hook is expected to fail (one of another plugin's, or of a broken installation).
    #[serde(default)]
    pub(in crate::e2e) hooks_may_fail: bool,
}

/// A command in a terminal.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(in crate::e2e) struct Person {
    /// A line for `/bin/sh`.
    pub(in crate::e2e) run: String,
    /// Its standard input.
    #[serde(default)]
    pub(in crate::e2e) stdin: String,
    /// The folder, relative to the project's.
    #[serde(default)]
    pub(in crate::e2e) folder: String,
    /// Variables of this run alone.
    #[serde(default)]
    pub(in crate::e2e) env: BTreeMap<String, String>,
    /// The exit status that is expected.
    #[serde(default)]
    pub(in crate::e2e) exit: i32,
    /// What must be in what it prints.
    #[serde(default)]
    pub(in crate::e2e) has: Vec<Pattern>,
    /// What must not be in it.
    #[serde(default)]
    pub(in crate::e2e) lacks: Vec<Pattern>,
}

/// A file of the project.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(in crate::e2e) struct Write {
    /// Relative to the project's folder, or absolute.
    pub(in crate::e2e) path: String,
    /// Its text; without it the file is removed.
    pub(in crate::e2e) text: Option<String>,
}

/// The interactive client.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(in crate::e2e) struct Open {
    /// As for `say`.
    #[serde(default = "main")]
    pub(in crate::e2e) session: String,
    /// As for `say`.
    pub(in crate::e2e) agent: Option<String>,
    /// As for `say`.
    #[serde(default = "default_mode")]
    pub(in crate::e2e) mode: String,
    /// As for `say`.
    #[serde(default)]
    pub(in crate::e2e) arguments: Vec<String>,
    /// As for `say`.
    #[serde(default)]
    pub(in crate::e2e) env: BTreeMap<String, String>,
    /// As for `say`.
    #[serde(default)]
    pub(in crate::e2e) folder: String,
    /// Columns and rows of the terminal.
    #[serde(default = "size")]
    pub(in crate::e2e) size: (u16, u16),
}

/// Keys into a terminal.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(in crate::e2e) struct Type {
    #[serde(default = "main")]
    pub(in crate::e2e) session: String,
    /// Text, typed as it is.
    #[serde(default)]
    pub(in crate::e2e) text: String,
    /// Keys after it, by the names that tmux has for them (`Enter`, `Escape`, `C-c`, `Down`).
    #[serde(default)]
    pub(in crate::e2e) keys: Vec<String>,
}

/// A look at a terminal.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(in crate::e2e) struct See {
    #[serde(default = "main")]
    pub(in crate::e2e) session: String,
    /// What must appear on the screen, all at once.
    #[serde(default)]
    pub(in crate::e2e) has: Vec<Pattern>,
    /// What must not be there then.
    #[serde(default)]
    pub(in crate::e2e) lacks: Vec<Pattern>,
    /// A file of `tests/e2e/screens`, without its ending, that the screen is compared with.
    pub(in crate::e2e) screen: Option<String>,
    /// The client must have ended by itself.
    #[serde(default)]
    pub(in crate::e2e) ended: bool,
    /// Seconds that it may take to appear.
    #[serde(default = "half_a_minute")]
    pub(in crate::e2e) within: u64,
}

/// What must be true. What a check does not name, it does not look at.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(in crate::e2e) struct Check {
    /// The folder whose loops and files it looks at, relative to the project's: another work tree of it.
    #[serde(default)]
    pub(in crate::e2e) folder: String,
    /// Which of our programs is asked for them.
    #[serde(default = "claudex")]
    pub(in crate::e2e) program: String,
    /// Which loop; the one that was started last, where none is named.
    pub(in crate::e2e) r#loop: Option<String>,
    /// Its phase.
    pub(in crate::e2e) phase: Option<String>,
    /// The transitions that it has taken, all of them, in their order.
    pub(in crate::e2e) transitions: Option<Vec<String>>,
    /// Fields of its state document, byte for byte.
    #[serde(default)]
    pub(in crate::e2e) fields: BTreeMap<String, String>,
    /// What must be in its journal, as the program’s `journal` shows it.
    #[serde(default)]
    pub(in crate::e2e) journal: Vec<Pattern>,
    /// What must not be there.
    #[serde(default)]
    pub(in crate::e2e) journal_lacks: Vec<Pattern>,
    /// How many loops the project has.
    pub(in crate::e2e) loops: Option<usize>,
    /// Of which session the next seven speak; of all, where none is named. `codex` is the reviewer's model.
    pub(in crate::e2e) session: Option<String>,
    /// What the model must have been sent, in this order.
    #[serde(default)]
    pub(in crate::e2e) sent: Vec<Pattern>,
    /// What it must not have been sent.
    #[serde(default)]
    pub(in crate::e2e) not_sent: Vec<Pattern>,
    /// How many requests it got that belong to the conversation.
    pub(in crate::e2e) requests: Option<usize>,
    /// What the client must have printed (its events, as JSON lines, and stderr).
    #[serde(default)]
    pub(in crate::e2e) printed: Vec<Pattern>,
    /// What it must not have printed.
    #[serde(default)]
    pub(in crate::e2e) not_printed: Vec<Pattern>,
    /// What each of our Stop hooks decided (`block`, `approve`), all of them, in their order.
    pub(in crate::e2e) stops: Option<Vec<String>>,
    /// What must be in the last words of the client's turns, each once and in this order.
    #[serde(default)]
    pub(in crate::e2e) said: Vec<Pattern>,
    /// Files.
    #[serde(default)]
    pub(in crate::e2e) files: Vec<FileCheck>,
    /// Seconds within which it must become true; it is looked again and again. Without it, it must be true at once.
    #[serde(default)]
    pub(in crate::e2e) within: u64,
}

/// What must be true of a file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(in crate::e2e) struct FileCheck {
    /// Relative to the project's folder, or absolute.
    pub(in crate::e2e) path: String,
    /// Whether it is there.
    #[serde(default = "yes")]
    pub(in crate::e2e) there: bool,
    /// What must be in it.
    #[serde(default)]
    pub(in crate::e2e) has: Vec<Pattern>,
    /// What must not be in it.
    #[serde(default)]
    pub(in crate::e2e) lacks: Vec<Pattern>,
    /// Its whole text, byte for byte.
    pub(in crate::e2e) is: Option<String>,
}

fn main() -> String {
    "main".to_owned()
}

fn claudex() -> String {
    OURS[0].to_owned()
}

fn default_mode() -> String {
    "default".to_owned()
}

fn yes() -> bool {
    true
}

fn size() -> (u16, u16) {
    (120, 50)
}

fn half_a_minute() -> u64 {
    30
}
