//! A state document in memory: named fields in order, and whatever else stands in the file.

use std::fmt;

use serde_json::Value as Json;
use thiserror::Error;

use super::lines::Lines;
use super::map::MapDocument;
use super::spec::Form;
use super::value::{FieldValue as _, Fields, parse_plain};

/// The largest document that is read, in bytes.
pub const MAX_BYTES: usize = 1024 * 1024;

/// Fields with the value, as plain text, that a document has as null.
pub(super) type Nulls = &'static [(&'static str, &'static str)];

/// Fields that a document of lines always writes in quotes.
pub(super) type Quoted = &'static [&'static str];

/// A state document.
#[derive(Debug, Clone)]
pub struct Document {
    content: Content,
    nulls: Nulls,
    quoted: Quoted,
}

/// The content of a document, by its form.
#[derive(Debug, Clone)]
enum Content {
    Lines(Lines),
    Map(MapDocument),
}

impl Document {
    /// Reads a document of a form.
    pub(super) fn parse(
        form: Form,
        nulls: Nulls,
        quoted: Quoted,
        bytes: &[u8],
    ) -> Result<Self, DocumentError> {
        if bytes.len() > MAX_BYTES {
            return Err(DocumentError::too_large());
        }
        let text = std::str::from_utf8(bytes).map_err(|error| {
            DocumentError(format!("is not UTF-8 from byte {} on", error.valid_up_to()))
        })?;
        let content = match form {
            Form::Lines => Content::Lines(Lines::parse(text)?),
            Form::Json => Content::Map(MapDocument::parse_json(text)?),
            Form::Frontmatter(keys) => Content::Map(MapDocument::parse_frontmatter(keys, text)?),
        };
        Ok(Self {
            content,
            nulls,
            quoted,
        })
    }

    /// Makes a document without fields.
    pub(super) fn empty(form: Form, nulls: Nulls, quoted: Quoted) -> Self {
        let content = match form {
            Form::Lines => Content::Lines(Lines::default()),
            Form::Json => Content::Map(MapDocument::default()),
            Form::Frontmatter(keys) => Content::Map(MapDocument::empty_frontmatter(keys)),
        };
        Self {
            content,
            nulls,
            quoted,
        }
    }

    /// Returns the value of a field, or `None` if the document does not have it.
    pub fn get(&self, field: &str) -> Option<Json> {
        let value = match &self.content {
            Content::Lines(lines) => lines.get(field),
            Content::Map(map) => map.get(field),
        }?;
        match value {
            Json::Null => Some(self.null_value(field).unwrap_or_default()),
            value => Some(value),
        }
    }

    /// Returns the text of a field, without quotes.
    pub fn text(&self, field: &str) -> Option<String> {
        Some(self.get(field)?.to_plain().into_owned())
    }

    /// Sets the value of a field, in its place or at the end. Does nothing if `field` cannot name a field ([`is_field_name`]).
    pub fn set(&mut self, field: &str, value: &Json) {
        if !is_field_name(field) {
            return;
        }
        let is_null = self.null_value(field).is_some_and(|null| null == *value);
        let value = if is_null { &Json::Null } else { value };
        match &mut self.content {
            Content::Lines(lines) => lines.set(field, value, self.quoted.contains(&field)),
            Content::Map(map) => map.set(field, value),
        }
    }

    /// Adds lines to the text below the fields. Does nothing in a form that has no such text.
    pub fn append(&mut self, text: &str) {
        if let Content::Map(map) = &mut self.content {
            map.append(text);
        }
    }

    /// Puts these fields first, in this order. Does nothing in forms in which the user orders the fields.
    pub fn put_first(&mut self, fields: &Fields) {
        if let Content::Map(map) = &mut self.content {
            map.put_first(fields);
        }
    }

    /// Returns the fields as they stand in the file.
    #[cfg(any(test, fuzzing))]
    pub(super) fn fields(&self) -> Fields {
        match &self.content {
            Content::Lines(lines) => lines.fields(),
            Content::Map(map) => map.fields(),
        }
    }

    /// Returns the bytes of the file.
    pub fn to_bytes(&self) -> Vec<u8> {
        match &self.content {
            Content::Lines(lines) => lines.to_text(),
            Content::Map(map) => map.to_text(),
        }
        .into_bytes()
    }

    /// Returns the value of which null is the written form for this field.
    fn null_value(&self, field: &str) -> Option<Json> {
        let (_, text) = self.nulls.iter().find(|(name, _)| *name == field)?;
        Some(parse_plain(text))
    }
}

/// Returns whether `name` can name a field: an ASCII letter or `_`, then letters, digits, `_` or `-`, at most 128, and no
/// word that YAML reads as something else than text.
pub fn is_field_name(name: &str) -> bool {
    name.len() <= 128
        && name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
        && !["null", "true", "false"]
            .iter()
            .any(|word| name.eq_ignore_ascii_case(word))
}

/// Bytes that are no state document, with the reason: what follows "the document".
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the document {0}")]
pub struct DocumentError(pub(super) String);

impl DocumentError {
    pub(super) fn too_large() -> Self {
        Self(format!("has more than {MAX_BYTES} bytes"))
    }

    /// Makes an error of a reader of YAML or JSON.
    pub(super) fn syntax(error: impl fmt::Display) -> Self {
        Self(format!("cannot be read: {error}"))
    }
}

#[cfg(test)]
mod tests;
