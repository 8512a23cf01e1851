//! The personas of the rounds, as a machine declares them.

use crate::machine::table::{ReviewSpec, Table};
use crate::machine::{Focus, PersonaInfo};
use crate::template;

/// The persona of a machine that declares none.
const USUAL: &[PersonaInfo] = &[PersonaInfo {
    name: "reviewer",
    label: "Review",
    prompt: template!("personas/usual.md"),
    focus: Focus::Engineering,
}];

/// Returns the personas that a machine declares, in the order of their rounds, or the usual one.
pub fn machine_personas(table: &Table) -> &'static [PersonaInfo] {
    let declared: Option<&&'static [PersonaInfo]> = table.extra.downcast_ref();
    declared.filter(|all| !all.is_empty()).unwrap_or(&USUAL)
}

/// Returns the personas that a review names, in its order, or all of its machine's.
pub fn review_personas(table: &Table, spec: &ReviewSpec) -> &'static [PersonaInfo] {
    match spec.personas {
        [] => machine_personas(table),
        named => named,
    }
}

/// Returns the persona of a round, from 1. Rounds after the last persona keep it.
pub fn persona(personas: &'static [PersonaInfo], round: u64) -> &'static PersonaInfo {
    let index = usize::try_from(round.saturating_sub(1)).unwrap_or(usize::MAX);
    &personas[index.min(personas.len() - 1)]
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
            assert_eq!(persona(TWO, round).label, wanted);
        }
    }
}
