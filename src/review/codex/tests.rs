use std::time::Duration;

use serde_json::json;

use super::super::settings::ReviewerKind;
use super::*;
use crate::process::{ProcessEnd, ProcessOutput};

/// Returns the outcome of a turn that says that it is over, and what a watcher was told.
fn turn(status: i32, events: &[Value]) -> (Outcome, Vec<String>) {
    let over = json!({"type": "turn.completed", "usage": {}});
    cut_turn(status, &[events, &[over]].concat())
}

/// Returns the outcome of these events.
fn cut_turn(status: i32, events: &[Value]) -> (Outcome, Vec<String>) {
    let trace = Trace::default();
    let mut seen = Seen::new(Utf8Path::new("/p q"), &trace);
    let mut told = Vec::new();
    for event in events {
        told.extend(seen.take(event));
    }
    let ended = ProcessOutput {
        how: ProcessEnd::Exited(status),
        stdout: Vec::new(),
        dropped: 0,
        stdout_end: Vec::new(),
        stderr_tail: "warning: noise\n".to_owned(),
        elapsed: Duration::from_secs(1),
    };
    (seen.judge(&ended), told)
}

fn message(text: &str) -> Value {
    json!({"type": "item.completed", "item": {"type": "agent_message", "text": text}})
}

const CLEAN: &str = r#"{"verdict": "clean", "findings": []}"#;
const ONE: &str = r#"{"verdict": "findings", "findings": [{"severity": "low", "what": "x"}]}"#;

fn cause(outcome: &Outcome) -> (&'static str, CauseKind) {
    (name(outcome), outcome.cause().expect("no verdict").kind)
}

fn name(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Clean => "clean",
        Outcome::Findings(_) => "findings",
        Outcome::CouldNotRun(_) => "could not run",
        Outcome::Unreadable(_) => "unreadable",
    }
}

#[test]
fn the_last_message_is_the_answer() {
    assert_eq!(turn(0, &[message(ONE), message(CLEAN)]).0, Outcome::Clean);
    assert_eq!(
        name(&turn(0, &[message(CLEAN), message(ONE)]).0),
        "findings"
    );
    let (outcome, _) = turn(0, &[message(CLEAN), message("")]);
    assert_eq!(cause(&outcome), ("unreadable", CauseKind::NoOutput));
}

#[test]
fn a_turn_without_a_message_is_unreadable() {
    let (outcome, _) = turn(0, &[json!({"type": "turn.started"})]);
    assert_eq!(cause(&outcome), ("unreadable", CauseKind::NoOutput));
    let (outcome, _) = turn(0, &[message("I like it.")]);
    assert_eq!(cause(&outcome), ("unreadable", CauseKind::NotAVerdict));
}

#[test]
fn a_failed_turn_is_no_verdict_whatever_was_said_before() {
    let failed = |text: &str| json!({"type": "turn.failed", "error": {"message": text}});
    let quota = "Quota exceeded. Check your plan and billing details.";
    for status in [0, 1] {
        let (outcome, _) = turn(status, &[message(CLEAN), failed(quota)]);
        assert_eq!(cause(&outcome), ("could not run", CauseKind::Quota));
        assert!(outcome.cause().unwrap().detail.contains("billing"));
    }
    let (outcome, _) = turn(1, &[failed("something new")]);
    assert_eq!(
        cause(&outcome),
        ("could not run", CauseKind::Failed { status: 1 })
    );
    assert_eq!(outcome.cause().unwrap().detail, "something new");
    let (outcome, _) = turn(1, &[message(CLEAN)]);
    assert_eq!(
        cause(&outcome),
        ("could not run", CauseKind::Failed { status: 1 })
    );
}

#[test]
fn warnings_and_retries_decide_nothing() {
    let retry = json!({"type": "error", "message": "Reconnecting... 1/5 (unexpected status 401 Unauthorized: x)"});
    let warning =
        json!({"type": "item.completed", "item": {"type": "error", "message": "Quota exceeded"}});
    assert_eq!(turn(0, &[retry, warning, message(CLEAN)]).0, Outcome::Clean);
}

#[test]
fn only_progress_ends_the_retries() {
    let trace = Trace::default();
    let mut seen = Seen::new(Utf8Path::new("/"), &trace);
    let mut take = |event: Value| {
        seen.take(&event);
        seen.retries().0.clone()
    };
    let retry = |text: &str| json!({"type": "error", "message": text});
    let (since, _) = take(retry("Reconnecting... 1/5")).unwrap();
    let warning =
        json!({"type": "item.completed", "item": {"type": "error", "message": "falling back"}});
    assert!(take(warning).is_some());
    assert_eq!(
        take(retry("waiting for network")),
        Some((since, "waiting for network".to_owned()))
    );
    assert_eq!(take(message("ok")), None);
}

#[test]
fn progress_is_for_people() {
    let item = |kind: &str, item: Value| json!({"type": format!("item.{kind}"), "item": item});
    let command = "/bin/bash -lc 'cat PLAN.md'";
    let (_, told) = turn(
        0,
        &[
            json!({"type": "thread.started", "thread_id": "x"}),
            item(
                "completed",
                json!({"type": "reasoning", "text": "**Looking at the plan**"}),
            ),
            item(
                "started",
                json!({"type": "command_execution", "command": command, "aggregated_output": ""}),
            ),
            item(
                "completed",
                json!({"type": "command_execution", "command": command, "aggregated_output": "# Plan"}),
            ),
            item(
                "completed",
                json!({"type": "file_change", "changes": [{"path": "/p q/a\u{1b}.rs"}]}),
            ),
            message("I will look.\nSecond line."),
            message(CLEAN),
            item("completed", json!({})),
            json!({"type": "error", "message": "waiting"}),
            json!({"type": "error", "message": "waiting"}),
        ],
    );
    assert_eq!(
        told,
        [
            "Looking at the plan",
            "runs cat PLAN.md",
            "tries to change a.rs",
            "I will look.",
            "codex: waiting"
        ]
    );
}

#[test]
fn the_call_is_read_only_unattended_and_without_servers_hooks_or_keys() {
    let settings = ReviewerSettings {
        model: Some("gpt-x".to_owned()),
        arguments: vec!["--profile".to_owned(), "a b".to_owned()],
        ..ReviewerSettings::of(ReviewerKind::Codex)
    };
    let config = UserConfig {
        servers: vec!["docs".to_owned()],
        key: None,
    };
    let root = Utf8Path::new("/p \"q\"\\\u{fc}");
    let all = arguments(&settings, &config, root, "/tmp/s.json");
    let pair = |first: &str, second: &str| all.windows(2).any(|pair| pair == [first, second]);
    assert_eq!(all[0], "exec");
    assert!(pair("--sandbox", "read-only") && pair("--output-schema", "/tmp/s.json"));
    for value in [
        "approval_policy=\"never\"",
        "notify=[]",
        "features.hooks=false",
        "mcp_servers.docs.enabled=false",
        "projects={\"/p \\\"q\\\"\\\\\u{fc}\"={trust_level=\"untrusted\"}}",
    ] {
        assert!(pair("-c", value), "{value} in {all:?}");
        let text = value.replacen('=', " = ", 1);
        assert!(text.parse::<toml::Table>().is_ok(), "{text}");
    }
    let environment = all
        .iter()
        .find(|word| word.starts_with("shell_environment_policy="))
        .unwrap();
    assert!(environment.contains("CLAUDEX_REVIEWER_CHILD") && !environment.contains("KEY"));
    assert_eq!(
        all[all.len() - 5..],
        ["--model", "gpt-x", "--profile", "a b", "-"]
    );
}

#[test]
fn turn_without_end_is_no_answer() {
    let (outcome, _) = cut_turn(0, &[json!({"type": "turn.started"}), message(CLEAN)]);
    let cause = outcome.cause().expect("no verdict");
    assert_eq!(cause.kind, CauseKind::NoOutput);
    assert_eq!(cause.detail, "Codex ended without `turn.completed`");
}
