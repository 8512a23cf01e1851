//! Guards and updates: the expressions inside strings of a machine file.

use std::fmt;

use serde::Serialize;

use super::{At, Constant, FieldKind, Sign};

/// A guard, the condition in `when`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Guard {
    /// True if all of these are true.
    All(Vec<Guard>),
    /// True if one of these is true.
    Any(Vec<Guard>),
    /// A comparison.
    Compare {
        /// Left of the sign.
        left: Box<Operand>,
        /// The sign.
        sign: Sign,
        /// Right of the sign.
        right: Box<Operand>,
    },
}

/// One side of a comparison.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Operand {
    /// A field or an argument.
    Read(Read),
    /// A constant.
    Constant(Constant),
}

/// `round`, `round + 1` or `args.score`: a field or an argument of the transition, plus or minus a constant.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Read {
    /// The name, with its place in machine.toml.
    pub name: At<String>,
    /// Whether it is an argument.
    pub is_argument: bool,
    /// The number that is added.
    pub offset: i64,
    /// The kind of the field or the argument. `None`: it does not exist, which `check` reports.
    pub(crate) kind: Option<FieldKind>,
    /// The type in Rust.
    pub(crate) ty: String,
    /// Whether the field exists in some phases only, or the argument may be left out.
    pub(crate) is_option: bool,
}

/// The new value of a field in `set`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Update {
    /// A constant, `"round + 1"` or `"args.why"`.
    Value(Operand),
    /// `"next(field)"`: the word after the present one of a `one_of`, the first after the last.
    Next(Read),
    /// `"round + args.more"`: a count field plus a count argument.
    Plus(Read, Read),
}

impl Guard {
    /// Returns its comparisons: left side, sign and right side.
    pub(crate) fn comparisons(&self) -> Vec<(&Operand, Sign, &Operand)> {
        match self {
            Guard::All(parts) | Guard::Any(parts) => {
                parts.iter().flat_map(Guard::comparisons).collect()
            }
            Guard::Compare { left, sign, right } => vec![(left.as_ref(), *sign, right.as_ref())],
        }
    }

    pub(crate) fn reads(&self) -> impl Iterator<Item = &Read> + Clone {
        let comparisons = self.comparisons().into_iter();
        comparisons.flat_map(|(left, _, right)| left.read().into_iter().chain(right.read()))
    }

    /// Returns the fields that it reads.
    pub(crate) fn fields(&self) -> impl Iterator<Item = &At<String>> + Clone {
        let fields = self.reads().filter(|read| !read.is_argument);
        fields.map(|read| &read.name)
    }
}

impl Operand {
    pub(crate) fn read(&self) -> Option<&Read> {
        match self {
            Operand::Read(read) => Some(read),
            Operand::Constant(_) => None,
        }
    }
}

impl Read {
    /// Returns the name, with `args.` in front of that of an argument.
    pub(crate) fn key(&self) -> String {
        let prefix = if self.is_argument { "args." } else { "" };
        format!("{prefix}{}", self.name)
    }
}

impl Update {
    /// Returns the fields and arguments that it reads.
    pub(crate) fn reads(&self) -> impl Iterator<Item = &Read> {
        let (first, second) = match self {
            Update::Value(value) => (value.read(), None),
            Update::Next(field) => (Some(field), None),
            Update::Plus(field, argument) => (Some(field), Some(argument)),
        };
        first.into_iter().chain(second)
    }
}

impl fmt::Display for Constant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Constant::Count(count) => count.fmt(f),
            Constant::Text(text) => write!(f, "{text:?}"),
            Constant::Flag(flag) => flag.fmt(f),
        }
    }
}
