//! Guards and updates: the expressions inside strings of a machine file.

use std::cmp::Ordering;

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
    /// True if the comparison is.
    Compare(Box<Comparison>),
}

/// `round < max_rounds`
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Comparison {
    /// Left of the sign.
    pub left: Read,
    /// The sign.
    pub sign: Sign,
    /// Right of the sign.
    pub right: Operand,
}

/// A value that is compared or set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Operand {
    /// A field or an argument.
    Read(Read),
    /// A constant.
    Constant(Constant),
}

/// `round`, `round + 1` or `args.score`: a field or an argument, plus or minus a constant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Read {
    /// The name, with its place in machine.toml.
    pub name: At<String>,
    /// Whether it is an argument.
    pub is_argument: bool,
    /// The number that is added.
    pub offset: i64,
    /// The kind of the field or argument, or `None` if it does not exist, which `check` reports.
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
    pub(crate) fn comparisons(&self) -> Vec<&Comparison> {
        match self {
            Guard::All(parts) | Guard::Any(parts) => {
                parts.iter().flat_map(Guard::comparisons).collect()
            }
            Guard::Compare(comparison) => vec![comparison],
        }
    }

    pub(crate) fn reads(&self) -> impl Iterator<Item = &Read> + Clone {
        let comparisons = self.comparisons().into_iter();
        comparisons.flat_map(|one| [Some(&one.left), one.right.read()].into_iter().flatten())
    }

    pub(crate) fn fields(&self) -> impl Iterator<Item = &At<String>> + Clone {
        let fields = self.reads().filter(|read| !read.is_argument);
        fields.map(|read| &read.name)
    }

    /// Returns whether the guard holds. `value` takes a name such as `round` or `args.score`.
    pub fn holds(&self, value: &dyn Fn(&str) -> Constant) -> bool {
        self.decide(&|name| Some(value(name))) == Some(true)
    }

    /// Returns whether the guard holds, or `None` if that depends on an unknown value.
    pub(crate) fn decide(&self, value: &dyn Fn(&str) -> Option<Constant>) -> Option<bool> {
        let (parts, decisive) = match self {
            Guard::All(parts) => (parts, false),
            Guard::Any(parts) => (parts, true),
            Guard::Compare(comparison) => return comparison.decide(value),
        };
        let mut result = Some(!decisive);
        for part in parts {
            match part.decide(value) {
                Some(holds) if holds == decisive => return Some(decisive),
                Some(_) => {}
                None => result = None,
            }
        }
        result
    }
}

impl Comparison {
    fn decide(&self, value: &dyn Fn(&str) -> Option<Constant>) -> Option<bool> {
        let value_of = |read: &Read| Some((value(&read.key())?, i128::from(read.offset)));
        let sides = match &self.right {
            Operand::Constant(constant) => (value_of(&self.left)?, (constant.clone(), 0)),
            Operand::Read(read) => (value_of(&self.left)?, value_of(read)?),
        };
        let order = match sides {
            ((Constant::Count(left), plus_left), (Constant::Count(right), plus_right)) => {
                (i128::from(left) + plus_left).cmp(&(i128::from(right) + plus_right))
            }
            // Only `==` and `!=` compare texts and flags.
            ((left, _), (right, _)) if left == right => Ordering::Equal,
            _ => Ordering::Less,
        };
        Some(match self.sign {
            Sign::Equal => order.is_eq(),
            Sign::NotEqual => order.is_ne(),
            Sign::Less => order.is_lt(),
            Sign::LessOrEqual => order.is_le(),
            Sign::Greater => order.is_gt(),
            Sign::GreaterOrEqual => order.is_ge(),
        })
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
        let reads = match self {
            Update::Value(value) => [value.read(), None],
            Update::Next(field) => [Some(field), None],
            Update::Plus(field, argument) => [Some(field), Some(argument)],
        };
        reads.into_iter().flatten()
    }
}
