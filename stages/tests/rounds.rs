//! The digest of earlier rounds, from kept summaries.

use claudex_loop::Timestamp;
use claudex_testkit::has;
use serde_json::Map;
use stages::contract::{AnalysisMode, Decision, Flags, NextAction, Stage, Status, Summary};
use stages::digest::{MAX_LINES, Summaries, digest};

fn at() -> Timestamp {
    "2026-11-23T10:00:00Z".parse().unwrap()
}

fn keep(kept: &mut Summaries, number: u32, stage: u64, said: &str, flags: Flags) {
    let stage = Stage::from_number(stage).unwrap();
    let mut summary = Summary::new(stage, Status::Completed, said);
    summary.flags = flags;
    kept.insert((number, stage), summary);
}

/// Adds a round that ended in NOT_READY.
fn add_not_ready_round(kept: &mut Summaries, number: u32, gaps: &[&str], score: f64) {
    let questions = Flags {
        analysis_mode: Some(AnalysisMode::Complete),
        questions_count: Some(14),
        thinkdeep_completion_pct: Some(100.0),
        ..Flags::default()
    };
    keep(kept, number, 3, "Asked", questions);
    let answered = Flags {
        completion_rate: Some(0.5),
        gaps_found: Some(u32::try_from(gaps.len()).unwrap()),
        gap_descriptions: Some(gaps.iter().map(|gap| (*gap).to_owned()).collect()),
        next_action: Some(NextAction::Proceed),
        ..Flags::default()
    };
    keep(kept, number, 4, "Read", answered);
    let validated = Flags {
        validation_decision: Some(Decision::NotReady),
        validation_score: Some(score),
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
fn digest_has_a_row_for_each_round() {
    let mut kept = Summaries::new();
    add_not_ready_round(&mut kept, 1, &["Who pays | how", "Target Users"], 4.0);
    add_not_ready_round(&mut kept, 2, &["target users", "New one"], 5.0);
    let questions = Flags {
        analysis_mode: Some(AnalysisMode::Rapid),
        questions_count: Some(5),
        ..Flags::default()
    };
    keep(&mut kept, 3, 3, "Asked again", questions);
    keep(&mut kept, 4, 3, "Of this round", Flags::default());
    let chosen = [("analysis_mode_round_2".to_owned(), "complete".into())];
    let chosen = Map::from_iter(chosen);
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
    assert_eq!(digest(&kept, 4, &chosen, at()), expected);
}

#[test]
fn long_digest_omits_oldest_lines_first() {
    let build = |rounds: u32, decisions: u32, gaps: usize| {
        let mut kept = Summaries::new();
        for number in 1..=rounds {
            let names: Vec<String> = (0..gaps).map(|at| format!("Gap {number} {at}")).collect();
            let gaps: Vec<&str> = names.iter().map(String::as_str).collect();
            add_not_ready_round(&mut kept, number, &gaps, 4.0);
        }
        let chosen = (0..decisions).map(|at| (format!("k{at}_round_1"), "v".into()));
        let chosen = Map::from_iter(chosen);
        digest(&kept, rounds + 1, &chosen, at())
    };
    let lines = |text: &str| text.lines().count();
    let whole = build(9, 10, 4);
    assert!(
        lines(&whole) <= MAX_LINES && !whole.contains("Left out"),
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
        assert_eq!(lines(&text), MAX_LINES, "{text}");
        assert_eq!(text.lines().last(), Some(said));
    }
    let all = build(120, 120, 120);
    assert_eq!(lines(&all), MAX_LINES);
    has(&all, "| 120 |");
    has(&all, "GAP-14400");
    assert_eq!(lines(&digest(&Summaries::new(), 4, &Map::new(), at())), 26);
}
