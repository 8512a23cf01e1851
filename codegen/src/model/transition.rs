//! Transitions: sources, target, guard, actors and updates.

use std::ops::Range;

use serde::{Deserialize, Deserializer, Serialize};

use super::field::only_kind;
use super::tables::{self, TextOr, entries, named};
use super::texts::{Name, Path, Word};
use super::{Actor, At, Constant, Evidence, Many, Sign, Turn};

/// One `[[transitions.x]]` entry.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Transition {
    /// The name of the entry, at its place in this entry's header.
    #[serde(skip_deserializing)]
    pub name: At<String>,
    /// The sources.
    #[serde(skip_serializing)]
    pub from: From,
    /// The target.
    #[serde(skip_serializing)]
    pub to: To,
    /// The text of the guard.
    #[serde(rename = "when", skip_serializing)]
    pub(super) guard_source: Option<At<String>>,
    /// The guard. Absent: the transition is always open.
    #[serde(skip)]
    pub when: Option<At<Guard>>,
    /// The evidence that the caller must have.
    pub requires: Option<At<Evidence>>,
    /// The actors that may take it by a verb. Empty: the hook only.
    #[serde(default)]
    pub by: Many<At<Actor>>,
    /// Whether a verb of the program or an answer takes it, so that it has no verb of its own.
    #[serde(default)]
    pub own: bool,
    /// The arguments, in the order of the file. They become parameters and flags.
    #[serde(default, deserialize_with = "tables::table")]
    pub args: Vec<Argument>,
    /// The updates as the file has them.
    #[serde(
        rename = "set",
        default,
        deserialize_with = "tables::pairs",
        skip_serializing
    )]
    pub(super) update_sources: Vec<(At<String>, At<Constant>)>,
    /// The updates of fields, in the order of the file.
    #[serde(skip)]
    pub set: Vec<(At<String>, At<Update>)>,
    /// The template of the message.
    pub message: Option<At<Path>>,
    /// What the transition does with the turn.
    turn: Option<Turn>,
    /// The documentation, or an empty text.
    #[serde(default)]
    pub doc: String,
    /// The start of the entry. Its line is the one that messages name.
    #[serde(skip)]
    pub span: Range<usize>,
}

/// Reads the tables of `[[transitions.x]]`.
pub(super) fn transitions<'de, D>(deserializer: D) -> Result<Vec<Transition>, D::Error>
where
    D: Deserializer<'de>,
{
    let lists = entries::<D, Name, Vec<At<Transition>>>(deserializer)?;
    let transitions = lists.into_iter().flat_map(|(name, list)| {
        list.into_iter().map(move |entry| Transition {
            name: name.clone().map(|name| name.to_string()),
            span: entry.span,
            ..entry.value
        })
    });
    Ok(transitions.collect())
}

/// The sources of a transition.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Many<At<String>>")]
pub enum From {
    /// `*`: every phase that is not terminal and has no explicit edge of this transition.
    Any(Range<usize>),
    /// One or more phases.
    Phases(Many<At<String>>),
}

impl TryFrom<Many<At<String>>> for From {
    type Error = &'static str;

    fn try_from(names: Many<At<String>>) -> Result<Self, Self::Error> {
        match &*names {
            [only] if only.value == "*" => Ok(Self::Any(only.span.clone())),
            all if all.iter().any(|name| name.value == "*") => {
                Err("{key} has `*` and phases\nwrite `from = \"*\"`, or the phases")
            }
            _ => Ok(Self::Phases(names)),
        }
    }
}

/// The target of a transition.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(from = "At<String>")]
pub enum To {
    /// `same`: the source.
    Same(Range<usize>),
    /// A phase.
    Phase(At<String>),
}

impl std::convert::From<At<String>> for To {
    fn from(name: At<String>) -> Self {
        if name.value == "same" {
            Self::Same(name.span)
        } else {
            Self::Phase(name)
        }
    }
}

/// One argument of a transition.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(try_from = "TextOr<ArgumentKind, ArgumentTable>")]
pub struct Argument {
    /// The name.
    pub name: At<String>,
    /// The type.
    pub kind: ArgumentKind,
    /// The documentation, or an empty text.
    pub doc: String,
    /// Whether a caller may leave it out. An update from it then leaves the field as it is.
    pub optional: bool,
}

named!(Argument);

/// An argument with more than its type, as the file has it.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct ArgumentTable {
    r#type: Option<ArgumentKind>,
    one_of: Option<Many<At<Word>>>,
    doc: String,
    optional: bool,
}

impl TryFrom<TextOr<ArgumentKind, ArgumentTable>> for Argument {
    type Error = String;

    fn try_from(form: TextOr<ArgumentKind, ArgumentTable>) -> Result<Self, String> {
        let table = match form {
            TextOr::Text(kind) => ArgumentTable {
                r#type: Some(kind),
                ..ArgumentTable::default()
            },
            TextOr::Table(table) => table,
        };
        let words = table.one_of.map(ArgumentKind::OneOf);
        Ok(Self {
            name: At::default(),
            kind: only_kind([("type", table.r#type), ("one_of", words)])?,
            doc: table.doc,
            optional: table.optional,
        })
    }
}

/// The type of an argument.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ArgumentKind {
    /// A whole number.
    Count,
    /// Any text.
    Text,
    /// A path.
    Path,
    /// true or false; a flag of the command line without a value.
    Flag,
    /// One of some words.
    #[serde(skip_deserializing)]
    OneOf(Many<At<Word>>),
}

/// A guard, the condition in `when`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Guard {
    /// A guard that holds if all of these hold.
    All(Vec<Guard>),
    /// A guard that holds if one of these holds.
    Any(Vec<Guard>),
    /// A comparison.
    Compare {
        /// Left of the sign.
        left: Operand,
        /// The sign.
        sign: Sign,
        /// Right of the sign.
        right: Operand,
    },
}

/// One side of a comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operand {
    /// A field, plus or minus a constant (0 for a field alone).
    Field {
        /// The field's name, with its place in machine.toml.
        name: At<String>,
        /// What is added.
        offset: i64,
    },
    /// `args.score`: an argument of the transition, plus or minus a constant.
    Argument {
        /// The argument's name, with its place in machine.toml.
        name: At<String>,
        /// What is added.
        offset: i64,
    },
    /// A constant.
    Constant(Constant),
}

/// The new value of a field in `set`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Update {
    /// A constant.
    Constant(Constant),
    /// `"round + 1"`: a count field plus or minus a constant.
    Field {
        /// The field's name.
        name: String,
        /// What is added.
        offset: i64,
    },
    /// `"next(field)"`: the word after the present one of a `one_of`, the first after the last.
    Next(String),
    /// `"args.why"`: an argument of the transition.
    Argument(String),
    /// `"round + args.more"`: a count field plus a count argument.
    Plus {
        /// The field's name.
        name: String,
        /// The argument's.
        argument: String,
    },
}

impl Operand {
    /// Returns the field that it reads.
    pub fn field(&self) -> Option<&At<String>> {
        match self {
            Operand::Field { name, .. } => Some(name),
            Operand::Argument { .. } | Operand::Constant(_) => None,
        }
    }

    /// Returns the argument that it reads.
    pub fn argument(&self) -> Option<&At<String>> {
        match self {
            Operand::Argument { name, .. } => Some(name),
            _ => None,
        }
    }
}

impl Update {
    /// Returns the field that it reads.
    pub fn field(&self) -> Option<&str> {
        match self {
            Update::Field { name, .. } | Update::Next(name) | Update::Plus { name, .. } => {
                Some(name)
            }
            Update::Constant(_) | Update::Argument(_) => None,
        }
    }

    /// Returns the argument that it reads.
    pub fn argument(&self) -> Option<&str> {
        match self {
            Update::Argument(name) | Update::Plus { argument: name, .. } => Some(name),
            Update::Constant(_) | Update::Field { .. } | Update::Next(_) => None,
        }
    }
}

impl Transition {
    /// Returns whether it has a verb of the command line.
    pub fn is_verb(&self) -> bool {
        !self.by.is_empty() && !self.own
    }

    /// Returns the place of the guard, or of the name if there is none.
    pub(crate) fn guard_span(&self) -> Range<usize> {
        let guard = self.when.as_ref();
        guard.map_or(&self.name.span, |guard| &guard.span).clone()
    }

    /// Returns whether the turn may end although the phase that is entered is not terminal.
    pub fn ends_turn(&self) -> bool {
        self.turn == Some(Turn::End)
    }
}
