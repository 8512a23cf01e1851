//! Each broken rule: its code, line and column, and the answer of a lenient reader.

use std::collections::BTreeSet;

use strum::VariantArray as _;

use serde_json::{Value, json};
use stages::contract::{Rule, read, sha256};

use crate::support::{
    ASKS, TEMPLATE, answer, completed, dispatch, find_rules, outcome, place, reading, with,
};

/// Cases of broken rules below the names of their summaries.
const CASES: &str = include_str!("../fixtures/broken-rules.txt");

/// Returns a valid summary of the cases, with its stage.
fn base(name: &str) -> (u64, String) {
    match name {
        "asks" => (2, ASKS.to_owned()),
        "waits" => {
            let text = with(&completed(2), "completed", "needs-user-input");
            let pause = "number: 1\n  pause_type: exit_cli\n  block_reason: Read it\n";
            (2, with(&text, "number: 1\n", pause))
        }
        _ => {
            let stage = name.trim_start_matches("stage ").parse().unwrap();
            (stage, completed(stage))
        }
    }
}

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

/// Returns the difference between a case and its reading.
fn find_mismatch(text: &str, stage: u64, findings: &str, expected: &str) -> Option<String> {
    let line = |(rule, line, column): (Rule, usize, usize)| format!("{rule} {line}:{column}");
    let named: Vec<String> = find_rules(text).into_iter().map(line).collect();
    if named.join(", ") != findings {
        return Some(named.join(", "));
    }
    let reading = answer(text, &dispatch(stage));
    let outcome = outcome(&reading);
    let Some(summary) = reading.summary.filter(|_| expected.starts_with('/')) else {
        return (outcome != expected).then(|| outcome.to_owned());
    };
    let summary = json!({
        "stage": summary.stage.number(), "status": summary.status, "artifacts": summary.artifacts,
        "summary": summary.summary, "flags": summary.flags,
        "context": summary.context.map(|context| context.replace('\r', "")),
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
            assert_eq!(find_rules(&summary.1), [], "{name}");
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
    // Other tests check these.
    let others = "too-large not-utf8 option-count stale foreign taken-already";
    let is_missing =
        |rule: &Rule| !CASES.contains(&rule.to_string()) && !others.contains(&rule.to_string());
    assert_eq!(
        Rule::VARIANTS.iter().find(|rule| is_missing(rule)),
        None,
        "a rule has no case"
    );
    assert!(Rule::VARIANTS.iter().all(|rule| !rule.text().is_empty()));
}

#[test]
fn size_and_bytes_are_checked_first() {
    let limit = 256 * 1024;
    let large = completed(1) + &"x".repeat(limit);
    assert_eq!(find_rules(&large), [(Rule::TooLarge, 1, 1)]);
    assert_eq!(find_rules(&large[..limit]), []);
    let mut latin = completed(1).into_bytes();
    let at = completed(1).find("Done").unwrap();
    latin[at + 1] = 0xe9;
    let reading = read(&latin, None, None);
    let places: Vec<_> = reading.findings.iter().map(place).collect();
    assert_eq!(places, [(Rule::NotUtf8, 7, 11)]);
}

#[test]
fn option_count_is_a_warning_unless_zero() {
    let from = ASKS.find("    options:").unwrap();
    let to = ASKS.find("  next_action_map").unwrap();
    let with_options = |options: String| {
        let text = [&ASKS[..from], "    options:", &options, "\n", &ASKS[to..]].concat();
        text.replace(
            "  next_action_map:\n    \"The first\": proceed\n    \"The second\": null\n",
            "",
        )
    };
    let option = |at: u8| format!("\n      - label: \"{at}\"\n        description: D");
    for (count, is_error) in [(0, true), (1, false), (5, false)] {
        let options: String = (0..count).map(option).collect();
        let options = if count == 0 {
            " []".to_owned()
        } else {
            options
        };
        let reading = reading(&with_options(options));
        let [finding] = &*reading.findings else {
            panic!("{:?}", reading.findings)
        };
        assert_eq!(
            place(finding),
            (Rule::OptionCount, 15, if is_error { 14 } else { 5 })
        );
        assert_eq!(finding.is_error(), is_error);
        assert_eq!(reading.is_valid(), !is_error);
    }
}

#[test]
fn summary_of_other_dispatch_is_refused() {
    let mut noted = dispatch(2);
    let text = completed(2);
    let named = with(
        &text,
        "number: 1\n---",
        "number: 1\n  dispatch_id: d-1\n---",
    );
    let other_id = with(&named, "d-1", "d-0");
    let other_round = with(&text, "round_number: 1", "round_number: 2");
    for (text, expected) in [
        (&text, None),
        (&named, None),
        (&completed(3), Some((Rule::Foreign, 3, 15))),
        (&other_id, Some((Rule::Stale, 10, 16))),
        (&other_round, Some((Rule::Stale, 9, 17))),
    ] {
        let places = answer(text, &noted).findings.iter().map(place).next();
        assert_eq!(places, expected, "{text}");
    }
    for rule in [Rule::Stale, Rule::TakenAlready] {
        noted.known.insert(sha256(text.as_bytes()), rule);
        assert_eq!(answer(&text, &noted).findings[0].rule, rule);
    }
    assert!(answer(&with(&text, "Done", "Again"), &noted).is_valid());
}

#[test]
fn template_is_not_a_summary() {
    let rules: BTreeSet<Rule> = find_rules(TEMPLATE)
        .into_iter()
        .map(|(rule, ..)| rule)
        .collect();
    assert!(rules.contains(&Rule::Placeholder), "{rules:?}");
    assert!(rules.contains(&Rule::UnknownStatus), "{rules:?}");
}
