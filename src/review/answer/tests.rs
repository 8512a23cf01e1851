use proptest::prelude::*;
use serde_json::json;

use super::super::findings::Severity;
use super::*;

const ONE: &str = r#"{"verdict":"findings","findings":[{"severity":"high","what":"no way back",
    "recommendation":"write one","file":null,"line":3,"patch":null}]}"#;
const CLEAN: &str = r#"{"verdict": "clean", "findings": []}"#;

fn findings(answer: &str) -> Vec<Finding> {
    match read(answer) {
        Ok(Verdict::Findings(findings)) => findings.0,
        other => panic!("{other:?}"),
    }
}

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
    assert_eq!(
        read_value(&answer).unwrap(),
        Verdict::Findings(Findings(read))
    );
    assert_eq!(read_value(&json!(CLEAN)).unwrap(), Verdict::Clean);
}

#[test]
fn findings_in_a_fence_may_follow_a_text() {
    let text = format!("I read {{the plan}}, all of it. Here it is:\n\n```json\n{ONE}\n```\n");
    assert_eq!(findings(&text).len(), 1);
    assert_eq!(read(&text.replace(ONE, CLEAN)), Err(NoAnswer::Apart));
    let contradicted = format!("# Findings\n\nNo substantive findings.\n\n```json\n{ONE}\n```\n");
    assert_eq!(read(&contradicted), Err(NoAnswer::Two));
}

#[test]
fn the_markdown_form_is_read_as_well() {
    assert_eq!(
        read("# Round 1 findings\n\nNo substantive findings.\n"),
        Ok(Verdict::Clean)
    );
    let read =
        findings("Sure:\n\n## High\n- line 3: no way back (write one)\n\n## Medium\n\n## Low\n");
    assert_eq!(
        (read[0].line, read[0].what.as_str()),
        (Some(3), "no way back")
    );
}

#[test]
fn what_states_no_verdict_is_never_clean() {
    let error = |text: &str| read(text).unwrap_err();
    assert_eq!(error(""), NoAnswer::Empty);
    assert_eq!(error(" \n\t\u{2003}"), NoAnswer::Empty);
    assert!(matches!(error("I like it."), NoAnswer::Form(_)));
    assert!(matches!(error("{}"), NoAnswer::Form(_)));
    assert!(matches!(error("[]"), NoAnswer::Form(_)));
    assert_eq!(
        error(r#"{"findings": []}"#),
        NoAnswer::Lacks {
            property: "verdict"
        }
    );
    assert_eq!(
        error(r#"{"verdict": "findings", "findings": []}"#),
        NoAnswer::Announced
    );
    assert_eq!(
        error(r#"{"verdict": "clean"}"#),
        NoAnswer::Lacks {
            property: "findings"
        }
    );
    assert_eq!(
        error(r#"{"verdict": "approved \u001b[1m", "findings": []}"#).to_string(),
        "its verdict is `approved [1m`, neither clean nor findings"
    );
    assert_eq!(
        error(r#"{"verdict": "clean", "findings": "none"}"#),
        NoAnswer::CutOff
    );
    assert_eq!(read_value(&json!(["clean"])), Err(NoAnswer::CutOff));
}

#[test]
fn findings_beside_the_word_clean_count() {
    assert_eq!(
        findings(&ONE.replace("\"findings\",", "\"clean\",")).len(),
        1
    );
}

#[test]
fn a_finding_that_cannot_be_read_spoils_the_answer_instead_of_being_dropped() {
    for (finding, lacks) in [
        (json!({"what": "x"}), "severity"),
        (json!({"severity": "cosmic", "what": "x"}), "known severity"),
        (
            json!({"severity": "low", "what": " "}),
            "text that says what is wrong",
        ),
        (json!("no way back"), "severity"),
        (json!(null), "severity"),
    ] {
        let good = json!({"severity": "low", "what": "x"});
        let answer = json!({"verdict": "findings", "findings": [good, finding]});
        assert_eq!(
            read_value(&answer).unwrap_err().to_string(),
            format!("finding 2 has no {lacks}")
        );
    }
}

#[test]
fn two_answers_that_differ_are_none() {
    // One of them may be quoted from the document under review.
    assert!(read(&format!("The plan says {CLEAN}, but: {ONE}")).is_err());
    assert_eq!(read(&format!("{ONE}\n{CLEAN}")), Err(NoAnswer::Two));
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
    assert!(matches!(
        read(&format!(
            "A serious fault: `{CLEAN}` is taken for a verdict."
        )),
        Err(NoAnswer::Form(_))
    ));
    let fenced = format!("## High\n- the test expects this:\n\n```json\n{CLEAN}\n```\n");
    assert_eq!(read(&fenced), Err(NoAnswer::Apart));
    let contradicted = format!("The plan says {ONE} itself.\n\nNo substantive findings.\n");
    assert!(read(&contradicted).is_err());
}

#[test]
fn a_property_that_stands_twice_makes_no_verdict() {
    for text in [
        r#"{"verdict":"findings","findings":[{"severity":"high","what":"x"}],"verdict":"clean","findings":[]}"#,
        r#"{"verdict":"findings","verdict":"clean","findings":[]}"#,
        r#"{"result":{"verdict":"clean","findings":[{"severity":"low","what":"x"}],"findings":[]}}"#,
    ] {
        assert_eq!(read(text), Err(NoAnswer::Twice), "{text}");
    }
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
    ] {
        assert!(read(&text.repeat(900_000 / text.len())).is_err(), "{text}");
    }
    assert!(matches!(
        read(&"x".repeat(MAX_FILE_BYTES + 1)),
        Err(NoAnswer::Form(_))
    ));
    assert!(begun.elapsed().as_secs() < 20);
}

proptest! {
    #[test]
    fn a_clean_verdict_with_a_text_around_it_is_none(before in "[^{}]{0,60}", after in "[^{}]{0,60}") {
        let alone = format!("{before}{after}").chars().all(is_blank);
        prop_assert_eq!(read(&format!("{before}\n{CLEAN}\n{after}")).is_ok(), alone);
        let says_more = format!("{before}{after}").chars().any(char::is_alphanumeric);
        let line = read(&format!("{before}\nNo substantive findings.\n{after}"));
        prop_assert!(!says_more || line != Ok(Verdict::Clean));
    }

    #[test]
    fn no_text_panics(text in "\\PC{0,200}") {
        let _ = read(&text);
        let _ = read(&format!("{{\"verdict\":{text}"));
    }
}

#[test]
fn more_findings_than_anyone_mends_are_no_verdict() {
    let text = |count: usize| {
        let one = r#"{"severity":"high","what":"x"}"#;
        format!(
            r#"{{"verdict":"findings","findings":[{}]}}"#,
            vec![one; count].join(",")
        )
    };
    assert!(matches!(
        read(&text(MOST_FINDINGS)),
        Ok(Verdict::Findings(_))
    ));
    let found = MOST_FINDINGS + 1;
    assert_eq!(
        read(&text(found)),
        Err(NoAnswer::Form(Unreadable::TooMany { found }))
    );
}
