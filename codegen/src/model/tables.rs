//! Shapes of several keys: tables in the order of the file, one value or a list, text or table.

use std::collections::HashMap;
use std::fmt;
use std::marker::PhantomData;

use derive_more::{Deref, DerefMut};
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer, StrDeserializer};
use serde::de::{DeserializeOwned, Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use super::At;
use super::texts::Name;

/// A part of a machine with its name.
#[derive(Debug, Clone, Serialize, Deref, DerefMut)]
pub struct Named<T> {
    /// The name, at the place of the key. That of a transition is at the place of its entry.
    pub name: At<String>,
    #[serde(flatten)]
    #[deref]
    #[deref_mut]
    pub(super) part: T,
}

impl<T> Named<T> {
    /// Returns the part of this name. Of the entries of a transition it is the first.
    pub(crate) fn find<'m>(parts: &'m [Self], name: &str) -> Option<&'m Self> {
        parts.iter().find(|part| *part.name == *name)
    }
}

/// Reads a table of parts that are named by their keys.
pub(crate) fn table<'de, D, T>(deserializer: D) -> Result<Vec<Named<T>>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    let parts = entries::<D, At<T>>(deserializer)?.into_iter();
    let named = parts.map(|(name, part)| Named {
        name,
        part: part.into_value(),
    });
    Ok(named.collect())
}

/// Reads the entries of a table in the order of the file. Their keys are names.
pub(crate) fn entries<'de, D, T>(deserializer: D) -> Result<Vec<(At<String>, T)>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    let table = HashMap::<At<Name>, T>::deserialize(deserializer)?.into_iter();
    let mut entries: Vec<_> = table
        .map(|(key, value)| (At::new(key.to_string(), key.span()), value))
        .collect();
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
        let other = if size_of::<L>() > 0 { "list" } else { "table" };
        write!(f, "a string or a {other}")
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
