//! The declarations of a machine file that the engine does not read: personas, the review of a
//! phase (`on_stop.review`), and its question (`on_stop.ask`).

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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Focus {
    /// Steps, scope, acceptance, wording.
    Engineering,
    /// Access, secrets, data and its integrity.
    Security,
    /// Deploying, watching, failing and going back.
    Operations,
}

/// The review of a phase whose `on_stop` is `review`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReviewSpec {
    /// The files under review below the loop's root. `{field}` is filled in; `*` is any part of a
    /// file's name. `{changes}` are those of the work tree, `{program}` the program's subjects.
    pub subject: &'static [&'static str],
    /// The commit since which changes are reviewed. If empty, the fork from the main branch.
    pub since: &'static str,
    /// The field that counts the rounds.
    pub round: &'static str,
    /// The reviewers, by turns. If empty, the configured one.
    pub reviewers: &'static [&'static str],
    /// The model that reviews, by turns. If empty, the client's own choice.
    pub models: &'static [&'static str],
    /// The personas of this phase, in the order of the rounds. If empty, all that the machine has.
    pub personas: &'static [PersonaInfo],
    /// The prompt of a reviewer that is a model, or `None` for the program's own.
    pub prompt: Option<Message>,
    /// The lowest severity of the findings that keep a round from being clean.
    pub blocking: Severity,
    /// Whether findings of earlier visits are closed although the subject is the same.
    pub fresh: bool,
    /// The findings file, with `{n}` for the next free number. If empty, one in the loop's folder.
    pub findings_file: &'static str,
    /// The words for a verdict that is clean, and for one that is not.
    pub verdicts: Option<(&'static str, &'static str)>,
}

impl ReviewSpec {
    /// Returns whether its findings files count on their own: then no round names them.
    pub fn is_numbered(&self) -> bool {
        !self.findings_file.is_empty()
    }
}

/// The subject that a program gives for `{program}` in machine.toml.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject {
    /// The path of a file from the loop's root, or the name of a text for people and reviewers.
    pub name: String,
    /// A text that no file has by itself, such as one row of a table; `None` for a file.
    pub text: Option<String>,
}

/// The severity of a finding. `Critical` in a reviewer's text counts as high.
#[derive(
    Debug,
    Default,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    derive_more::Display,
    Serialize,
    Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// A problem with which the plan fails.
    #[default]
    High,
    /// A problem that will hurt if it stays.
    Medium,
    /// Worth a look.
    Low,
}

impl Severity {
    /// All severities, the highest first.
    pub const ALL: [Self; 3] = [Self::High, Self::Medium, Self::Low];
}

/// A question to the user. `{field}` is to be filled in in `question` and `header`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Question {
    /// The question.
    pub question: &'static str,
    /// A short label of it.
    pub header: &'static str,
    /// The options. If empty, the program gives them in Rust, with the question and its header.
    pub options: &'static [Choice],
    /// The transition that takes a text which the user types instead of choosing.
    pub text: Option<Taker>,
}

/// The transition that an answer takes on the user's behalf.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Taker {
    /// The transition.
    pub transition: &'static str,
    /// The argument that gets the answer's words.
    pub argument: Option<&'static str>,
    /// The values of its other arguments, as on the command line.
    pub with: &'static [(&'static str, &'static str)],
}

/// An answer to a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Choice {
    /// The words. No other option of the question has the same.
    pub label: &'static str,
    /// The explanation. It may be empty.
    pub description: &'static str,
    /// The transition that it takes.
    pub taker: Taker,
}
