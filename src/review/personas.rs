//! The personas of the rounds: those that a machine declares, as the user's configuration adjusts them. Rounds after the last
//! persona keep it.

use crate::machine::table::ReviewSpec;
use crate::machine::{Focus, PersonaInfo};
use crate::message::Message;

/// The persona of a machine that declares none.
const USUAL: PersonaInfo = PersonaInfo {
    name: "reviewer",
    label: "Review",
    prompt: Message {
        name: "usual.md",
        text: include_str!("personas/usual.md"),
    },
    focus: Focus::Engineering,
};

/// A reviewer's point of view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Persona {
    /// The name in the configuration.
    pub name: String,
    /// The label in titles and tables.
    pub label: String,
    /// The prompt, for a model and for people.
    pub prompt: String,
    /// The focus of the built-in reviewer in its round.
    pub focus: Focus,
}

/// The personas in the order of their rounds; at least one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Personas(Vec<Persona>);

impl Personas {
    /// Makes personas in this order, or returns `None` if there are none.
    pub fn new(personas: Vec<Persona>) -> Option<Self> {
        (!personas.is_empty()).then_some(Self(personas))
    }

    /// Returns the personas that a machine declares, or the default one.
    pub fn declared(personas: &[PersonaInfo]) -> Self {
        let declared = personas.iter().map(Persona::from).collect();
        Self::new(declared).unwrap_or_else(|| Self(vec![Persona::from(&USUAL)]))
    }

    /// Returns the personas that a phase names, in its order, except for those that the configuration removed.
    pub fn of_phase(&self, spec: &ReviewSpec) -> Self {
        let named = spec.personas.iter();
        let left = named.filter_map(|info| self.0.iter().find(|one| one.name == info.name));
        Self::new(left.cloned().collect()).unwrap_or_else(|| self.clone())
    }

    /// Returns the persona of a round, from 1. Rounds after the last persona keep it.
    pub fn of_round(&self, round: u64) -> &Persona {
        let index = usize::try_from(round.saturating_sub(1)).unwrap_or(usize::MAX);
        &self.0[index.min(self.0.len() - 1)]
    }

    /// Returns all of them, in order.
    pub fn all(&self) -> &[Persona] {
        &self.0
    }
}

impl From<&PersonaInfo> for Persona {
    fn from(info: &PersonaInfo) -> Self {
        Self {
            name: info.name.to_owned(),
            label: info.label.to_owned(),
            prompt: info.prompt.text.trim_end().to_owned(),
            focus: info.focus,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_persona_stays_and_machine_without_has_one() {
        let label = |name: &str| Persona {
            label: name.to_owned(),
            ..Persona::from(&USUAL)
        };
        let personas = Personas::new(vec![label("one"), label("two")]).unwrap();
        for (round, wanted) in [
            (0, "one"),
            (1, "one"),
            (2, "two"),
            (3, "two"),
            (u64::MAX, "two"),
        ] {
            assert_eq!(personas.of_round(round).label, wanted);
        }
        assert_eq!(Personas::declared(&[]).of_round(7).label, "Review");
    }
}
