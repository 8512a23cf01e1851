//! What a lenient reader goes on with where a rule is broken.

use stages::contract::{Decision, NextAction, Outcome, PauseType, Rule, Stage, Status, Summary};

use crate::given::{ASKS, EXAMPLE, answer, dispatch, found, of, place, reading, taken, with};

/// Takes a summary that breaks exactly this rule.
fn mended(rule: Rule, text: &str) -> stages::contract::Summary {
    assert_eq!(
        found(text)
            .into_iter()
            .map(|(rule, ..)| rule)
            .collect::<Vec<_>>(),
        [rule],
        "{text}"
    );
    taken(text)
}

fn mended_asks(rule: Rule, part: &str, other: &str) -> stages::contract::Flags {
    mended(rule, &with(ASKS, part, other)).flags
}

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
fn stage_follows_number_then_name_then_dispatch() {
    for (rule, part, other) in [
        (Rule::MissingField, "stage: analysis-questions\n", ""),
        (Rule::MissingField, "stage_number: 3\n", ""),
        (Rule::StageRange, "stage_number: 3", "stage_number: 9"),
        (Rule::StageName, "analysis-questions", "setup"),
        (Rule::CheckpointName, "ANALYSIS_QUESTIONS", "SETUP"),
        (Rule::Placeholder, "stage_number: 3", "stage_number: {N}"),
    ] {
        let summary = mended(rule, &with(&of(3), part, other));
        assert_eq!(summary.stage.number(), 3, "{rule}");
    }
    let none = with(&of(3), "stage: analysis-questions\nstage_number: 3\n", "");
    let Outcome::Taken(summary) = answer(&none, &dispatch(3)).outcome else {
        panic!("it is taken")
    };
    assert_eq!(summary.stage.number(), 3);
}

#[test]
fn missing_or_wrong_values_are_empty() {
    let empty = with(&of(1), "summary: Done\n", "");
    assert_eq!(mended(Rule::MissingField, &empty).summary, "");
    let wrong = with(&of(1), "flags:\n  round_number: 1\n", "flags: none\n");
    assert_eq!(mended(Rule::BadType, &wrong).flags, Default::default());
    assert_eq!(
        mended(
            Rule::NoContext,
            &with(&of(1), "## Context for Next Stage\n", "")
        )
        .context,
        None
    );
    let later = with(
        &of(1),
        "number: 1\n---",
        "number: 1\n  questions_count: 3\n---",
    );
    assert_eq!(mended(Rule::FlagStage, &later).flags.questions_count, None);
    let text = with(&of(1), "round_number: 1", "round_number: one");
    assert_eq!(mended(Rule::FlagType, &text).flags.round_number, None);
    let range = with(&of(1), "round_number: 1", "round_number: 0");
    assert_eq!(mended(Rule::FlagRange, &range).flags.round_number, None);
    let drops = with(
        &of(1),
        "artifacts_written: []",
        "artifacts_written: [\"\", a.md]",
    );
    assert_eq!(mended(Rule::ArtifactMissing, &drops).artifacts, ["a.md"]);
}

#[test]
fn rate_above_one_is_per_cent() {
    for (written, read) in [("0.8", 0.8), ("1", 1.0), ("80", 0.8), ("100", 1.0)] {
        let text = with(
            &of(4),
            "round_number: 1\n",
            &format!("round_number: 1\n  completion_rate: {written}\n"),
        );
        assert_eq!(taken(&text).flags.completion_rate, Some(read));
    }
}

#[test]
fn broken_pause_is_read_by_its_content() {
    let unknown = mended_asks(
        Rule::UnknownPause,
        "pause_type: interactive",
        "pause_type: ask",
    );
    assert_eq!(unknown.pause_type, Some(PauseType::Interactive));
    assert!(unknown.question_context.is_some());
    let missing = mended_asks(Rule::PauseStatus, "  pause_type: interactive\n", "");
    assert_eq!(missing.pause_type, Some(PauseType::Interactive));
    let waits = with(&of(2), "completed", "needs-user-input");
    let silent = with(
        &waits,
        "round_number: 1\n",
        "round_number: 1\n  pause_type: later\n  block_reason: Read\n",
    );
    let silent = mended(Rule::UnknownPause, &silent);
    assert_eq!(
        (silent.status, silent.flags.pause_type),
        (Status::NeedsUserInput, Some(PauseType::ExitCli))
    );
    // The status wins.
    let done = mended(
        Rule::PauseStatus,
        &with(ASKS, "needs-user-input", "completed"),
    );
    assert_eq!(
        (done.status, done.flags.pause_type),
        (Status::Completed, None)
    );
    assert_eq!(
        (done.flags.question_context, done.flags.next_action_map),
        (None, None)
    );
    let last = mended(
        Rule::PauseStage,
        &with(&of(7), "completed", "needs-user-input"),
    );
    assert_eq!(
        (last.status, last.flags.pause_type),
        (Status::Completed, None)
    );
}

#[test]
fn incomplete_question_is_corrected() {
    let reason = mended_asks(
        Rule::NoBlockReason,
        "  block_reason: \"Two sources disagree\"\n",
        "",
    );
    assert_eq!(reason.block_reason.as_deref(), Some("Looked for sources"));
    let question = mended_asks(
        Rule::NoQuestion,
        "    question: \"Which source counts?\"\n",
        "",
    );
    assert_eq!(
        question.question_context.unwrap().question,
        "Two sources disagree"
    );
    let none = with(
        ASKS,
        &ASKS[ASKS.find("  question_context").unwrap()..ASKS.find("---\n\n").unwrap()],
        "",
    );
    let question = mended(Rule::NoQuestion, &none)
        .flags
        .question_context
        .unwrap();
    assert_eq!(
        (question.question.as_str(), question.header.as_str()),
        ("Two sources disagree", "Research")
    );
    assert_eq!(question.options, []);
    let stray = with(
        &of(1),
        "round_number: 1\n",
        "round_number: 1\n  next_action_map: {a: null}\n",
    );
    assert_eq!(
        mended(Rule::QuestionStray, &stray).flags.next_action_map,
        None
    );
}

#[test]
fn long_header_is_cut_and_broken_options_dropped() {
    let header = |part: &str, other: &str| {
        mended_asks(Rule::HeaderLength, part, other)
            .question_context
            .unwrap()
            .header
    };
    assert_eq!(header("\"Source\"", "\"Größte Quelle\""), "Größte Quell");
    assert_eq!(header("\"Source\"", "\"Two\\nlines\""), "Two");
    assert_eq!(header("    header: \"Source\"\n", ""), "Research");
    assert_eq!(
        found(&with(ASKS, "\"Source\"", "\" Zwölf Zeich. \"")),
        [],
        "12 of 12"
    );
    let dropped = taken(&with(ASKS, "        description: \"It is longer\"\n", "")).flags;
    assert_eq!(dropped.question_context.unwrap().options.len(), 1);
    assert_eq!(dropped.next_action_map.unwrap().0.len(), 1);
    let same = taken(&with(ASKS, "\"The second\"\n", "The first\n")).flags;
    assert_eq!(same.question_context.unwrap().options.len(), 1);
}

#[test]
fn impossible_action_is_ignored() {
    let first = |other: &str| with(ASKS, "\"The first\": proceed", other);
    let map = |rule, text: &str| mended(rule, text).flags.next_action_map.unwrap();
    assert_eq!(
        map(
            Rule::UnknownAction,
            &first("\"The first\": supplement_research")
        )
        .get("The first"),
        None
    );
    assert_eq!(
        map(Rule::ActionStage, &first("\"The first\": loop_questions")).get("The first"),
        None
    );
    assert_eq!(
        map(Rule::MapLabel, &first("\"The third\": proceed"))
            .0
            .len(),
        1
    );
    let early = with(
        &of(1),
        "round_number: 1\n",
        "round_number: 1\n  next_action: proceed\n",
    );
    assert_eq!(mended(Rule::ActionStage, &early).flags.next_action, None);
    assert_eq!(
        mended(Rule::NoNextAction, &with(&of(4), "proceed", "null"))
            .flags
            .next_action,
        None
    );
}

#[test]
fn decision_is_the_worse_of_word_and_score() {
    let decided = |rule, text: &str| mended(rule, text).flags.validation_decision.unwrap();
    let score = |other: &str| with(&of(5), "17.5", other);
    assert_eq!(
        decided(Rule::DecisionScore, &score("15.99")),
        Decision::Conditional
    );
    assert_eq!(
        decided(Rule::DecisionScore, &score("0")),
        Decision::NotReady
    );
    let modest = with(&of(5), "READY", "NOT_READY");
    assert_eq!(decided(Rule::DecisionScore, &modest), Decision::NotReady);
    for (score, fits) in [
        (16.0, "READY"),
        (15.9, "CONDITIONAL"),
        (12.0, "CONDITIONAL"),
        (11.9, "NOT_READY"),
    ] {
        let text = with(&with(&of(5), "17.5", &score.to_string()), "READY", fits);
        assert_eq!(found(&text), [], "{text}");
    }
    let none = with(&of(5), "  validation_decision: READY\n", "");
    assert_eq!(decided(Rule::NoDecision, &none), Decision::Ready);
    let neither = with(&none, "  validation_score: 17.5\n", "");
    assert_eq!(reading(&neither).outcome, Outcome::Crash);
    let loops = with(
        &neither,
        "round_number: 1\n",
        "round_number: 1\n  next_action: loop_questions\n",
    );
    assert_eq!(decided(Rule::NoDecision, &loops), Decision::NotReady);
    assert_eq!(found(&score("null")), [], "a score may be null");
    // A decision that is no word is ignored, and what goes by the score goes on.
    let rules =
        |text: &str| -> Vec<Rule> { found(text).into_iter().map(|(rule, ..)| rule).collect() };
    let wrong = with(&of(5), "READY", "MAYBE");
    assert_eq!(rules(&wrong), [Rule::FlagRange]);
    assert_eq!(
        taken(&wrong).flags.validation_decision,
        Some(Decision::Ready)
    );
    let nothing = with(&wrong, "17.5", "null");
    assert_eq!(rules(&nothing), [Rule::FlagRange, Rule::NoDecision]);
    assert_eq!(reading(&nothing).outcome, Outcome::Crash);
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

#[test]
fn unquoted_colon_is_read_to_line_end() {
    let text = with(&of(1), "Done", "Compared: the second's cheaper: by far");
    let reading = reading(&text);
    let places: Vec<_> = reading.findings.list.iter().map(place).collect();
    assert_eq!(places, [(Rule::BadYaml, 7, 18)]);
    assert_eq!(
        reading.findings.lenient_lines(),
        ["7:18: warning[bad-yaml]: text with `: ` is not in quotes: read to the end of the line"]
    );
    assert_eq!(
        taken(&text).summary,
        "Compared: the second's cheaper: by far"
    );
}

#[test]
fn colon_slips_of_models_are_text() {
    let summary = |text: &str| taken(&with(&of(1), "summary: Done", text)).summary;
    assert_eq!(
        summary("summary: Three ways: the second\n  is cheaper"),
        "Three ways: the second is cheaper"
    );
    assert_eq!(
        summary("summary: Three ways\n  were compared: the second"),
        "Three ways were compared: the second"
    );
    assert_eq!(
        summary("summary: [WIP] Ways: it's two"),
        "[WIP] Ways: it's two"
    );
    assert_eq!(
        summary("summary: \"Ways\" mean: this"),
        "\"Ways\" mean: this"
    );
    assert_eq!(summary("summary: Open:"), "Open:");

    let gaps =
        "  gap_descriptions:\n    - Revenue: nobody pays\n    - \"Plain\"\n    - Users: who: all\n";
    let text = with(
        &of(4),
        "round_number: 1\n",
        &format!("round_number: 1\n{gaps}"),
    );
    let flags = taken(&text).flags;
    assert_eq!(
        flags.gap_descriptions.unwrap(),
        ["Revenue: nobody pays", "Plain", "Users: who: all"]
    );
    let lines = reading(&text).findings.lenient_lines();
    assert_eq!(
        lines,
        [
            "11:7: warning[bad-yaml]: text with `: ` is not in quotes: read to the end of the line",
            "13:7: warning[bad-yaml]: text with `: ` is not in quotes: read to the end of the line",
            "13:17: warning[bad-yaml]: text with `: ` is not in quotes: read to the end of the line",
        ]
    );
    // A key at a wrong indentation is no text.
    let wrong = with(
        &of(1),
        "round_number: 1\n",
        "round_number: 1\n   timeout: true\n",
    );
    assert_eq!(reading(&wrong).outcome, Outcome::Crash);
}

#[test]
fn blanks_of_yaml_are_named_with_line() {
    for (part, other, place, is_taken) in [
        ("status: c", "status:\u{a0}c", (4, 8), true),
        ("completed", "completed\u{a0}", (4, 18), true),
        ("  round_number", " \u{a0}round_number", (9, 2), true),
        ("round_number:", "round_number\u{a0}:", (9, 15), true),
        (
            "  round_number: 1\n",
            "  round_number: 1\n\ttimeout: true\n",
            (10, 1),
            false,
        ),
        (
            "  round_number: 1\n",
            "  round_number: 1\n  \ttimeout: true\n",
            (10, 3),
            false,
        ),
    ] {
        let text = with(&of(1), part, other);
        let named: Vec<_> = found(&text);
        assert_eq!(named, [(Rule::BadYaml, place.0, place.1)], "{text}");
        let outcome = reading(&text).outcome;
        assert_eq!(matches!(outcome, Outcome::Taken(_)), is_taken, "{text}");
    }
    // In a text it is text.
    let text = with(&of(1), "Done", "Done\u{a0}so");
    assert_eq!(taken(&text).summary, "Done\u{a0}so");
}

#[test]
fn reserved_label_and_invisible_header_are_refused() {
    for (part, other, place) in [
        (
            "\"The second\"\n",
            "\"More…\"\n",
            (Rule::OptionDuplicate, 18, 16),
        ),
        (
            "\"The second\"\n",
            "\"\u{200b}More… (Recommended)\"\n",
            (Rule::OptionDuplicate, 18, 16),
        ),
        (
            "\"Source\"",
            "\"\u{200b}\u{2060}\"",
            (Rule::HeaderLength, 14, 13),
        ),
    ] {
        let text = with(ASKS, part, other);
        let first = found(&text)
            .into_iter()
            .find(|(rule, ..)| *rule != Rule::MapLabel);
        assert_eq!(first, Some(place), "{text}");
        assert_eq!(reading(&text).outcome, Outcome::Refused, "{text}");
    }
}
