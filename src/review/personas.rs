//! The personas of the rounds, as a machine declares them. Rounds after the last persona keep it.

use crate::machine::table::{ReviewSpec, Table};
use crate::machine::{Focus, PersonaInfo};
use crate::message::Message;

/// The persona of a machine that declares none.
const USUAL: &[PersonaInfo] = &[PersonaInfo {
    name: "reviewer",
    label: "Review",
    prompt: Message {
        name: "usual.md",
        text: include_str!("personas/usual.md"),
    },
    focus: Focus::Engineering,
}];

/// The personas in the order of their rounds; at least one.
#[derive(Debug, Clone, Copy)]
pub struct Personas(&'static [PersonaInfo]);

impl Personas {
    /// Returns the personas that a machine declares, or the usual one.
    pub fn of_machine(table: &Table) -> Self {
        let declared: Option<&&'static [PersonaInfo]> = table.extra.downcast_ref();
        Self(declared.filter(|all| !all.is_empty()).unwrap_or(&USUAL))
    }

    /// Returns the personas that a phase names, in its order, or all of its machine's.
    pub fn of_phase(table: &Table, spec: &ReviewSpec) -> Self {
        match spec.personas {
            [] => Self::of_machine(table),
            named => Self(named),
        }
    }

    /// Returns the persona of a round, from 1. Rounds after the last persona keep it.
    pub fn of_round(self, round: u64) -> &'static PersonaInfo {
        let index = usize::try_from(round.saturating_sub(1)).unwrap_or(usize::MAX);
        &self.0[index.min(self.0.len() - 1)]
    }

    /// Returns all of them, in order.
    pub fn all(self) -> &'static [PersonaInfo] {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_after_the_last_persona_keep_it() {
        const TWO: &[PersonaInfo] = &[
            PersonaInfo {
                label: "one",
                ..USUAL[0]
            },
            PersonaInfo {
                label: "two",
                ..USUAL[0]
            },
        ];
        for (round, wanted) in [
            (0, "one"),
            (1, "one"),
            (2, "two"),
            (3, "two"),
            (u64::MAX, "two"),
        ] {
            assert_eq!(Personas(TWO).of_round(round).label, wanted);
        }
    }
}
