//! The form `json`: one object, a key a line, two spaces of indentation, a final line end.

use std::collections::HashSet;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value as JsonValue};

use super::document::DocumentError;
use super::value::{self, Value};

/// A document of JSON.
#[derive(Debug, Clone, Default)]
pub(super) struct Json {
    map: Map<String, JsonValue>,
}

impl Json {
    pub(super) fn parse(text: &str) -> Result<Self, DocumentError> {
        let mut reader = serde_json::Deserializer::from_str(text);
        let entries: Vec<(String, JsonValue)> =
            read_entries(&mut reader).map_err(DocumentError::syntax)?;
        reader.end().map_err(DocumentError::syntax)?;
        Ok(Self {
            map: entries.into_iter().collect(),
        })
    }

    pub(super) fn get(&self, field: &str) -> Option<Value> {
        self.map.get(field).cloned().map(Value::of_json)
    }

    pub(super) fn set(&mut self, field: &str, value: &Value) {
        self.map.insert(field.to_owned(), value.to_json());
    }

    pub(super) fn remove(&mut self, field: &str) {
        self.map.shift_remove(field);
    }

    pub(super) fn put_first(&mut self, fields: &[(String, Value)]) {
        let mut others = std::mem::take(&mut self.map);
        for (name, _) in fields {
            self.map.extend(others.shift_remove_entry(name));
        }
        self.map.extend(others);
    }

    pub(super) fn fields(&self) -> Vec<(String, Value)> {
        let fields = self.map.iter();
        fields
            .map(|(name, value)| (name.clone(), Value::of_json(value.clone())))
            .collect()
    }

    pub(super) fn to_text(&self) -> String {
        let json = JsonValue::Object(self.map.clone());
        value::shown(&format!("{json:#}")) + "\n"
    }
}

/// Reads an object into its keys and values.
///
/// A key that stands twice is refused, because readers differ in which of them they take.
pub(super) fn read_entries<'de, D: Deserializer<'de>, V: Deserialize<'de>>(
    from: D,
) -> Result<Vec<(String, V)>, D::Error> {
    from.deserialize_map(Entries(PhantomData))
}

struct Entries<V>(PhantomData<V>);

impl<'de, V: Deserialize<'de>> Visitor<'de> for Entries<V> {
    type Value = Vec<(String, V)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut entries: Self::Value = Vec::new();
        let mut names = HashSet::new();
        while let Some((name, value)) = map.next_entry::<String, V>()? {
            if !names.insert(name.clone()) {
                return Err(A::Error::custom(format!("the key `{name}` stands twice")));
            }
            entries.push((name, value));
        }
        Ok(entries)
    }
}
