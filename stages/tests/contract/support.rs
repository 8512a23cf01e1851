//! Valid summaries, which the tests break.

use std::collections::BTreeMap;

use stages::contract::{Dispatch, Finding, Reading, Rule, Stage, Summary, read};

/// The filled example of the contract, unchanged.
pub(crate) const EXAMPLE: &str = include_str!("../fixtures/filled-example.md");
/// The template of the contract, unchanged.
pub(crate) const TEMPLATE: &str = include_str!("../fixtures/template.md");

/// A summary of stage 2 that asks the user.
pub(crate) const ASKS: &str = r#"---
stage: research
stage_number: 2
status: needs-user-input
checkpoint: RESEARCH
artifacts_written: []
summary: "Looked for sources"
flags:
  round_number: 1
  pause_type: interactive
  block_reason: "Two sources disagree"
  question_context:
    question: "Which source counts?"
    header: "Source"
    options:
      - label: "The first (Recommended)"
        description: "It is newer"
      - label: "The second"
        description: "It is longer"
  next_action_map:
    "The first": proceed
    "The second": null
---

## Context for Next Stage
Sources.
"#;

pub(crate) fn completed(number: u64) -> String {
    let stage = Stage::from_number(number).unwrap();
    let checkpoint = stage.checkpoint();
    let flags = match number {
        3 => "  questions_count: 3\n",
        4 => "  next_action: proceed\n",
        5 => "  validation_decision: READY\n  validation_score: 17.5\n",
        _ => "",
    };
    format!(
        "---\nstage: {stage}\nstage_number: {number}\nstatus: completed\ncheckpoint: {checkpoint}\nartifacts_written: []\n\
         summary: Done\nflags:\n  round_number: 1\n{flags}---\n\n## Context for Next Stage\nNothing.\n"
    )
}

/// Returns the text with one part replaced, which must exist exactly once.
pub(crate) fn with(text: &str, part: &str, other: &str) -> String {
    assert_eq!(text.matches(part).count(), 1, "{part:?} in {text}");
    text.replace(part, other)
}

pub(crate) fn reading(text: &str) -> Reading {
    read(text.as_bytes(), None, None)
}

/// Returns the findings, each as its rule with line and column.
pub(crate) fn find_rules(text: &str) -> Vec<(Rule, usize, usize)> {
    reading(text).findings.iter().map(place).collect()
}

pub(crate) fn place(finding: &Finding) -> (Rule, usize, usize) {
    (finding.rule, finding.start.line, finding.start.column)
}

pub(crate) fn read_summary(text: &str) -> Summary {
    let reading = reading(text);
    reading
        .summary
        .unwrap_or_else(|| panic!("{:?}: {text}", reading.findings))
}

pub(crate) fn dispatch(stage: u64) -> Dispatch {
    Dispatch {
        stage: Stage::from_number(stage).unwrap(),
        round: 1,
        id: "d-1".to_owned(),
        known: BTreeMap::new(),
        skip_validation: false,
    }
}

pub(crate) fn answer(text: &str, dispatch: &Dispatch) -> Reading {
    read(text.as_bytes(), None, Some(dispatch))
}

pub(crate) fn outcome(reading: &Reading) -> &'static str {
    match reading.summary {
        Some(_) => "taken",
        None if reading.is_refused => "refused",
        None => "crash",
    }
}
