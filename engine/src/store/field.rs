//! A field of a machine: its kind, its initial value, and its form in a document.

use std::fmt::Display;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;

use super::value::{to_count, to_plain};

/// Returns the value of a field at the start.
pub type InitialValue = fn() -> Json;

/// A field of a machine.
#[derive(Debug)]
pub struct FieldInfo {
    /// The name.
    pub name: &'static str,
    /// The doc.
    pub doc: &'static str,
    /// The kind of its value.
    pub kind: FieldKind,
    /// The value at the start.
    pub initial: InitialValue,
    /// Whether a start takes it.
    pub at_start: bool,
    /// Whether a start must give it.
    pub required: bool,
    /// The indices of its phases, or `None` for all. In any other phase the document has null.
    pub within: Option<&'static [usize]>,
    /// The keys in a document of frontmatter, with dots between them, or `None` for the name.
    pub key: Option<&'static str>,
    /// The value, as plain text, that the document has as null.
    pub null: Option<&'static str>,
    /// Whether only the machine writes it: a guard reads it, or an edge sets it.
    pub owned: bool,
    /// The smallest and largest count of an edit by hand, or `None` if such an edit is undone.
    pub edit: Option<(u64, u64)>,
    /// Whether a document of lines has it in quotes, because it is text of people.
    pub quoted: bool,
}

/// The kind of a field's value.
#[derive(Debug, Clone, Copy)]
pub enum FieldKind {
    /// A whole number.
    Count,
    /// Any text.
    Text,
    /// A path.
    Path,
    /// true or false.
    Flag,
    /// One of some words.
    OneOf(&'static [&'static str]),
    /// Data that the program defines, with a check of a value ([`is_data`]).
    Data(fn(&Json) -> Result<(), String>),
    /// Written by the engine.
    Engine,
}

/// Returns a sentence about a field whose value does not fit the machine.
pub(crate) fn misfit(field: &str, found: impl Display, expected: impl Display) -> String {
    format!("field `{field}` is {found}, where the machine expects {expected}")
}

impl FieldInfo {
    /// Returns whether the engine writes it.
    pub fn is_engine_field(&self) -> bool {
        matches!(self.kind, FieldKind::Engine)
    }

    /// Returns whether it exists in a phase.
    pub fn exists_in(&self, phase: usize) -> bool {
        self.within.is_none_or(|phases| phases.contains(&phase))
    }

    /// Converts a value to the kind of the field. Users and shell helpers may have quoted a number,
    /// or left a text of digits bare. An error is a sentence.
    pub(crate) fn convert(&self, value: &Json) -> Result<Json, String> {
        let plain = to_plain(value);
        let converted = match self.kind {
            FieldKind::Count => to_count(value)
                .map(Json::from)
                .ok_or("a whole number".to_owned()),
            FieldKind::Flag => match &*plain {
                "true" => Ok(true.into()),
                "false" => Ok(false.into()),
                _ => Err("true or false".to_owned()),
            },
            FieldKind::OneOf(words) if words.contains(&&*plain) => Ok(plain.as_str().into()),
            FieldKind::OneOf(words) => Err(format!("one of {}", words.join(", "))),
            FieldKind::Data(check) => check(value).map(|()| value.clone()),
            FieldKind::Text | FieldKind::Path => Ok(plain.as_str().into()),
            FieldKind::Engine => Ok(value.clone()),
        };
        converted.map_err(|expected| misfit(self.name, format!("`{plain}`"), expected))
    }

    /// Returns whether an edit by hand may set this value.
    pub(super) fn takes_edit(&self, value: &Json) -> bool {
        let (Some((min, max)), Ok(value)) = (self.edit, self.convert(value)) else {
            return false;
        };
        value
            .as_u64()
            .is_none_or(|count| (min..=max).contains(&count))
    }
}

/// Checks that a type of the program can be read from a value.
pub fn is_data<T: DeserializeOwned>(json: &Json) -> Result<(), String> {
    let read = T::deserialize(json).map(|_| ());
    read.map_err(|why| format!("a value of its type ({why})"))
}

/// Returns the default of a type as a field's value.
pub fn default_data<T: Serialize + Default>() -> Json {
    serde_json::to_value(T::default()).unwrap_or_default()
}
