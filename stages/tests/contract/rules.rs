//! Each rule, broken: its code, line and column, and what a lenient reader does.

use std::collections::BTreeSet;

use strum::IntoEnumIterator;

use stages::contract::{Digest, Lenient, Outcome, Rule, Severity, Stage};

use crate::given::{
    ASKS, EXAMPLE, TEMPLATE, answer, completed, dispatch, found, of, place, reading, with,
};

/// One part of a summary, what stands there instead, and what is found.
type Case = (&'static str, &'static str, &'static [(Rule, usize, usize)]);

/// Stages with a summary that keeps every rule, each with its cases.
fn cases() -> Vec<(u64, String, &'static [Case])> {
    use Rule::*;
    let waits = with(
        &with(&of(2), "completed", "needs-user-input"),
        "number: 1\n",
        "number: 1\n  pause_type: exit_cli\n  block_reason: Read it\n",
    );
    vec![
        (
            1,
            of(1),
            &[
                ("---\nstage:", "stage:", &[(NoFrontmatter, 1, 1)]),
                ("---\n\n##", "##", &[(NoFrontmatter, 1, 1)]),
                ("Done", "Done\0\nmore: [", &[(BadYaml, 7, 14)]),
                ("Done", "\"\u{1b}[2J\"", &[(BadYaml, 7, 11)]),
                ("Done", "Done\n...\nmore: [", &[(BadYaml, 9, 1)]),
                ("Done", "\"Done", &[(BadYaml, 7, 10)]),
                ("Done", "&a Done\nmore: *a", &[(BadYaml, 8, 7)]),
                ("Done", "!x Done", &[(BadYaml, 7, 10)]),
                ("Done", "Done\n\tmore: x", &[(BadYaml, 8, 1)]),
                ("Done", "Done\nstatus: failed", &[(DuplicateKey, 8, 1)]),
                ("completed", "complete", &[(UnknownStatus, 4, 9)]),
                ("status: completed\n", "", &[(UnknownStatus, 9, 1)]),
                ("summary: Done\n", "", &[(MissingField, 9, 1)]),
                ("flags:\n  round_number: 1\n", "", &[(MissingField, 8, 1)]),
                ("Done", "7", &[(BadType, 7, 10)]),
                ("written: []", "written: a.md", &[(BadType, 6, 20)]),
                ("written: []", "written: [3]", &[(BadType, 6, 21)]),
                ("  round_number: 1", "  - round_number", &[(BadType, 8, 1)]),
                ("stage_number: 1", "stage_number: '1'", &[(BadType, 3, 15)]),
                ("stage_number: 1", "stage_number: 8", &[(StageRange, 3, 15)]),
                ("stage: setup", "stage: \"research\"", &[(StageName, 2, 8)]),
                ("SETUP", "setup", &[(CheckpointName, 5, 13)]),
                ("Done", "\"{1-2 sentences}\"", &[(Placeholder, 7, 10)]),
                (
                    "round_number: 1",
                    "round_number: {N}",
                    &[(Placeholder, 9, 17)],
                ),
                (
                    "---\n\n",
                    "  block_reason: null | \"{reason}\"\n---\n\n",
                    &[(Placeholder, 10, 17)],
                ),
                (
                    "written: []",
                    "written: [../a.md]",
                    &[(ArtifactOutside, 6, 21)],
                ),
                (
                    "written: []",
                    "written: [\"\"]",
                    &[(ArtifactMissing, 6, 21)],
                ),
                ("## Context", "# Context", &[(NoContext, 12, 1)]),
                ("## Context for Next Stage\n", "", &[(NoContext, 13, 1)]),
                (
                    "---\n\n",
                    "  questions_count: 3\n---\n\n",
                    &[(FlagStage, 10, 20)],
                ),
                (
                    "---\n\n",
                    "  st_available: yes\n---\n\n",
                    &[(FlagType, 10, 17)],
                ),
                (
                    "round_number: 1",
                    "round_number: null",
                    &[(FlagType, 9, 17)],
                ),
                (
                    "round_number: 1",
                    "analysis_mode: deep",
                    &[(FlagRange, 9, 18)],
                ),
                (
                    "---\n\n",
                    "  next_action_map: {a: proceed}\n---\n\n",
                    &[(QuestionStray, 10, 20)],
                ),
                (
                    "---\n\n",
                    "  next_action: proceed\n---\n\n",
                    &[(ActionStage, 10, 16)],
                ),
            ],
        ),
        (
            4,
            of(4),
            &[
                (
                    "number: 1\n",
                    "number: 1\n  thinkdeep_calls: 0\n",
                    &[(FlagStage, 10, 20)],
                ),
                ("proceed", "onward", &[(UnknownAction, 10, 16)]),
                ("  next_action: proceed\n", "", &[(NoNextAction, 8, 1)]),
                ("proceed", "null", &[(NoNextAction, 10, 16)]),
            ],
        ),
        (
            5,
            of(5),
            &[
                (
                    "number: 1\n",
                    "number: 1\n  thinkdeep_completion_pct: 0\n",
                    &[(FlagStage, 10, 29)],
                ),
                (
                    "17.5\n",
                    "17.5\n  weak_dimensions: [target_users, price]\n",
                    &[(FlagRange, 12, 20)],
                ),
                (
                    "17.5\n",
                    "17.5\n  dimension_scores:\n    target_users: 5\n",
                    &[(FlagRange, 12, 3)],
                ),
                ("  validation_decision: READY\n", "", &[(NoDecision, 8, 1)]),
                ("17.5", "15.9", &[(DecisionScore, 10, 24)]),
                ("READY", "NOT_READY", &[(DecisionScore, 10, 24)]),
            ],
        ),
        (
            3,
            of(3),
            &[(
                "count: 3",
                "count: 3\n  panel_member_ids: [a, 3]",
                &[(FlagType, 11, 21)],
            )],
        ),
        (
            2,
            ASKS.to_owned(),
            &[
                ("interactive", "ask", &[(UnknownPause, 10, 15)]),
                ("needs-user-input", "completed", &[(PauseStatus, 10, 15)]),
                ("  pause_type: interactive\n", "", &[(PauseStatus, 4, 9)]),
                (
                    "  block_reason: \"Two sources disagree\"\n",
                    "",
                    &[(NoBlockReason, 10, 15)],
                ),
                (
                    "    question: \"Which source counts?\"\n",
                    "",
                    &[(NoQuestion, 12, 3)],
                ),
                ("\"Which source counts?\"", "\" \"", &[(NoQuestion, 13, 15)]),
                (
                    "interactive",
                    "exit_cli",
                    &[(QuestionStray, 12, 3), (QuestionStray, 20, 3)],
                ),
                ("\"Source\"", "\"Thirteen char\"", &[(HeaderLength, 14, 13)]),
                ("\"Source\"", "\"Two\\nlines\"", &[(HeaderLength, 14, 13)]),
                ("    header: \"Source\"\n", "", &[(HeaderLength, 12, 3)]),
                (
                    "        description: \"It is longer\"\n",
                    "",
                    &[(OptionIncomplete, 18, 16), (MapLabel, 21, 19)],
                ),
                (
                    "\"The second\"\n",
                    "The first\n",
                    &[(OptionDuplicate, 18, 16), (MapLabel, 22, 19)],
                ),
                ("proceed", "supplement_research", &[(UnknownAction, 21, 18)]),
                ("proceed", "loop_research", &[(ActionStage, 21, 18)]),
                ("second\": null", "third\": null", &[(MapLabel, 22, 18)]),
            ],
        ),
        (
            7,
            of(7),
            &[
                ("completed", "needs-user-input", &[(PauseStage, 4, 9)]),
                (
                    "number: 1\n",
                    "number: 1\n  pause_type: exit_cli\n",
                    &[(PauseStage, 10, 15)],
                ),
            ],
        ),
        (
            2,
            waits,
            &[
                ("Read it", "null", &[(NoBlockReason, 11, 17)]),
                ("  block_reason: Read it\n", "", &[(NoBlockReason, 10, 15)]),
                ("exit_cli", "interactive", &[(NoQuestion, 10, 15)]),
            ],
        ),
    ]
}

/// Returns the outcome that the table of the rules has for these.
fn expected_outcome(rules: &[(Rule, usize, usize)]) -> &'static str {
    let has = |lenient| rules.iter().any(|(rule, ..)| rule.lenient() == lenient);
    match (has(Lenient::Crash), has(Lenient::Refused)) {
        (true, _) => "crash",
        (false, true) => "refused",
        (false, false) => "taken",
    }
}

#[test]
fn broken_rule_is_found_at_its_place() {
    let (mut seen, mut wrong) = (BTreeSet::new(), String::new());
    for (stage, text, cases) in cases() {
        assert_eq!(found(&text), [], "{text}");
        for (part, other, expected) in cases {
            let broken = with(&text, part, other);
            let marked = format!("\u{feff}{}", broken.replace('\n', "\r\n"));
            for written in [broken, marked] {
                let found = found(&written);
                let answered = answer(&written, &dispatch(stage));
                let outcome = match answered.outcome {
                    Outcome::Taken(_) => "taken",
                    Outcome::Crash => "crash",
                    Outcome::Refused => "refused",
                };
                if found != *expected
                    || outcome != expected_outcome(expected)
                    || !reading(&written).findings.has_error()
                {
                    wrong += &format!("{part:?} -> {other:?}: {found:?}, {outcome}\n");
                }
            }
            seen.extend(expected.iter().map(|(rule, ..)| *rule));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    // What is not said by one text alone is below.
    let others = [
        Rule::TooLarge,
        Rule::NotUtf8,
        Rule::OptionCount,
        Rule::Stale,
        Rule::Foreign,
        Rule::TakenAlready,
    ];
    let all: BTreeSet<Rule> = seen.into_iter().chain(others).collect();
    assert!(all.into_iter().eq(Rule::iter()), "a rule has no case");
}

#[test]
fn size_and_bytes_are_checked_first() {
    let large = of(1) + &"x".repeat(256 * 1024);
    assert_eq!(found(&large), [(Rule::TooLarge, 1, 1)]);
    let largest = format!("{}{}", of(1), "x".repeat(256 * 1024 - of(1).len()));
    assert_eq!(found(&largest), []);
    let bytes = of(1).replace("Done", "D\u{e9}ne").into_bytes();
    let at = bytes.iter().position(|byte| *byte == 0xc3).unwrap();
    let latin: Vec<u8> = bytes
        .into_iter()
        .enumerate()
        .filter(|(index, _)| *index != at + 1)
        .map(|(_, byte)| byte)
        .collect();
    let reading = stages::contract::read(&latin, &stages::contract::Context::default());
    let found: Vec<_> = reading.findings.list.iter().map(place).collect();
    assert_eq!(found, [(Rule::NotUtf8, 7, 11)]);
}

#[test]
fn option_count_is_a_warning_unless_zero() {
    let none = with(
        ASKS,
        &ASKS[ASKS.find("    options:").unwrap()..ASKS.find("---\n\n").unwrap()],
        "    options: []\n",
    );
    let one = with(
        ASKS,
        &ASKS[ASKS.find("      - label: \"The second\"").unwrap()..ASKS.find("---\n\n").unwrap()],
        "",
    );
    let five: String = (0..5)
        .map(|at| format!("      - label: \"{at}\"\n        description: D\n"))
        .collect();
    let five = with(&none, "    options: []\n", &format!("    options:\n{five}"));
    for (text, severity) in [
        (none, Severity::Error),
        (one, Severity::Warning),
        (five, Severity::Warning),
    ] {
        let reading = reading(&text);
        let [finding] = &*reading.findings.list else {
            panic!("{text}\n{:?}", reading.findings)
        };
        assert_eq!(
            (finding.rule, finding.severity),
            (Rule::OptionCount, severity),
            "{text}"
        );
        assert_eq!(finding.start.line, 15, "{text}");
        assert_eq!(reading.findings.has_error(), severity == Severity::Error);
    }
}

#[test]
fn summary_of_other_dispatch_is_refused() {
    let places = |text: &str, dispatch: &stages::contract::Dispatch| -> Vec<_> {
        answer(text, dispatch)
            .findings
            .list
            .iter()
            .map(place)
            .collect()
    };
    assert_eq!(places(&of(2), &dispatch(2)), []);
    assert_eq!(places(&of(3), &dispatch(2)), [(Rule::Foreign, 3, 15)]);
    let named = with(
        &of(2),
        "number: 1\n---",
        "number: 1\n  dispatch_id: d-1\n---",
    );
    assert_eq!(places(&named, &dispatch(2)), []);
    assert_eq!(
        places(&with(&named, "d-1", "d-0"), &dispatch(2)),
        [(Rule::Stale, 10, 16)]
    );
    assert_eq!(
        places(
            &with(&of(2), "round_number: 1", "round_number: 2"),
            &dispatch(2)
        ),
        [(Rule::Stale, 9, 17)]
    );
    let mut noted = dispatch(2);
    noted.before = Some(Digest::from_bytes(of(2).as_bytes()));
    assert_eq!(places(&of(2), &noted), [(Rule::Stale, 1, 1)]);
    noted.counted = vec![Digest::from_bytes(of(2).as_bytes())];
    assert_eq!(places(&of(2), &noted), [(Rule::TakenAlready, 1, 1)]);
    assert_eq!(places(&with(&of(2), "Done", "Again"), &noted), []);
}

#[test]
fn examples_keep_every_rule() {
    for stage in Stage::all() {
        assert_eq!(found(&completed(stage)), [], "{stage}");
    }
    assert_eq!(found(ASKS), []);
    assert_eq!(found(EXAMPLE), []);
}

#[test]
fn template_is_not_a_summary() {
    let rules: BTreeSet<Rule> = found(TEMPLATE).into_iter().map(|(rule, ..)| rule).collect();
    assert!(rules.contains(&Rule::Placeholder), "{rules:?}");
    assert!(rules.contains(&Rule::UnknownStatus), "{rules:?}");
}
