//! Garbage input: the turn ends with one answer, and nothing is changed.

use serde_json::{Value as Json, json};

use super::refusals::unchanged;
use crate::error::Wrong;
use crate::project::Output;
use crate::run::Loop;

/// Gives every hook input that it cannot read.
pub(crate) fn run(held: &mut Loop<'_>) -> Result<Option<String>, Wrong> {
    let mut tried = 0;
    for hook in [
        "stop",
        "answer",
        "prompt",
        "session-start",
        "pre-compact",
        "pre-tool-use",
    ] {
        for (what, input) in inputs() {
            held.path = vec![format!("`hook {hook}` with {what}")];
            let said = unchanged(held, "this input", || held.project.hook(hook, &input))?;
            let answered = answer(&said)?;
            if hook == "stop" && answered["decision"] != "approve" {
                return Err(format!("it holds the agent: {}", said.short()).into());
            }
            tried += 1;
        }
    }
    Ok(Some(format!(
        "{tried} inputs that no hook can read let the turn end"
    )))
}

fn inputs() -> Vec<(&'static str, Vec<u8>)> {
    let deep = "[".repeat(100_000);
    vec![
        ("nothing", Vec::new()),
        ("an empty line", b"\n".to_vec()),
        ("a list", b"[]".to_vec()),
        (
            "an object that is cut off",
            b"{\"session_id\": \"s".to_vec(),
        ),
        ("bytes that are no UTF-8", b"\xff\xfe{}".to_vec()),
        ("a zero byte", b"\0".to_vec()),
        (
            "nine megabytes",
            json!({"session_id": "x".repeat(9 << 20)})
                .to_string()
                .into_bytes(),
        ),
        ("100,000 brackets", deep.into_bytes()),
    ]
}

/// Returns whether a Stop hook's answer has the agent go on: a block, or a reminder.
pub(crate) fn holds(answer: &Json) -> bool {
    answer["decision"] == "block" || answer["hookSpecificOutput"]["additionalContext"].is_string()
}

/// Returns a hook's answer: nothing, or one JSON object. Another exit code than 0 would be ignored or block.
pub(crate) fn answer(said: &Output) -> Result<Json, Wrong> {
    if said.code != Some(0) || said.err.contains("panicked") {
        let said = said.short();
        return Err(format!("a hook ends with exit code 0, whatever it is given: {said}").into());
    }
    match (said.out.trim(), serde_json::from_str(&said.out)) {
        ("", _) => Ok(Json::Null),
        (_, Ok(answer @ Json::Object(_))) => Ok(answer),
        _ => Err(format!("a hook prints one JSON object or nothing: {}", said.short()).into()),
    }
}
