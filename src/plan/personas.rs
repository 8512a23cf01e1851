//! Who reviews in which round.
//!
//! The three personas and their order are those of the public plugin that the seeds describe; the configuration may name
//! others. From the last one's round on, the last one stays.

use crate::review::focus::Focus;

/// A reviewer's point of view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Persona {
    /// Its name in the configuration.
    pub name: String,
    /// As titles and tables name it.
    pub label: String,
    /// Who it is and what it looks at, for a model and for people.
    pub prompt: String,
    /// What the built-in reviewer looks at in its round.
    pub focus: Focus,
}

/// The personas in the order of their rounds; at least one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Personas(Vec<Persona>);

impl Personas {
    /// These, in this order; None where there is none.
    pub fn new(personas: Vec<Persona>) -> Option<Self> {
        (!personas.is_empty()).then_some(Self(personas))
    }

    /// The persona of a round, from 1. Rounds after the last persona keep it.
    pub fn of_round(&self, round: u64) -> &Persona {
        let index = usize::try_from(round.saturating_sub(1)).unwrap_or(usize::MAX);
        &self.0[index.min(self.0.len() - 1)]
    }

    /// All of them, in order.
    pub fn all(&self) -> &[Persona] {
        &self.0
    }
}

impl Default for Personas {
    fn default() -> Self {
        let persona = |name: &str, label: &str, focus, prompt: &str| Persona {
            name: name.to_owned(),
            label: label.to_owned(),
            prompt: prompt.to_owned(),
            focus,
        };
        Self(vec![
            persona(
                "engineer",
                "Senior-engineer review",
                Focus::Engineering,
                "You are a skeptical senior engineer. Look at goal and scope, steps and their outcomes, what is vague or \
                 undecided, tests, and what happens when a step fails.",
            ),
            persona(
                "security",
                "Security and data-integrity review",
                Focus::Security,
                "You are a security engineer who answers for the data. Look at who may do what, input from outside, secrets, \
                 concurrent changes, partial failure, data loss and migrations.",
            ),
            persona(
                "operations",
                "Ops and SRE review",
                Focus::Operations,
                "You are an on-call engineer who will run this at night. Look at rollout and rollback, observability, limits \
                 and timeouts, what wakes whom, and what they do then.",
            ),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_third_persona_stays() {
        let personas = Personas::default();
        assert_eq!(personas.of_round(1).label, "Senior-engineer review");
        assert_eq!(personas.of_round(2).label, "Security and data-integrity review");
        for round in [3, 4, 100, u64::MAX] {
            assert_eq!(personas.of_round(round).label, "Ops and SRE review");
        }
    }
}
