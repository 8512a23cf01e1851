//! Malformed summaries that are made from the rules: none validates, none panics, and a lenient reader does with each what the
//! table says.

use std::collections::BTreeMap;

use stages::contract::{Context, Lenient, Outcome, Rule, Stage, read};

use crate::given::{ASKS, EXAMPLE, answer, completed, dispatch, of, with};

/// The flags that have a type, each with one value of another type and, where there is one, one out of its range.
const FLAGS: [(&str, &str, Option<&str>); 48] = [
    ("round_number", "one", Some("0")),
    ("analysis_mode", "7", Some("deep")),
    ("block_reason", "7", None),
    ("question_context", "text", None),
    ("next_action_map", "[a]", None),
    ("recovered", "yes", None),
    ("timeout", "1", None),
    ("partial", "\"true\"", None),
    ("completed_steps", "text", None),
    ("quality_warnings", "[1]", None),
    ("prd_mode", "[]", Some("OLD")),
    ("panel_preset", "7", None),
    ("panel_members_count", "many", Some("6")),
    ("panel_config_path", "true", None),
    ("pal_available", "no", None),
    ("st_available", "{}", None),
    ("research_mcp_tavily", "0", None),
    ("research_mcp_ref", "null", None),
    ("research_method", "7", Some("auto")),
    ("queries_executed", "a", Some("-1")),
    ("sources_analyzed", "1.5", Some("-2")),
    ("reports_analyzed", "[]", Some("-3")),
    ("research_gaps", "\"1\"", Some("99999999999")),
    ("questions_count", "a", Some("-1")),
    ("thinkdeep_calls", "a", Some("-1")),
    ("thinkdeep_completion_pct", "all", Some("101")),
    ("thinkdeep_expected", "a", Some("-1")),
    ("panel_member_ids", "{a: 1}", None),
    ("questions_file", "7", None),
    ("completion_rate", "most", Some("101")),
    ("gaps_found", "a", Some("-1")),
    ("gap_descriptions", "text", None),
    ("sections_ready", "7", None),
    ("validation_decision", "7", Some("MAYBE")),
    ("validation_score", "good", Some("20.5")),
    ("dimension_scores", "[1]", Some("{target_users: 5}")),
    ("weak_dimensions", "target_users", Some("[price]")),
    ("strong_dimensions", "[[]]", Some("[price]")),
    ("total_rounds", "a", Some("-1")),
    ("total_questions", "a", Some("-1")),
    ("skipped", "7", None),
    ("skip_reason", "[]", None),
    ("kpi_green_count", "a", Some("-1")),
    ("kpi_yellow_count", "a", Some("-1")),
    ("kpi_red_count", "a", Some("-1")),
    ("transcript_included", "7", None),
    ("dispatch_id", "7", None),
    ("panel_members_count", ".nan", Some("-5")),
];

/// Returns malformed texts, each with the rule that it breaks.
fn malformed() -> Vec<(Rule, String)> {
    use Rule::*;
    let until_options = &ASKS[..ASKS.find("    options:").unwrap()];
    let mut all = vec![
        (TooLarge, EXAMPLE.to_owned() + &"x".repeat(256 * 1024)),
        (
            OptionCount,
            format!("{until_options}---\n\n## Context for Next Stage\n"),
        ),
    ];
    let mut add =
        |rule, text: &str, part: &str, other: &str| all.push((rule, with(text, part, other)));
    for (flag, wrong, out) in FLAGS {
        let (base, round) = (
            of(3).replace("  questions_count: 3\n", ""),
            "  round_number: 1\n",
        );
        let kept = if flag == "round_number" { "" } else { round };
        let mut give =
            |rule, value: &str| add(rule, &base, round, &format!("{kept}  {flag}: {value}\n"));
        give(FlagType, wrong);
        if let Some(out) = out {
            give(FlagRange, out);
        }
    }
    for stage in Stage::all() {
        let text = completed(stage);
        for key in [
            "stage",
            "stage_number",
            "status",
            "checkpoint",
            "artifacts_written",
            "summary",
        ] {
            let missing = if key == "status" {
                UnknownStatus
            } else {
                MissingField
            };
            let start = format!("{key}: ");
            let line = text.lines().find(|line| line.starts_with(&start)).unwrap();
            let line = format!("{line}\n");
            add(missing, &text, &line, "");
            add(
                Placeholder,
                &text,
                &line,
                &format!("{key}: \"{{value}}\"\n"),
            );
            add(DuplicateKey, &text, &line, &line.repeat(2));
        }
        let number = format!("stage_number: {}\n", stage.number());
        for other in ["0", "8", "-3", "3.5", "99999999999999999999"] {
            add(
                StageRange,
                &text,
                &number,
                &format!("stage_number: {other}\n"),
            );
        }
        let name = format!("stage: {stage}");
        add(
            StageName,
            &text,
            &format!("{name}\n"),
            &format!("{name}s\n"),
        );
        add(CheckpointName, &text, stage.checkpoint(), "DONE");
        let status = "status: completed";
        for other in [
            "done",
            "Completed",
            "needs_user_input",
            "7",
            "[]",
            "completed | failed",
        ] {
            add(UnknownStatus, &text, status, &format!("status: {other}"));
        }
        for path in ["/a", "../a", "a/../../b", "//a"] {
            let artifacts = format!("_written: [\"{path}\"]");
            add(ArtifactOutside, &text, "_written: []", &artifacts);
        }
        add(NoFrontmatter, &text, "---\nstage:", "stage:");
        add(NoFrontmatter, &text, "---\n\n##", "\n##");
        add(NoContext, &text, "## Context for Next Stage", "## Context");
        for yaml in [
            "\"open", "[open", "{open", "a: b: c", "&x y", "*x", "!t y", "@x", "%x", "`x", "- x",
        ] {
            add(BadYaml, &text, "summary: Done", &format!("summary: {yaml}"));
        }
        let mut flag = |rule, text: &str, flags: &str| {
            add(rule, text, "flags:\n", &format!("flags:\n{flags}"))
        };
        if stage != Stage::AnalysisQuestions {
            for name in [
                "questions_count",
                "thinkdeep_calls",
                "thinkdeep_completion_pct",
            ] {
                flag(FlagStage, &text, &format!("  {name}: 0\n"));
            }
        }
        for (action, stages) in [
            ("loop_questions", &[4, 5][..]),
            ("loop_research", &[4]),
            ("proceed", &[2, 3, 4]),
        ] {
            if !stages.contains(&stage.number()) {
                flag(ActionStage, &text, &format!("  next_action: {action}\n"));
            }
        }
        if stage == Stage::Retrospective {
            add(PauseStage, &text, status, "status: needs-user-input");
            continue;
        }
        flag(PauseStatus, &text, "  pause_type: exit_cli\n");
        flag(QuestionStray, &text, "  question_context: {question: Q}\n");
        let waits = with(&text, status, "status: needs-user-input");
        flag(PauseStatus, &waits, "  block_reason: why\n");
        flag(
            UnknownPause,
            &waits,
            "  pause_type: cli\n  block_reason: why\n",
        );
        flag(NoBlockReason, &waits, "  pause_type: exit_cli\n");
        flag(
            NoQuestion,
            &waits,
            "  pause_type: interactive\n  block_reason: why\n",
        );
    }
    for header in ["Thirteen char", "two\\nlines", "", "   ", "ÄÖÜÄÖÜÄÖÜÄÖÜÄ"] {
        add(HeaderLength, ASKS, "\"Source\"", &format!("\"{header}\""));
    }
    for (rule, part, other) in [
        (
            OptionIncomplete,
            "        description: \"It is newer\"\n",
            "",
        ),
        (OptionIncomplete, "\"It is newer\"", "7"),
        (OptionDuplicate, "\"The second\"\n", "\"The first\"\n"),
        (UnknownAction, "first\": proceed", "first\": onward"),
        (UnknownAction, "first\": proceed", "first\": 7"),
        (MapLabel, "first\": proceed", "last\": proceed"),
    ] {
        add(rule, ASKS, part, other);
    }
    add(NoNextAction, &of(4), "proceed", "null");
    add(NoDecision, &of(5), "  validation_decision: READY\n", "");
    for (decision, score) in [
        ("READY", "15.9"),
        ("CONDITIONAL", "16"),
        ("CONDITIONAL", "3"),
        ("NOT_READY", "12"),
    ] {
        add(
            DecisionScore,
            &with(&of(5), "READY", decision),
            "17.5",
            score,
        );
    }
    add(ArtifactMissing, &of(1), "_written: []", "_written: [\"\"]");
    add(BadType, &of(1), "summary: Done", "summary: []");
    all
}

#[test]
#[expect(clippy::print_stdout, reason = "how many there are is to be seen")]
fn no_malformed_summary_validates_and_each_leads_to_what_the_table_says() {
    let (all, mut by_rule) = (malformed(), BTreeMap::new());
    for (rule, text) in &all {
        // What is missing of a stage is that of the dispatch.
        let stage = text
            .lines()
            .find_map(|line| line.strip_prefix("stage_number: ")?.parse().ok());
        let stage = stage
            .filter(|stage| (1..=7).contains(stage))
            .unwrap_or_else(|| {
                let names = Stage::all()
                    .find(|stage| text.contains(&format!("checkpoint: {}\n", stage.checkpoint())));
                names.map_or(3, |stage| stage.number().into())
            });
        for text in [text.clone(), text.replace('\n', "\r\n")] {
            let reading = read(text.as_bytes(), &Context::default());
            let list = reading.findings.list();
            assert!(
                list.iter().any(|one| one.rule == *rule),
                "{rule}: {text}\n{list:?}"
            );
            assert!(reading.findings.has_error(), "{rule}: {text}");
            let outcome = answer(&text, &dispatch(stage)).outcome;
            let rules = list.iter().map(|one| one.rule.lenient());
            let crashes = rules.clone().any(|lenient| lenient == Lenient::Crash)
                || list.iter().any(|one| one.rule == Rule::Placeholder)
                    && text.contains("status: \"{value}\"");
            let expected = match rule.lenient() {
                _ if crashes => "crash",
                Lenient::Crash => unreachable!("it is found"),
                Lenient::Refused => "refused",
                Lenient::Mended(_) => "taken",
            };
            if let (Outcome::Taken(summary), Rule::FlagType | Rule::FlagRange | Rule::FlagStage) =
                (&outcome, *rule)
            {
                // It is ignored, and the others stay.
                let at = list
                    .iter()
                    .find(|one| one.rule == *rule)
                    .unwrap()
                    .start
                    .line;
                let flag = text
                    .lines()
                    .nth(at - 1)
                    .unwrap()
                    .trim()
                    .split(':')
                    .next()
                    .unwrap();
                let flags = serde_json::to_value(&summary.flags).unwrap();
                assert_eq!(flags.get(flag), None, "{text}");
                assert!(
                    flag == "round_number" || flags.get("round_number").is_some(),
                    "{text}"
                );
            }
            let is = match outcome {
                Outcome::Taken(_) => "taken",
                Outcome::Crash => "crash",
                Outcome::Refused => "refused",
            };
            assert_eq!(is, expected, "{rule}: {text}\n{list:?}");
        }
        *by_rule.entry(*rule).or_insert(0) += 1;
    }
    println!("{} malformed summaries: {by_rule:?}", all.len());
    assert!(all.len() >= 100);
    // These are not said by the text alone, or by bytes that are no text: see `rules`.
    let elsewhere = [
        Rule::NotUtf8,
        Rule::Stale,
        Rule::Foreign,
        Rule::TakenAlready,
    ];
    for rule in Rule::all().filter(|rule| !elsewhere.contains(rule)) {
        assert!(
            by_rule.contains_key(&rule),
            "{rule} has no malformed summary"
        );
    }
}
