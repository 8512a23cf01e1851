//! A state document in memory: named fields in order, and whatever else stands in the file.

use super::lines::Lines;
use super::map::MapDocument;
use super::spec::Form;
use super::value::Value;
use super::yaml::MAX_YAML_BYTES;

/// The largest document that is read, in bytes.
pub const MAX_BYTES: usize = 1024 * 1024;

/// Fields with the value, as plain text, that a document has as null.
pub(super) type Nulls = &'static [(&'static str, &'static str)];

/// A state document.
#[derive(Debug, Clone)]
pub struct Document {
    content: Content,
    nulls: Nulls,
}

/// The content of a document, by its form.
#[derive(Debug, Clone)]
enum Content {
    Lines(Lines),
    Map(MapDocument),
}

impl Document {
    /// Reads a document of a form.
    pub(super) fn parse(form: Form, nulls: Nulls, bytes: &[u8]) -> Result<Self, DocumentError> {
        if bytes.len() > MAX_BYTES {
            return Err(DocumentError::TooLarge);
        }
        let text = std::str::from_utf8(bytes).map_err(|error| DocumentError::NotUtf8 {
            at: error.valid_up_to(),
        })?;

        let content = match form {
            Form::Lines => Content::Lines(Lines::parse(text)?),
            Form::Json => Content::Map(MapDocument::parse_json(text)?),
            Form::Frontmatter(keys) => Content::Map(MapDocument::parse_frontmatter(keys, text)?),
        };
        Ok(Self { content, nulls })
    }

    /// Makes a document without fields.
    pub(super) fn empty(form: Form, nulls: Nulls) -> Self {
        let content = match form {
            Form::Lines => Content::Lines(Lines::default()),
            Form::Json => Content::Map(MapDocument::default()),
            Form::Frontmatter(keys) => Content::Map(MapDocument::empty_frontmatter(keys)),
        };
        Self { content, nulls }
    }

    /// Returns the value of a field, or `None` if the document does not have it.
    pub fn get(&self, field: &str) -> Option<Value> {
        let value = match &self.content {
            Content::Lines(lines) => lines.get(field),
            Content::Map(map) => map.get(field),
        }?;
        Some(self.resolve_null(field, value))
    }

    /// Gives a field a value, in its place or at the end. A list stays a list if it is given as the text of one.
    ///
    /// Does nothing if `field` cannot name a field ([`is_field_name`]).
    pub fn set(&mut self, field: &str, value: &Value) {
        if !is_field_name(field) {
            return;
        }
        let is_null = self
            .null_value(field)
            .is_some_and(|null| value.as_list().is_none() && value.to_plain() == null.to_plain());
        let list = match (self.get(field), value.as_str()) {
            (Some(Value::List(_)), Some(text)) => serde_json::from_str(text).ok(),
            _ => None,
        };
        let value = match list {
            _ if is_null => &Value::Null,
            Some(list) => &Value::List(list),
            None => value,
        };

        match &mut self.content {
            Content::Lines(lines) => lines.set(field, value),
            Content::Map(map) => map.set(field, value),
        }
    }

    /// Adds lines to the text below the fields. Does nothing in a form that has no such text.
    pub fn append(&mut self, text: &str) {
        if let Content::Map(map) = &mut self.content {
            map.append(text);
        }
    }

    /// Removes a field.
    pub fn remove(&mut self, field: &str) {
        match &mut self.content {
            Content::Lines(lines) => lines.remove(field),
            Content::Map(map) => map.remove(field),
        }
    }

    /// Puts these fields first, in this order. Does nothing in forms in which the user orders the fields.
    pub fn put_first(&mut self, fields: &[(String, Value)]) {
        if let Content::Map(map) = &mut self.content {
            map.put_first(fields);
        }
    }

    /// Returns all fields: in the order of the file, but those below other keys last.
    pub fn fields(&self) -> Vec<(String, Value)> {
        let fields = match &self.content {
            Content::Lines(lines) => lines.fields(),
            Content::Map(map) => map.fields(),
        };
        fields
            .into_iter()
            .map(|(field, value)| {
                let value = self.resolve_null(&field, value);
                (field, value)
            })
            .collect()
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
    fn null_value(&self, field: &str) -> Option<Value> {
        let (_, text) = self.nulls.iter().find(|(name, _)| *name == field)?;
        Some(Value::from_plain(text))
    }

    fn resolve_null(&self, field: &str, value: Value) -> Value {
        match value {
            Value::Null => self.null_value(field).unwrap_or(Value::Null),
            value => value,
        }
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

/// Why bytes are no state document.
#[derive(
    Debug, Clone, PartialEq, Eq, derive_more::Display, derive_more::Error, miette::Diagnostic,
)]
pub enum DocumentError {
    /// Larger than [`MAX_BYTES`].
    #[display("the document has more than {MAX_BYTES} bytes")]
    #[diagnostic(code(claudex::store::document_too_large))]
    TooLarge,
    /// More for the YAML reader than `MAX_YAML_BYTES`.
    #[display("the document has more than {MAX_YAML_BYTES} bytes of YAML")]
    #[diagnostic(code(claudex::store::document_yaml_too_large))]
    YamlTooLarge,
    /// Not UTF-8.
    #[display("the document is not UTF-8 from byte {at} on")]
    #[diagnostic(code(claudex::store::document_not_utf8))]
    NotUtf8 {
        /// The first byte that is wrong, from 0.
        at: usize,
    },
    /// Not YAML or JSON, a line that is no entry, or a key that stands twice.
    #[display("the document cannot be read: {reason}")]
    #[diagnostic(code(claudex::store::document_syntax))]
    Syntax {
        /// What is wrong, with the line.
        reason: String,
    },
    /// No entry at all, such as a file that was cut off.
    #[display("the document is not made of `key: value` lines")]
    #[diagnostic(code(claudex::store::document_not_lines))]
    NotLines,
    /// No YAML between two lines `---`.
    #[display("the document does not begin with `---`, `key: value` lines and `---`")]
    #[diagnostic(code(claudex::store::document_not_frontmatter))]
    NotFrontmatter,
}

impl DocumentError {
    /// Makes a [`DocumentError::Syntax`] of what a reader returned.
    pub(super) fn syntax(error: impl ToString) -> Self {
        Self::Syntax {
            reason: error.to_string(),
        }
    }
}

#[cfg(test)]
mod tests;
