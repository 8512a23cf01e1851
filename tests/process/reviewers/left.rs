//! What is left of a reviewer after its review, when the review is interrupted, and when it is killed.

use std::process::Stdio;

use super::{Bench, codex_clean};
use crate::support::{Background, is_alive, kill, wait_for};

/// Returns a script that starts a child in its group, notes both ids, and goes on like this.
fn with_child(bench: &Bench, then: &str) -> String {
    let file = bench.note("processes").display().to_string();
    format!(
        "cat >/dev/null\nsleep 86400 </dev/null >/dev/null 2>&1 &\necho $! >'{file}'\necho $$ >>'{file}'\n{then}\n"
    )
}

fn noted(bench: &Bench) -> Vec<u32> {
    let text = std::fs::read_to_string(bench.note("processes")).unwrap_or_default();
    text.lines().filter_map(|line| line.parse().ok()).collect()
}

fn review_in_background(bench: &Bench) -> Background {
    let child = bench
        .project
        .command(&["review", &bench.id, "--reviewer", "codex"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let background = Background::of(child);
    wait_for("the reviewer and its child", || noted(bench).len() == 2);
    background
}

#[test]
fn finished_reviewer_leaves_nothing_in_its_group() {
    let bench = Bench::new();
    bench.install("codex", &with_child(&bench, &codex_clean()));
    bench.review("codex", &[]).exits(0);
    wait_for("the end of the group", || {
        !noted(&bench).iter().any(|pid| is_alive(*pid))
    });
}

#[test]
fn review_interrupted_ends_its_group_and_runs_again() {
    let bench = Bench::new();
    bench.install("codex", &with_child(&bench, "exec sleep 86400"));
    let review = review_in_background(&bench);
    review.signal("TERM");
    review.end().exits(130).says("the review was interrupted");
    wait_for("the end of the group", || {
        !noted(&bench).iter().any(|pid| is_alive(*pid))
    });
    assert_eq!(bench.outcome(), "none");

    bench.install("codex", &codex_clean());
    bench
        .review("codex", &[])
        .exits(0)
        .says("no substantive findings");
}

#[test]
fn reviewer_ended_with_its_session_has_not_failed() {
    for reviewer_ends in [
        "exec sleep 86400",
        "trap 'exit 143' TERM\nwhile :; do sleep 0.01; done",
    ] {
        let bench = Bench::new();
        bench.install("codex", &with_child(&bench, reviewer_ends));
        let review = review_in_background(&bench);
        // One command, in this order: the reviewer is gone before the review hears of it.
        let told = std::process::Command::new("kill")
            .args(["-s", "TERM"])
            .args(noted(&bench).iter().map(u32::to_string))
            .arg(review.id().to_string())
            .status()
            .unwrap();
        assert!(told.success());
        review.end().exits(130).says("the review was interrupted");
        assert_eq!(bench.outcome(), "none", "{reviewer_ends}");
    }
}

#[test]
fn review_killed_runs_again_by_same_line() {
    let bench = Bench::new();
    bench.install("codex", &with_child(&bench, "exec sleep 86400"));
    let review = review_in_background(&bench);
    review.signal("KILL");
    review.end().exits(137);
    assert_eq!(bench.outcome(), "none");

    bench.install("codex", &codex_clean());
    bench
        .review("codex", &[])
        .exits(0)
        .says("no substantive findings");
    noted(&bench).into_iter().for_each(kill);
}

#[test]
fn a_reviewer_can_neither_change_its_loop_nor_wait_for_itself() {
    let bench = Bench::new();
    let program = assert_cmd::cargo::cargo_bin!("claudex-loop")
        .to_str()
        .unwrap();
    let program = shlex::try_quote(program).unwrap();
    let (id, told) = (&bench.id, bench.note("told").display().to_string());
    let calls: Vec<String> = [
        format!("review {id}"),
        format!("review {id} --follow"),
        format!("mark-done {id} --rejecting mine"),
        format!("cancel {id}"),
        format!("resume {id}"),
        "start plan another one".to_owned(),
        "rollback --yes".to_owned(),
    ]
    .iter()
    .map(|call| {
        format!("{program} {call} </dev/null >>'{told}' 2>&1; echo \"status $?\" >>'{told}'",)
    })
    .collect();
    let answer = codex_clean();
    bench.install(
        "codex",
        &format!(
            "{}\n{program} status >>'{told}' 2>&1\n{answer}",
            calls.join("\n"),
        ),
    );
    let before = bench.project.state(&bench.id);
    bench
        .review("codex", &["--timeout", "20s"])
        .exits(0)
        .says("no substantive findings");
    let told = std::fs::read_to_string(bench.note("told")).unwrap();
    assert_eq!(told.matches("status 1\n").count(), calls.len(), "{told}");
    assert_eq!(
        told.matches("a reviewer or drafter may not run").count(),
        calls.len(),
        "{told}"
    );
    assert!(told.contains("reviewing"), "it may look: {told}");
    assert_eq!(bench.project.state(&bench.id), before);
}
