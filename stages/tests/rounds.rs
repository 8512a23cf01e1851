//! Digest and reflection, from kept summaries.

use std::collections::BTreeMap;

use claudex_loop::Timestamp;
use claudex_testkit::has;
use stages::contract::{
    AnalysisMode, Count, Decision, Dimension, DimensionScores, Flags, Grade, NextAction, Percent,
    Rate, Round, Score, Stage, Status, Summary,
};
use stages::digest::{MOST_LINES, Recorded, digest};
use stages::kept::Kept;
use stages::reflection::{MOST_CHARACTERS, reflection};

fn round(number: u32) -> Round {
    Round::new(number).unwrap()
}

fn at() -> Timestamp {
    "2026-11-23T10:00:00Z".parse().unwrap()
}

fn keep(kept: &mut Kept, number: u32, stage: u64, said: &str, flags: Flags) {
    let stage = Stage::of_number(stage).unwrap();
    let mut summary = Summary::new(stage, Status::Completed, said);
    summary.flags = flags;
    kept.insert((round(number), stage), summary);
}

fn grades(users: u32, value: u32) -> Option<DimensionScores> {
    let grade = |number| Grade::new(number).unwrap();
    let scores = [
        (Dimension::TargetUsers, grade(users)),
        (Dimension::ValueProposition, grade(value)),
    ];
    Some(DimensionScores(BTreeMap::from(scores)))
}

/// Keeps a round that ended in NOT_READY.
fn not_ready(kept: &mut Kept, number: u32, gaps: &[&str], users: u32, value: u32) {
    let asked = Flags {
        analysis_mode: Some(AnalysisMode::Complete),
        questions_count: Count::new(14),
        thinkdeep_completion_pct: Percent::new(100.0),
        ..Flags::default()
    };
    keep(kept, number, 3, "Asked", asked);
    let answered = Flags {
        completion_rate: Rate::new(0.5),
        gaps_found: Count::new(u32::try_from(gaps.len()).unwrap()),
        gap_descriptions: Some(gaps.iter().map(|gap| (*gap).to_owned()).collect()),
        next_action: Some(NextAction::Proceed),
        ..Flags::default()
    };
    keep(kept, number, 4, "Read", answered);
    let validated = Flags {
        validation_decision: Some(Decision::NotReady),
        validation_score: Score::new(f64::from(users + value)),
        dimension_scores: grades(users, value),
        ..Flags::default()
    };
    keep(
        kept,
        number,
        5,
        &format!("Judged round {number}"),
        validated,
    );
}

#[test]
fn a_digest_says_of_each_round_what_it_led_to() {
    let mut kept = Kept::new();
    not_ready(&mut kept, 1, &["Who pays | how", "Target Users"], 2, 2);
    not_ready(&mut kept, 2, &["target users", "New one"], 2, 3);
    let asked = Flags {
        analysis_mode: Some(AnalysisMode::Rapid),
        questions_count: Count::new(5),
        ..Flags::default()
    };
    keep(&mut kept, 3, 3, "Asked again", asked);
    keep(&mut kept, 4, 3, "Of this round", Flags::default());
    let chosen = [Recorded {
        key: "analysis_mode_round_2".into(),
        value: "complete".into(),
        round: round(2),
    }];
    let expected = "\
---
digest_version: 1
rounds_covered: [1, 2, 3]
generated_at: \"2026-11-23T10:00:00Z\"
total_questions_asked: 33
total_questions_answered: 14
modes_used: [complete, rapid]
---

# Rounds

| Round | Mode | Questions | Completion | Gaps Found | ThinkDeep % | Outcome |
|---|---|---|---|---|---|---|
| 1 | complete | 14 | 50 % | 2 | 100 | NOT_READY (4.0) |
| 2 | complete | 14 | 50 % | 2 | 100 | NOT_READY (5.0) |
| 3 | rapid | 5 | - | - | - | analysis-questions completed |

## Decisions

| Key | Value | Round |
|---|---|---|
| analysis_mode_round_2 | complete | 2 |

## Gaps

| Gap | Section | First Seen | Status | Resolved In |
|---|---|---|---|---|
| GAP-001 | Who pays \\| how | 1 | resolved | 2 |
| GAP-002 | Target Users | 1 | open | - |
| GAP-003 | New one | 2 | open | - |

## In short

- Round 1: Judged round 1
- Round 2: Judged round 2
- Round 3: Asked again
";
    assert_eq!(digest(&kept, round(4), &chosen, at()), expected);
}

#[test]
fn a_digest_that_is_too_long_loses_its_oldest_lines_in_order() {
    let build = |rounds: u32, decisions: u32, gaps: usize| {
        let mut kept = Kept::new();
        for number in 1..=rounds {
            let gaps: Vec<String> = (0..gaps).map(|at| format!("Gap {number} {at}")).collect();
            let gaps: Vec<&str> = gaps.iter().map(String::as_str).collect();
            not_ready(&mut kept, number, &gaps, 2, 2);
        }
        let chosen: Vec<Recorded> = (0..decisions)
            .map(|at| Recorded {
                key: format!("k{at}"),
                value: "v".into(),
                round: round(1),
            })
            .collect();
        digest(&kept, round(rounds + 1), &chosen, at())
    };
    let lines = |text: &str| text.lines().count();
    let whole = build(9, 10, 4);
    assert!(
        lines(&whole) <= MOST_LINES && !whole.contains("Left out"),
        "{whole}"
    );
    for (rounds, decisions, gaps, said) in [
        (9, 12, 5, "Left out, the oldest first: 3 lines per round."),
        (
            9,
            10,
            6,
            "Left out, the oldest first: 9 lines per round, 1 resolved gaps.",
        ),
        (
            2,
            90,
            1,
            "Left out, the oldest first: 2 lines per round, 1 resolved gaps, 21 decisions.",
        ),
    ] {
        let text = build(rounds, decisions, gaps);
        assert_eq!(lines(&text), MOST_LINES, "{text}");
        assert_eq!(text.lines().last(), Some(said));
    }
    let all = build(120, 120, 120);
    assert_eq!(lines(&all), MOST_LINES);
    assert!(
        all.contains("| 120 |") && all.contains("GAP-14400"),
        "{all}"
    );
    assert_eq!(lines(&digest(&Kept::new(), round(4), &[], at())), 26);
}

#[test]
fn a_reflection_says_what_was_tried_and_what_to_do_differently() {
    let mut kept = Kept::new();
    assert_eq!(reflection(&kept, round(2)), None);
    not_ready(&mut kept, 1, &["Who pays", "Where"], 2, 3);
    assert_eq!(
        reflection(&kept, round(1)),
        None,
        "the round itself is not looked at"
    );
    let first = reflection(&kept, round(2)).unwrap();
    assert_eq!(
        first.text,
        "\
# Reflection for round 2

## What was tried in round 1

- Mode: complete
- Questions: 14
- Answered: 50 %

## Why it was not enough

- Score: 5.0 of 20; CONDITIONAL begins at 12, READY at 16
- Weak dimensions: target_users

| Dimension | Score of 4 |
|---|---|
| target_users | 2 |
| value_proposition | 3 |

Gaps:
- Who pays
- Where

## What to do differently

- Ask about target_users first, and otherwise than before
- Leave alone: value_proposition
"
    );
    not_ready(&mut kept, 2, &["Where", "When"], 2, 2);
    let second = reflection(&kept, round(3)).unwrap().text;
    has(
        &second,
        "Gaps:\n- When\n\nGaps of earlier rounds that are still open:\n- Where\n",
    );
    has(&second, "| target_users | 2 | 2 | not improved |\n\n");
    not_ready(&mut kept, 3, &[], 3, 2);
    let third = reflection(&kept, round(4)).unwrap();
    assert!(third.text.contains(
        "| target_users | 2 | 3 | improved |\n| value_proposition | 2 | 2 | not improved |\n"
    ));
    assert_eq!(third.blind_spots, []);
}

#[test]
fn a_dimension_that_is_weak_three_times_without_a_gain_is_a_blind_spot() {
    for (scores, is_one) in [
        ([2, 2, 2], true),
        ([2, 1, 1], true),
        ([1, 1, 2], false),
        ([1, 2, 1], true),
        ([3, 2, 2], false),
    ] {
        let mut kept = Kept::new();
        for (number, score) in (1..).zip(scores) {
            not_ready(&mut kept, number, &[], score, 3);
        }
        let found = reflection(&kept, round(4)).unwrap();
        let expected: &[Dimension] = if is_one {
            &[Dimension::TargetUsers]
        } else {
            &[]
        };
        assert_eq!(found.blind_spots, expected, "{scores:?}");
        assert_eq!(found.text.contains("without a gain: target_users"), is_one);
        assert_eq!(
            reflection(&kept, round(3)).unwrap().blind_spots,
            [],
            "two are too few"
        );
    }
}

#[test]
fn a_reflection_of_many_gaps_has_room_for_what_to_do() {
    let mut kept = Kept::new();
    let gaps: Vec<String> = (0..500)
        .map(|at| format!("{at}: {}", "ä".repeat(300)))
        .collect();
    let gaps: Vec<&str> = gaps.iter().map(String::as_str).collect();
    not_ready(&mut kept, 1, &gaps, 1, 4);
    not_ready(&mut kept, 2, &gaps, 1, 4);
    let text = reflection(&kept, round(3)).unwrap().text;
    assert!(text.chars().count() <= MOST_CHARACTERS);
    has(&text, " more\n");
    assert!(
        text.ends_with("- Leave alone: value_proposition\n"),
        "{text}"
    );
}
