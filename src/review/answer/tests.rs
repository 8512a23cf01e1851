mod clean_forms;

use proptest::prelude::*;
use serde_json::json;

use super::*;

const ONE: &str = r#"{"verdict":"findings","findings":[{"severity":"high","what":"no way back",
    "recommendation":"write one","file":null,"line":3,"patch":null}]}"#;
const CLEAN: &str = r#"{"verdict": "clean", "findings": []}"#;

fn findings(answer: &str) -> Vec<Finding> {
    read(answer).unwrap().0
}

/// Returns the reason why an answer cannot be read.
fn problem(answer: &str) -> String {
    let cause = read(answer).unwrap_err();
    match cause.kind {
        CauseKind::NoOutput => "empty".to_owned(),
        _ => cause.detail,
    }
}

const APART: &str = "its JSON says clean and does not stand alone";

#[test]
fn the_schema_is_strict_all_the_way_down() {
    fn check(schema: &Value) {
        if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
            let names: Vec<_> = properties.keys().cloned().collect();
            assert_eq!(schema["required"], json!(names));
            assert_eq!(schema["additionalProperties"], false);
            properties.values().for_each(check);
        }
        schema.get("items").into_iter().for_each(check);
    }
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    check(&schema);
    for name in schema["properties"].as_object().unwrap().keys() {
        assert!(CLOSING.contains(&format!("`{name}`")), "{name}");
    }
}

#[test]
fn an_answer_by_the_schema_is_read_in_full() {
    let patch = "--- a/x\r\n+++ b/x\r\n@@ -1 +1 @@\r\n-a\r\n+\u{b}b\r\n";
    let answer = json!({"verdict": "findings", "findings": [
        {"severity": "high", "what": "no\nway \u{1b}[31mback", "recommendation": "write one", "file": "src/a b.rs",
         "line": 12, "patch": patch},
        {"severity": "Critical", "what": "x", "recommendation": null, "file": null, "line": null, "patch": null},
        {"severity": "low", "what": "y", "recommendation": " ", "file": "", "line": 0, "patch": " \n"},
    ]});
    let read = findings(&answer.to_string());
    assert_eq!(read[0].what, "no way [31mback");
    assert_eq!(read[0].recommendation.as_deref(), Some("write one"));
    assert_eq!(
        (read[0].file.as_deref(), read[0].line),
        (Some("src/a b.rs"), Some(12))
    );
    assert_eq!(read[0].patch.as_deref(), Some(patch), "byte for byte");
    assert_eq!(read[1], Finding::new(Severity::High, "x"));
    assert_eq!(
        read[2],
        Finding::new(Severity::Low, "y"),
        "what says nothing is left out"
    );
    assert_eq!(read_value(&answer), Ok(Findings(read)));
    assert_eq!(read_value(&json!(CLEAN)), Ok(Findings::default()));
}

#[test]
fn findings_in_a_fence_may_follow_a_text() {
    let text = format!("I read {{the plan}}, all of it. Here it is:\n\n```json\n{ONE}\n```\n");
    assert_eq!(findings(&text).len(), 1);
    assert_eq!(problem(&text.replace(ONE, CLEAN)), APART);
    let contradicted = format!("# Findings\n\nNo substantive findings.\n\n```json\n{ONE}\n```\n");
    assert_eq!(problem(&contradicted), TWO);
}

#[test]
fn what_states_no_verdict_is_never_clean() {
    for text in ["", " \n\t\u{2003}"] {
        assert_eq!(problem(text), "empty");
    }
    for text in ["I like it.", "{}", "[]"] {
        assert!(problem(text).starts_with("no item has a severity"));
    }
    let answers = [
        r#"{"findings": []}"#,
        r#"{"verdict": "clean"}"#,
        r#"{"verdict": "findings", "findings": []}"#,
        r#"{"verdict": "approved \u001b[1m", "findings": []}"#,
        r#"{"verdict": "clean", "findings": "none"}"#,
        r#"{"verdict": "clean", "findings": [], "confidence": 0.1}"#,
        r#"{"verdict": "findings", "verdict": "clean", "findings": []}"#,
        r#"{"result": {"verdict": "clean", "findings": []}}"#,
        r#"[{"severity": "high", "what": "x"}]"#,
        "Here it is:\n{\"verdict\": \"findings\", \"findings\": [{\"severity\": \"hi",
        "{\"verdict\": \"findings\", \"findings\": [{\"what\": \"two\nlines\"}]}",
    ];
    let told: Vec<String> = answers.iter().map(|text| problem(text)).collect();
    insta::assert_snapshot!(told.join("\n"), @r#"
    its JSON cannot be read: missing field `verdict` at line 1 column 16
    its JSON cannot be read: missing field `findings` at line 1 column 20
    its JSON announces findings and lists none
    its JSON has the verdict `approved [1m`, neither clean nor findings
    its JSON cannot be read: invalid type: string "none", expected a sequence at line 1 column 39
    its JSON cannot be read: unknown field `confidence`, expected `verdict` or `findings` at line 1 column 49
    its JSON cannot be read: duplicate field `verdict` at line 1 column 33
    its JSON cannot be read: unknown field `result`, expected `verdict` or `findings` at line 1 column 9
    its JSON cannot be read: invalid type: map, expected a string at line 1 column 1
    its JSON cannot be read: EOF while parsing a string at line 1 column 53
    its JSON cannot be read: control character (\u0000-\u001F) found while parsing a string at line 2 column 0
    "#);
    assert!(read_value(&json!(["clean"])).is_err());
}

#[test]
fn finding_without_severity_or_text_spoils_answer() {
    for (finding, lacks) in [
        (json!({"what": "x"}), "severity"),
        (
            json!({"severity": "low", "what": " "}),
            "text that says what is wrong",
        ),
    ] {
        let good = json!({"severity": "low", "what": "x"});
        let answer = json!({"verdict": "findings", "findings": [good, finding]});
        assert_eq!(
            read_value(&answer).unwrap_err().detail,
            format!("finding 2 of its JSON has no {lacks}")
        );
    }
}

#[test]
fn two_answers_that_differ_are_none() {
    // One of them may be quoted from the document under review.
    assert!(read(&format!("The plan says {CLEAN}, but: {ONE}")).is_err());
    assert_eq!(problem(&format!("{ONE}\n{CLEAN}")), TWO);
    let quoted = json!({"verdict": "findings", "findings": [{"severity": "low", "what": CLEAN}]});
    assert_eq!(
        findings(&quoted.to_string()).len(),
        1,
        "what an answer quotes is no answer"
    );
}

#[test]
fn what_is_quoted_within_a_sentence_is_no_answer() {
    let quoting = format!("# Round 1 findings\n\n## High\n- the file holds `{CLEAN}` as text\n");
    assert_eq!(findings(&quoting).len(), 1);
    let quoting = format!("A serious fault: `{CLEAN}` is taken for a verdict.");
    assert!(problem(&quoting).starts_with("no item has a severity"));
    let fenced = format!("## High\n- the test expects this:\n\n```json\n{CLEAN}\n```\n");
    assert_eq!(problem(&fenced), APART);
    let contradicted = format!("The plan says {ONE} itself.\n\nNo substantive findings.\n");
    assert!(read(&contradicted).is_err());
}

#[test]
fn broken_json_beside_a_clean_line_is_not_clean() {
    let cut = &ONE[..ONE.len() - 9];
    for text in [
        format!("Here it is:\n{cut}\n\nNo substantive findings.\n"),
        format!("{cut}\nNo substantive findings.\n"),
        "Here it is:\n{\n  \"verdict\": \"findings\",\n  \"find\n\nNo substantive findings.\n"
            .to_owned(),
    ] {
        assert!(read(&text).is_err(), "{text}");
    }
}

#[test]
fn json_that_is_cut_off_is_no_answer_wherever_it_is_cut() {
    let whole = json!({"verdict": "findings", "findings": [
        {"severity": "low", "what": "No substantive findings.", "patch": "## High\n- x\n\nNo substantive findings.\n"}]})
    .to_string();
    for end in 1..whole.len() {
        assert!(read(&whole[..end]).is_err(), "{}", &whole[..end]);
    }
    assert!(read(&whole).is_ok());
}

#[test]
fn huge_and_hostile_texts_are_refused_in_time() {
    let begun = std::time::Instant::now();
    assert!(
        read(&format!(
            "No substantive findings.\n{}",
            "{\"verdict\":\n".repeat(60_000)
        ))
        .is_err()
    );
    for text in [
        "{",
        "{\"a\":",
        "[{",
        "{\"findings\":[",
        "{}",
        "\"{\\\"",
        "{\"a\":1,",
        "{\"a\":[\n",
        "{\"a\":\n",
        "> ",
        "- ",
        "- x\n",
        "# x\n",
        "[a]: b\n",
        "[![",
        "<a>\n",
        "**a ",
        "`a``",
        "|a|\n|-|\n",
    ] {
        let answer = text.repeat(60_000 / text.len());
        assert!(read(&answer).is_err(), "{text}");
        assert!(
            read(&format!("\"verdict\"\n{answer}\"verdict\"")).is_err(),
            "{text}"
        );
    }
    assert_eq!(
        problem(&"x".repeat(MAX_ANSWER_BYTES + 1)),
        "it is 1048577 bytes long, the limit is 1048576"
    );
    // Two seconds of CPU; other tests run meanwhile.
    assert!(begun.elapsed().as_secs() < 60);
}

proptest! {
    #[test]
    fn a_clean_verdict_with_a_text_around_it_is_none(before in "[^{}]{0,60}", after in "[^{}]{0,60}") {
        let alone = format!("{before}{after}").chars().all(is_blank);
        prop_assert_eq!(read(&format!("{before}\n{CLEAN}\n{after}")).is_ok(), alone);
        let says_more = format!("{before}{after}").chars().any(char::is_alphanumeric);
        let line = read(&format!("{before}\nNo substantive findings.\n{after}"));
        prop_assert!(!says_more || line != Ok(Findings::default()));
    }

    #[test]
    fn no_text_panics(text in "\\PC{0,200}") {
        let _ = read(&text);
        let _ = read(&format!("{{\"verdict\":{text}"));
    }
}

#[test]
fn answer_with_too_many_findings_is_unreadable() {
    let text = |count: usize| format!("## High\n{}", "- x\n".repeat(count));
    assert_eq!(findings(&text(MAX_FINDINGS)).len(), MAX_FINDINGS);
    let too_many = "it has 1001 findings, the limit is 1000";
    assert_eq!(problem(&text(MAX_FINDINGS + 1)), too_many);
    let one = json!({"severity": "high", "what": "x"});
    let all = vec![one; MAX_FINDINGS + 1];
    let answer = json!({"verdict": "findings", "findings": all});
    assert_eq!(read_value(&answer).unwrap_err().detail, too_many);
}

#[test]
fn json_beside_prose_counts_findings() {
    for answer in [
        format!("I read the plan.\n{ONE}"),
        format!("```json\n{ONE}\n```\n\nLet me know if I should look at the tests.\n"),
        format!("<think>\nIs it {{high}}? No way back.\n- maybe\n</think>\n{ONE}"),
        format!("<thinking>a</thinking>\n\n<reasoning>b</reasoning>```json\n{ONE}\n```"),
        format!("\u{1b}[1mWelcome to the build host\u{1b}[0m\nLast login: today\n\n{ONE}\n"),
    ] {
        assert_eq!(findings(&answer).len(), 1, "{answer}");
    }
    let thought = format!("<think>\nIs it clean?\n</think>\n\n{CLEAN}\n");
    assert_eq!(read(&thought), Ok(Findings::default()));
}

#[test]
fn json_beside_items_is_unreadable() {
    for answer in [
        format!("## High\n- orders are lost\n\n{ONE}"),
        format!("- orders are lost\n\n{ONE}"),
        format!("{ONE}\n\nBesides:\n1. orders are lost\n"),
        format!("<think>\nIs it high?\n\n{ONE}"),
    ] {
        assert!(read(&answer).is_err(), "{answer}");
    }
}

#[test]
fn severity_in_json_has_other_words() {
    for (word, severity) in [
        ("P1", Severity::High),
        ("must-fix", Severity::High),
        ("cosmic", Severity::High),
        ("warning", Severity::Medium),
        ("Should fix", Severity::Medium),
        ("Suggestion", Severity::Low),
    ] {
        let answer = ONE.replace("\"high\"", &format!("\"{word}\""));
        assert_eq!(findings(&answer)[0].severity, severity, "{word}");
    }
}
