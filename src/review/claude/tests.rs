use serde_json::json;

use super::super::reviewer::tests::{cause, play};
use super::*;

fn result(extra: Value) -> Value {
    let mut result = json!({"type": "result", "subtype": "success", "is_error": false});
    let fields = result.as_object_mut().unwrap();
    fields.extend(extra.as_object().unwrap().clone());
    result
}

#[test]
fn structured_answer_counts_before_text() {
    let answer = json!({"verdict": "clean", "findings": []});
    let ended = result(json!({"structured_output": answer, "result": "## High\n- x"}));
    assert_eq!(play(read, 0, &[ended]).0, Ok(Findings::default()));
    let ended = result(json!({"result": "Well:\n\n## High\n- x (y)\n"}));
    assert_eq!(play(read, 0, &[ended]).0.unwrap().len(), 1);
}

#[test]
fn session_that_failed_gives_no_verdict() {
    let answer = json!({"verdict": "clean", "findings": []});
    let failed = result(json!({"is_error": true, "structured_output": answer}));
    let outcome = play(read, 0, &[failed]).0;
    assert_eq!(cause(&outcome), (false, CauseKind::Failed(0)));
    let (outcome, _) = play(read, 0, &[json!({"type": "system", "subtype": "init"})]);
    assert_eq!(cause(&outcome), (true, CauseKind::NoOutput));
}

#[test]
fn progress_has_a_line_per_event() {
    let says = |content: Value| json!({"type": "assistant", "message": {"content": content}});
    let uses = |name: &str, input: Value| {
        says(json!([{"type": "tool_use", "name": name, "input": input}]))
    };
    let (_, shown) = play(
        read,
        0,
        &[
            json!({"type": "system", "subtype": "init", "tools": ["Read"]}),
            says(
                json!([{"type": "text", "text": "**Looking.**\nMore."}, {"type": "thinking", "thinking": "x"}]),
            ),
            uses("Read", json!({"file_path": "/p q/src/a.rs"})),
            uses("Read", json!({"file_path": "/etc/\u{1b}[1mhosts"})),
            uses("Grep", json!({"pattern": "fn x"})),
            uses("Write", json!({})),
            json!({"type": "system", "subtype": "api_retry", "attempt": 1, "max_retries": 10, "error": "overloaded"}),
            uses("StructuredOutput", json!({})),
            says(json!([{"type": "text", "text": "{\"verdict\": \"clean\"}"}])),
            json!({"type": 3}),
        ],
    );
    insta::assert_snapshot!(shown.join("\n"), @r"
    Looking.
    reads src/a.rs
    reads /etc/[1mhosts
    searches for fn x
    asks for Write
    claude: trying again (overloaded; attempt 1 of 10)
    answers
    ");
}
