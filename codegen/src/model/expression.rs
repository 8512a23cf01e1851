//! Guards and updates: the expressions inside strings of a machine file, and their texts.

use super::{At, Constant, Sign};

/// A guard, the condition in `when`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Guard {
    /// True if all of these are true.
    All(Vec<Guard>),
    /// True if one of these is true.
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
    /// `round` or `round + 1`: a field, plus or minus a constant.
    Field {
        /// The name, with its place in machine.toml.
        name: At<String>,
        /// The number that is added.
        offset: i64,
    },
    /// `args.score`: an argument of the transition, plus or minus a constant.
    Argument {
        /// The name, with its place in machine.toml.
        name: At<String>,
        /// The number that is added.
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
        /// The field.
        name: String,
        /// The number that is added.
        offset: i64,
    },
    /// `"next(field)"`: the word after the present one of a `one_of`, the first after the last.
    Next(String),
    /// `"args.why"`: an argument of the transition.
    Argument(String),
    /// `"round + args.more"`: a count field plus a count argument.
    Plus {
        /// The field.
        name: String,
        /// The argument.
        argument: String,
    },
}

impl Guard {
    /// Returns its comparisons: left side, sign and right side.
    pub(crate) fn comparisons(&self) -> Vec<(&Operand, Sign, &Operand)> {
        match self {
            Guard::All(parts) | Guard::Any(parts) => {
                parts.iter().flat_map(Guard::comparisons).collect()
            }
            Guard::Compare { left, sign, right } => vec![(left, *sign, right)],
        }
    }

    /// Returns the fields that it reads.
    pub(crate) fn fields(&self) -> impl Iterator<Item = &At<String>> {
        let comparisons = self.comparisons().into_iter();
        let sides = comparisons.flat_map(|(left, _, right)| [left, right]);
        sides.filter_map(Operand::field)
    }
}

impl Operand {
    /// Returns the field that it reads.
    pub(crate) fn field(&self) -> Option<&At<String>> {
        match self {
            Operand::Field { name, .. } => Some(name),
            _ => None,
        }
    }

    /// Returns the argument that it reads.
    pub(crate) fn argument(&self) -> Option<&At<String>> {
        match self {
            Operand::Argument { name, .. } => Some(name),
            _ => None,
        }
    }

    /// Returns the name of what it reads, `round` or `args.score`, and the number that is added.
    pub(crate) fn reads(&self) -> Option<(String, i64)> {
        match self {
            Operand::Field { name, offset } => Some((name.value.clone(), *offset)),
            Operand::Argument { name, offset } => Some((format!("args.{name}"), *offset)),
            Operand::Constant(_) => None,
        }
    }
}

impl Update {
    /// Returns the field that it reads.
    pub(crate) fn field(&self) -> Option<&str> {
        match self {
            Update::Field { name, .. } | Update::Next(name) | Update::Plus { name, .. } => {
                Some(name)
            }
            Update::Constant(_) | Update::Argument(_) => None,
        }
    }

    /// Returns the argument that it reads.
    pub(crate) fn argument(&self) -> Option<&str> {
        match self {
            Update::Argument(name) | Update::Plus { argument: name, .. } => Some(name),
            _ => None,
        }
    }
}

/// Returns a guard as `machine.toml` would write it.
pub fn guard_text(guard: &Guard) -> String {
    let part = |inner: &Guard| match inner {
        Guard::Compare { .. } => guard_text(inner),
        _ => format!("({})", guard_text(inner)),
    };
    match guard {
        Guard::All(parts) => parts.iter().map(part).collect::<Vec<_>>().join(" and "),
        Guard::Any(parts) => parts.iter().map(part).collect::<Vec<_>>().join(" or "),
        Guard::Compare { left, sign, right } => {
            let sign = sign.word();
            format!("{} {sign} {}", operand_text(left), operand_text(right))
        }
    }
}

/// Returns an operand as `machine.toml` would write it.
pub(super) fn operand_text(operand: &Operand) -> String {
    match operand {
        Operand::Constant(value) => constant_text(value),
        _ => operand
            .reads()
            .map_or_else(String::new, |(name, offset)| with_offset(&name, offset)),
    }
}

fn with_offset(name: &str, offset: i64) -> String {
    match offset {
        0 => name.to_owned(),
        1.. => format!("{name} + {offset}"),
        _ => format!("{name} - {}", offset.unsigned_abs()),
    }
}

/// Returns a constant as `machine.toml` would write it.
pub(crate) fn constant_text(constant: &Constant) -> String {
    match constant {
        Constant::Count(count) => count.to_string(),
        Constant::Text(text) => format!("{text:?}"),
        Constant::Flag(flag) => flag.to_string(),
    }
}

/// Returns an update as `machine.toml` would write it.
pub(crate) fn update_text(update: &Update) -> String {
    match update {
        Update::Constant(value) => constant_text(value),
        Update::Field { name, offset } => with_offset(name, *offset),
        Update::Next(name) => format!("next({name})"),
        Update::Argument(name) => format!("args.{name}"),
        Update::Plus { name, argument } => format!("{name} + args.{argument}"),
    }
}
