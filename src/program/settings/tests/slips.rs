//! What each slip in a file is answered with, and what a hostile file cannot do.

use proptest::prelude::*;

use super::super::{EXAMPLE, findings as list};
use super::{USER, both, findings, user, wrong};

#[test]
fn each_slip_gets_its_own_answer_with_its_place() {
    let path = USER;
    for (text, message, help) in [
        (
            "\nreviwer = \"lint\"",
            "2:1: `reviwer` is not a key of the file",
            "did you mean `reviewer`?",
        ),
        (
            "[limits]\nmax_failures = 1",
            "2:1: `max_failures` is not a key of `[limits]`",
            "did you mean `max-failures`?",
        ),
        (
            "colour = 1",
            "1:1: `colour` is not a key of the file",
            "the file takes `reviewer`, ",
        ),
        (
            "[programs.claudex-loop.rounds]\nplan = 0",
            "2:8: `programs.claudex-loop.rounds.plan`: invalid value: integer `0`, expected a whole number from 1 to 1000",
            "",
        ),
        ("[programs.claudex-loop.rounds]\nplan = -1", "2:8: ", ""),
        ("[programs.claudex-loop.rounds]\nplan = 1001", "2:8: ", ""),
        ("[programs.claudex-loop.rounds]\nplan = \"3\"", "2:8: ", ""),
        (
            "limits = 3",
            "1:10: `limits`: invalid type: integer `3`, expected a table",
            "",
        ),
        (
            "limits = []",
            "1:10: `limits`: invalid type: an array, expected a table",
            "",
        ),
        ("limits = [3, 1]", "1:10: `limits`: ", ""),
        ("[[limits]]\nmax-failures = 1", "1:1: `limits`: ", ""),
        ("reviewers.x = [\"lint\"]", "1:15: `reviewers.x`: ", ""),
        (
            "evidence = \"optionl\"",
            "1:12: `evidence`: unknown variant `optionl`",
            "",
        ),
        (
            "[limits]\ntimeout = \"15\"",
            "2:11: `limits.timeout`: `15` is not a duration",
            "",
        ),
        (
            "[limits]\ntimeout = 15",
            "2:11: `limits.timeout`: invalid type: integer `15`, expected a duration as text",
            "",
        ),
        (
            "[reviewers.codex]\narguments = \"-x\"",
            "2:13: `reviewers.codex.arguments`: invalid type: string \"-x\", expected an array",
            "",
        ),
        (
            "reviewer = \"codx\"",
            "1:12: `codx` is no reviewer",
            "did you mean `codex`? `[reviewers.NAME]` adds one",
        ),
        (
            "reviewer = \"nobody\"",
            "1:12: ",
            "there are `auto`, `claude`, `codex` and `lint`;",
        ),
        (
            "[reviewers.auto]\nkind = \"lint\"",
            "1:12: the name `auto` is reserved",
            "",
        ),
        (
            "[reviewers.\"a b\"]\nkind = \"lint\"",
            "1:12: `a b` cannot be a name",
            "",
        ),
        (
            "[reviewers.cdex]\nmodel = \"x\"",
            "1:12: the reviewer `cdex` has no `kind`",
            "did you mean `codex`?",
        ),
        (
            "[reviewers.codex]\nkind = \"claude\"",
            "2:8: the reviewer `codex` is the program's own",
            "leave `kind` out",
        ),
        (
            "[reviewers.x]\nkind = \"command\"",
            "1:12: the reviewer `x` is a command, and has no `program`",
            "",
        ),
        (
            "[reviewers.codex]\nprogram = \"./codex\"",
            "2:11: `./codex` is a relative path",
            "",
        ),
        (
            "[reviewers.codex]\nprogram = \"bin/codex\"",
            "2:11: `bin/codex` is a relative path",
            "",
        ),
        (
            "[reviewers.codex]\nprogram = \" \"",
            "2:11: `program` is not the name",
            "",
        ),
        (
            "[reviewers.codex]\nprogram = \"a\\u0000b\"",
            "2:11: `program` is not the name",
            "",
        ),
        (
            "[reviewers.codex]\nmodel = \"--yolo\"",
            "2:9: `model` is not the name of a model",
            "",
        ),
        (
            "[reviewers.codex]\narguments = [\"a\\u0000\"]",
            "2:13: an argument cannot hold a zero byte",
            "",
        ),
        (
            "[reviewers.codex]\nenvironment = [\"A=b\"]",
            "2:15: `A=b` is not the name of a variable",
            "names alone",
        ),
        (
            "[reviewers.lint]\nmodel = \"x\"",
            "2:9: `model` means nothing for a reviewer of kind `lint`",
            "",
        ),
        (
            "[programs.claudex-loop.personas.qa]\norder = 4",
            "1:33: the persona `qa` has no `prompt`",
            "",
        ),
        (
            "[programs.claudex-loop.personas.qa]\nprompt = \"x\"\norder = 2",
            "3:9: the personas `security` and `qa` both have order 2",
            "",
        ),
        (
            "[programs.claudex-loop.personas.qa]\nprompt = \" \\n\"",
            "2:10: `prompt` is empty",
            "",
        ),
        (
            "[programs.claudex-loop.personas.engineer]\nlabel = \"a\\u202Eb\"",
            "2:9: `label` is not a line",
            "",
        ),
        (
            "[programs.claudex-loop.personas.engineer]\nlabel = \"a\\nb\"",
            "2:9: `label` is not a line",
            "",
        ),
        (
            "[programs.claudex-loop.personas.engineer]\nprompt = \"a\\u001B[2J\"",
            "2:10: `prompt` is empty, or has control",
            "",
        ),
        (
            "[programs.claudex-loop.personas.engineer]\norder = \"first\"",
            "2:9: `programs.claudex-loop.personas.engineer.order`: invalid type: string \"first\", expected a whole number",
            "",
        ),
        (
            "[programs.claudex-loop.personas.engineer]\nenabled = \"no\"",
            "2:11: `programs.claudex-loop.personas.engineer.enabled`: ",
            "",
        ),
        ("reviewer = lint", "1:12: not TOML: ", "quotes"),
        (
            "evidence = \"required\"\nevidence = \"optional\"",
            "2:1: not TOML: duplicate key",
            "keep one",
        ),
    ] {
        let (said, remedy) = wrong(text);
        assert!(
            said.starts_with(&format!("{path}:{message}")),
            "{text:?}\n  said:     {said}\n  expected: {message}"
        );
        assert!(remedy.contains(help), "{text:?}\n  {remedy}\n  {help}");
    }
}

#[test]
fn everything_that_does_not_fit_is_said_at_once_in_the_order_of_the_file() {
    let all = findings(user(
        "x = 1\n[programs.claudex-loop.rounds]\nplan = 0\n[programs.claudex-loop.limits]\nreviews = 1\n[reviewers.codex]\ntimeout = \"5x\"\n[programs.claudex-loop.personas]\nqa = 7\n",
    ));
    let said: Vec<&str> = all.iter().map(|(said, _)| said.as_str()).collect();
    assert_eq!(said.len(), 5, "{said:?}");
    assert!(
        said[0].ends_with(":1:1: `x` is not a key of the file (and 4 more findings)"),
        "{said:?}"
    );
    for (said, begins) in said[1..].iter().zip([
        "`programs.claudex-loop.rounds.plan`: invalid value",
        "`reviews` is not a key of `[programs.claudex-loop.limits]`",
        "`reviewers.codex.timeout`: ",
        "`programs.claudex-loop.personas.qa`: invalid type",
    ]) {
        assert!(said.starts_with(begins), "{said}");
    }
    let all = findings(user(
        "[reviewers.a]\n[reviewers.b]\nkind = \"command\"\n[programs.claudex-loop.personas.c]\n",
    ));
    assert_eq!(all.len(), 3, "{all:?}");
}

#[test]
fn deep_and_long_files_are_refused_in_time_and_without_a_crash() {
    let deep_key = format!("{} = 1", vec!["a"; 5000].join("."));
    let nested = |parts: usize, depth: usize| {
        let key = vec!["a"; parts].join(".");
        format!(
            "{key} = {}1{}",
            format!("{{{key} = ").repeat(depth),
            "}".repeat(depth)
        )
    };
    for text in [
        deep_key,
        nested(7, 5000),
        nested(7, 60),
        nested(80, 70),
        format!("reviewer = {}", "[".repeat(30_000)),
        format!("personas = {}{}", "[".repeat(70), "]".repeat(70)),
        (0..5000).map(|n| format!("k{n} = {n}\n")).collect(),
        (0..5000).map(|n| format!("[k{n}]\n")).collect(),
    ] {
        assert!(findings(user(&text)).len() <= list::MOST);
        assert!(findings(both("", &text)).len() <= list::MOST);
    }
}

#[test]
fn no_finding_carries_what_steers_a_terminal() {
    for text in [
        "\"a\u{202e}b\" = 1",
        "\"\\u001B[2J\" = 1",
        "reviewer = \"\\u001B]0;x\\u0007\"",
        "reviewer = \u{1b}[2J",
        "[reviewers.codex]\nkind = \"\\u001B[2J\"",
        "personas = [\"\\u202E\"]",
    ] {
        for result in [user(text), both("", text)] {
            let error = result.unwrap_err();
            let picture = format!("{:?}", miette::Report::new(error));
            assert_eq!(crate::text::plain(&picture), picture, "{text:?}");
        }
    }
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in any::<String>()) {
        if let Err(error) = user(&text) {
            prop_assert!(!error.to_string().contains('\n'));
            let _ = format!("{:?}", miette::Report::new(error));
        }
        let _ = both("", &text);
    }

    #[test]
    fn no_example_with_a_hole_makes_it_panic(at in 0usize..EXAMPLE.len(), length in 0usize..40, more in ".{0,5}") {
        let end = (at + length).min(EXAMPLE.len());
        if let (Some(before), Some(after)) = (EXAMPLE.get(..at), EXAMPLE.get(end..)) {
            let text = format!("{before}{more}{after}");
            if let Err(error) = user(&text) {
                let _ = format!("{:?}", miette::Report::new(error));
            }
        }
    }
}
