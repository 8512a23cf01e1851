//! Phases: what a stop does in each, and who reviews there.

use std::ops::Range;

use super::{At, Constant};
use crate::catalogue::{self, ParameterKind};

/// `[phases.x]`.
#[derive(Debug, Clone)]
pub struct Phase {
    /// The table's name.
    pub name: At<String>,
    /// `stored`: the form in the state file; the name where absent.
    pub stored: Option<At<String>>,
    /// `doc`, or empty.
    pub doc: String,
    /// `terminal = true`.
    pub terminal: bool,
    /// `on_stop`: what a stop does here. None in a phase that is not terminal: a method that Rust has to write.
    pub on_stop: Option<Behaviour>,
    /// `message`: the template of the block that entering this phase gives, unless the edge has its own.
    pub message: Option<At<String>>,
    /// Where the table begins.
    pub span: Range<usize>,
}

/// `[personas.x]`: who reviews, in a round of any phase that does not name its own.
#[derive(Debug, Clone)]
pub struct Persona {
    /// The table's name.
    pub name: At<String>,
    /// `label`: as titles and tables name it.
    pub label: At<String>,
    /// `prompt`: the template of who it is and what it looks at.
    pub prompt: At<String>,
    /// `focus`: what the built-in reviewer looks at.
    pub focus: Focus,
}

/// Names what the built-in reviewer looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Focus {
    /// Steps, scope, acceptance, wording.
    #[default]
    Engineering,
    /// Access, secrets, data and its integrity.
    Security,
    /// Deploying, watching, failing and going back.
    Operations,
}

/// `on_stop = { NAME = { … } }`: a behaviour of the catalogue with its parameters and its outcomes' transitions.
#[derive(Debug, Clone)]
pub struct Behaviour {
    /// The behaviour's name in the catalogue (see [`crate::catalogue`]).
    pub name: At<String>,
    /// Parameters that are not outcomes, as given; one that is a list stands here once for each of its texts.
    pub parameters: Vec<(At<String>, At<String>)>,
    /// For each outcome of the catalogue, in its order: the transitions to try, in turn. Empty: the loop waits.
    pub outcomes: Vec<(String, Vec<Call>)>,
    /// `options`: what a person can answer.
    pub options: Options,
    /// `text`: the transition that takes what a person types instead of choosing.
    pub text: Option<At<String>>,
    /// `personas`: who reviews here, in this order. Empty: all of the machine's.
    pub personas: Vec<At<String>>,
}

/// A transition that an outcome names: `"give_up"`, or `{ then = "give_up", with = { why = "it failed" } }`.
#[derive(Debug, Clone)]
pub struct Call {
    /// The transition.
    pub then: At<String>,
    /// `with`: constants for its arguments.
    pub with: Vec<(At<String>, At<Constant>)>,
}

/// `options`: who says what a person can answer.
#[derive(Debug, Clone, Default)]
pub enum Options {
    /// The behaviour asks nothing.
    #[default]
    None,
    /// The machine file.
    These(Vec<Choice>),
    /// The program, in Rust, with the question and its header.
    Program,
}

/// One of a question's `options`.
#[derive(Debug, Clone)]
pub struct Choice {
    /// `label`: the answer's words.
    pub label: At<String>,
    /// `description`, where it is given.
    pub description: Option<At<String>>,
    /// The transition that the answer takes, in the person's name.
    pub call: Call,
}

impl Behaviour {
    /// The value of a parameter, if it was given.
    pub fn parameter(&self, name: &str) -> Option<&At<String>> {
        let mut parameters = self.parameters.iter();
        parameters
            .find(|(key, _)| key.value == name)
            .map(|(_, value)| value)
    }

    /// The texts of a parameter that is a list.
    pub fn list(&self, name: &str) -> impl Iterator<Item = &At<String>> {
        let of_name = self
            .parameters
            .iter()
            .filter(move |(key, _)| key.value == name);
        of_name.map(|(_, value)| value)
    }

    /// Every transition that it names, in outcomes and options.
    pub fn transitions(&self) -> impl Iterator<Item = &At<String>> {
        let outcomes = self.outcomes.iter().flat_map(|(_, calls)| calls);
        outcomes.map(|call| &call.then).chain(self.answers())
    }

    /// Returns every transition that an answer takes: those of the options, then the one of a text.
    pub fn answers(&self) -> impl Iterator<Item = &At<String>> {
        let choices = self.choices().iter().map(|choice| &choice.call.then);
        choices.chain(&self.text)
    }

    /// Returns the options that stand in the machine file.
    pub fn choices(&self) -> &[Choice] {
        match &self.options {
            Options::These(choices) => choices,
            Options::None | Options::Program => &[],
        }
    }

    /// Returns whether it asks a person.
    pub fn asks(&self) -> bool {
        !matches!(self.options, Options::None)
    }

    /// Returns whether the program asks, in Rust.
    pub fn asks_in_rust(&self) -> bool {
        matches!(self.options, Options::Program)
    }

    /// Returns what says which commands verify the work here: [`catalogue::PROGRAM`].
    pub fn commands(&self) -> Option<&At<String>> {
        let entry = catalogue::find(&self.name.value)?;
        let mut known = entry.parameters();
        self.parameter(known.find(|one| one.kind == ParameterKind::Commands)?.name)
    }

    /// Returns whether the program gives what is reviewed, or a part of it, in Rust.
    pub fn reviews_in_rust(&self) -> bool {
        self.list("subject")
            .any(|one| one.value == catalogue::PROGRAM)
    }

    /// Returns whether the program gives those commands, in Rust.
    pub fn verifies_in_rust(&self) -> bool {
        self.commands()
            .is_some_and(|value| value.value == catalogue::PROGRAM)
    }
}
