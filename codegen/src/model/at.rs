//! Values with their places in the machine file.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::{Deref, Range};

use serde::{Deserialize, Deserializer, Serialize};
use toml::Spanned;

/// A value with its place in `machine.toml`. Two are equal if their values are.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(transparent)]
pub struct At<T> {
    /// The value.
    pub value: T,
    /// The place, as byte offsets into the source.
    #[serde(skip)]
    pub span: Range<usize>,
}

impl<T> At<T> {
    /// Pairs a value with its place.
    pub fn new(value: T, span: Range<usize>) -> Self {
        Self { value, span }
    }

    /// Converts the value and keeps the place.
    pub(crate) fn map<U>(self, convert: impl FnOnce(T) -> U) -> At<U> {
        At::new(convert(self.value), self.span)
    }
}

impl<T> Deref for At<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<'a, T> IntoIterator for &'a At<T> {
    type Item = &'a At<T>;
    type IntoIter = std::iter::Once<Self::Item>;

    fn into_iter(self) -> Self::IntoIter {
        std::iter::once(self)
    }
}

impl<T: fmt::Display> fmt::Display for At<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)
    }
}

impl<T: PartialEq> PartialEq for At<T> {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl<T: Eq> Eq for At<T> {}

impl<T: Hash> Hash for At<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.value.hash(state);
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for At<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        /// A newtype, because the parser gives an error inside of one the place of the value. An error inside of a plain
        /// `Spanned` gets the place of the list around it.
        #[derive(Deserialize)]
        struct Placed<T>(Spanned<T>);

        let Placed(spanned) = Placed::deserialize(deserializer)?;
        let span = spanned.span();
        Ok(Self::new(spanned.into_inner(), span))
    }
}
