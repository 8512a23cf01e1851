//! Conversion between the fields of a journal entry and a machine's typed fields.

use serde::{Deserialize as _, Serialize};
use serde_json::Value as Json;
use thiserror::Error;

use super::Machine;
use super::table::{FieldInfo, FieldKind, Table};
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

/// Reads the fields of a loop in a phase. A missing field has its initial value.
///
/// # Errors
/// Returns an error if a value is not of its field's kind.
pub fn read<M: Machine>(
    table: &Table,
    record: &Record,
    phase: usize,
) -> Result<M::Fields, FieldError> {
    let mut fields = Fields::new();
    for field in table.fields.iter().filter(|field| field.exists_in(phase)) {
        if field.kind != FieldKind::Held {
            fields.insert(field.name.to_owned(), value(record, field)?);
        }
    }
    M::Fields::deserialize(Json::Object(fields)).map_err(|error| FieldError {
        field: table.name.to_owned(),
        found: error.to_string(),
        expected: "the machine's fields".to_owned(),
    })
}

/// Returns the value of a field, or its initial one if the loop does not have it.
pub(super) fn value(record: &Record, field: &FieldInfo) -> Result<Json, FieldError> {
    record
        .get(field.name)
        .map_or_else(|| Ok(field.first()), |value| convert(field, value))
}

/// Converts a value to the kind of its field. Users and shell helpers may have quoted a number, or left a text of digits bare.
///
/// # Errors
/// Returns an error if it is not of that kind.
pub fn convert(field: &FieldInfo, value: &Json) -> Result<Json, FieldError> {
    let (converted, expected) = match field.kind {
        FieldKind::Count => (
            value.as_count().map(Json::from),
            "a whole number".to_owned(),
        ),
        FieldKind::Flag => (value.as_flag().map(Json::from), "true or false".to_owned()),
        FieldKind::Text | FieldKind::Path => return Ok(value.to_plain().into()),
        FieldKind::OneOf(words) => {
            let word = words.iter().find(|word| **word == value.to_plain());
            (
                word.map(|word| (*word).into()),
                format!("one of {}", words.join(", ")),
            )
        }
        FieldKind::Data(kind) => match kind.expected(value) {
            Some(expected) => (None, expected),
            None => return Ok(value.clone()),
        },
        FieldKind::Held => return Ok(value.clone()),
    };
    converted.ok_or_else(|| FieldError {
        field: field.name.to_owned(),
        found: format!("`{}`", value.to_plain()),
        expected,
    })
}

/// Returns a machine's fields by name.
pub(super) fn to_map<F: Serialize>(fields: &F) -> Fields {
    match serde_json::to_value(fields) {
        Ok(Json::Object(map)) => map,
        // `Held::set_data` has refused a value that cannot be written.
        _ => Fields::new(),
    }
}
