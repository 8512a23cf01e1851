//! Conversion between the fields of a journal entry and a machine's typed fields.

use serde::de::DeserializeOwned;
use serde::{Deserialize as _, Serialize};
use serde_json::Value as Json;
use thiserror::Error;

use super::Machine;
use super::table::{FieldInfo, FieldKind};
use crate::store::{FieldValue as _, Fields, Record};

/// A field whose value does not fit the machine.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("field `{field}` is {found}, where the machine expects {expected}")]
pub struct FieldError {
    /// The field.
    pub field: String,
    /// The value that it has.
    pub found: String,
    /// The value that it should have, in words.
    pub expected: String,
}

/// A Rust type of the program's own, whose values a field keeps as JSON.
#[derive(Debug, Clone, Copy)]
pub struct DataType {
    name: &'static str,
    pub(super) initial: fn() -> Json,
    misfit: fn(&Json) -> Option<String>,
}

impl DataType {
    /// Returns the description of a type, which the machine file calls by this name.
    pub const fn new<T: Serialize + DeserializeOwned + Default>(name: &'static str) -> Self {
        Self {
            name,
            initial: || serde_json::to_value(T::default()).unwrap_or_default(),
            misfit: |json| T::deserialize(json).err().map(|error| error.to_string()),
        }
    }
}

/// Types are the same if the machine file calls them by the same name.
impl PartialEq for DataType {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for DataType {}

/// Reads the fields of a loop in a phase. A missing field has its initial value.
pub(super) fn read<M: Machine>(record: &Record, phase: usize) -> Result<M::Fields, FieldError> {
    let mut fields = Fields::new();
    for field in M::TABLE.fields.iter().filter(|one| one.exists_in(phase)) {
        if field.kind != FieldKind::Held {
            fields.insert(field.name.to_owned(), value(record, field)?);
        }
    }
    M::Fields::deserialize(Json::Object(fields)).map_err(|error| FieldError {
        field: M::TABLE.name.to_owned(),
        found: error.to_string(),
        expected: "the machine's fields".to_owned(),
    })
}

/// Returns the value of a field, or its initial one if the loop does not have it.
pub(super) fn value(record: &Record, field: &FieldInfo) -> Result<Json, FieldError> {
    match record.get(field.name) {
        Some(value) => convert(field, value),
        None => Ok(field.first()),
    }
}

/// Converts a value to the kind of its field. Users and shell helpers may have quoted a number, or left a text of digits bare.
pub(super) fn convert(field: &FieldInfo, value: &Json) -> Result<Json, FieldError> {
    let plain = value.to_plain();
    let refuse = |expected: String| FieldError {
        field: field.name.to_owned(),
        found: format!("`{plain}`"),
        expected,
    };
    match field.kind {
        FieldKind::Count => {
            (value.as_count().map(Json::from)).ok_or_else(|| refuse("a whole number".to_owned()))
        }
        FieldKind::Flag => {
            (value.as_flag().map(Json::from)).ok_or_else(|| refuse("true or false".to_owned()))
        }
        FieldKind::Text | FieldKind::Path => Ok(plain.into()),
        FieldKind::OneOf(words) if !words.contains(&&*plain) => {
            Err(refuse(format!("one of {}", words.join(", "))))
        }
        FieldKind::OneOf(_) => Ok(plain.into()),
        FieldKind::Data(DataType { name, misfit, .. }) => match misfit(value) {
            Some(why) => Err(refuse(format!("what `{name}` can be read from ({why})"))),
            None => Ok(value.clone()),
        },
        FieldKind::Held => Ok(value.clone()),
    }
}

/// Returns a machine's fields by name.
pub(super) fn to_map<F: Serialize>(fields: &F) -> Fields {
    match serde_json::to_value(fields) {
        Ok(Json::Object(map)) => map,
        // `Held::set_data` has refused a value that cannot be written.
        _ => Fields::new(),
    }
}
