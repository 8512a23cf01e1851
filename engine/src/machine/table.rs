//! The const description of a machine: what `machine.toml` declares, as data that the engine and the tools read.
//!
//! Generated code builds these in consts; nothing here is read from a file at run time.

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::machine::data::DataType;
use crate::machine::edge::Rules;
use crate::machine::persona::PersonaInfo;
use crate::store::StateSpec;

/// A whole machine.
#[derive(Debug)]
pub struct Table {
    /// The machine's name.
    pub name: &'static str,
    /// Its purpose.
    pub doc: &'static str,
    /// The machine file, as the messages name it.
    pub file: &'static str,
    /// The plugin of a client whose slash commands call its program.
    pub plugin: Option<&'static str>,
    /// The slash commands of that plugin, by name.
    pub slash: &'static [&'static str],
    /// The place and form of its documents.
    pub state: &'static StateSpec,
    /// Its modes.
    pub modes: &'static [ModeInfo],
    /// Its fields, in the order of the state file.
    pub fields: &'static [FieldInfo],
    /// Its phases, in the order of `machine.toml`. Edges name them by index.
    pub phases: &'static [PhaseInfo],
    /// The names of its transitions.
    pub transitions: &'static [&'static str],
    /// Its edges.
    pub rules: Rules,
    /// The reviewing personas, in the order of the rounds.
    pub personas: &'static [PersonaInfo],
}

/// A message template, compiled in. Whoever shows a message renders it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message {
    /// The file's name, for errors.
    pub name: &'static str,
    /// The template, in the syntax of minijinja.
    pub text: &'static str,
}

/// A mode: a first phase with initial values of its own.
#[derive(Debug)]
pub struct ModeInfo {
    /// Its name, as `start` takes it.
    pub name: &'static str,
    /// Its doc.
    pub doc: &'static str,
    /// Index of the first phase.
    pub start: usize,
    /// Initial values that differ from the fields' own.
    pub initial: &'static [(&'static str, Constant)],
    /// The actors who may start a loop in it. Empty: agent and person.
    pub by: &'static [Actor],
    /// The template of what a start prints, where it is not that of the first phase.
    pub message: Option<Message>,
}

/// The review of a phase whose `on_stop` is `review`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ReviewSpec {
    /// The files under review, from the loop's root; `{field}` stands for a field, `*` in a file's name for any text, `{changes}` for
    /// the work tree's changes, `{program}` for what the program gives.
    pub subject: &'static [&'static str],
    /// The commit since which changes are looked at; empty: where the branch left the main one.
    pub since: &'static str,
    /// The field that counts the rounds.
    pub round: &'static str,
    /// The reviewers, by turns. Empty: the configured one.
    pub reviewers: &'static [&'static str],
    /// The model that reviews, by turns; empty: the client's own choice.
    pub models: &'static [&'static str],
    /// The personas of this phase, in the order of the rounds. Empty: all of the machine's.
    pub personas: &'static [PersonaInfo],
    /// The prompt of a reviewer that is a model; `None`: the engine's own.
    pub prompt: Option<Message>,
    /// The findings that keep a round from being clean.
    pub blocking: Blocking,
    /// Whether findings of earlier visits are closed although the subject is the same.
    pub fresh: bool,
    /// The findings file for people, with `{n}` for the next free number; empty: one for each round in the loop's folder.
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
pub enum Subject {
    /// A file, by its path from the loop's root.
    File(String),
    /// A text that no file has by itself, such as one row of a table.
    Text {
        /// Its name for people and reviewers.
        name: String,
        /// The text.
        text: String,
    },
}

impl Subject {
    /// Returns its name as people read it.
    pub fn name(&self) -> &str {
        match self {
            Self::File(name) | Self::Text { name, .. } => name,
        }
    }
}

/// The lowest severity that keeps a round from being clean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Blocking {
    /// All.
    #[default]
    Low,
    /// Medium and high ones.
    Medium,
    /// High ones.
    High,
}

/// A field of the state document.
#[derive(Debug)]
pub struct FieldInfo {
    /// Its name.
    pub name: &'static str,
    /// Its doc.
    pub doc: &'static str,
    /// The kind of its value.
    pub kind: FieldKind,
    /// The value at the start.
    pub initial: Constant,
    /// Whether a start takes it.
    pub at_start: bool,
    /// Indices of the phases in which it exists; None: in all of them. Elsewhere the document has null.
    pub within: Option<&'static [usize]>,
}

impl Constant {
    /// Converts it to the value of a field.
    pub fn value(&self) -> Json {
        match *self {
            Self::Count(count) => count.into(),
            Self::Text(text) => text.into(),
            Self::Flag(flag) => flag.into(),
            Self::Null => Json::Null,
        }
    }
}

impl FieldInfo {
    /// Returns the value at the start.
    pub(super) fn first(&self) -> Json {
        match self.kind {
            FieldKind::Data(kind) => kind.initial(),
            _ => self.initial.value(),
        }
    }

    /// Returns whether it exists in a phase.
    pub fn exists_in(&self, phase: usize) -> bool {
        self.within.is_none_or(|phases| phases.contains(&phase))
    }
}

/// The kind of a field's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldKind {
    /// A whole number.
    Count,
    /// Any text, always quoted in the file.
    Text,
    /// A path.
    Path,
    /// true or false.
    Flag,
    /// One of some words.
    OneOf(&'static [&'static str]),
    /// Data of the program's own.
    Data(DataType),
    /// Written by the engine.
    Held,
}

/// A constant of `machine.toml`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Constant {
    /// A whole number.
    Count(u64),
    /// Text or a word.
    Text(&'static str),
    /// true or false.
    Flag(bool),
    /// Nothing: the engine fills it in.
    Null,
}

/// A phase.
#[derive(Debug)]
pub struct PhaseInfo {
    /// Its name.
    pub name: &'static str,
    /// Its form in the state document.
    pub stored: &'static str,
    /// Its doc.
    pub doc: &'static str,
    /// Whether the loop is over in it.
    pub terminal: bool,
    /// The message when it is entered, unless the edge has its own.
    pub message: Option<Message>,
    /// The behaviour of a stop in it. `None`: it is terminal, or Rust decides.
    pub on_stop: Option<BehaviourInfo>,
    /// The review in it.
    pub review: Option<&'static ReviewSpec>,
    /// The question to the user in it.
    pub question: Option<Question>,
    /// The line of `machine.toml`.
    pub line: u32,
}

impl PhaseInfo {
    /// The values of a phase that the machine file leaves out.
    pub const EMPTY: Self = Self {
        name: "",
        stored: "",
        doc: "",
        terminal: false,
        message: None,
        on_stop: None,
        review: None,
        question: None,
        line: 0,
    };
}

/// The behaviour of a stop in a phase, from claudex-build's catalogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BehaviourInfo {
    /// Its name in the catalogue.
    pub name: &'static str,
    /// The parameters that `machine.toml` gives, as they stand there.
    pub parameters: &'static [(&'static str, &'static str)],
    /// The transitions of its outcomes at which nothing has happened since the last stop.
    pub reminds: &'static [&'static str],
}

impl BehaviourInfo {
    /// Returns a parameter, where it is given.
    pub fn parameter(&self, name: &str) -> Option<&'static str> {
        self.parameters
            .iter()
            .find(|(key, _)| *key == name)
            .map(|(_, value)| *value)
    }
}

/// A question to a person. `{field}` is to be filled in in `question` and `header`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Question {
    /// The question.
    pub question: &'static str,
    /// A short label of it.
    pub header: &'static str,
    /// The options.
    pub options: Options,
    /// The transition that takes a text which the user types instead of choosing.
    pub text: Option<Taker>,
}

/// The source of the options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Options {
    /// The machine file.
    These(&'static [Choice]),
    /// The program, in Rust, with the question and its header.
    Program,
}

/// The transition that an answer takes in the user's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Taker {
    /// The transition.
    pub transition: &'static str,
    /// Its argument that gets the answer's words.
    pub argument: Option<&'static str>,
    /// The values of its other arguments, as on the command line.
    pub with: &'static [(&'static str, &'static str)],
}

/// An answer to a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Choice {
    /// Its words. No other option of the question has the same.
    pub label: &'static str,
    /// Its explanation. It may be empty.
    pub description: &'static str,
    /// The transition that it takes.
    pub taker: Taker,
}

/// An argument of a transition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArgumentInfo {
    /// Its name.
    pub name: &'static str,
    /// The placeholder of its value in help texts: its name, its words such as `proceed|stop`, or nothing for a flag.
    pub takes: &'static str,
}

/// An actor on a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Actor {
    /// The loop's own driver: the Stop hook, or `run` in its place.
    Hook,
    /// The coding agent.
    Agent,
    /// A person.
    Person,
}

crate::words!(Actor);

impl Table {
    /// Returns the index of the phase with this stored form.
    pub fn stored(&self, stored: &str) -> Option<usize> {
        self.phases.iter().position(|phase| phase.stored == stored)
    }

    /// Returns the index of the phase with this name.
    pub fn named(&self, name: &str) -> Option<usize> {
        self.phases.iter().position(|phase| phase.name == name)
    }

    /// Returns the field of this name.
    pub fn field(&self, name: &str) -> Option<&'static FieldInfo> {
        self.fields.iter().find(|field| field.name == name)
    }
}
