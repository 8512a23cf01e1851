//! A state document in memory: named fields in order, and everything else in the file.

use std::collections::HashSet;
use std::fmt;

use serde_json::Value as Json;
use thiserror::Error;

use super::lines::Lines;
use super::map::MapDocument;
use super::spec::Form;
use super::value::{FieldValue as _, Fields, parse_plain};

/// The largest document that is read, in bytes.
pub const MAX_BYTES: usize = 1024 * 1024;
/// The most that the YAML reader is given of one document, in bytes.
const MAX_YAML_BYTES: usize = 256 * 1024;
/// The most brackets that are open at once. The reader's time grows with their number for each byte; it accepts 128 of them.
const MAX_OPEN_BRACKETS: usize = 128;
/// The most uses of anchors. Each repeats the value of the anchor, which may itself use anchors.
const MAX_ALIASES: usize = 8;

/// The way in which a machine's documents are written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Style {
    pub(super) form: Form,
    /// Fields with the value, as plain text, that a document has as null.
    pub(super) nulls: &'static [(&'static str, &'static str)],
    /// Fields that a document of lines always writes in quotes.
    pub(super) quoted: &'static [&'static str],
}

/// A state document.
#[derive(Debug, Clone)]
pub struct Document {
    style: Style,
    content: Content,
}

#[derive(Debug, Clone)]
enum Content {
    Lines(Lines),
    Map(MapDocument),
}

impl Document {
    pub(super) fn parse(style: Style, bytes: &[u8]) -> Result<Self, DocumentError> {
        if bytes.len() > MAX_BYTES {
            return Err(DocumentError(format!("has more than {MAX_BYTES} bytes")));
        }
        let text = std::str::from_utf8(bytes).map_err(|error| {
            DocumentError(format!("is not UTF-8 from byte {} on", error.valid_up_to()))
        })?;
        let content = match style.form {
            Form::Lines => Content::Lines(Lines::parse(text)?),
            Form::Json => Content::Map(MapDocument::parse_json(text)?),
            Form::Frontmatter(_) => Content::Map(MapDocument::parse_frontmatter(text)?),
        };
        Ok(Self { style, content })
    }

    pub(super) fn empty(style: Style) -> Self {
        let content = match style.form {
            Form::Lines => Content::Lines(Lines::default()),
            Form::Json => Content::Map(MapDocument::default()),
            Form::Frontmatter(_) => Content::Map(MapDocument::empty_frontmatter()),
        };
        Self { style, content }
    }

    /// Returns the value of a field, or `None` if the document does not have it.
    pub fn get(&self, field: &str) -> Option<Json> {
        let value = match &self.content {
            Content::Lines(lines) => lines.get(field),
            Content::Map(map) => map.get(self.path_of(field)),
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

    pub(super) fn count(&self, field: &str) -> Option<u64> {
        self.get(field)?.as_count()
    }

    /// Sets the value of a field, in its place or at the end. Does nothing if `field` cannot name a field ([`is_field_name`]).
    pub fn set(&mut self, field: &str, value: &Json) {
        if !is_field_name(field) {
            return;
        }
        let is_null = self.null_value(field).is_some_and(|null| null == *value);
        let value = if is_null { &Json::Null } else { value };
        let path = self.path_of(field);
        match &mut self.content {
            Content::Lines(lines) => lines.set(field, value, self.style.quoted.contains(&field)),
            Content::Map(map) => map.set(path, value),
        }
    }

    /// Returns the document with these fields, and with lines added to the text below them if its form has such text. In JSON
    /// the fields come first, in this order; in other forms the user orders them.
    pub(super) fn with(mut self, fields: &Fields, texts: &[String]) -> Self {
        for (field, value) in fields {
            if self.get(field).as_ref() != Some(value) {
                self.set(field, value);
            }
        }
        match &mut self.content {
            Content::Map(map) if self.style.form == Form::Json => map.put_first(fields),
            Content::Map(map) => texts.iter().for_each(|text| map.append(text)),
            Content::Lines(_) => {}
        }
        self
    }

    #[cfg(test)]
    fn fields(&self) -> Fields {
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
        let mut nulls = self.style.nulls.iter();
        let (_, text) = nulls.find(|(name, _)| *name == field)?;
        Some(parse_plain(text))
    }

    /// Returns the keys under which a field is, with dots between them.
    fn path_of<'f>(&self, field: &'f str) -> &'f str {
        match self.style.form {
            Form::Frontmatter(keys) => keys
                .iter()
                .find(|(name, _)| *name == field)
                .map_or(field, |(_, path)| path),
            _ => field,
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

/// Bytes that are no state document, with the reason, which completes a sentence that begins with "the document".
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the document {0}")]
pub struct DocumentError(pub(super) String);

impl DocumentError {
    /// Makes an error of a reader of YAML or JSON.
    pub(super) fn syntax(error: impl fmt::Display) -> Self {
        Self(format!("cannot be read: {error}"))
    }
}

/// Checks that YAML is read in little time and memory. Text in quotes counts also, because only the reader recognizes it.
pub(super) fn check_yaml(yaml: &str) -> Result<(), DocumentError> {
    if yaml.len() > MAX_YAML_BYTES {
        let why = format!("has more than {MAX_YAML_BYTES} bytes of YAML");
        return Err(DocumentError(why));
    }
    let mut open = 0_usize;
    for byte in yaml.bytes() {
        match byte {
            b'[' | b'{' => open += 1,
            b']' | b'}' => open = open.saturating_sub(1),
            _ => continue,
        }
        if open > MAX_OPEN_BRACKETS {
            let why = format!("more than {MAX_OPEN_BRACKETS} brackets are open at once");
            return Err(DocumentError::syntax(why));
        }
    }

    let is_in_token = |c: char| c.is_ascii_alphanumeric() || "_-&*".contains(c);
    let tokens = || yaml.split(|c: char| !is_in_token(c));
    let anchors: HashSet<&str> = tokens()
        .filter_map(|token| token.strip_prefix('&'))
        .collect();
    let aliases = tokens().filter_map(|token| token.strip_prefix('*'));
    if aliases.filter(|name| anchors.contains(name)).count() > MAX_ALIASES {
        let why = format!("anchors are used more than {MAX_ALIASES} times");
        return Err(DocumentError::syntax(why));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
