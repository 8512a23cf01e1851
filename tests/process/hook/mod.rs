//! The Stop hook, phase by phase, as a client sees it: what it answers, and what it does to the loop.

mod beside;
mod drafting;
mod evidence;
mod failing;
mod permission;
mod rounds;

/// The lines with which an agent ends the rounds.
fn assert_has_mark_done_lines(reason: &str, id: &str) {
    let line = |text: String| reason.lines().any(|line| line.trim() == text);
    assert!(
        line(format!(
            "bash ${{CLAUDE_PLUGIN_ROOT}}/scripts/mark-done.sh {id}"
        )),
        "the seed's line, with the variable as it is: {reason}"
    );
    assert!(line(format!("claudex-loop mark-done {id}")), "{reason}");
}
