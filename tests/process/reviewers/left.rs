//! Nothing of a reviewer outlives its review: not what left its process group, and not what a killed review left behind.

use std::process::Stdio;

use super::{Bench, clean, codex_answers};
use crate::support::{Background, is_alive, wait_for};

/// A script that leaves a process in a session of its own, and notes its id and its own.
fn leaves(bench: &Bench, then: &str) -> String {
    let file = bench.note("processes").display().to_string();
    format!(
        "cat >/dev/null\nsetsid sh -c 'echo $$ >>\"$0\"; exec sleep 86400' '{file}' </dev/null >/dev/null 2>&1 &\n\
         echo $$ >>'{file}'\nuntil [ \"$(wc -l <'{file}')\" -ge 2 ]; do sleep 0.01; done\n{then}\n"
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
    wait_for("the reviewer and what it left", || noted(bench).len() == 2);
    background
}

#[test]
fn what_left_the_group_is_ended_with_the_run() {
    let bench = Bench::new();
    bench.install("codex", &leaves(&bench, &codex_answers(&clean().to_string())));
    bench
        .review("codex", &[])
        .exits(0)
        .says("claudex: ended what the reviewer had left running (1)")
        .says("no substantive findings");
    let processes = noted(&bench);
    assert_eq!(processes.len(), 2);
    assert!(!processes.iter().any(|pid| is_alive(*pid)));
    assert!(bench.project.fire().reason.is_some(), "the loop goes on");
}

#[test]
fn a_review_that_is_interrupted_is_taken_up_by_the_same_line() {
    let bench = Bench::new();
    bench.install("codex", &leaves(&bench, "exec sleep 86400"));
    let review = review_in_background(&bench);
    let processes = noted(&bench);
    review.signal("TERM");
    review.end().exits(130).says("the review was interrupted");
    assert!(!processes.iter().any(|pid| is_alive(*pid)));
    assert_eq!(bench.outcome(), "none");

    bench.install("codex", &codex_answers(&clean().to_string()));
    bench
        .review("codex", &[])
        .exits(0)
        .says("no substantive findings");
}

#[test]
fn where_all_processes_of_a_session_are_told_to_end_no_reviewer_has_failed() {
    for reviewer_ends in [
        "exec sleep 86400",
        "trap 'exit 143' TERM\nwhile :; do sleep 0.01; done",
    ] {
        let bench = Bench::new();
        bench.install("codex", &leaves(&bench, reviewer_ends));
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
fn what_a_killed_review_left_is_ended_by_the_next() {
    let bench = Bench::new();
    bench.install("codex", &leaves(&bench, "exec sleep 86400"));
    let review = review_in_background(&bench);
    let processes = noted(&bench);
    review.signal("KILL");
    review.end().exits(137);
    assert!(
        processes.iter().all(|pid| is_alive(*pid)),
        "nobody was there to end them"
    );
    assert_eq!(bench.outcome(), "none");

    bench.install("codex", &codex_answers(&clean().to_string()));
    bench
        .review("codex", &[])
        .exits(0)
        .says("no substantive findings");
    assert!(!processes.iter().any(|pid| is_alive(*pid)));
}

#[test]
fn the_fake_reviewer_plays_what_goes_wrong_around_a_verdict() {
    let bench = Bench::new();
    bench
        .review("fake:leaves", &[])
        .exits(0)
        .says("claudex: ended what the reviewer had left running (1)");

    let bench = Bench::new();
    bench.review("fake:writes", &[]).exits(0);
    assert!(bench.project.root.join("written-by-the-reviewer").exists());

    let bench = Bench::new();
    let ran = bench.review("fake:endless", &["--timeout", "1s"]).exits(5);
    let line = ran
        .out
        .lines()
        .find_map(|line| line.strip_prefix("claudex: what it wrote: "));
    let kept = std::fs::metadata(line.unwrap()).unwrap().len();
    assert!(
        (1024..5 * 1024 * 1024).contains(&kept),
        "bounded, whatever it writes: {kept}"
    );
}

#[test]
fn a_reviewer_can_neither_change_its_loop_nor_wait_for_itself() {
    let bench = Bench::new();
    let program = assert_cmd::cargo::cargo_bin!("claudex-loop");
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
        format!(
            "'{}' {call} </dev/null >>'{told}' 2>&1; echo \"status $?\" >>'{told}'",
            program.display()
        )
    })
    .collect();
    let answer = codex_answers(&clean().to_string());
    bench.install(
        "codex",
        &format!(
            "{}\n'{}' status >>'{told}' 2>&1\n{answer}",
            calls.join("\n"),
            program.display()
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
        told.matches("a program that loops run (a reviewer, a drafter) changes none")
            .count(),
        calls.len(),
        "{told}"
    );
    assert!(told.contains("reviewing"), "it may look: {told}");
    assert_eq!(bench.project.state(&bench.id), before);
}
