//! Garbage input: the turn ends with one answer, and nothing is changed.

use crate::kit::Setup;
use crate::report::{Wrong, at, ensure};
use crate::scratch::Loop;

const HOOKS: [&str; 6] = [
    "stop",
    "answer",
    "prompt",
    "session-start",
    "pre-compact",
    "pre-tool-use",
];

/// Gives every hook input that it cannot read.
pub(super) fn run(setup: &Setup) -> Result<String, Wrong> {
    let held = Loop::started(setup)?;
    let inputs = inputs();
    for hook in HOOKS {
        for (what, input) in &inputs {
            feed(&held, hook, input).map_err(at(format!("`hook {hook}` with {what}")))?;
        }
    }
    let tried = HOOKS.len() * inputs.len();
    Ok(format!(
        "{tried} inputs that no hook can read let the turn end"
    ))
}

fn feed(held: &Loop<'_>, hook: &str, input: &[u8]) -> Result<(), Wrong> {
    let output = held.unchanged(|| held.project.hook(hook, input))?;
    let is_approved = output.answer()?["decision"] == "approve";
    ensure!(
        is_approved || hook != "stop",
        "it holds the agent: {output}"
    );
    Ok(())
}

fn inputs() -> Vec<(&'static str, Vec<u8>)> {
    let huge = format!("{{\"session_id\": \"{}\"}}", "x".repeat(9 << 20));
    vec![
        ("nothing", Vec::new()),
        ("an empty line", b"\n".to_vec()),
        ("a list", b"[]".to_vec()),
        (
            "an object that is cut off",
            b"{\"session_id\": \"s".to_vec(),
        ),
        ("bytes that are not UTF-8", b"\xff\xfe{}".to_vec()),
        ("a zero byte", b"\0".to_vec()),
        ("nine megabytes", huge.into_bytes()),
        ("100,000 brackets", b"[".repeat(100_000)),
    ]
}
