//! What a person does instead where a verb of the plan loop is refused.

use super::typestate::DecisionSignal;
use super::{AnyLoop, Phase};

/// Says what to do where a loop gets no further rounds, or where it is over.
pub fn instead(held: &AnyLoop, transition: &str) -> Option<String> {
    let (fields, id) = (held.fields(), held.id());
    Some(match (transition, held.phase()) {
        ("more" | "resume" | "answer", phase) if phase.is_terminal() => {
            format!("the loop is over ({phase}); {}", go_on(id.as_str()))
        }
        ("more", Phase::Summarizing) => format!(
            "the loop was settled ({}) in its last round; if the plan is to be reviewed further, {}",
            fields.decision_signal(),
            go_on(id.as_str())
        ),
        ("mark_done", Phase::Reviewing) if fields.decision_signal() != DecisionSignal::None => {
            "the loop is marked done already: end the turn, and the next stop sums up; nothing was changed"
                .to_owned()
        }
        ("more", Phase::Reviewing) if fields.decision_signal() != DecisionSignal::None => {
            "the loop was marked done, and the next stop sums up; nothing was changed".to_owned()
        }
        ("more", phase) => format!(
            "the loop is in phase {phase}, round {} of {}: further rounds are for a loop that sums up; \
             nothing was changed",
            fields.round(),
            fields.max_rounds()
        ),
        _ => return None,
    })
}

/// Says how to go on from a loop that is over.
fn go_on(id: &str) -> String {
    format!(
        "go on from it with a new loop: /claudex:plan --continue {id} --rounds N, or in a terminal:\n    claudex-loop start plan \
         --continue {id} --rounds N"
    )
}
