//! The steps of a scenario. `do` names the kind of a step; every text is a template.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::Pattern;

/// One step.
#[derive(Debug, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case")]
pub(in crate::e2e) enum Step {
    /// A prompt to Claude Code without a screen (`claude -p`).
    Say(Say),
    /// The end of a turn that a `say` left in the background.
    Wait { session: Option<String> },
    /// SIGKILL to a session's client and its process group.
    Kill { session: Option<String> },
    /// A user's command in a shell.
    Person(Person),
    /// A file to write; the path is relative to the project.
    Write { path: String, text: String },
    /// The start of the interactive client in a terminal.
    Open,
    /// Keystrokes in the terminal.
    Type(Type),
    /// What the terminal must show.
    See(See),
    /// What must be true now.
    Check(Box<Check>),
}

/// A prompt without a screen.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(in crate::e2e) struct Say {
    pub(in crate::e2e) text: String,
    /// The scenario's name of the conversation.
    pub(in crate::e2e) session: Option<String>,
    /// Whether a conversation is resumed by `--continue` instead of `--resume ID`.
    pub(in crate::e2e) r#continue: bool,
    /// The agent that plays this session's model from now on.
    pub(in crate::e2e) agent: Option<String>,
    /// The value of `--permission-mode`, if it is not `default`.
    pub(in crate::e2e) mode: Option<String>,
    /// The folder to start in, relative to the project.
    pub(in crate::e2e) folder: String,
    /// Whether the next step begins before the turn ends.
    pub(in crate::e2e) background: bool,
    /// The expected exit status.
    pub(in crate::e2e) exit: i32,
    /// The expected number of tool calls that are refused for want of a permission.
    pub(in crate::e2e) denials: usize,
}

/// A line for `/bin/sh`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(in crate::e2e) struct Person {
    pub(in crate::e2e) run: String,
    /// The folder, relative to the project.
    pub(in crate::e2e) folder: String,
    /// The expected exit status.
    pub(in crate::e2e) exit: i32,
    pub(in crate::e2e) has: Vec<Pattern>,
    pub(in crate::e2e) lacks: Vec<Pattern>,
}

/// Text that is typed as it is, and then keys by tmux's names (`Enter`, `Escape`, `Down`).
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(in crate::e2e) struct Type {
    pub(in crate::e2e) text: String,
    pub(in crate::e2e) keys: Vec<String>,
}

/// What the screen must contain, and must not contain, at the same time.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(in crate::e2e) struct See {
    pub(in crate::e2e) has: Vec<Pattern>,
    pub(in crate::e2e) lacks: Vec<Pattern>,
    /// The name of a file in `tests/e2e/screens` that the screen must match.
    pub(in crate::e2e) screen: Option<String>,
}

/// Expectations. A key that is missing is not checked.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(in crate::e2e) struct Check {
    /// The folder with the loops and files, relative to the project.
    pub(in crate::e2e) folder: String,
    /// The program that is asked about loops, if it is not `claudex-loop`.
    pub(in crate::e2e) program: Option<String>,
    /// The loop's id; the newest loop if it is missing.
    pub(in crate::e2e) r#loop: Option<String>,
    pub(in crate::e2e) phase: Option<String>,
    /// All transitions that the loop has taken, in order.
    pub(in crate::e2e) transitions: Option<Vec<String>>,
    /// Fields of the state document, byte for byte.
    pub(in crate::e2e) fields: BTreeMap<String, String>,
    /// What the output of `journal` must contain.
    pub(in crate::e2e) journal: Vec<Pattern>,
    pub(in crate::e2e) journal_lacks: Vec<Pattern>,
    /// The number of loops in the project.
    pub(in crate::e2e) loops: Option<usize>,
    /// The session that the following keys are about; all sessions if it is missing.
    pub(in crate::e2e) session: Option<String>,
    /// What the model must have been sent, in this order.
    pub(in crate::e2e) sent: Vec<Pattern>,
    pub(in crate::e2e) not_sent: Vec<Pattern>,
    /// The number of requests that are turns of the conversation.
    pub(in crate::e2e) requests: Option<usize>,
    /// What the client must have printed: its events as JSON lines, and stderr.
    pub(in crate::e2e) printed: Vec<Pattern>,
    pub(in crate::e2e) not_printed: Vec<Pattern>,
    /// All decisions of our Stop hooks (`block`, `approve`), in order.
    pub(in crate::e2e) stops: Option<Vec<String>>,
    /// What the texts that ended the client's turns must contain, in this order.
    pub(in crate::e2e) said: Vec<Pattern>,
    pub(in crate::e2e) files: Vec<FileCheck>,
    /// Seconds until all of it must be true.
    pub(in crate::e2e) within: u64,
}

/// Expectations about a file.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(in crate::e2e) struct FileCheck {
    /// The path, relative to the project's folder.
    pub(in crate::e2e) path: String,
    pub(in crate::e2e) absent: bool,
    pub(in crate::e2e) has: Vec<Pattern>,
    pub(in crate::e2e) lacks: Vec<Pattern>,
    /// The whole text.
    pub(in crate::e2e) is: Option<String>,
}
