//! Transitions: sources, target, guard, actors and updates.

use std::ops::Range;

use serde::{Deserialize, Deserializer, Serialize};

use super::tables::{Shape, TextOr, entries, many};
use super::texts::{Path, Word};
use super::{Actor, At, Constant, Evidence, FieldKind, Guard, Named, Turn, Update};

/// One `[[transitions.x]]` entry.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct Transition {
    /// The sources, with `*` resolved by the parser.
    #[serde(deserialize_with = "many")]
    pub(crate) from: Vec<At<String>>,
    /// The target, or `None` for the source.
    #[serde(deserialize_with = "target")]
    pub(crate) to: Option<At<String>>,
    /// The guard as the file has it.
    #[serde(rename = "when")]
    pub guard_text: Option<At<String>>,
    /// The guard. Without one, the transition is always open.
    #[serde(rename = "guard", skip_deserializing)]
    pub when: Option<At<Guard>>,
    /// The evidence that it needs.
    pub requires: Option<At<Evidence>>,
    /// The actors that may take it by a verb. If empty, only the hook may.
    #[serde(default, deserialize_with = "many")]
    pub by: Vec<At<Actor>>,
    /// Whether a verb of the program or an answer takes it, so that no verb is generated for it.
    #[serde(default)]
    pub own: bool,
    /// The arguments, in the order of the file. They become parameters and flags.
    #[serde(default, deserialize_with = "arguments")]
    pub args: Vec<Named<Argument>>,
    #[serde(rename(deserialize = "set"), skip_serializing)]
    #[serde(default, deserialize_with = "entries")]
    pub(super) update_texts: Vec<(At<String>, At<Constant>)>,
    /// The updates of fields, in the order of the file.
    #[serde(skip_deserializing)]
    pub set: Vec<(At<String>, At<Update>)>,
    pub(crate) message: Option<At<Path>>,
    pub(crate) turn: Option<Turn>,
    #[serde(default)]
    pub(crate) doc: String,
}

pub(super) fn transitions<'de, D>(deserializer: D) -> Result<Vec<Named<Transition>>, D::Error>
where
    D: Deserializer<'de>,
{
    let lists = entries::<D, Vec<At<Transition>>>(deserializer)?;
    let transitions = lists.into_iter().flat_map(|(name, list)| {
        list.into_iter().map(move |entry| Named {
            name: At::new(name.to_string(), entry.span()),
            part: entry.into_value(),
        })
    });
    Ok(transitions.collect())
}

fn target<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<At<String>>, D::Error> {
    let target = At::<String>::deserialize(deserializer)?;
    Ok(Some(target).filter(|target| **target != "same"))
}

/// One argument of a transition.
#[derive(Debug, Clone, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, expecting = "a table")]
pub struct Argument {
    /// The type, never data or a field of the engine.
    #[serde(skip_deserializing)]
    pub kind: FieldKind,
    /// The type in Rust, without the `Option` of an argument that may be left out.
    #[serde(skip_deserializing)]
    pub(crate) ty: String,
    pub(super) r#type: Option<FieldKind>,
    #[serde(deserialize_with = "many")]
    pub(super) one_of: Vec<At<Word>>,
    pub(crate) doc: String,
    /// Whether a caller may leave it out. An update from it then leaves the field as it is.
    pub optional: bool,
}

fn arguments<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Named<Argument>>, D::Error> {
    let entries = entries::<D, At<TextOr<FieldKind, Argument>>>(deserializer)?.into_iter();
    let arguments = entries.map(|(name, form)| {
        let part = match form.into_value() {
            Shape::Table(argument) => argument,
            Shape::Text(kind) => Argument {
                r#type: Some(kind),
                ..Argument::default()
            },
        };
        Named { name, part }
    });
    Ok(arguments.collect())
}

impl Transition {
    pub(crate) fn is_verb(&self) -> bool {
        !self.by.is_empty() && !self.own
    }

    /// Returns whether an actor may take it by a verb or an answer.
    pub(crate) fn is_by(&self, actor: Actor) -> bool {
        self.by.iter().any(|by| **by == actor)
    }

    pub(crate) fn is_by_user_alone(&self) -> bool {
        self.is_by(Actor::Person) && !self.is_by(Actor::Agent)
    }
}

/// A `[[transitions.x]]` entry with the name of its transition.
pub type Entry = Named<Transition>;

impl Entry {
    /// Returns the place of the guard, or of the entry if there is none.
    pub(crate) fn guard_span(&self) -> Range<usize> {
        let guard = self.when.as_ref().map(At::span);
        guard.unwrap_or_else(|| self.name.span())
    }
}
