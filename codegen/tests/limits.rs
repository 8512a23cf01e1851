//! Any machine file is read or refused soon, without a panic, and with the places of errors.

use claudex_build::{Diagnostics, check_source, line_of};
use proptest::prelude::*;

const PLAN: &str = include_str!("../../machine.toml");

fn check(source: &str) -> Result<(), Diagnostics> {
    let result = check_source("m.toml", source).map(drop);
    if let Err(found) = &result {
        assert!(!found.list.is_empty());
        for one in &found.list {
            assert!(source.get(one.span.clone()).is_some(), "{found}");
        }
        for line in found.cargo_lines() {
            assert!(!line.chars().any(char::is_control), "{line}");
        }
    }
    result
}

fn refusal(source: &str) -> String {
    check(source).expect_err("the file is refused").to_string()
}

proptest! {
    #[test]
    fn toml_like_text_is_read_or_refused(
        parts in prop::collection::vec(prop::sample::select(vec![
            "[", "]", "[[", "]]", "{", "}", "=", ".", ",", "\n", "\"", "'", "'''", " ", "#", "\\", "name", "phases",
            "modes", "fields", "transitions", "a", "on_stop", "when", "set", "from", "to", "1", "-1", "true", "é",
        ]), 0..60)
    ) {
        let _ = check(&parts.concat());
    }

    #[test]
    fn damaged_machine_is_read_or_refused(
        at in 0..PLAN.len(), length in 0_usize..40, put in "[a-z\\[\\]{}=.\"'\\\\\n\u{0}\u{202e}é<>()+ -]{0,6}",
    ) {
        let start = PLAN.floor_char_boundary(at);
        let end = PLAN.ceil_char_boundary((start + length).min(PLAN.len()));
        let _ = check(&format!("{}{put}{}", &PLAN[..start], &PLAN[end..]));
    }

    #[test]
    fn any_guard_is_read_or_refused(
        guard in "[a-z_<>=!()&|+ 0-9\"-]{0,60}|((round|plan|failures|3|\"none\"|and|or|<|==|>=|\\(|\\)|\\+|-) ?){0,20}",
    ) {
        let _ = check(&PLAN.replacen("\"round < max_rounds\"", &format!("'{guard}'"), 1));
    }
}

/// On the small stack of a build's thread.
#[test]
fn deep_nesting_is_refused() {
    let deep = [
        format!("a = {}", "[".repeat(400_000)),
        format!("a = {}", "{ b = ".repeat(100_000)),
        format!("[{}b]", "a.".repeat(400_000)),
    ];
    let run = move || deep.iter().for_each(|source| drop(refusal(source)));
    std::thread::Builder::new()
        .stack_size(1 << 20)
        .spawn(run)
        .expect("a thread starts")
        .join()
        .expect("nothing overflows");
}

#[test]
fn guard_with_too_many_cases_is_refused() {
    let pairs: Vec<String> = (0..40)
        .map(|at| format!("(round != {at} or failures != {at})"))
        .collect();
    let guard = format!("'{}'", pairs.join(" and "));

    refusal(&PLAN.replacen("\"round < max_rounds\"", &guard, 1));
}

#[test]
fn control_characters_are_escaped_in_messages() {
    let source = PLAN.replace(
        "start   = \"drafting\"",
        "start = \"a\\n\\u001b[31m\\u202Ecargo::warning=x\"",
    );
    let found = check(&source).expect_err("the file is refused");
    let lines: Vec<String> = found.cargo_lines().collect();

    assert_eq!(lines.len(), 1);
    assert!(
        lines[0].contains("no phase is named `a\\n\\u{1b}[31m\\u{202e}cargo::warning=x`"),
        "{}",
        lines[0]
    );
}

#[test]
fn columns_count_characters() {
    let source = PLAN.replace('\n', "\r\n").replace(
        "{ holds = \"mode\", doc",
        "{ doc = \"größe 漢字\", hold = \"mode\", null",
    );
    let line = line_of(&source, source.find("hold = ").unwrap());
    let found = refusal(&source);

    let expected =
        format!("m.toml:{line}:40: error[claudex::machine::unknown_key]: unknown key `hold`");
    assert!(found.contains(&expected), "{found}");
}
