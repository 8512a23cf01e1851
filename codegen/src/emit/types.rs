//! The Rust types of fields and arguments, and constants of these types.

use super::ident::{camel, type_of_words};
use super::render::{literal, number};
use crate::model::{Argument, Constant, Field, FieldKind, Named};

/// The type of a field or an argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Type {
    Count,
    Flag,
    Text,
    /// An enum of words, by its name.
    Word(String),
    /// The program's own type, by its name.
    Data(String),
}

impl Type {
    pub(super) fn of_field(field: &Named<Field>) -> Self {
        Self::new(&field.kind, type_of_words(&field.name))
    }

    pub(super) fn of_argument(transition: &str, argument: &Named<Argument>) -> Self {
        let words = camel(transition) + &camel(&argument.name);
        Self::new(&argument.kind, words)
    }

    /// Returns the type of a kind. `words` is the name of its enum if it has words.
    pub(super) fn new(kind: &FieldKind, words: String) -> Self {
        match kind {
            FieldKind::Count => Self::Count,
            FieldKind::Flag => Self::Flag,
            FieldKind::Text | FieldKind::Path | FieldKind::Held(_) => Self::Text,
            FieldKind::OneOf(_) => Self::Word(words),
            FieldKind::Data(name) => Self::Data(format!("super::{name}")),
        }
    }

    pub(super) fn is_copy(&self) -> bool {
        matches!(self, Self::Count | Self::Flag | Self::Word(_))
    }

    pub(super) fn name(&self) -> &str {
        match self {
            Self::Count => "u64",
            Self::Flag => "bool",
            Self::Text => "String",
            Self::Word(name) | Self::Data(name) => name,
        }
    }

    /// Returns a copy of a value, or of an `Option` of one.
    pub(super) fn cloned(&self, value: &str) -> String {
        if self.is_copy() {
            value.to_owned()
        } else {
            format!("{value}.clone()")
        }
    }

    /// Returns a value of this type as one of another type.
    pub(super) fn convert(&self, value: &str, to: &Self) -> String {
        match (self, to) {
            (Self::Word(_), Self::Text) => format!("{value}.to_string()"),
            (Self::Word(one), Self::Word(other)) if one != other => {
                format!("{value}.to_string().parse().unwrap_or_default()")
            }
            _ => value.to_owned(),
        }
    }

    /// Returns a constant for a comparison with a value of this type.
    pub(super) fn compared(&self, constant: &Constant) -> String {
        match (constant, self) {
            (Constant::Count(count), _) => number(*count),
            (Constant::Flag(flag), _) => flag.to_string(),
            (Constant::Text(word), Self::Word(name)) => format!("{name}::{}", camel(word)),
            (Constant::Text(text), _) => literal(text),
        }
    }

    /// Returns a constant as a value of this type.
    pub(super) fn constant(&self, constant: &Constant) -> String {
        match (constant, self) {
            (Constant::Text(text), Self::Text) if text.is_empty() => "String::new()".to_owned(),
            (Constant::Text(text), Self::Text) => format!("{}.to_owned()", literal(text)),
            _ => self.compared(constant),
        }
    }
}

/// Returns the value of a field at the start.
pub(super) fn initial(field: &Named<Field>) -> String {
    let ty = Type::of_field(field);
    match field.initial() {
        Some(initial) => ty.constant(&initial),
        None => format!("{}::default()", ty.name()),
    }
}

/// Returns whether a field starts with the default of its type.
pub(super) fn starts_as_default(field: &Named<Field>) -> bool {
    let is_default = match (field.initial(), &field.kind) {
        (Some(Constant::Text(text)), FieldKind::OneOf(words)) => text == **words[0].value,
        (Some(Constant::Text(text)), _) => text.is_empty(),
        (Some(Constant::Count(count)), _) => count == 0,
        (Some(Constant::Flag(flag)), _) => !flag,
        (None, _) => true,
    };
    is_default || !field.within.is_empty()
}
