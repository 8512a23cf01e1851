//! The const description of a machine: what `machine.toml` declares, as data that the engine and the tools read.
//!
//! Generated code builds these in consts; nothing here is read from a file at run time.

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
    /// What it is for.
    pub doc: &'static str,
    /// The machine file, as the messages name it.
    pub file: &'static str,
    /// The plugin of a client whose slash commands call its program.
    pub plugin: Option<&'static str>,
    /// The slash commands of that plugin, by name.
    pub slash: &'static [&'static str],
    /// Where and how its documents are stored.
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
    pub rules: &'static dyn Rules,
    /// Who reviews, in the order of the rounds.
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
    /// Who may start a loop in it; empty: both.
    pub by: &'static [Actor],
    /// The template of what a start prints, where it is not that of the first phase.
    pub message: Option<Message>,
}

/// Says what a reviewing phase reviews. Generated, one per phase whose `on_stop` is `review`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ReviewSpec {
    /// The files under review, from the loop's root; `{field}` stands for a field, `*` in a file's name for any text, `{changes}` for
    /// the work tree's changes, `{program}` for what the program gives.
    pub subject: &'static [&'static str],
    /// The commit since which changes are looked at; empty: where the branch left the main one.
    pub since: &'static str,
    /// The field that counts the rounds.
    pub round: &'static str,
    /// Who reviews, by turns; empty: the usual one.
    pub reviewers: &'static [&'static str],
    /// The model that reviews, by turns; empty: the client's own choice.
    pub models: &'static [&'static str],
    /// Who reviews in this phase, in the order of the rounds; empty: all of the machine's.
    pub personas: &'static [PersonaInfo],
    /// The prompt of a reviewer that is a model; `None`: the engine's own.
    pub prompt: Option<Message>,
    /// Which findings keep a round from being clean.
    pub blocking: Blocking,
    /// Says whether what earlier visits found is not open any more, though the subject is the same.
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

/// Names what a program has reviewed where machine.toml says `{program}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// A file, by its path from the loop's root.
    File(String),
    /// A text that no file has by itself, such as one row of a table.
    Text {
        /// What people and reviewers call it.
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

/// Which findings keep a round from being clean: these, and graver ones.
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
    /// What it holds.
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

/// What a field holds.
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
    /// What its entering says, unless the edge says something else.
    pub message: Option<Message>,
    /// What a stop does in it; None: the loop is over in it, or Rust says what.
    pub on_stop: Option<BehaviourInfo>,
    /// What is reviewed in it.
    pub review: Option<&'static ReviewSpec>,
    /// What a person is asked in it.
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

/// What a stop does in a phase: a behaviour of claudex-build's catalogue.
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
    /// What can be answered.
    pub options: Options,
    /// What takes a text that the person types instead of choosing.
    pub text: Option<Taker>,
}

/// Who says what can be answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Options {
    /// The machine file.
    These(&'static [Choice]),
    /// The program, in Rust, with the question and its header.
    Program,
}

/// What an answer takes, in the person's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Taker {
    /// The transition.
    pub transition: &'static str,
    /// Its argument that gets the answer's words.
    pub argument: Option<&'static str>,
    /// What others of its arguments get, as its verb takes it.
    pub with: &'static [(&'static str, &'static str)],
}

/// An answer to a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Choice {
    /// Its words. No other option of the question has the same.
    pub label: &'static str,
    /// What it means; may be empty.
    pub description: &'static str,
    /// What it takes.
    pub taker: Taker,
}

/// An argument of a transition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArgumentInfo {
    /// Its name.
    pub name: &'static str,
    /// What stands for its value where people are told of it: its name, its words, `proceed|stop`, or nothing for a flag.
    pub takes: &'static str,
}

/// Names who acts on a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::Display, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Actor {
    /// The loop's own driver: the Stop hook, or `run` in its place.
    Hook,
    /// The coding agent.
    Agent,
    /// A person.
    Person,
}

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
