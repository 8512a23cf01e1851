//! A document that has null for certain values of certain fields: everyone else sees the values.

use super::document::{Document, DocumentError};
use super::value::Value;

/// A document in which these fields have these values as null.
#[derive(Debug, Clone)]
struct Nulls {
    document: Box<dyn Document>,
    values: Vec<(String, Value)>,
}

/// Returns a document whose null is read as the values of fields, and that writes null for them.
pub(super) fn read_as(
    document: Box<dyn Document>,
    values: Vec<(String, Value)>,
) -> Box<dyn Document> {
    if values.is_empty() {
        return document;
    }
    Box::new(Nulls { document, values })
}

impl Nulls {
    /// Returns the value that a field has as null.
    fn of(&self, field: &str) -> Option<&Value> {
        super::value::value_in(&self.values, field)
    }

    fn read(&self, field: &str, value: Value) -> Value {
        match value {
            Value::Null => self.of(field).cloned().unwrap_or(Value::Null),
            other => other,
        }
    }
}

impl Document for Nulls {
    fn get(&self, field: &str) -> Option<Value> {
        self.document
            .get(field)
            .map(|value| self.read(field, value))
    }

    fn set(&mut self, field: &str, value: &Value) {
        let is_null =
            |null: &Value| value.as_list().is_none() && value.to_plain() == null.to_plain();
        if self.of(field).is_some_and(is_null) {
            self.document.set(field, &Value::Null);
        } else {
            self.document.set(field, value);
        }
    }

    fn append(&mut self, text: &str) {
        self.document.append(text);
    }

    fn remove(&mut self, field: &str) {
        self.document.remove(field);
    }

    fn put_first(&mut self, fields: &[(String, Value)]) {
        self.document.put_first(fields);
    }

    fn fields(&self) -> Vec<(String, Value)> {
        let fields = self.document.fields().into_iter();
        fields
            .map(|(field, value)| {
                let value = self.read(&field, value);
                (field, value)
            })
            .collect()
    }

    fn to_bytes(&self) -> Vec<u8> {
        self.document.to_bytes()
    }

    fn check(&self) -> Result<(), DocumentError> {
        self.document.check()
    }

    fn boxed_clone(&self) -> Box<dyn Document> {
        Box::new(self.clone())
    }
}
