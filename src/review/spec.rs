//! What a phase's review looks at and who reviews, as `machine.toml` says.

use super::focus::Focus;
use crate::machine::message::Message;

/// What a reviewing phase reviews. Generated, one per phase whose `on_stop` is `review`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReviewSpec {
    /// The file under review, from the loop's root; `{field}` stands for a field.
    pub subject: &'static str,
    /// The field that counts the rounds.
    pub round: &'static str,
    /// Who reviews in this phase, in the order of the rounds; empty: all of the machine's.
    pub personas: &'static [PersonaInfo],
    /// The prompt of a reviewer that is a model; `None`: the engine's own.
    pub prompt: Option<Message>,
}

/// A point of view of a reviewer, as `[personas]` declares it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PersonaInfo {
    /// Its name.
    pub name: &'static str,
    /// As titles and tables name it.
    pub label: &'static str,
    /// Who it is and what it looks at, for a model and for people.
    pub prompt: Message,
    /// What the built-in reviewer looks at.
    pub focus: Focus,
}
