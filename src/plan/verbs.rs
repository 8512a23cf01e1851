//! What a person does instead where a verb of the plan loop is refused.

use super::typestate::DecisionSignal;
use super::{AnyLoop, Phase, Verb, reviews_changes};

/// Says what to do where a loop gets no further rounds, or where it is over.
pub fn instead(held: &AnyLoop, transition: &str) -> Option<String> {
    let fields = held.fields();
    Some(match (transition, held.phase()) {
        ("more" | "resume" | "answer", phase) if phase.is_terminal() => {
            format!("the loop is over ({phase}); {}", go_on(held))
        }
        ("more", Phase::Summarizing) => format!(
            "the loop was settled ({}) in its last round; if the plan is to be reviewed further, {}",
            fields.decision_signal,
            go_on(held)
        ),
        ("mark_done", Phase::Reviewing) if fields.decision_signal != DecisionSignal::None => {
            "the loop is marked done already: end the turn, and the next stop sums up; nothing was changed"
                .to_owned()
        }
        ("more", Phase::Reviewing) if fields.decision_signal != DecisionSignal::None => {
            "the loop was marked done, and the next stop sums up; nothing was changed".to_owned()
        }
        ("more", phase) => format!(
            "the loop is in phase {phase}, round {} of {}: further rounds are for a loop that sums up; \
             nothing was changed",
            fields.round,
            fields.max_rounds
        ),
        _ => return None,
    })
}

/// Returns the start that further rounds of a plan loop that is over are: a new loop, which goes on from its findings.
pub fn start_instead(held: &AnyLoop, verb: &Verb) -> Option<Vec<String>> {
    let Verb::More { rounds, .. } = verb else {
        return None;
    };
    let is_finished = matches!(held.phase(), Phase::Done | Phase::Errored);
    let (id, rounds) = (held.id().to_string(), rounds.to_string());
    let words = ["plan", "--continue", &id, "--rounds", &rounds].map(str::to_owned);
    (is_finished && !reviews_changes(held)).then(|| words.to_vec())
}

/// Says how to go on from a loop that is over.
fn go_on(held: &AnyLoop) -> String {
    let (slash, terminal) = match reviews_changes(held) {
        true => ("review".to_owned(), "review --changes"),
        false => (format!("plan --continue {}", held.id()), "more"),
    };
    format!(
        "go on from it with a new loop: /claudex:{slash} --rounds N, or in a terminal:\n    claudex-loop {terminal} --rounds N"
    )
}
