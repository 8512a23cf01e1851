//! Fields: what each holds, and its value at the start.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

use super::tables::named;
use super::texts::{TypeName, Word};
use super::{ArgumentKind, At, AtStart, Held, Machine, Many};
use crate::diagnostic::list;

/// `fields.x`.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(try_from = "FieldTable")]
pub struct Field {
    /// The key.
    pub name: At<String>,
    /// What the field holds.
    pub kind: FieldKind,
    /// The value at the start. Absent: 0, false, the first word of a `one_of`, or an empty text.
    pub initial: Option<At<Constant>>,
    /// The value that the document writes as null.
    pub null: Option<At<Constant>>,
    /// Whether a start takes it.
    pub at_start: AtStart,
    /// The keys in a document of frontmatter, such as `loop.phase`. Absent: the name.
    pub key: Option<At<String>>,
    /// The smallest count that an edit by hand may set.
    pub min: Option<At<u64>>,
    /// The largest count that an edit by hand may set.
    pub max: Option<At<u64>>,
    /// The phases in which the field exists. Absent: all.
    pub within: Option<Many<At<String>>>,
    /// The documentation, or an empty text.
    pub doc: String,
}

named!(Field);

/// A field as the file has it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FieldTable {
    r#type: Option<ArgumentKind>,
    one_of: Option<Many<At<Word>>>,
    data: Option<TypeName>,
    holds: Option<Held>,
    initial: Option<At<Constant>>,
    null: Option<At<Constant>>,
    #[serde(default)]
    at_start: AtStart,
    key: Option<At<String>>,
    min: Option<At<u64>>,
    max: Option<At<u64>>,
    r#in: Option<Many<At<String>>>,
    #[serde(default)]
    doc: String,
}

impl TryFrom<FieldTable> for Field {
    type Error = String;

    fn try_from(table: FieldTable) -> Result<Self, String> {
        let takes_no_value = [
            ("initial", table.initial.is_some()),
            ("at_start", table.at_start != AtStart::Never),
            ("in", table.r#in.is_some()),
            ("min", table.min.is_some()),
            ("max", table.max.is_some()),
        ];
        let takes_no_null = [("null", table.null.is_some() && table.data.is_some())];
        let kind = only_kind([
            ("type", table.r#type.map(FieldKind::from)),
            ("one_of", table.one_of.map(FieldKind::OneOf)),
            (
                "data",
                table.data.map(|name| FieldKind::Data(name.to_string())),
            ),
            ("holds", table.holds.map(FieldKind::Held)),
        ])?;
        let owner = match kind {
            FieldKind::Held(_) => Some("the engine sets it"),
            FieldKind::Data(_) => Some("it is data, which starts as the default of its type"),
            _ => None,
        };
        let mut set = takes_no_value.into_iter().chain(takes_no_null);
        if let Some(owner) = owner
            && let Some((key, _)) = set.find(|(_, is_set)| *is_set)
        {
            return Err(format!(
                "{{key}} cannot have `{key}`: {owner}\nremove `{key}`"
            ));
        }
        Ok(Self {
            name: At::default(),
            kind,
            initial: table.initial,
            null: table.null,
            at_start: table.at_start,
            key: table.key,
            min: table.min,
            max: table.max,
            within: table.r#in,
            doc: table.doc,
        })
    }
}

/// Returns the kind of a field or an argument, of the keys that may declare it.
pub(super) fn only_kind<T, const N: usize>(keys: [(&str, Option<T>); N]) -> Result<T, String> {
    let names = list(&keys.each_ref().map(|(key, _)| *key));
    let mut kinds = keys.into_iter().filter_map(|(_, kind)| kind);
    match (kinds.next(), kinds.next()) {
        (Some(kind), None) => Ok(kind),
        (None, _) => Err(format!("{{key}} has no type\nadd one of {names}")),
        (Some(_), Some(_)) => Err(format!("{{key}} has two types\nkeep one of {names}")),
    }
}

/// What a field holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FieldKind {
    /// A whole number from 0.
    Count,
    /// Any text.
    Text,
    /// A path relative to the root, or absolute.
    Path,
    /// true or false.
    Flag,
    /// One of some words. The first is the initial one.
    OneOf(Many<At<Word>>),
    /// Data of this type, which is in scope where `machine!` is. Rust sets it.
    Data(String),
    /// A value that the engine sets, never a transition.
    Held(Held),
}

impl From<ArgumentKind> for FieldKind {
    fn from(kind: ArgumentKind) -> Self {
        match kind {
            ArgumentKind::Count => Self::Count,
            ArgumentKind::Text => Self::Text,
            ArgumentKind::Path => Self::Path,
            ArgumentKind::Flag => Self::Flag,
            ArgumentKind::OneOf(words) => Self::OneOf(words),
        }
    }
}

/// A constant of `machine.toml`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(
    untagged,
    expecting = "expected a string, true, false, or a whole number from 0 to 9223372036854775807"
)]
pub enum Constant {
    /// A whole number.
    Count(#[serde(deserialize_with = "count")] u64),
    /// A text, or a word of a `one_of`.
    Text(String),
    /// true or false.
    Flag(bool),
}

fn count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    let count = i64::deserialize(deserializer)?;
    u64::try_from(count).map_err(D::Error::custom)
}

impl Field {
    /// Returns the smallest and the largest count that an edit by hand may set.
    pub fn counts(&self) -> (u64, u64) {
        let bound = |bound: &Option<At<u64>>| bound.as_ref().map(|bound| bound.value);
        let largest = i64::MAX.unsigned_abs();
        (
            bound(&self.min).unwrap_or(0),
            bound(&self.max).unwrap_or(largest).min(largest),
        )
    }

    /// Returns whether the field exists in a phase.
    pub fn exists_in(&self, phase: &str) -> bool {
        let within = self.within.as_ref();
        within.is_none_or(|phases| phases.iter().any(|known| known.value == phase))
    }

    /// Returns the name, and the value that a document has as null. `None` for a field without `null`.
    pub(crate) fn null(&self, machine: &Machine) -> Option<(&str, Constant)> {
        let value = &self.null.as_ref()?.value;
        let value = match (&self.kind, value) {
            (FieldKind::Held(_), Constant::Text(name)) => {
                Constant::Text(machine.phase(name)?.stored().to_owned())
            }
            _ => value.clone(),
        };
        Some((&self.name.value, value))
    }

    /// Returns the value at the start. `None` for data and for what the engine sets.
    pub fn initial(&self) -> Option<Constant> {
        if let Some(initial) = &self.initial {
            return Some(initial.value.clone());
        }
        match &self.kind {
            FieldKind::Count => Some(Constant::Count(0)),
            FieldKind::Flag => Some(Constant::Flag(false)),
            FieldKind::Text | FieldKind::Path => Some(Constant::Text(String::new())),
            FieldKind::OneOf(words) => Some(Constant::Text(words.first()?.value.to_string())),
            FieldKind::Data(_) | FieldKind::Held(_) => None,
        }
    }
}
