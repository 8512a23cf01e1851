//! From a state document to a machine's fields and back.
//!
//! The store still keeps fields by name; this file is the adapter between it and the generated `Fields`.

use serde::Serialize;
use serde_json::{Map, Value as Json};

use super::Machine;
use super::table::{FieldInfo, FieldKind, Table};
use crate::store::{Record, Value};

/// A field that does not hold what the machine says.
#[derive(Debug, Clone, PartialEq, Eq, derive_more::Display, derive_more::Error)]
#[display("field `{field}` is {found}, where the machine expects {expected}")]
pub struct FieldError {
    /// The field.
    pub field: String,
    /// What the document has.
    pub found: String,
    /// What it should have.
    pub expected: String,
}

/// Reads the fields of a document whose loop is in a phase. A missing field has its initial value.
///
/// # Errors
/// A value is not of its field's kind.
pub fn read<M: Machine>(
    table: &Table,
    record: &Record,
    phase: usize,
) -> Result<M::Fields, FieldError> {
    let mut map = Map::new();
    for field in machine_fields(table).filter(|field| field.exists_in(phase)) {
        map.insert(
            field.name.to_owned(),
            json(field, &value(table, record, field.name)?),
        );
    }
    serde_json::from_value(Json::Object(map)).map_err(|error| FieldError {
        field: table.name.to_owned(),
        found: error.to_string(),
        expected: "the machine's fields".to_owned(),
    })
}

/// Returns the fields that differ, with their new values.
pub(super) fn changes<F: Serialize>(table: &Table, before: &F, after: &F) -> Vec<(String, Value)> {
    let (mut before, mut after) = (map(before), map(after));
    let changed = machine_fields(table).filter_map(|field| {
        let old = before.remove(field.name);
        let new = after.remove(field.name)?;
        let is_changed = old.as_ref() != Some(&new);
        is_changed.then(|| (field.name.to_owned(), written(field, new)))
    });
    changed.collect()
}

/// Returns a field's value for an error.
pub(super) fn shown<F: Serialize>(fields: &F, name: &str) -> String {
    map(fields)
        .get(name)
        .map_or_else(String::new, Json::to_string)
}

/// Returns a field's value, or its initial one if the document does not have it, whatever the phase.
///
/// # Errors
/// The value is not of the field's kind.
pub fn value(table: &Table, record: &Record, name: &str) -> Result<Value, FieldError> {
    let Some(field) = table.field(name) else {
        return Err(FieldError {
            field: name.to_owned(),
            found: "not declared".to_owned(),
            expected: format!("a field of {}", table.file),
        });
    };
    match record.get(name) {
        Some(value) => checked(field, value),
        None => Ok(field.first()),
    }
}

/// Checks that a field can have a value.
///
/// # Errors
/// It is not of the field's kind.
pub fn checked(field: &FieldInfo, value: Value) -> Result<Value, FieldError> {
    let expected = match field.kind {
        FieldKind::Count if value.as_count().is_none() => "a whole number".to_owned(),
        FieldKind::Flag if value.as_flag().is_none() => "true or false".to_owned(),
        FieldKind::OneOf(words) if !words.contains(&value.to_plain().as_ref()) => {
            format!("one of {}", words.join(", "))
        }
        FieldKind::Data(kind) => match kind.expected(&value) {
            Some(expected) => expected,
            None => return Ok(value),
        },
        _ => return Ok(value),
    };
    Err(FieldError {
        field: field.name.to_owned(),
        found: format!("`{}`", value.to_plain()),
        expected,
    })
}

/// Returns the fields that the machine's own rules read and set.
fn machine_fields(table: &Table) -> impl Iterator<Item = &FieldInfo> {
    let fields = table.fields.iter();
    fields.filter(|field| field.kind != FieldKind::Held)
}

fn map<F: Serialize>(fields: &F) -> Map<String, Json> {
    match serde_json::to_value(fields) {
        Ok(Json::Object(map)) => map,
        // `Held::set_data` has refused what cannot be written.
        _ => Map::new(),
    }
}

/// Converts a value of a document to what serde reads. Users and older programs may have quoted a number, or left a
/// text of digits bare.
fn json(field: &FieldInfo, value: &Value) -> Json {
    match field.kind {
        FieldKind::Count => value.as_count().into(),
        FieldKind::Flag => value.as_flag().into(),
        FieldKind::Text | FieldKind::Path | FieldKind::OneOf(_) => value.to_plain().into(),
        FieldKind::Data(_) | FieldKind::Held => value.to_json(),
    }
}

/// Converts what serde wrote to a value in the form of its field.
fn written(field: &FieldInfo, json: Json) -> Value {
    match (field.kind, json) {
        // The store refuses a number that could not be read again.
        (FieldKind::Count, Json::Number(number)) if let Some(count) = number.as_u64() => {
            Value::Count(count)
        }
        (FieldKind::Path | FieldKind::OneOf(_), Json::String(text)) => Value::Word(text),
        (FieldKind::Text, Json::String(text)) => Value::Text(text),
        (_, json) => Value::of_json(json),
    }
}
