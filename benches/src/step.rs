//! Choosing an edge and its update in memory, beside a match written by hand for the same machine.

use std::hint::black_box;

use claudex_loop::machine::edge::step;
use claudex_loop::plan::typestate::{DecisionSignal, Fields, Phase, Plan, Transition};

use crate::pair::{Measure, Row, ratio};

/// The calls of each transition in one turn.
const CALL_COUNT: usize = 20_000;

/// Returns the rows of the table.
pub(crate) fn rows() -> Vec<Measure> {
    vec![(
        "find, guard and update of a transition in memory",
        Box::new(|| Row {
            beside: "a match written by hand".to_owned(),
            ratio: ratio(generated, handwritten),
            most: 3.0,
        }),
    )]
}

/// Returns a loop in review with the transitions that are open there.
fn reviewing() -> (Fields, [Transition; 3]) {
    let fields = Fields {
        topic: "move the queue to Postgres".to_owned(),
        max_rounds: 9,
        ..Fields::default()
    };
    let transitions = [Transition::Revise, Transition::Remind, Transition::Retry];
    (fields, transitions)
}

fn generated() {
    let (fields, transitions) = reviewing();
    for transition in transitions.iter().cycle().take(3 * CALL_COUNT) {
        let edge = step::<Plan>(Phase::Reviewing as usize, &fields, black_box(transition));
        black_box(edge.expect("the edge is open"));
    }
}

fn handwritten() {
    let (fields, transitions) = reviewing();
    for transition in transitions.iter().cycle().take(3 * CALL_COUNT) {
        let edge = matched(Phase::Reviewing, &fields, black_box(transition));
        black_box(edge.expect("the edge is open"));
    }
}

/// Takes these transitions as machine.toml declares them.
fn matched(phase: Phase, fields: &Fields, transition: &Transition) -> Option<(Phase, Fields)> {
    match (phase, transition) {
        (Phase::Reviewing, Transition::Revise) if fields.round < fields.max_rounds => {
            let next = Fields {
                round: fields.round.checked_add(1)?,
                reminders: 0,
                failures: 0,
                ..fields.clone()
            };
            Some((Phase::Reviewing, next))
        }
        (Phase::Reviewing, Transition::Revise) => {
            let next = Fields {
                decision_signal: DecisionSignal::MaxReached,
                ..fields.clone()
            };
            Some((Phase::Summarizing, next))
        }
        (Phase::Drafting | Phase::Reviewing, Transition::Remind) if fields.reminders < 1 => {
            let next = Fields {
                reminders: fields.reminders.checked_add(1)?,
                ..fields.clone()
            };
            Some((phase, next))
        }
        (Phase::Reviewing, Transition::Retry)
            if fields.failures < 1 && fields.failures + 1 < fields.max_failures =>
        {
            let next = Fields {
                failures: fields.failures.checked_add(1)?,
                ..fields.clone()
            };
            Some((Phase::Reviewing, next))
        }
        _ => None,
    }
}
