use std::time::Duration;

use serde_json::json;

use super::*;
use crate::process::ProcessEnd;
use crate::process::output::KEPT;

/// What comes of a session with these events and this exit status; and what a watcher was told.
fn session(status: i32, events: &[Value]) -> (Outcome, Vec<String>) {
    let trace = Trace::default();
    let mut seen = Seen::new(Utf8Path::new("/p q"), &trace);
    let mut told = Vec::new();
    for event in events {
        told.extend(seen.take(event));
    }
    let text: Vec<String> = events.iter().map(Value::to_string).collect();
    let ended = ProcessOutput {
        how: ProcessEnd::Exited(status),
        stdout: text.join("\n").into_bytes(),
        // More than is kept: the events were read as they came.
        dropped: KEPT as u64,
        stdout_end: Vec::new(),
        stderr_tail: String::new(),
        elapsed: Duration::from_secs(1),
    };
    (seen.judge(&ended, &[]), told)
}

fn result(extra: Value) -> Value {
    let mut result = json!({"type": "result", "subtype": "success", "is_error": false, "api_error_status": null});
    result
        .as_object_mut()
        .unwrap()
        .extend(extra.as_object().unwrap().clone());
    result
}

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
fn the_structured_answer_counts_before_the_text() {
    let answer = json!({"verdict": "clean", "findings": []});
    let (outcome, _) = session(
        0,
        &[result(
            json!({"structured_output": answer, "result": "## High\n- x"}),
        )],
    );
    assert_eq!(outcome, Outcome::Clean);
    let (outcome, _) = session(
        0,
        &[result(json!({"result": "Well:\n\n## High\n- x (y)\n"}))],
    );
    assert_eq!(name(&outcome), "findings");
}

#[test]
fn no_text_and_no_result_are_unreadable() {
    let no_output = ("unreadable", CauseKind::NoOutput);
    assert_eq!(
        cause(&session(0, &[result(json!({"result": ""}))]).0),
        no_output
    );
    assert_eq!(
        cause(&session(0, &[json!({"type": "system", "subtype": "init"})]).0),
        no_output
    );
    let (outcome, _) = session(0, &[result(json!({"result": "I like it."}))]);
    assert_eq!(cause(&outcome), ("unreadable", CauseKind::NotAVerdict));
}

#[test]
fn failures_are_told_apart_by_status_and_name() {
    let failed = |error: Value, status: Value| {
        let said = json!({"type": "assistant", "error": error, "is_api_error_message": true});
        let text = "401 429 quota login: words decide nothing";
        let ended = result(json!({"is_error": true, "api_error_status": status, "result": text}));
        let (outcome, told) = session(1, &[said, ended]);
        assert!(told.is_empty(), "{told:?}");
        cause(&outcome)
    };
    let could_not_run = |kind| ("could not run", kind);
    for (error, status, kind) in [
        (json!("authentication_failed"), json!(401), CauseKind::Login),
        (
            json!("authentication_failed"),
            json!(null),
            CauseKind::Login,
        ),
        (json!("rate_limit"), json!(429), CauseKind::Quota),
        (json!("billing_error"), json!(400), CauseKind::Quota),
        (json!("server_error"), json!(529), CauseKind::Service),
        (json!("server_error"), json!(null), CauseKind::Service),
        (json!("unknown"), json!(503), CauseKind::Service),
        (json!(null), json!(401), CauseKind::Login),
        (
            json!("model_not_found"),
            json!(404),
            CauseKind::Failed { status: 1 },
        ),
        (
            json!("unknown"),
            json!(400),
            CauseKind::Failed { status: 1 },
        ),
    ] {
        assert_eq!(
            failed(error.clone(), status.clone()),
            could_not_run(kind),
            "{error} {status}"
        );
    }
}

#[test]
fn a_session_that_says_it_failed_is_no_verdict_whatever_its_exit_status() {
    let answer = json!({"verdict": "clean", "findings": []});
    let failed = result(json!({"is_error": true, "structured_output": answer}));
    let (outcome, _) = session(0, &[failed]);
    assert_eq!(
        cause(&outcome),
        ("could not run", CauseKind::Failed { status: 0 })
    );
    let (outcome, _) = session(3, &[result(json!({"structured_output": answer}))]);
    assert_eq!(
        cause(&outcome),
        ("could not run", CauseKind::Failed { status: 3 })
    );
}

#[test]
fn an_answer_that_never_fitted_the_schema_is_unreadable() {
    let ended = json!({"type": "result", "subtype": "error_max_structured_output_retries", "is_error": true,
        "errors": ["Failed to provide valid structured output after 5 attempts"]});
    let (outcome, _) = session(1, &[ended]);
    assert_eq!(cause(&outcome), ("unreadable", CauseKind::NotAVerdict));
    assert!(outcome.cause().unwrap().detail.contains("after 5 attempts"));
}

#[test]
fn progress_is_for_people() {
    let says = |content: Value| json!({"type": "assistant", "message": {"content": content}});
    let (_, told) = session(
        0,
        &[
            json!({"type": "system", "subtype": "init", "tools": ["Read"]}),
            says(
                json!([{"type": "text", "text": "**Looking.**\nMore."}, {"type": "thinking", "thinking": "x"}]),
            ),
            says(
                json!([{"type": "tool_use", "name": "Read", "input": {"file_path": "/p q/src/a.rs"}}]),
            ),
            says(
                json!([{"type": "tool_use", "name": "Read", "input": {"file_path": "/etc/\u{1b}[1mhosts"}}]),
            ),
            says(json!([{"type": "tool_use", "name": "Grep", "input": {"pattern": "fn x"}}])),
            says(json!([{"type": "tool_use", "name": "Write", "input": {}}])),
            json!({"type": "system", "subtype": "api_retry", "attempt": 1, "max_retries": 10, "error": "overloaded"}),
            says(json!([{"type": "tool_use", "name": "StructuredOutput", "input": {}}])),
            says(json!([{"type": "text", "text": "{\"verdict\": \"clean\"}"}])),
            json!({"type": 3}),
        ],
    );
    assert_eq!(
        told,
        [
            "Looking.",
            "reads src/a.rs",
            "reads /etc/[1mhosts",
            "searches for fn x",
            "asks for Write",
            "claude: trying again (overloaded; attempt 1 of 10)",
            "answers",
        ]
    );
}

#[test]
fn limit_of_arguments_is_named_with_number() {
    let told = |subtype: &str, arguments: &[&str]| {
        let ended =
            json!({"subtype": subtype, "num_turns": 40, "total_cost_usd": 1.5, "errors": []});
        let arguments: Vec<String> = arguments.iter().map(|one| (*one).to_owned()).collect();
        let cause = limit(&ended, &arguments).expect("a limit");
        assert_eq!(cause.kind, CauseKind::Limit);
        cause.detail
    };
    for (subtype, arguments, detail) in [
        (
            "error_max_turns",
            ["--max-turns", "40"].as_slice(),
            "Claude stopped at --max-turns 40",
        ),
        (
            "error_max_turns",
            &["--max-turns=7"],
            "Claude stopped at --max-turns 7",
        ),
        ("error_max_turns", &[], "Claude stopped at --max-turns 40"),
        (
            "error_max_budget_usd",
            &["--max-budget-usd", "2"],
            "Claude stopped at --max-budget-usd 2",
        ),
        (
            "error_max_budget_usd",
            &[],
            "Claude stopped at --max-budget-usd 1.5",
        ),
    ] {
        assert_eq!(told(subtype, arguments), detail);
    }
    for status in [0, 1] {
        let ended =
            result(json!({"subtype": "error_max_turns", "result": "No substantive findings."}));
        let (outcome, _) = session(status, &[ended]);
        assert_eq!(cause(&outcome), ("could not run", CauseKind::Limit));
    }
}
