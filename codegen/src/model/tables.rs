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

/// Reads a table as pairs of key and value.
pub(crate) fn pairs<'de, D, T>(deserializer: D) -> Result<Vec<(At<String>, T)>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    entries(deserializer)
}

/// Reads the entries of a table in the order of the file.
pub(super) fn entries<'de, D, K, T>(deserializer: D) -> Result<Vec<(At<K>, T)>, D::Error>
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
pub struct Many<T>(Vec<T>);

impl<T> Default for Many<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> FromIterator<T> for Many<T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        Self(values.into_iter().collect())
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

/// An entry of a [`Many`], and what it is in the file.
pub(crate) trait Entry: From<At<Self::Form>> + Eq + Hash {
    /// What serde reads.
    type Form: DeserializeOwned;
}

impl<T: DeserializeOwned + Eq + Hash> Entry for At<T> {
    type Form = T;
}

impl<'de, T: Entry> Deserialize<'de> for Many<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let read = At::<OneOrMany<T::Form>>::deserialize(deserializer)?;
        let all: Vec<T> = match read.value {
            OneOrMany::One(value) => vec![At::new(value, read.span).into()],
            OneOrMany::Many(all) => all.into_iter().map(T::from).collect(),
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

/// What a [`Many`] is in the file.
enum OneOrMany<T> {
    One(T),
    Many(Vec<At<T>>),
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for OneOrMany<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Either<T> {
            type Value = OneOrMany<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or a list")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                T::deserialize(StrDeserializer::new(text)).map(OneOrMany::One)
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(OneOrMany::One)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Self::Value, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(seq)).map(OneOrMany::Many)
            }
        }

        deserializer.deserialize_any(Either(PhantomData))
    }
}

/// A table, or a text in its place.
pub(crate) enum TextOr<S, T> {
    Text(S),
    Table(T),
}

impl<'de, S: Deserialize<'de>, T: Deserialize<'de>> Deserialize<'de> for TextOr<S, T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either<S, T>(PhantomData<(S, T)>);

        impl<'de, S: Deserialize<'de>, T: Deserialize<'de>> Visitor<'de> for Either<S, T> {
            type Value = TextOr<S, T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or a table")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                S::deserialize(StrDeserializer::new(text)).map(TextOr::Text)
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(TextOr::Table)
            }
        }

        deserializer.deserialize_any(Either(PhantomData))
    }
}
