//! Values with their places in the machine file.

use std::ops::{Deref, Range};

use serde::{Deserialize, Serialize};
use toml::Spanned;

/// A value with its place in `machine.toml`. Two are equal if their values are.
///
/// The parser gives an error in a newtype the place of the value, and one in a plain `Spanned` the
/// place of the list around it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize, Serialize, derive_more::Display)]
pub struct At<T>(Spanned<T>);

impl<T> At<T> {
    /// Pairs a value with its place.
    pub fn new(value: T, span: Range<usize>) -> Self {
        Self(Spanned::new(span, value))
    }

    /// Returns the place, as byte offsets into the source.
    pub fn span(&self) -> Range<usize> {
        self.0.span()
    }

    pub(crate) fn into_value(self) -> T {
        self.0.into_inner()
    }
}

impl<T> Deref for At<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0.get_ref()
    }
}

impl<'a, T> IntoIterator for &'a At<T> {
    type Item = &'a At<T>;
    type IntoIter = std::iter::Once<Self::Item>;

    fn into_iter(self) -> Self::IntoIter {
        std::iter::once(self)
    }
}
