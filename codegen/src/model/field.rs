//! Fields: what each holds, and its value at the start.

use serde::Deserialize;

use super::tables::named;
use super::texts::{TypeName, Word};
use super::{ArgumentKind, At, Machine, Many};

/// `fields.x`.
#[derive(Debug, Clone, Deserialize)]
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
    min: Option<At<Count>>,
    max: Option<At<Count>>,
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
        let kind = match (table.r#type, table.one_of, table.data, table.holds) {
            (Some(kind), None, None, None) => kind.into(),
            (None, Some(words), None, None) => FieldKind::OneOf(words),
            (None, None, Some(name), None) => FieldKind::Data(name.to_string()),
            (None, None, None, Some(held)) => FieldKind::Held(held),
            (None, None, None, None) => {
                return Err(
                    "{key} has no type\nadd one of `type`, `one_of`, `data` and `holds`".to_owned(),
                );
            }
            _ => {
                return Err(
                    "{key} has two types\nkeep one of `type`, `one_of`, `data` and `holds`"
                        .to_owned(),
                );
            }
        };
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
            min: table.min.map(|min| min.map(|count| count.0)),
            max: table.max.map(|max| max.map(|count| count.0)),
            within: table.r#in,
            doc: table.doc,
        })
    }
}

/// What a field holds.
#[derive(Debug, Clone, PartialEq, Eq)]
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

/// What the engine keeps in a state document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Held {
    /// The name of the mode.
    Mode,
    /// The phase, in its stored form.
    Phase,
    /// The id of the loop.
    Id,
    /// The absolute path of the loop's root.
    Root,
    /// The session that owns the loop, or `unknown`.
    Session,
    /// The time of the start, ISO 8601 UTC.
    Started,
    /// The time of the start, in seconds since 1970.
    StartedEpoch,
    /// The time of the last change, ISO 8601 UTC.
    Updated,
    /// The number of changes in the journal.
    Revision,
    /// The revision with which the visit of the phase began.
    Visit,
    /// The number of the findings file of the last review that a change rests on.
    Findings,
    /// The last run of the visit that a change rests on.
    Run,
    /// The name of the machine.
    Machine,
    /// The graph hash of the machine.
    GraphHash,
}

impl Held {
    /// What every machine needs a field for.
    pub const REQUIRED: [Self; 6] = [
        Self::Phase,
        Self::Id,
        Self::Root,
        Self::Session,
        Self::Revision,
        Self::Machine,
    ];

    /// Returns the word in `holds`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Mode => "mode",
            Self::Phase => "phase",
            Self::Id => "id",
            Self::Root => "root",
            Self::Session => "session",
            Self::Started => "started",
            Self::StartedEpoch => "started-epoch",
            Self::Updated => "updated",
            Self::Revision => "revision",
            Self::Visit => "visit",
            Self::Findings => "findings",
            Self::Run => "run",
            Self::Machine => "machine",
            Self::GraphHash => "graph-hash",
        }
    }
}

/// Whether a start takes a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AtStart {
    /// It does not.
    #[default]
    #[serde(skip)]
    Never,
    /// It may.
    Optional,
    /// It must.
    Required,
}

/// A constant of `machine.toml`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize)]
#[serde(
    untagged,
    expecting = "{key} must be a string, true, false, or a whole number from 0 to 9223372036854775807"
)]
pub enum Constant {
    /// A whole number.
    Count(#[serde(deserialize_with = "count")] u64),
    /// A text, or a word of a `one_of`.
    Text(String),
    /// true or false.
    Flag(bool),
}

/// A whole number from 0 that TOML can write.
#[derive(Deserialize)]
#[serde(try_from = "u64")]
struct Count(u64);

impl TryFrom<u64> for Count {
    type Error = &'static str;

    fn try_from(count: u64) -> Result<Self, Self::Error> {
        if i64::try_from(count).is_err() {
            return Err("{key} is too large\nuse a whole number from 0 to 9223372036854775807");
        }
        Ok(Self(count))
    }
}

fn count<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    Count::deserialize(deserializer).map(|count| count.0)
}

impl Field {
    /// Returns the smallest and the largest count that an edit by hand may set.
    pub fn counts(&self) -> (u64, u64) {
        let min = self.min.as_ref().map_or(0, |min| min.value);
        let max = self.max.as_ref();
        (min, max.map_or(i64::MAX.unsigned_abs(), |max| max.value))
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
