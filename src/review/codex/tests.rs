use serde_json::json;

use super::super::findings::Findings;
use super::super::reviewer::tests::{Answer, cause, play};
use super::*;
use crate::process::environment::GUARD;

/// Returns the outcome of a turn that reports its end, and the lines of progress.
fn turn(status: i32, events: &[Value]) -> (Answer, Vec<String>) {
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
    assert_eq!(
        turn(0, &[message(ONE), message(CLEAN)]).0,
        Ok(Findings::default())
    );
    let outcome = turn(0, &[message(CLEAN), message(ONE)]).0;
    assert_eq!(outcome.unwrap().len(), 1);
    let outcome = turn(0, &[message(CLEAN), message("")]).0;
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
    assert_eq!(cause(&outcome), (false, CauseKind::Failed(1)));
    assert_eq!(outcome.unwrap_err().detail, "something new");
    let (outcome, _) = turn(1, &[message(CLEAN)]);
    assert_eq!(cause(&outcome), (false, CauseKind::Failed(1)));
}

#[test]
fn only_progress_ends_the_retries() {
    let retry = |text: &str| json!({"type": "error", "message": text});
    let warning =
        json!({"type": "item.completed", "item": {"type": "error", "message": "Quota exceeded"}});
    let mut session = Session::default();
    for (event, is_trying) in [
        (retry("Reconnecting... 1/5"), true),
        (warning, true),
        (retry("waiting for network"), true),
        (message(CLEAN), false),
    ] {
        read(&mut session, &event);
        assert_eq!(session.retries.is_some(), is_trying, "{event}");
    }
}

#[test]
fn progress_has_a_line_per_event() {
    let item = |kind: &str, item: Value| json!({"type": format!("item.{kind}"), "item": item});
    let command = json!({"type": "command_execution", "command": "/bin/bash -lc 'cat PLAN.md'"});
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
    I will look.
    codex: waiting
    ");
}

#[test]
fn path_and_options_are_quoted_for_toml() {
    let settings = ReviewerSettings {
        model: Some("gpt-x".to_owned()),
        arguments: vec!["--profile".to_owned(), "a b".to_owned()],
        ..ReviewerSettings::default()
    };
    let root = Utf8Path::new("/p \"q\"\\\u{fc}");
    let all = call(&settings, &Table::new(), root, "/tmp/s.json").arguments;
    for pair in all.windows(2).filter(|pair| pair[0] == "-c") {
        let text = pair[1].replacen('=', " = ", 1);
        assert!(text.parse::<toml::Table>().is_ok(), "{text}");
        assert!(!text.contains("KEY"), "{text}");
    }
    assert!(all.iter().any(|one| one.contains(GUARD)));
    let input = ["--model", "gpt-x", "--profile", "a b", "-"];
    assert_eq!(all[all.len() - 5..], input);
}

#[test]
fn servers_and_key_of_user_config_are_read() {
    let parse = |text: &str| text.parse::<Table>().unwrap();
    let config = parse(
        "model_provider = \"mine\"\n[mcp_servers.one]\ncommand = \"x\"\n[mcp_servers.\"b c\"]\ncommand = \"x\"\n\
         [mcp_servers.two-2]\nurl = \"https://x\"\n[model_providers.mine]\nenv_key = \"MY_KEY\"\n\
         [model_providers.other]\nenv_key = \"NOT_THIS\"\n",
    );
    assert_eq!(servers(&config).collect::<Vec<_>>(), ["one", "two-2"]);
    assert_eq!(key_variable(&config), Some("MY_KEY"));
    for text in ["", "mcp_servers = 3\n", "model_provider = \"gone\""] {
        let config = parse(text);
        assert_eq!((servers(&config).count(), key_variable(&config)), (0, None));
    }
}

#[test]
fn failed_turn_is_named_by_its_sentence() {
    let other = CauseKind::Failed(0);
    for (sentence, kind) in [
        (
            "unexpected status 403 Forbidden: Country not supported, url: u",
            CauseKind::Login,
        ),
        (
            r#"{"error": {"message": "m", "code": "invalid_json_schema"}}"#,
            other,
        ),
        (
            r#"{"error": {"type": "insufficient_quota"}}"#,
            CauseKind::Quota,
        ),
        ("unexpected status 4", other),
        ("unexpected status \u{fc}\u{fc}\u{fc}", other),
        // The sentence does not begin with the model's name, a path or the service's prose.
        ("The model `401 quota` does not exist", other),
        ("bad request: Quota exceeded is what the plan says", other),
    ] {
        assert_eq!(failure(sentence).kind, kind, "{sentence}");
    }
    let body = r#"{"error": {"message": "Invalid schema", "code": "invalid_json_schema"}}"#;
    assert_eq!(failure(body).detail, "Invalid schema");
    assert_eq!(failure("{").detail, "{");
}
