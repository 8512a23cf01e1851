//! What every form of state document can do. The store is written against this trait alone.

use std::fmt::Debug;

use super::value::Value;

/// The largest document that is read, in bytes.
pub const MAX_BYTES: usize = 1024 * 1024;

/// A state document in memory: named fields in order, and whatever else stands in the file.
///
/// Writing it back without a change gives the same bytes.
pub trait Document: Debug + Send + Sync {
    /// Returns the value of a field; `None` if it is not there.
    fn get(&self, field: &str) -> Option<Value>;
    /// Gives a field a value, where it stands or at the end. Does nothing if `field` is no name of a field
    /// ([`is_field_name`]).
    fn set(&mut self, field: &str, value: &Value);
    /// Adds lines to the text below the fields. Does nothing in a form that has no such text.
    fn append(&mut self, _text: &str) {}
    /// Takes a field away.
    fn remove(&mut self, field: &str);
    /// Puts these fields first, in this order, where the form has an order and no places of its own.
    fn put_first(&mut self, _fields: &[(String, Value)]) {}
    /// Returns all fields in the order of the file.
    fn fields(&self) -> Vec<(String, Value)>;
    /// Returns the bytes of the file.
    fn to_bytes(&self) -> Vec<u8>;
    /// Returns whether what it says now is within what is read again: its size, and its shape.
    ///
    /// # Errors
    /// What its bytes would be refused for.
    fn check(&self) -> Result<(), DocumentError>;
    /// Returns a copy.
    fn boxed_clone(&self) -> Box<dyn Document>;
}

impl Clone for Box<dyn Document> {
    fn clone(&self) -> Self {
        self.boxed_clone()
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
    /// Not UTF-8.
    #[display("the document is not UTF-8 from byte {at} on")]
    #[diagnostic(code(claudex::store::document_not_utf8))]
    NotUtf8 {
        /// The first byte that is wrong, from 0.
        at: usize,
    },
    /// Not YAML or JSON, or a key stands twice.
    #[display("the document cannot be read: {reason}")]
    #[diagnostic(code(claudex::store::document_syntax))]
    Syntax {
        /// What the reader said.
        reason: String,
    },
    /// YAML, but not a mapping with one key at the start of each line.
    #[display("the document is not made of `key: value` lines")]
    #[diagnostic(code(claudex::store::document_not_lines))]
    NotLines,
    /// JSON, but not an object, or one that is nested too deep or has too many values.
    #[display("the document is not one JSON object of fields")]
    #[diagnostic(code(claudex::store::document_not_object))]
    NotObject,
    /// No Markdown below YAML, or YAML that is not a mapping with one key at the start of each line.
    #[display("the document does not begin with `---`, `key: value` lines and `---`")]
    #[diagnostic(code(claudex::store::document_not_frontmatter))]
    NotFrontmatter,
}
