//! Data of a machine's own: a field of `data` holds a Rust type that the program brings along.
//!
//! The engine keeps it as JSON, in the document and in the journal. A [`DataType`] says which JSON the type can be read from.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;

use super::fields::{FieldError, convert};
use super::{Held, Machine, Raw};

/// A type of which data is.
#[derive(Debug, Clone, Copy)]
pub struct DataType {
    name: &'static str,
    initial: fn() -> Json,
    misfit: fn(&Json) -> Option<String>,
}

impl DataType {
    /// Returns the description of a type, which the machine file calls by this name.
    pub const fn of<T: Serialize + DeserializeOwned + Default>(name: &'static str) -> Self {
        Self {
            name,
            initial: || serde_json::to_value(T::default()).unwrap_or_default(),
            misfit: |json| T::deserialize(json).err().map(|error| error.to_string()),
        }
    }

    /// Returns the initial value: the type's default.
    pub(super) fn initial(self) -> Json {
        (self.initial)()
    }

    /// Returns the expected type if this value cannot be read as the type.
    pub(super) fn expected(self, value: &Json) -> Option<String> {
        let why = (self.misfit)(value)?;
        Some(format!("what `{}` can be read from ({why})", self.name))
    }
}

impl PartialEq for DataType {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for DataType {}

impl Raw {
    /// Returns the data of a field. Opening has checked that it can be read.
    pub fn data<T: DeserializeOwned + Default>(&self, name: &str) -> T {
        T::deserialize(self.value(name)).unwrap_or_default()
    }
}

impl<M: Machine> Held<M> {
    /// Sets the data of a field with the next transition.
    ///
    /// # Errors
    /// Returns an error if it cannot be written as JSON, or cannot be read back.
    pub fn set_data<T: Serialize>(
        &mut self,
        name: &'static str,
        data: &T,
    ) -> Result<(), FieldError> {
        let mut value = serde_json::to_value(data).map_err(|error| FieldError {
            field: name.to_owned(),
            found: error.to_string(),
            expected: "a value of JSON".to_owned(),
        })?;
        if let Some(field) = M::TABLE.field(name) {
            value = convert(field, &value)?;
        }
        self.raw.0.edits.insert(name.to_owned(), value);
        Ok(())
    }

    /// Adds lines to the text below the fields with the next transition.
    pub fn add_text(&mut self, text: &str) {
        let lines = text.lines().map(str::to_owned);
        self.raw.0.text.extend(lines);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn data_of_another_type_is_refused() {
        let data = DataType::of::<Vec<u8>>("Vec<u8>");
        assert_eq!(data.expected(&json!([1, 2])), None);
        assert_eq!(
            data.expected(&json!([1, 300])).unwrap(),
            "what `Vec<u8>` can be read from (invalid value: integer `300`, expected u8)"
        );
    }
}
