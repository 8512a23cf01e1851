//! The help of refused verbs: the next step of the user or the agent.

use super::typestate::DecisionSignal;
use super::{AnyLoop, Phase, Verb, reviews_changes};

/// Returns the next step after a refused transition, if it is better than the refusal.
pub(super) fn help(held: &AnyLoop, transition: &str) -> Option<String> {
    let signal = held.fields().decision_signal;
    let (slash, terminal) = if reviews_changes(held.raw()) {
        ("review".to_owned(), "review --changes")
    } else {
        (format!("plan --continue {}", held.id()), "more")
    };
    let new_loop = format!(
        "start a new loop: /claudex:{slash} --rounds N, or in a terminal:\n    claudex-loop {terminal} --rounds N"
    );
    match (transition, held.phase()) {
        ("more" | "resume" | "answer", phase) if phase.is_terminal() => {
            Some(format!("the loop is over ({phase}); {new_loop}"))
        }
        ("more", Phase::Summarizing) => Some(format!(
            "the loop was settled ({signal}) in its last round; to have the plan reviewed further, {new_loop}"
        )),
        ("more", phase) => Some(format!(
            "the loop is in phase {phase}, round {} of {}; it takes more rounds after its summary",
            held.fields().round,
            held.fields().max_rounds
        )),
        ("mark_done", Phase::Reviewing) if signal != DecisionSignal::None => Some(
            "the loop is already marked as done; end the turn, and the next stop prints the summary"
                .to_owned(),
        ),
        _ => None,
    }
}

/// Returns the start that `more` becomes if the plan loop is over: a new loop, which continues it.
pub(super) fn start_instead(held: &AnyLoop, verb: &Verb) -> Option<Vec<String>> {
    let is_finished = matches!(held.phase(), Phase::Done | Phase::Errored);
    match verb {
        Verb::More { rounds, .. } if is_finished && !reviews_changes(held.raw()) => {
            let arguments = format!("plan --continue {} --rounds {rounds}", held.id());
            Some(arguments.split(' ').map(str::to_owned).collect())
        }
        _ => None,
    }
}
