mod clean_forms;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::review::findings::{Counts, Finding, Severity};
use crate::review::findings_file::bullet;

const ONE: &str = r#"{"verdict":"findings","findings":[{"severity":"high","what":"no way back",
    "recommendation":"write one","file":null,"line":3,"patch":null}]}"#;
const CLEAN: &str = r#"{"verdict": "clean", "findings": []}"#;

/// Parts of which reviewers compose an answer. `ITEM` is the text of a finding.
const PARTS: [&str; 34] = [
    "# Review",
    "## High",
    "## src/a.rs",
    "## Nits",
    "## Before the release",
    "## Issues",
    "## Summary",
    "**Must fix:**",
    "Low:",
    "I read all of it.",
    "Also:",
    "- None",
    "> a quotation",
    "```sh\nmake\n```",
    "- ITEM",
    "1. ITEM",
    "- [Low] ITEM",
    "- ITEM (High)",
    "- **Medium**\n  - ITEM",
    "- `a.rs`\n  - [Low] ITEM",
    "- [Low] ITEM\n  - a detail\n  - **High**: more",
    "**1. ITEM**",
    "**ITEM (Low)**",
    "(1) ITEM",
    "\nissue: ITEM",
    "> - [Low] ITEM",
    "- ITEM\n  Severity: low",
    "1) ITEM",
    "\nITEM\n\n**Severity:** Low",
    "**Weaknesses**",
    "ITEM. Severity: low.",
    "### [P1] ITEM",
    "### ITEM\nIts details.",
    "| Severity | What |\n|---|---|\n| Low | ITEM |",
];

fn findings(answer: &str) -> Vec<Finding> {
    read(answer).unwrap()
}

/// The first line of each form in the file is its result: its counts, or why it is unreadable.
#[test]
fn form_counts_every_item_or_is_unreadable() {
    let forms = include_str!("tests/forms.md").split("\n=====\n");
    let wrong: Vec<String> = forms
        .filter_map(|form| {
            let (expected, answer) = form.split_once('\n').unwrap();
            let answer = answer.replace("{ONE}", ONE).replace("{CLEAN}", CLEAN);
            let actual = match read(&answer) {
                Ok(findings) => Counts::new(&findings).to_string(),
                Err(_) if expected == "unreadable" => expected.to_owned(),
                Err(cause) => format!("unreadable: {}", cause.detail),
            };
            (actual != expected).then(|| format!("{actual} from: {form}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n=====\n"));
}

#[test]
fn place_and_text_of_a_finding_are_whole() {
    for (line, expected) in [
        (
            "- **Rollback** (High): it deletes first",
            "**Rollback**: it deletes first",
        ),
        (
            "- line 16 (High): it deletes first (keep it)",
            "line 16: it deletes first (keep it)",
        ),
        ("### 1. No tests [High] — line 13", "No tests — line 13"),
        (
            "- src/q.rs:12: [High] unwrap panics",
            "src/q.rs:12: unwrap panics",
        ),
        (
            "### src/q.rs:12 (High): unwrap panics",
            "src/q.rs:12: unwrap panics",
        ),
        ("- [High] src/q.rs:12:9: x", "src/q.rs:12: x"),
        ("- [High] `src/q.rs:12-15` - x", "src/q.rs:12: x"),
        ("- [High] **src/q.rs#L12**: x", "src/q.rs:12: x"),
        ("- [High] **src/q.rs:12** x", "src/q.rs:12: x"),
        ("- [High] `src/q.rs:12` x: y", "src/q.rs:12: x: y"),
        ("- [High] `localhost:80` is open", "`localhost:80` is open"),
        ("- [High] src/q.rs (line 12): x", "src/q.rs:12: x"),
        ("- [High] **Lines 9-10:** x", "line 9: x"),
        ("- [High] line 16 (Rollout): x", "line 16 (Rollout): x"),
        (
            "### 1. [High] Panics (`src/q.rs:12`)",
            "src/q.rs:12: Panics",
        ),
        ("- [High] at 12:30: x", "at 12:30: x"),
        ("- F1 (High): x", "x"),
        ("- [High] **F1** - line 3: x", "line 3: x"),
        ("- [High] F1 keys: x", "F1 keys: x"),
        (
            "| File | Line | Severity | What |\n|-|-|-|-|\n| `a.rs` | 3 | High | x \\| y |",
            "a.rs:3: x | y",
        ),
        ("**Severity:** High\n**Location:** here\n**Issue:** x", "x"),
        ("### Finding 1\n- **Severity:** High\n- **Issue:** x", "x"),
    ] {
        let found = findings(line);
        let bullets: Vec<String> = found.iter().map(bullet).collect();
        assert_eq!(bullets, [expected], "{line}");
        assert_eq!(found[0].severity, Severity::High, "{line}");
    }
}

#[test]
fn empty_answer_is_no_output() {
    for text in ["", " \n\t\u{2003}", "\u{feff} \r\n"] {
        assert_eq!(read(text).unwrap_err().kind, CauseKind::NoOutput);
    }
}

#[test]
fn schema_is_strict_at_every_level() {
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
fn answer_by_schema_is_read_in_full() {
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
}

#[test]
fn json_cut_anywhere_is_unreadable() {
    let whole = json!({"verdict": "findings", "findings": [
        {"severity": "low", "what": "No substantive findings.", "patch": "## High\n- x\n\nNo substantive findings.\n"}]})
    .to_string();
    for end in 1..whole.len() {
        assert!(read(&whole[..end]).is_err(), "{}", &whole[..end]);
    }
    assert!(read(&whole).is_ok());
}

#[test]
fn huge_and_hostile_texts_are_refused() {
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
        "- High\n  ",
    ] {
        let answer = text.repeat(60_000 / text.len());
        assert!(read(&answer).is_err(), "{text}");
        assert!(
            read(&format!("\"verdict\"\n{answer}\"verdict\"")).is_err(),
            "{text}"
        );
    }
    let too_large = read(&"x".repeat(MAX_ANSWER_BYTES + 1)).unwrap_err();
    let expected = "it is 1048577 bytes long, the limit is 1048576";
    assert_eq!(too_large.detail, expected);
}

fn any_parts() -> impl Strategy<Value = Vec<(usize, usize)>> {
    proptest::collection::vec((0..PARTS.len(), 0..4_usize), 1..9)
}

proptest! {
    /// The promise that no finding is lost: each item is in a finding, or the answer is unreadable.
    /// One answer per case would rarely have two parts that fit together badly.
    #[test]
    fn item_in_any_order_of_parts_is_counted(answers in proptest::collection::vec(any_parts(), 40)) {
        for parts in answers {
            let mut answer = String::new();
            let mut items = 0;
            for (part, gap) in parts {
                items += usize::from(PARTS[part].contains("ITEM"));
                answer += &PARTS[part].replace("ITEM", &format!("ITEM{items}E"));
                answer += &"\n".repeat(gap + 1);
            }
            let found = read(&answer).map(|findings| json!(findings).to_string());
            for item in 1..=items {
                let is_lost = found.as_ref().is_ok_and(|found| !found.contains(&format!("ITEM{item}E")));
                prop_assert!(!is_lost, "ITEM{item} of\n{answer}");
            }
        }
    }

    #[test]
    fn clean_verdict_with_other_text_is_unreadable(before in "[^{}]{0,60}", after in "[^{}]{0,60}") {
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
    let error = read(&text(MAX_FINDINGS + 1)).unwrap_err();
    assert_eq!(error.detail, "it has 1001 findings, the limit is 1000");
}
