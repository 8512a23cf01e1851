//! Each rule, broken: its code, line and column, and what a lenient reader does.

use std::collections::BTreeSet;

use strum::IntoEnumIterator;

use serde_json::{Value, json};
use stages::contract::{Digest, Outcome, Rule, Severity};

use crate::given::{ASKS, EXAMPLE, TEMPLATE, answer, dispatch, found, of, place, reading, with};

/// Cases of broken rules below the names of their summaries.
const CASES: &str = include_str!("../fixtures/broken-rules.txt");

/// Returns a summary of the cases that keeps every rule, with its stage.
fn base(name: &str) -> (u64, String) {
    match name {
        "asks" => (2, ASKS.to_owned()),
        "waits" => {
            let text = with(&of(2), "completed", "needs-user-input");
            let pause = "number: 1\n  pause_type: exit_cli\n  block_reason: Read it\n";
            (2, with(&text, "number: 1\n", pause))
        }
        _ => {
            let stage = name.trim_start_matches("stage ").parse().unwrap();
            (stage, of(stage))
        }
    }
}

/// Returns a text of the cases with its escapes as characters.
fn unescape(text: &str) -> String {
    let escapes = [
        ("\\\\", "\u{1}"),
        ("\\n", "\n"),
        ("\\t", "\t"),
        ("\\0", "\0"),
    ];
    let mut text = escapes
        .iter()
        .fold(text.to_owned(), |text, (from, to)| text.replace(from, to));
    while let Some((before, rest)) = text.split_once("\\u{") {
        let (code, after) = rest.split_once('}').unwrap();
        let character = char::from_u32(u32::from_str_radix(code, 16).unwrap()).unwrap();
        text = format!("{before}{character}{after}");
    }
    text.replace('\u{1}', "\\")
}

/// Returns what is wrong with the reading of a case.
fn find_mismatch(text: &str, stage: u64, findings: &str, expected: &str) -> Option<String> {
    let line = |(rule, line, column): (Rule, usize, usize)| format!("{rule} {line}:{column}");
    let named: Vec<String> = found(text).into_iter().map(line).collect();
    if named.join(", ") != findings {
        return Some(named.join(", "));
    }
    let reading = answer(text, &dispatch(stage));
    let outcome = match &reading.outcome {
        Outcome::Taken(_) => "taken",
        Outcome::Crash => "crash",
        Outcome::Refused => "refused",
    };
    let Some(summary) = reading.summary().filter(|_| expected.starts_with('/')) else {
        return (outcome != expected).then(|| outcome.to_owned());
    };
    let summary = json!({
        "stage": summary.stage.number(), "status": summary.status, "artifacts": summary.artifacts,
        "summary": summary.summary, "flags": summary.flags, "context": summary.context,
    });
    let mut values = expected.split("; ");
    let is_wrong = |value: &str| {
        let (path, value) = value.split_once('=').unwrap();
        let value: Value = serde_json::from_str(value).unwrap();
        summary.pointer(path).unwrap_or(&Value::Null) != &value
    };
    values.any(is_wrong).then(|| summary.to_string())
}

#[test]
fn broken_rule_is_found_and_corrected() {
    let mut wrong = String::new();
    let mut summary = (0, String::new());
    for line in CASES
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with("# "))
    {
        if let Some(name) = line
            .strip_prefix("## ")
            .filter(|name| !name.contains(" => "))
        {
            summary = base(name);
            assert_eq!(found(&summary.1), [], "{name}");
            continue;
        }
        let parts: Vec<&str> = line.split(" => ").collect();
        let [part, other, findings, expected] = parts[..] else {
            panic!("{line}")
        };
        let text = with(&summary.1, &unescape(part), &unescape(other));
        let marked = format!("\u{feff}{}", text.replace('\n', "\r\n"));
        for text in [text, marked] {
            if let Some(actual) = find_mismatch(&text, summary.0, findings, expected) {
                wrong += &format!("{line}\n    {actual}\n");
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    // These have tests of their own.
    let others = "too-large not-utf8 option-count stale foreign taken-already";
    let is_missing = |rule: &Rule| !CASES.contains(rule.code()) && !others.contains(rule.code());
    assert_eq!(Rule::iter().find(is_missing), None, "a rule has no case");
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
fn filled_example_keeps_every_rule() {
    assert_eq!(found(EXAMPLE), []);
}

#[test]
fn template_is_not_a_summary() {
    let rules: BTreeSet<Rule> = found(TEMPLATE).into_iter().map(|(rule, ..)| rule).collect();
    assert!(rules.contains(&Rule::Placeholder), "{rules:?}");
    assert!(rules.contains(&Rule::UnknownStatus), "{rules:?}");
}
