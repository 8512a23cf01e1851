//! Fields: what each holds, and its value at the start.

use super::{At, Machine};

/// `fields.x`.
#[derive(Debug, Clone)]
pub struct Field {
    /// The key.
    pub name: At<String>,
    /// Says what it holds.
    pub kind: FieldKind,
    /// `initial`: the value at the start. Absent: 0, false, the first word of a `one_of`, empty text.
    pub initial: Option<At<Constant>>,
    /// `null`: the value that the document writes as null.
    pub null: Option<At<Constant>>,
    /// `at_start`.
    pub at_start: AtStart,
    /// `key = "loop.phase"`: where it stands in a document of frontmatter; None: under its name.
    pub key: Option<At<String>>,
    /// `min` and `max`: the counts that an edit by hand may give.
    pub range: (Option<At<u64>>, Option<At<u64>>),
    /// `in`: the phases in which the field exists; None: in all of them.
    pub within: Option<Vec<At<String>>>,
    /// `doc`, or empty.
    pub doc: String,
}

/// Says what a field holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FieldKind {
    /// `type = "count"`: a whole number from 0.
    Count,
    /// `type = "text"`: any text.
    Text,
    /// `type = "path"`: a path relative to the root, or absolute.
    Path,
    /// `type = "flag"`.
    Flag,
    /// `one_of = [..]`: one of some words, the first being the initial one.
    OneOf(Vec<At<String>>),
    /// `data = "Decisions"`: data of this type, which stands in scope where `machine!` does; set by Rust.
    Data(String),
    /// `holds = "phase"` and the like: written by the engine, never by a transition.
    Held(Held),
}

/// Names what the engine itself keeps in a state document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Held {
    /// The mode's name.
    Mode,
    /// The phase, in its stored form.
    Phase,
    /// The loop's id.
    Id,
    /// The absolute path of the loop's root.
    Root,
    /// The session that owns the loop, or `unknown`.
    Session,
    /// Says when it was started, ISO 8601 UTC.
    Started,
    /// Says when it was started, seconds since 1970.
    StartedEpoch,
    /// Says when it was last changed, ISO 8601 UTC.
    Updated,
    /// How many changes the journal holds.
    Revision,
    /// The change with which the visit of the phase began, by its revision.
    Visit,
    /// The number of the findings file of the last review that a change rests on.
    Findings,
    /// The last run of the visit that a change rests on.
    Run,
    /// The machine's name.
    Machine,
    /// The machine's graph hash.
    GraphHash,
}

impl Held {
    /// Every kind, with the word that `holds` takes for it.
    pub const ALL: [(&'static str, Held); 14] = [
        ("mode", Held::Mode),
        ("phase", Held::Phase),
        ("id", Held::Id),
        ("root", Held::Root),
        ("session", Held::Session),
        ("started", Held::Started),
        ("started-epoch", Held::StartedEpoch),
        ("updated", Held::Updated),
        ("revision", Held::Revision),
        ("visit", Held::Visit),
        ("findings", Held::Findings),
        ("run", Held::Run),
        ("machine", Held::Machine),
        ("graph-hash", Held::GraphHash),
    ];

    /// Whether a machine has to declare a field that holds it.
    pub fn is_required(self) -> bool {
        matches!(
            self,
            Held::Phase | Held::Id | Held::Revision | Held::Machine | Held::Session | Held::Root
        )
    }
}

/// Whether a start takes the field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AtStart {
    /// Not given at the start.
    #[default]
    Never,
    /// `at_start = "optional"`.
    Optional,
    /// `at_start = "required"`.
    Required,
}

/// A constant of `machine.toml`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Constant {
    /// A whole number.
    Count(u64),
    /// A text, or a word of a `one_of`.
    Text(String),
    /// true or false.
    Flag(bool),
}

impl Field {
    /// The smallest and the largest count that an edit by hand may give.
    pub fn counts(&self) -> (u64, u64) {
        let of = |bound: &Option<At<u64>>| bound.as_ref().map(|bound| bound.value);
        (
            of(&self.range.0).unwrap_or(0),
            of(&self.range.1).unwrap_or(i64::MAX.unsigned_abs()),
        )
    }

    /// Whether it exists in a phase.
    pub fn exists_in(&self, phase: &str) -> bool {
        let within = self.within.as_ref();
        within.is_none_or(|phases| phases.iter().any(|known| known.value == phase))
    }

    /// The value that a document has as null, with the field's name. `None` for a field without `null`.
    pub(crate) fn null(&self, machine: &Machine) -> Option<(&str, Constant)> {
        let value = &self.null.as_ref()?.value;
        let value = match (&self.kind, value) {
            (FieldKind::Held(_), Constant::Text(name)) => {
                let phase = machine
                    .phases
                    .iter()
                    .find(|phase| phase.name.value == *name)?;
                Constant::Text(phase.stored.as_ref().unwrap_or(&phase.name).value.clone())
            }
            _ => value.clone(),
        };
        Some((&self.name.value, value))
    }

    /// The value at the start, where the machine file says none either. None: the engine's, data, or a `one_of` without words.
    pub fn initial(&self) -> Option<Constant> {
        let own = self.initial.as_ref().map(|initial| initial.value.clone());
        own.or_else(|| {
            Some(match &self.kind {
                FieldKind::Count => Constant::Count(0),
                FieldKind::Flag => Constant::Flag(false),
                FieldKind::Text | FieldKind::Path => Constant::Text(String::new()),
                FieldKind::OneOf(words) => Constant::Text(words.first()?.value.clone()),
                FieldKind::Data(_) | FieldKind::Held(_) => return None,
            })
        })
    }
}
