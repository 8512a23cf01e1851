//! The lenient reader's summary if a rule is broken.

use stages::contract::{Decision, PauseType, Rule, Stage, Status, Summary};

use crate::support::{
    ASKS, EXAMPLE, answer, completed, dispatch, find_rules, outcome, read_summary, with,
};

#[test]
fn filled_example_is_read_completely() {
    assert_eq!(find_rules(EXAMPLE), []);
    let summary = read_summary(EXAMPLE);
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
fn slips_of_form_break_no_rule() {
    let expected = read_summary(EXAMPLE);
    let wrapped = |open: &str| format!("{open}\n{EXAMPLE}```\n");
    let headed = |heading: &str| with(EXAMPLE, "## Context for Next Stage", heading);
    let (yaml, body) = EXAMPLE.split_at(EXAMPLE.find("\n## Context").unwrap());
    for text in [
        format!("\n \n{EXAMPLE}"),
        format!("\u{feff}\n{EXAMPLE}"),
        format!("Here is the summary:\n\n{EXAMPLE}"),
        format!("# Summary\nIt is done.\nSee below.\n{EXAMPLE}"),
        wrapped("```yaml"),
        wrapped("```markdown"),
        format!("````markdown\n{EXAMPLE}````\n"),
        wrapped("Here is the summary:\n\n```"),
        wrapped("```markdown").replace("\nRound 1", "\n```json\n{}\n```\nRound 1"),
        format!("```yaml\n{yaml}```\n{body}"),
        format!("```yaml\n{}```\n{body}", yaml.replace("---\n", "")),
        headed("# Context for Next Stage"),
        headed("### context for next stage"),
        headed("## **CONTEXT FOR NEXT STAGE:**"),
        headed("## Context for Next Stage: ##"),
        with(EXAMPLE, "status: completed", "status: Completed"),
        with(EXAMPLE, "mode: \"complete\"", "mode: COMPLETE"),
        with(EXAMPLE, "_count: 14", "_count: \"14\""),
    ] {
        for text in [text.replace('\n', "\r\n"), text] {
            assert_eq!(find_rules(&text), [], "{text}");
            let mut summary = read_summary(&text);
            let context = summary
                .context
                .take()
                .unwrap()
                .replace('\r', "")
                .replace("```json\n{}\n```\n", "");
            summary.context = Some(context);
            assert_eq!(summary, expected, "{text}");
        }
    }
    let text = format!("One\ntwo\nthree\nfour\n{EXAMPLE}");
    assert_eq!(find_rules(&text), [(Rule::NoFrontmatter, 1, 1)]);
}

#[test]
fn question_is_read_completely() {
    let flags = read_summary(ASKS).flags;
    assert_eq!(flags.pause_type, Some(PauseType::Interactive));
    let question = flags.question_context.unwrap();
    assert_eq!(
        (question.question.as_str(), question.header.as_str()),
        ("Which source counts?", "Source")
    );
    assert_eq!(question.options[1].description, "It is longer");
    let map = flags.next_action_map.unwrap();
    let expected = [
        ("The first".to_owned(), "proceed".into()),
        ("The second".to_owned(), serde_json::Value::Null),
    ];
    assert_eq!(map, expected.into());
}

#[test]
fn skipped_validation_is_conditional_without_score() {
    let mut skipped = dispatch(5);
    skipped.skip_validation = true;
    let text = completed(5);
    let low = with(&with(&text, "READY", "NOT_READY"), "17.5", "3");
    let undecided = with(&text, "  validation_decision: READY\n", "");
    for (text, rule) in [
        (text, None),
        (low, Some(Rule::DecisionScore)),
        (undecided, Some(Rule::NoDecision)),
    ] {
        let reading = answer(&text, &skipped);
        let rules = reading.findings.iter().map(|one| one.rule);
        assert_eq!(rules.collect::<Vec<_>>(), Vec::from_iter(rule));
        let flags = reading.summary.unwrap().flags;
        assert_eq!(flags.validation_decision, Some(Decision::Conditional));
        assert_eq!(flags.validation_score, None);
    }
}

#[test]
fn other_dispatch_is_refused_before_crash() {
    let mut noted = dispatch(2);
    let broken = with(&completed(2), "completed", "complete");
    assert_eq!(outcome(&answer(&broken, &noted)), "crash");
    let digest = stages::contract::sha256(broken.as_bytes());
    noted.known.insert(digest, Rule::Stale);
    assert_eq!(outcome(&answer(&broken, &noted)), "refused");
    noted.round = 2;
    assert_eq!(outcome(&answer(&completed(2), &noted)), "refused");
    let absent = with(&completed(2), "  round_number: 1\n", "  timeout: false\n");
    assert_eq!(outcome(&answer(&absent, &noted)), "taken");
    let outside = with(
        &completed(2),
        "artifacts_written: []",
        "artifacts_written: [../a]",
    );
    assert_eq!(outcome(&answer(&outside, &dispatch(2))), "refused");
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
        assert_eq!(find_rules(&text), [], "{text}");
        assert_eq!(read_summary(&text), summary, "{text}");
    }
    let asks = read_summary(ASKS);
    assert_eq!(read_summary(&asks.to_text()), asks);
    let least = Summary::new(Stage::Completion, Status::Completed, "Done").to_text();
    assert_eq!(
        least,
        "---\nstage: completion\nstage_number: 6\nstatus: completed\ncheckpoint: COMPLETE\nartifacts_written: []\n\
         summary: Done\nflags: {}\n---\n\n## Context for Next Stage\n"
    );
}

#[test]
fn wrong_flag_is_ignored() {
    let base = completed(3).replace("  questions_count: 3\n", "");
    let cases = include_str!("../fixtures/wrong-flags.txt").lines();
    for case in cases.filter(|line| line.contains(" => ") && !line.starts_with('#')) {
        let parts: Vec<&str> = case.split(" => ").collect();
        let values = [(Rule::FlagType, parts[0]), (Rule::FlagRange, parts[1])];
        for flag in parts[2].split(' ') {
            for (rule, value) in values.iter().filter(|(_, value)| *value != "-") {
                let text = match flag {
                    "round_number" => with(&base, "_number: 1\n", &format!("_number: {value}\n")),
                    _ => with(&base, "flags:\n", &format!("flags:\n  {flag}: {value}\n")),
                };
                assert!(find_rules(&text).iter().any(|one| one.0 == *rule), "{text}");
                let flags = serde_json::to_value(read_summary(&text).flags).unwrap();
                assert_eq!(flags.get(flag), None, "{text}");
            }
        }
    }
}
