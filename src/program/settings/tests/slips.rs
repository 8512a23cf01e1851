//! The error of each mistake in a file, and the limits of a hostile file.

use proptest::prelude::*;

use super::{USER, both, example, user, wrong};

#[test]
fn each_mistake_has_an_error_with_place_and_help() {
    let mistakes = [
        "\nreviwer = \"lint\"",
        "[limits]\nmax_failures = 1",
        "colour = 1",
        "[programs.claudex-loop.rounds]\nplan = 0",
        "[programs.claudex-loop.rounds]\nplan = -1",
        "[programs.claudex-loop.rounds]\nplan = 1001",
        "[programs.claudex-loop.rounds]\nplan = \"3\"",
        "[programs.claudex-loop.rounds]\nplna = 3",
        "rounds.plan = 3",
        "programs = 3",
        "[programs]\nclaudex-loop = 3",
        "limits = { \"ä\" = 1, x = 2 }",
        "limits = 3",
        "[[limits]]\nmax-failures = 1",
        "evidence = \"optionl\"",
        "[limits]\ntimeout = \"15\"",
        "[limits]\ntimeout = 15",
        "[reviewers.codex]\narguments = \"-x\"",
        "reviewer = \"codx\"",
        "reviewer = \"nobody\"",
        "[reviewers.auto]\nkind = \"lint\"",
        "reviewer = \"lint\"\n\n  [reviewers.cdex]\n  model = \"x\"",
        "[reviewers.x]\nkind = \"command\"",
        "[reviewers.codex]\nprogram = \"./codex\"",
        "[reviewers.codex]\nprogram = \"bin/codex\"",
        "[reviewers.codex]\nenvironment = [\"A=b\"]",
        "[reviewers.lint]\nmodel = \"x\"",
        "[reviewers.quick]\nkind = \"lint\"\narguments = [\"-x\"]",
        "[programs.claudex-loop]\nreviewer = \"codx\"",
        "[programs.claudex-loop.personas.engineer]\nlabel = \"x\"",
        "reviewer = lint",
        "evidence = \"required\"\nevidence = \"optional\"",
        "[commands.b]\nprogram = \"x\"\nenvironment = [\"A=b\"]",
        "[commands.b]\ntimeout = \"1m\"",
        "[commands.b]\nprogram = \"x/y\"",
        "[commands.b]\nprogram = \"x\"\ntimeout = \"541s\"",
        "[commands.b]\nprogram = \"x\"\nshell = true",
    ];
    let mut errors = String::new();
    for text in mistakes {
        let (message, help) = wrong(text);
        let message = message.strip_prefix(USER).expect("the file");
        errors.push_str(&format!("{text:?}\n  {message}\n  help: {help}\n"));
    }
    insta::assert_snapshot!(errors);
}

#[test]
fn deep_and_long_project_files_are_refused() {
    let deep_key = |first: &str| format!("{first}{} = 1", ".a".repeat(2000));
    let nested = |parts: usize, depth: usize| {
        let key = vec!["a"; parts].join(".");
        format!(
            "{key} = {}1{}",
            format!("{{{key} = ").repeat(depth),
            "}".repeat(depth)
        )
    };
    for text in [
        deep_key("a"),
        deep_key("rounds.plan"),
        deep_key("limits.timeout"),
        nested(7, 200),
        nested(7, 60),
        nested(20, 70),
        format!("reviewer = {}", "[".repeat(4000)),
        format!("personas = {}{}", "[".repeat(70), "]".repeat(70)),
        (0..400).map(|n| format!("k{n} = 1\n")).collect(),
        (0..500).map(|n| format!("[k{n}]\n")).collect(),
    ] {
        assert!(text.len() <= 4096, "a larger file is not read");
        let ignored = both("", &text).map(|settings| settings.ignored.len());
        assert!(ignored.is_err() || ignored.is_ok_and(|lines| lines <= 1));
    }
}

#[test]
fn no_error_has_control_characters() {
    for text in [
        "\"a\u{202e}b\" = 1",
        "\"\\u001B[2J\" = 1",
        "reviewer = \"\\u001B]0;x\\u0007\"",
        "reviewer = \u{1b}[2J",
        "[reviewers.codex]\nkind = \"\\u001B[2J\"",
        "personas = [\"\\u202E\"]",
    ] {
        let output = match both("", text) {
            Ok(settings) => settings.ignored.join("\n"),
            Err(error) => error.to_string(),
        };
        for line in [output, user(text).unwrap_err().to_string()] {
            assert_eq!(crate::text::strip_hidden(&line), line, "{text:?}");
        }
    }
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in any::<String>()) {
        if let Err(error) = user(&text) {
            prop_assert!(!error.to_string().contains('\n'));
        }
        let _ = both("", &text);
    }

    #[test]
    fn no_example_with_a_hole_makes_it_panic(at in 0usize..example().len(), length in 0usize..40, more in ".{0,5}") {
        let end = (at + length).min(example().len());
        if let (Some(before), Some(after)) = (example().get(..at), example().get(end..)) {
            let text = format!("{before}{more}{after}");
            let _ = user(&text);
        }
    }
}
