//! Data of a machine's own: what a field of `data` holds is a Rust type that the program brings along.
//!
//! The engine keeps it like any other value, in the document and in the journal, and knows of its type what a [`DataType`] says.

use std::fmt;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;

use super::Raw;
use super::fields::{FieldError, checked};
use crate::store::Value;

/// Limits how deep data is nested: a journal's line, in which it stands, has a limit too.
const DEEPEST: usize = 8;

/// A type of which data is.
#[derive(Debug, Clone, Copy)]
pub struct DataType {
    name: &'static str,
    initial: fn() -> Json,
    misfit: fn(Json) -> Option<String>,
}

impl DataType {
    /// Returns what the engine has to know of a type, which the machine file calls by this name.
    pub const fn of<T: Serialize + DeserializeOwned + Default>(name: &'static str) -> Self {
        Self {
            name,
            initial: || serde_json::to_value(T::default()).unwrap_or_default(),
            misfit: |json| {
                serde_json::from_value::<T>(json)
                    .err()
                    .map(|error| error.to_string())
            },
        }
    }

    /// Returns what a loop has at first: the type's default.
    pub(super) fn initial(self) -> Value {
        Value::of_json((self.initial)())
    }

    /// Returns what is to be where this value cannot be read as the type; `None` where it can.
    pub(super) fn expected(self, value: &Value) -> Option<String> {
        let json = value.to_json();
        if depth(&json) > DEEPEST {
            return Some(format!("nested {DEEPEST} deep at most"));
        }
        let why = (self.misfit)(json)?;
        Some(format!("what `{}` can be read from ({why})", self.name))
    }
}

impl PartialEq for DataType {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for DataType {}

impl fmt::Display for DataType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

fn depth(json: &Json) -> usize {
    match json {
        Json::Array(items) => 1 + items.iter().map(depth).max().unwrap_or_default(),
        Json::Object(map) => 1 + map.values().map(depth).max().unwrap_or_default(),
        _ => 0,
    }
}

impl Raw {
    /// Returns the data of a field. Opening has checked that it can be read.
    pub fn data<T: DeserializeOwned + Default>(&self, name: &str) -> T {
        serde_json::from_value(self.value(name).to_json()).unwrap_or_default()
    }

    /// Has the next transition set the data of a field.
    ///
    /// # Errors
    /// It cannot be written as JSON, is nested too deep, or cannot be read back.
    pub fn set_data<T: Serialize>(
        &mut self,
        name: &'static str,
        data: &T,
    ) -> Result<(), FieldError> {
        let json = serde_json::to_value(data).map_err(|error| FieldError {
            field: name.to_owned(),
            found: error.to_string(),
            expected: "what can be written as JSON".to_owned(),
        })?;
        let mut value = Value::of_json(json);
        if let Some(field) = self.table().field(name) {
            value = checked(field, value)?;
        }
        let own = self.own();
        own.edits.retain(|(known, _)| known != name);
        own.edits.push((name.to_owned(), value));
        Ok(())
    }

    /// Has the next transition add lines to the text below the fields.
    pub fn add_text(&mut self, text: &str) {
        self.own().text.extend(text.lines().map(str::to_owned));
    }
}

/// What Rust has the next transition change besides.
#[derive(Debug, Default)]
pub(super) struct Own {
    pub(super) edits: Vec<(String, Value)>,
    pub(super) text: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_of_another_type_is_refused() {
        let data = DataType::of::<Vec<u8>>("Vec<u8>");
        let value = |json: &str| Value::of_json(serde_json::from_str(json).unwrap());
        assert_eq!(data.expected(&value("[1, 2]")), None);
        assert_eq!(
            data.expected(&value("[1, 300]")).unwrap(),
            "what `Vec<u8>` can be read from (invalid value: integer `300`, expected u8)"
        );
    }
}
