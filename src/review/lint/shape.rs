//! Checks of the plan as a text: is there one, can it be read whole. Every focus runs them.

use super::plan::Plan;
use super::{Check, Focus, Hit, Rule, Severity};

pub(super) const EMPTY: &str = "PLAN-EMPTY";
const EVERY: &[Focus] = &[Focus::Engineering, Focus::Security, Focus::Operations];

/// Fewer words than this are a title, not a plan.
const EMPTY_WORDS: usize = 12;
/// Fewer words than this cannot hold a goal, steps and acceptance.
const SHORT_WORDS: usize = 60;

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: EMPTY,
        focus: EVERY,
        severity: Severity::High,
        run: Rule::Own(empty),
    },
    Check {
        id: "PLAN-SHORT",
        focus: EVERY,
        severity: Severity::High,
        run: Rule::Own(short),
    },
    Check {
        id: "PLAN-LONG",
        focus: EVERY,
        severity: Severity::Medium,
        run: Rule::Own(long),
    },
];

fn empty(plan: &Plan) -> Option<Hit> {
    (plan.word_count < EMPTY_WORDS).then(|| Hit {
        severity: Severity::High,
        line: 1,
        what: format!("there is no plan to review: it has {} words of text", plan.word_count),
        add: "write the goal, the steps with what is true after each, how failure is handled, and when the work is accepted".to_owned(),
        quotes: Vec::new(),
    })
}

fn short(plan: &Plan) -> Option<Hit> {
    (EMPTY_WORDS..SHORT_WORDS).contains(&plan.word_count).then(|| Hit {
        severity: Severity::High,
        line: plan.outline.last_line,
        what: format!("the plan has {} words of text, too few to say what is done and how it is seen to work", plan.word_count),
        add: "write for somebody who was not in the room: goal, steps, checks, what happens when a step fails".to_owned(),
        quotes: Vec::new(),
    })
}

fn long(plan: &Plan) -> Option<Hit> {
    plan.outline.cut.then(|| Hit {
        severity: Severity::Medium,
        line: plan.outline.last_line,
        what: "the plan is longer than 128 KiB and was not read to its end".to_owned(),
        add: "move listings and data to files of their own, and split the plan where it can be delivered in parts".to_owned(),
        quotes: Vec::new(),
    })
}
