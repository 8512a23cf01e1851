use serde_json::json;

use super::super::client::tests::{cause, play};
use super::super::reviewer::Trace;
use super::super::settings::ReviewerKind;
use super::*;

/// Returns the outcome of a turn that reports its end, and the lines of progress.
fn turn(status: i32, events: &[Value]) -> (Outcome, Vec<String>) {
    let end = json!({"type": "turn.completed", "usage": {}});
    play(read, status, &[events, &[end]].concat())
}

fn message(text: &str) -> Value {
    json!({"type": "item.completed", "item": {"type": "agent_message", "text": text}})
}

const CLEAN: &str = r#"{"verdict": "clean", "findings": []}"#;
const ONE: &str = r#"{"verdict": "findings", "findings": [{"severity": "low", "what": "x"}]}"#;

#[test]
fn last_message_is_the_answer() {
    assert_eq!(turn(0, &[message(ONE), message(CLEAN)]).0, Outcome::Clean);
    let outcome = turn(0, &[message(CLEAN), message(ONE)]).0;
    assert!(matches!(outcome, Outcome::Findings(_)));
    let outcome = turn(0, &[message(CLEAN), message("")]).0;
    assert_eq!(cause(&outcome), (true, CauseKind::NoOutput));
}

#[test]
fn turn_without_end_is_no_answer() {
    let (outcome, _) = play(read, 0, &[json!({"type": "turn.started"}), message(CLEAN)]);
    assert_eq!(cause(&outcome), (true, CauseKind::NoOutput));
}

#[test]
fn failed_turn_gives_no_verdict() {
    let failed = |text: &str| json!({"type": "turn.failed", "error": {"message": text}});
    for status in [0, 1] {
        let quota = failed("Quota exceeded. Check your plan and billing details.");
        let (outcome, _) = turn(status, &[message(CLEAN), quota]);
        assert_eq!(cause(&outcome), (false, CauseKind::Quota));
    }
    let (outcome, _) = turn(1, &[failed("something new")]);
    assert_eq!(cause(&outcome), (false, CauseKind::Failed { status: 1 }));
    assert_eq!(outcome.cause().unwrap().detail, "something new");
    let (outcome, _) = turn(1, &[message(CLEAN)]);
    assert_eq!(cause(&outcome), (false, CauseKind::Failed { status: 1 }));
}

#[test]
fn only_progress_ends_the_retries() {
    let retry = |text: &str| json!({"type": "error", "message": text});
    let warning =
        json!({"type": "item.completed", "item": {"type": "error", "message": "Quota exceeded"}});
    let trace = Trace::default();
    let mut session = Session::new("/".into(), &trace, &[]);
    for (event, is_trying) in [
        (
            retry("Reconnecting... 1/5 (unexpected status 401 Unauthorized: x)"),
            true,
        ),
        (warning, true),
        (retry("waiting for network"), true),
        (message(CLEAN), false),
    ] {
        read(&mut session, &event);
        assert_eq!(session.is_trying(), is_trying, "{event}");
    }
    let end = json!({"type": "turn.completed"});
    read(&mut session, &end);
    assert!(matches!(session.end, Some(End::Answered(Outcome::Clean))));
}

#[test]
fn progress_has_a_line_per_event() {
    let item = |kind: &str, item: Value| json!({"type": format!("item.{kind}"), "item": item});
    let command = json!({"type": "command_execution", "command": "/bin/bash -lc 'cat PLAN.md'"});
    let change = json!({"type": "file_change", "changes": [{"path": "/p q/a\u{1b}.rs"}]});
    let (_, shown) = turn(
        0,
        &[
            json!({"type": "thread.started", "thread_id": "x"}),
            item(
                "completed",
                json!({"type": "reasoning", "text": "**Looking at the plan**"}),
            ),
            item("started", command.clone()),
            item("completed", command),
            item("completed", change),
            message("I will look.\nSecond line."),
            message(CLEAN),
            item("completed", json!({})),
            json!({"type": "error", "message": "waiting"}),
            json!({"type": "error", "message": "waiting"}),
        ],
    );
    insta::assert_snapshot!(shown.join("\n"), @r"
    Looking at the plan
    runs cat PLAN.md
    tries to change a.rs
    I will look.
    codex: waiting
    ");
}

#[test]
fn path_and_options_are_quoted_for_toml() {
    let settings = ReviewerSettings {
        model: Some("gpt-x".to_owned()),
        arguments: vec!["--profile".to_owned(), "a b".to_owned()],
        ..ReviewerSettings::of(ReviewerKind::Codex)
    };
    let root = Utf8Path::new("/p \"q\"\\\u{fc}");
    let all = arguments(&settings, &UserConfig::default(), root, "/tmp/s.json");
    for pair in all.windows(2).filter(|pair| pair[0] == "-c") {
        let text = pair[1].replacen('=', " = ", 1);
        assert!(text.parse::<toml::Table>().is_ok(), "{text}");
        assert!(!text.contains("KEY"), "{text}");
    }
    let given = ["--model", "gpt-x", "--profile", "a b", "-"];
    assert_eq!(all[all.len() - 5..], given);
}
