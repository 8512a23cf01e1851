//! Garbage input: the turn ends with one answer, and nothing is changed.

use crate::report::{Wrong, at, ensure};
use crate::walk::Walk;

const HOOKS: [&str; 6] = [
    "stop",
    "answer",
    "prompt",
    "session-start",
    "pre-compact",
    "pre-tool-use",
];

/// Sends each hook an input that it cannot read.
pub(crate) fn run(walk: &Walk) -> Result<String, Wrong> {
    walk.restore(0)?;
    let huge = format!("{{\"session_id\": \"{}\"}}", "x".repeat(9 << 20));
    let brackets = "[".repeat(100_000);
    let inputs: [(&str, &[u8]); 8] = [
        ("nothing", b""),
        ("an empty line", b"\n"),
        ("a list", b"[]"),
        ("an object that is cut off", b"{\"session_id\": \"s"),
        ("bytes that are not UTF-8", b"\xff\xfe{}"),
        ("a zero byte", b"\0"),
        ("nine megabytes", huge.as_bytes()),
        ("100,000 brackets", brackets.as_bytes()),
    ];
    let held = &walk.states[0].held;
    for hook in HOOKS {
        for (name, input) in inputs {
            let place = format!("`hook {hook}` with {name}");
            let call = || walk.project.hook(hook, input);
            let output = held.unchanged(call).map_err(at(&place))?;
            let is_approved = output.answer().map_err(at(&place))?["decision"] == "approve";
            ensure!(
                is_approved || hook != "stop",
                "{place}: it holds the agent: {output}"
            );
        }
    }
    let tried = HOOKS.len() * inputs.len();
    Ok(format!(
        "{tried} inputs that no hook can read let the turn end"
    ))
}
