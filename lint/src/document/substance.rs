//! Checks of the plan as a text: is there one, can it be read whole. Every focus runs them.

use super::check::{Check, Hit, Rule, Subject};
use super::pattern::Pattern;
use super::plan::Plan;
use super::sentence::Sentence;
use crate::{PointOfView, Severity};

pub(super) const EMPTY: &str = "PLAN-EMPTY";
const EVERY: &[PointOfView] = &[
    PointOfView::Engineering,
    PointOfView::Security,
    PointOfView::Operations,
];

/// Fewer words than this are a title, not a plan.
const EMPTY_WORDS: usize = 12;
/// Fewer words than this cannot hold a goal, steps and acceptance.
const SHORT_WORDS: usize = 60;
/// Of this many sentences one at least says something that can be looked up, counted or run.
const HOLLOW: usize = 8;

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: EMPTY,
        subject: Subject::Content,
        views: EVERY,
        severity: Severity::High,
        run: Rule::Own(empty),
    },
    Check {
        id: "PLAN-SHORT",
        subject: Subject::Content,
        views: EVERY,
        severity: Severity::High,
        run: Rule::Own(short),
    },
    Check {
        id: "PLAN-HOLLOW",
        subject: Subject::Content,
        views: EVERY,
        severity: Severity::High,
        run: Rule::Own(hollow),
    },
    Check {
        id: "PLAN-LONG",
        subject: Subject::Content,
        views: EVERY,
        severity: Severity::Medium,
        run: Rule::Own(long),
    },
];

fn empty(plan: &Plan) -> Option<Hit> {
    (plan.word_count < EMPTY_WORDS).then(|| Hit {
        severity: Severity::High,
        line: 1,
        what: format!("there is no plan to review: it has {} words of text", plan.word_count),
        add: "write the goal, the steps with what is true after each, how failure is handled, and when the work is accepted",
        quotes: Vec::new(),
    })
}

fn short(plan: &Plan) -> Option<Hit> {
    (EMPTY_WORDS..SHORT_WORDS).contains(&plan.word_count).then(|| Hit {
        severity: Severity::High,
        line: plan.outline.last_line,
        what: format!("the plan has {} words of text, too few to say what is done and how it is seen to work", plan.word_count),
        add: "write for somebody who was not in the room: goal, steps, checks, what happens when a step fails",
        quotes: Vec::new(),
    })
}

/// Rounds of words without content would else pass every check that asks only about content.
fn hollow(plan: &Plan) -> Option<Hit> {
    let sentences: Vec<&Sentence> = plan
        .sentences
        .iter()
        .filter(|sentence| sentence.block.is_some() && !sentence.words.is_empty())
        .collect();
    let concrete = sentences
        .iter()
        .filter(|sentence| is_concrete(sentence))
        .count();
    let specific = concrete + plan.outline.code;
    (plan.word_count >= SHORT_WORDS && specific * HOLLOW < sentences.len()).then(|| Hit {
        severity: Severity::High,
        line: 1,
        what: format!(
            "{concrete} of {} sentences name a number, a date, a file or a name: there is little here to review",
            sentences.len()
        ),
        add: "say what is changed where, how much of it there is, by when, and how each step is seen to have worked",
        quotes: Vec::new(),
    })
}

/// Returns whether it names a number, a day or a month, a name in code, or an abbreviation.
fn is_concrete(sentence: &Sentence) -> bool {
    let named = Pattern::new(
        "#|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|thirty|hundred|thousand|once|twice|monday|tuesday|wednesday|thursday|friday|saturday|sunday|january|february|march|april|june|july|august|september|october|november|december",
    );
    let special = |token: &str| {
        let token = token.trim_matches(|c: char| !c.is_alphanumeric());
        let capitals = token.chars().filter(|c| c.is_uppercase()).count();
        token.contains(|c: char| c.is_ascii_digit())
            || token.contains(['_', '/', '.', '@', '=', '\\'])
            || token.contains("::")
            || capitals >= 2
    };
    named.find(&sentence.words).is_some() || sentence.text.split_whitespace().any(special)
}

fn long(plan: &Plan) -> Option<Hit> {
    plan.outline.cut.then(|| Hit {
        severity: Severity::Medium,
        line: plan.outline.last_line,
        what: "the plan is longer than 128 KiB and was not read to its end".to_owned(),
        add: "move listings and data to files of their own, and split the plan where it can be delivered in parts",
        quotes: Vec::new(),
    })
}
