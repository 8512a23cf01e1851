//! Who reviews in which round.
//!
//! The three personas and their order are those of the public plugin that the seeds describe; from the third round on
//! the last one stays.

/// A reviewer's point of view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Persona {
    /// As titles and tables name it.
    pub label: &'static str,
    /// Who it is, for a model.
    pub who: &'static str,
    /// What it looks at, for a model and for people.
    pub looks_at: &'static str,
}

/// Every persona, in the order of the rounds.
pub const PERSONAS: [Persona; 3] = [
    Persona {
        label: "Senior-engineer review",
        who: "a skeptical senior engineer",
        looks_at: "goal and scope, steps and their outcomes, what is vague or undecided, tests, what happens when a \
                   step fails",
    },
    Persona {
        label: "Security and data-integrity review",
        who: "a security engineer who answers for the data",
        looks_at: "who may do what, input from outside, secrets, concurrent changes, partial failure, data loss, \
                   migrations",
    },
    Persona {
        label: "Ops and SRE review",
        who: "an on-call engineer who will run this at night",
        looks_at: "rollout and rollback, observability, limits and timeouts, what wakes whom and what they do then",
    },
];

/// The persona of a round, from 1. Rounds after the last persona keep it.
pub fn of_round(round: u64) -> &'static Persona {
    let index = usize::try_from(round.saturating_sub(1)).unwrap_or(usize::MAX);
    &PERSONAS[index.min(PERSONAS.len() - 1)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_third_persona_stays() {
        assert_eq!(of_round(1).label, "Senior-engineer review");
        assert_eq!(of_round(2).label, "Security and data-integrity review");
        for round in [3, 4, 100, u64::MAX] {
            assert_eq!(of_round(round).label, "Ops and SRE review");
        }
    }
}
