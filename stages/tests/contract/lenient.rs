//! What a lenient reader goes on with where a rule is broken.

use stages::contract::{Decision, NextAction, Outcome, PauseType, Rule, Stage, Status, Summary};

use crate::given::{ASKS, EXAMPLE, answer, dispatch, found, of, taken, with};

#[test]
fn filled_example_is_read_completely() {
    let summary = taken(EXAMPLE);
    assert_eq!(
        (summary.stage, summary.status),
        (Stage::AnalysisQuestions, Status::Completed)
    );
    assert_eq!(summary.artifacts.len(), 5);
    assert_eq!(
        summary.artifacts[4],
        "requirements/working/QUESTIONS-001.md"
    );
    assert!(
        summary.summary.starts_with("Generated 14 questions"),
        "{}",
        summary.summary
    );
    let flags = summary.flags;
    assert_eq!(flags.questions_count, Some(14));
    assert_eq!(flags.thinkdeep_completion_pct, Some(100.0));
    assert_eq!(flags.panel_member_ids.map(|ids| ids.len()), Some(3));
    assert!(flags.other.is_empty());
    let context = summary.context.unwrap();
    assert!(
        context.starts_with("Round 1 generated") && context.ends_with("QUESTIONS-001.md."),
        "{context}"
    );
}

#[test]
fn question_is_read_completely() {
    let flags = taken(ASKS).flags;
    assert_eq!(flags.pause_type, Some(PauseType::Interactive));
    let question = flags.question_context.unwrap();
    assert_eq!(
        (question.question.as_str(), question.header.as_str()),
        ("Which source counts?", "Source")
    );
    assert_eq!(question.options[1].description, "It is longer");
    let map = flags.next_action_map.unwrap();
    // A mark for the recommended option is none of the label, in either place.
    assert_eq!(
        map.get("The first (Recommended)"),
        Some(NextAction::Proceed)
    );
    assert_eq!(map.get("The first"), Some(NextAction::Proceed));
    assert_eq!((map.get("The second"), map.get("Another")), (None, None));
}

#[test]
fn unknown_flags_are_kept() {
    let text = with(
        &of(1),
        "round_number: 1\n",
        "round_number: 1\n  tools: {a: [1, 2.5, null], b: x}\n  note: ~\n",
    );
    assert_eq!(found(&text), []);
    let other = serde_json::to_string(&taken(&text).flags.other).unwrap();
    assert_eq!(other, r#"{"tools":{"a":[1,2.5,null],"b":"x"},"note":null}"#);
}

#[test]
fn skipped_validation_is_conditional_without_score() {
    let mut skipped = dispatch(5);
    skipped.skip_validation = true;
    for (text, rules) in [
        (of(5), vec![]),
        (
            with(&with(&of(5), "READY", "NOT_READY"), "17.5", "3"),
            vec![Rule::DecisionScore],
        ),
        (
            with(&of(5), "  validation_decision: READY\n", ""),
            vec![Rule::NoDecision],
        ),
    ] {
        let reading = answer(&text, &skipped);
        let found: Vec<_> = reading.findings.list.iter().map(|one| one.rule).collect();
        assert_eq!(found, rules);
        let Outcome::Taken(summary) = reading.outcome else {
            panic!("it is taken")
        };
        let flags = summary.flags;
        assert_eq!(
            (flags.validation_decision, flags.validation_score),
            (Some(Decision::Conditional), None)
        );
    }
}

#[test]
fn other_dispatch_is_refused_before_crash() {
    let mut noted = dispatch(2);
    let broken = with(&of(2), "completed", "complete");
    assert_eq!(answer(&broken, &noted).outcome, Outcome::Crash);
    noted.before = Some(stages::contract::Digest::from_bytes(broken.as_bytes()));
    assert_eq!(answer(&broken, &noted).outcome, Outcome::Refused);
    noted.round = 2;
    assert_eq!(answer(&of(2), &noted).outcome, Outcome::Refused);
    let absent = with(&of(2), "  round_number: 1\n", "  timeout: false\n");
    assert!(matches!(answer(&absent, &noted).outcome, Outcome::Taken(_)));
    let outside = with(&of(2), "artifacts_written: []", "artifacts_written: [../a]");
    assert_eq!(answer(&outside, &dispatch(2)).outcome, Outcome::Refused);
}

#[test]
fn written_summary_keeps_rules_and_reads_back() {
    for stage in Stage::all() {
        let mut summary = Summary::new(
            stage,
            Status::Failed,
            "It \"broke\": # \u{1b}[2J \u{e0041} \u{ffff} \u{85} ü",
        );
        summary.artifacts = vec!["requirements/a b.md".into(), "c: d.md".into()];
        summary.flags.recovered = Some(true);
        summary.flags.completed_steps = Some(vec!["one: a".into(), "- two".into()]);
        summary.flags.other.insert(
            "a: b".into(),
            serde_json::json!({"x": [1, {"y": null}], "z": {}}),
        );
        summary.context = Some("Go on.\n\n- a".into());
        let text = summary.to_text();
        assert_eq!(found(&text), [], "{text}");
        assert_eq!(taken(&text), summary, "{text}");
    }
    let asks = taken(ASKS);
    assert_eq!(taken(&asks.to_text()), asks);
    let least = Summary::new(Stage::Completion, Status::Completed, "Done").to_text();
    assert_eq!(
        least,
        "---\nstage: completion\nstage_number: 6\nstatus: completed\ncheckpoint: COMPLETE\nartifacts_written: []\n\
         summary: Done\nflags: {}\n---\n\n## Context for Next Stage\n"
    );
}

/// Flags by type: a value of another type, a value out of range if there is one, and the flags.
const FLAGS: [(&str, Option<&str>, &str); 13] = [
    ("one", Some("0"), "round_number"),
    ("many", Some("6"), "panel_members_count"),
    (
        "a",
        Some("-1"),
        "queries_executed sources_analyzed reports_analyzed research_gaps questions_count thinkdeep_calls thinkdeep_expected \
         gaps_found total_rounds total_questions kpi_green_count kpi_yellow_count kpi_red_count",
    ),
    (
        "yes",
        None,
        "recovered timeout partial pal_available st_available research_mcp_tavily research_mcp_ref skipped transcript_included",
    ),
    (
        "7",
        None,
        "block_reason panel_preset panel_config_path questions_file skip_reason dispatch_id",
    ),
    (
        "[1]",
        None,
        "completed_steps quality_warnings panel_member_ids gap_descriptions sections_ready",
    ),
    (
        "7",
        Some("other"),
        "analysis_mode prd_mode research_method validation_decision",
    ),
    (
        "all",
        Some("101"),
        "thinkdeep_completion_pct completion_rate",
    ),
    ("good", Some("20.5"), "validation_score"),
    ("[1]", Some("{target_users: 5}"), "dimension_scores"),
    (
        "target_users",
        Some("[price]"),
        "weak_dimensions strong_dimensions",
    ),
    ("text", None, "question_context"),
    ("[a]", None, "next_action_map"),
];

#[test]
fn wrong_flag_is_ignored() {
    let base = of(3).replace("  questions_count: 3\n", "");
    for (wrong, out, flags) in FLAGS {
        for flag in flags.split_whitespace() {
            for (rule, value) in [(Rule::FlagType, Some(wrong)), (Rule::FlagRange, out)] {
                let Some(value) = value else { continue };
                let text = match flag {
                    "round_number" => with(&base, "_number: 1\n", &format!("_number: {value}\n")),
                    _ => with(&base, "flags:\n", &format!("flags:\n  {flag}: {value}\n")),
                };
                assert!(found(&text).iter().any(|one| one.0 == rule), "{text}");
                let flags = serde_json::to_value(taken(&text).flags).unwrap();
                assert_eq!(flags.get(flag), None, "{text}");
            }
        }
    }
}
