//! Shapes that several keys of a machine file have: tables in the order of the file, one text or a list, a text or a table.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::hash::Hash;
use std::marker::PhantomData;
use std::ops::{Deref, Range};

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer, StrDeserializer};
use serde::de::{DeserializeOwned, Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use super::At;
use super::texts::Name;

/// An entry of a table, which takes its name from its key.
pub(crate) trait Named {
    /// Sets the name and the place of the whole entry.
    fn set_name(&mut self, name: At<String>, span: Range<usize>);
}

/// Implements [`Named`] for types with a field `name`.
macro_rules! named {
    ($($entry:ty),*) => {
        $(impl $crate::model::tables::Named for $entry {
            fn set_name(&mut self, name: $crate::model::At<String>, _: std::ops::Range<usize>) {
                self.name = name;
            }
        })*
    };
}
pub(crate) use named;

/// Reads a table whose entries are named by their keys.
pub(crate) fn table<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Named + Deserialize<'de>,
{
    let entries = entries::<D, Name, At<T>>(deserializer)?;
    let named = entries.into_iter().map(|(name, mut entry)| {
        entry
            .value
            .set_name(name.map(|name| name.to_string()), entry.span);
        entry.value
    });
    Ok(named.collect())
}

/// Reads the entries of a table in the order of the file.
pub(crate) fn entries<'de, D, K, T>(deserializer: D) -> Result<Vec<(At<K>, T)>, D::Error>
where
    D: Deserializer<'de>,
    K: Deserialize<'de> + Eq + Hash,
    T: Deserialize<'de>,
{
    let entries = HashMap::<At<K>, T>::deserialize(deserializer)?;
    let mut entries: Vec<_> = entries.into_iter().collect();
    entries.sort_by_key(|(key, _)| key.span.start);
    Ok(entries)
}

/// One value, or a list of at least one, none of them twice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Many<T>(pub(crate) Vec<T>);

impl<T> Default for Many<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Deref for Many<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<'m, T> IntoIterator for &'m Many<T> {
    type Item = &'m T;
    type IntoIter = std::slice::Iter<'m, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

/// An entry of a [`Many`], and its kind in the file.
pub(crate) trait Entry: From<At<Self::Form>> + Eq + Hash {
    /// The form that serde reads.
    type Form: DeserializeOwned;
}

impl<T: DeserializeOwned + Eq + Hash> Entry for At<T> {
    type Form = T;
}

impl<'de, T: Entry> Deserialize<'de> for Many<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let read = At::<Shape<T::Form, T::Form, Vec<At<T::Form>>>>::deserialize(deserializer)?;
        let all: Vec<T> = match read.value {
            Shape::Text(value) | Shape::Table(value) => vec![At::new(value, read.span).into()],
            Shape::List(all) => all.into_iter().map(T::from).collect(),
        };
        if all.is_empty() {
            return Err(D::Error::custom(
                "{key} must not be empty\nadd an entry, or remove the key",
            ));
        }
        if all.iter().collect::<HashSet<_>>().len() < all.len() {
            return Err(D::Error::custom(
                "{key} has the same entry twice\nremove one of them",
            ));
        }
        Ok(Self(all))
    }
}

/// A value that the file can write in several shapes, each with its own type.
pub(crate) enum Shape<S, M, L> {
    Text(S),
    Table(M),
    List(L),
}

pub(crate) type TextOr<S, M> = Shape<S, M, NoList>;

/// The list of a value that cannot be one.
#[derive(Deserialize)]
pub(crate) enum NoList {}

impl<'de, S, M, L> Deserialize<'de> for Shape<S, M, L>
where
    S: Deserialize<'de>,
    M: Deserialize<'de>,
    L: Deserialize<'de>,
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ShapeVisitor(PhantomData))
    }
}

struct ShapeVisitor<T>(PhantomData<T>);

impl<'de, S, M, L> Visitor<'de> for ShapeVisitor<Shape<S, M, L>>
where
    S: Deserialize<'de>,
    M: Deserialize<'de>,
    L: Deserialize<'de>,
{
    type Value = Shape<S, M, L>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let has_list = size_of::<L>() > 0;
        f.write_str(if has_list {
            "a string or a list"
        } else {
            "a string or a table"
        })
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        S::deserialize(StrDeserializer::new(text)).map(Shape::Text)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        M::deserialize(MapAccessDeserializer::new(map)).map(Shape::Table)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Self::Value, A::Error> {
        L::deserialize(SeqAccessDeserializer::new(seq)).map(Shape::List)
    }
}
