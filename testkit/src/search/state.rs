//! A loop as the search has it: its phase, the values of its fields, and what its reviews have come to.

use std::fmt;

use claudex_build::model::{Constant, FieldKind};

/// The value of a field.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Value {
    /// The field does not exist in the phase, or is the engine's own.
    Absent,
    /// A count, or a time in seconds since 1970; 0: not set.
    Number(u64),
    /// A flag.
    Flag(bool),
    /// A text, a path, an id, or a word.
    Text(String),
    /// A list.
    List(Vec<String>),
}

impl Value {
    /// Returns a constant of the machine file as a value.
    pub(crate) fn of(constant: &Constant) -> Self {
        match constant {
            Constant::Count(number) | Constant::Time(number) => Value::Number(*number),
            Constant::Text(text) => Value::Text(text.clone()),
            Constant::Flag(flag) => Value::Flag(*flag),
            Constant::List(texts) => Value::List(texts.clone()),
        }
    }

    /// Returns whether a field that has it says yes, as `wait-for` asks.
    pub(super) fn says_yes(&self, kind: &FieldKind, now: u64) -> bool {
        match self {
            Value::Number(time) if *kind == FieldKind::Time => (1..=now).contains(time),
            Value::Number(count) => *count > 0,
            Value::Flag(flag) => *flag,
            Value::Text(text) => !text.trim().is_empty(),
            Value::List(texts) => !texts.is_empty(),
            Value::Absent => false,
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Absent => f.write_str("null"),
            Value::Number(number) => number.fmt(f),
            Value::Flag(flag) => flag.fmt(f),
            Value::Text(text) => write!(f, "{text:?}"),
            Value::List(texts) => write!(f, "{texts:?}"),
        }
    }
}

/// What the reviews of the present visit have come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Visit {
    /// None counts.
    #[default]
    Unreviewed,
    /// The reviewer found nothing.
    Clean,
    /// It found something.
    Findings,
    /// It failed, and no change was counted for that yet.
    Failed,
}

/// A loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State {
    /// The index of its phase.
    pub phase: usize,
    /// The value of each field, by index.
    pub values: Vec<Value>,
    /// What the visit's reviews have come to.
    pub visit: Visit,
    /// The round's persona, from 0, and how often it found the same, if that is what it found last.
    pub(super) same: (u64, u8),
    /// The seconds that were waited.
    pub(super) waited: u64,
}

impl State {
    /// Makes a loop of which no visit has begun.
    pub(crate) fn new(phase: usize, values: Vec<Value>) -> Self {
        Self {
            phase,
            values,
            visit: Visit::Unreviewed,
            same: (0, 0),
            waited: 0,
        }
    }
}
