//! Shapes that several keys of a machine file have: tables in the order of the file, one value or a list, a text or a table.

use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer, StrDeserializer};
use serde::de::{DeserializeOwned, Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use super::At;
use super::texts::Name;

/// A part of a machine with its name.
#[derive(Debug, Clone, Serialize)]
pub struct Named<T> {
    /// The name, at the place of the key. That of a transition is at the place of its entry.
    pub name: At<String>,
    #[serde(flatten)]
    part: T,
}

impl<T> Named<T> {
    pub(super) fn new(name: At<Name>, part: At<T>) -> Self {
        Self {
            name: At::new(name.to_string(), name.span()),
            part: part.into_value(),
        }
    }

    /// Returns the part of this name. Of the entries of a transition it is the first.
    pub(crate) fn find<'m>(parts: &'m [Self], name: &str) -> Option<&'m Self> {
        parts.iter().find(|part| *part.name == *name)
    }
}

impl<T> Deref for Named<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.part
    }
}

impl<T> DerefMut for Named<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.part
    }
}

/// Reads a table of parts that are named by their keys.
pub(crate) fn table<'de, D, T>(deserializer: D) -> Result<Vec<Named<T>>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    let entries = entries::<D, Name, At<T>>(deserializer)?.into_iter();
    Ok(entries.map(|(name, part)| Named::new(name, part)).collect())
}

/// Reads the entries of a table in the order of the file.
pub(crate) fn entries<'de, D, K, T>(deserializer: D) -> Result<Vec<(At<K>, T)>, D::Error>
where
    D: Deserializer<'de>,
    K: Deserialize<'de> + Eq + Hash,
    T: Deserialize<'de>,
{
    let table = HashMap::<At<K>, T>::deserialize(deserializer)?;
    let mut entries: Vec<_> = table.into_iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    Ok(entries)
}

/// Reads one value, or a list of at least one. A key that is absent is an empty list.
pub(crate) fn many<'de, D, T>(deserializer: D) -> Result<Vec<At<T>>, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned,
{
    let read = At::<Shape<T, T, Vec<At<T>>>>::deserialize(deserializer)?;
    let span = read.span();
    match read.into_value() {
        Shape::Text(one) | Shape::Table(one) => Ok(vec![At::new(one, span)]),
        Shape::List(all) if all.is_empty() => Err(D::Error::custom(
            "{key} must not be empty\nadd an entry, or remove the key",
        )),
        Shape::List(all) => Ok(all),
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
