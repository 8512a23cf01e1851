//! Fields: their types and their values at the start.

use derive_more::Display;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

use super::tables::many;
use super::texts::{Key, TypeName, Word};
use super::{At, AtStart, EngineField, Machine, Named};

/// `fields.x`.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct Field {
    /// The kind of its value, from the one key that declares it.
    #[serde(skip_deserializing)]
    pub kind: FieldKind,
    /// The type in Rust.
    #[serde(skip_deserializing)]
    pub(crate) ty: String,
    pub(super) r#type: Option<FieldKind>,
    #[serde(default, deserialize_with = "many")]
    pub(super) one_of: Vec<At<Word>>,
    pub(super) data: Option<TypeName>,
    pub(super) holds: Option<EngineField>,
    /// The value at the start, by default 0, false, the first word of a `one_of` or an empty text.
    pub(crate) initial: Option<At<Constant>>,
    /// The value that the document writes as null.
    pub(crate) null: Option<At<Constant>>,
    #[serde(default)]
    pub(crate) at_start: AtStart,
    /// The keys in a document of frontmatter, such as `loop.phase`, by default the name.
    pub(crate) key: Option<At<Key>>,
    /// The smallest count that an edit by hand may set.
    pub(crate) min: Option<At<u64>>,
    /// The largest count that an edit by hand may set.
    pub(crate) max: Option<At<u64>>,
    /// The phases in which the field exists. If empty, it exists in all.
    #[serde(rename(deserialize = "in"), default, deserialize_with = "many")]
    pub(crate) within: Vec<At<String>>,
    #[serde(default)]
    pub(crate) doc: String,
}

/// The kind of a field or an argument.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize, Display)]
#[serde(rename_all = "kebab-case")]
pub enum FieldKind {
    /// A whole number from 0.
    #[default]
    #[display("a count")]
    Count,
    /// Any text.
    #[display("text")]
    Text,
    /// A path relative to the root, or absolute.
    #[display("a path")]
    Path,
    /// true or false.
    #[display("a flag")]
    Flag,
    /// One of some words. The first is the initial one.
    #[display("one of a list of words")]
    #[serde(skip_deserializing)]
    OneOf(Vec<At<Word>>),
    /// Data of this type, which is in scope at `machine!`. Rust sets it.
    #[display("data of the program")]
    #[serde(skip_deserializing)]
    Data(String),
    /// A value that the engine sets, never a transition.
    #[display("set by the engine")]
    #[serde(skip_deserializing)]
    Engine(EngineField),
}

/// A constant of `machine.toml`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, Display)]
#[serde(
    untagged,
    expecting = "expected a string, true, false, or a whole number from 0 to 9223372036854775807"
)]
pub enum Constant {
    /// A whole number.
    Count(#[serde(deserialize_with = "count")] u64),
    /// A text, or a word of a `one_of`.
    #[display("{_0:?}")]
    Text(String),
    /// true or false.
    Flag(bool),
}

fn count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    u64::try_from(i64::deserialize(deserializer)?).map_err(D::Error::custom)
}

impl FieldKind {
    /// Returns the kind of a value of `one_of`, which is empty if the file does not have it.
    pub(super) fn from_words(words: &[At<Word>]) -> Option<Self> {
        (!words.is_empty()).then(|| Self::OneOf(words.to_vec()))
    }
}

impl Field {
    /// Returns whether the field exists in a phase.
    pub fn exists_in(&self, phase: &str) -> bool {
        self.within.is_empty() || self.within.iter().any(|known| **known == phase)
    }

    /// Returns the value that a document has as null, which is the stored form of a phase.
    pub(crate) fn null(&self, machine: &Machine) -> Option<Constant> {
        match (&self.kind, &**self.null.as_ref()?) {
            (FieldKind::Engine(_), Constant::Text(name)) => {
                let phase = Named::find(&machine.phases, name)?;
                Some(Constant::Text(phase.stored_name().to_owned()))
            }
            (_, value) => Some(value.clone()),
        }
    }

    /// Returns the value at the start. `None` for data and for the engine's own fields.
    pub(crate) fn initial(&self) -> Option<Constant> {
        let initial = self.initial.as_deref().cloned();
        initial.or_else(|| self.default_value())
    }

    /// Returns whether the field starts with the default of its type in Rust.
    pub(crate) fn starts_as_default(&self) -> bool {
        !self.within.is_empty() || self.initial() == self.default_value()
    }

    fn default_value(&self) -> Option<Constant> {
        match &self.kind {
            FieldKind::Count => Some(Constant::Count(0)),
            FieldKind::Flag => Some(Constant::Flag(false)),
            FieldKind::Text | FieldKind::Path => Some(Constant::Text(String::new())),
            FieldKind::OneOf(words) => Some(Constant::Text(words.first()?.to_string())),
            FieldKind::Data(_) | FieldKind::Engine(_) => None,
        }
    }
}

impl Named<Field> {
    /// Returns the place in the document: keys with `.` between them.
    pub(crate) fn place(&self) -> &str {
        self.key.as_ref().map_or(&self.name, |key| key.as_str())
    }
}
