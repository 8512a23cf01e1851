//! `review --changes`: a whole review of changes in a terminal.

use serde_json::Value;

use super::{changed_project, read, start, theirs};
use crate::support::{has, lacks};

#[test]
fn one_command_reviews_changes_to_the_end() {
    let project = changed_project();
    let before = theirs(&project);
    let ran = project
        .run("review --changes --reviewer lint tidy it up")
        .exits(4);
    has(&ran.out, "Round 1 of 1, Senior-engineer review");
    has(&ran.out, "### Claudex review loop complete ✓");
    has(&ran.out, "topic \"tidy it up\"");
    has(&ran.out, "    high    `it's \"new\".py:2`: ");
    let report = ran
        .out
        .lines()
        .find_map(|line| line.strip_prefix("  report: "));
    has(&read(&project, report.unwrap()), "it's \"new\".py");
    assert_eq!(theirs(&project), before);
    let list = project.json("list --json");
    assert_eq!([&list[0]["phase"], &list[0]["mode"]], ["done", "review"]);
}

#[test]
fn review_of_changes_exits_like_run() {
    let project = changed_project();
    let job = |arguments: &str, code: i32, ending: &str| {
        let ran = project
            .run(&format!("review --changes --json {arguments}"))
            .exits(code);
        let outcome: Value = serde_json::from_str(&ran.out).unwrap_or_default();
        assert_eq!(outcome["ending"].as_str().unwrap_or_default(), ending);
        ran
    };
    let ran = job("--reviewer fake-clean", 0, "complete");
    lacks(&ran.out, "\"plan\"");
    has(&ran.out, "\"report\"");
    job(
        "--reviewer fake-findings.clean --rounds 2",
        4,
        "stopped-at-max-rounds",
    );
    job("--reviewer fake-could-not-run", 5, "reviewer-failed");
    project.run("cancel").exits(0);
    job("--rounds 0", 2, "").says("positive integer");
    job("--reviewer nobody", 2, "").says("`nobody` is not a reviewer");
    job("HEAD", 2, "").says("`HEAD` is a commit: give it with --base HEAD");
    project.answers("start review main", 2, "give it with --base main");
    project.answers("review --rounds 2", 2, "--changes");
    project.answers("review an id", 2, "--changes");
    let id = start(&project, &[]);
    job("--reviewer fake-clean", 6, "").says(&id);
    let project = super::project();
    project.answers("review --changes", 2, "nothing to review");
    assert!(!project.folder().exists());
    let project = project.with("TMPDIR", "/missing");
    project.answers(
        "review --changes",
        2,
        "scratch folder in /missing (see TMPDIR)",
    );
}

#[test]
fn state_home_in_work_tree_is_not_reviewed() {
    let project = changed_project();
    let dotfiles = project.root.join("dotfiles");
    let project = project.with("XDG_STATE_HOME", dotfiles.to_str().unwrap());
    // It makes the key.
    let id = start(&project, &[]);
    assert!(dotfiles.join("claudex-loop/key").exists());
    project.review(&id, "fake-clean").exits(0);
    lacks(&read(&project, &project.field(&id, "subject")), "dotfiles");
}

#[test]
fn review_started_in_a_terminal_ends_there() {
    let project = changed_project();
    let id = start(&project, &[]);
    let line = format!("run --resume {id}");
    project.answers("status", 0, &line);
    project.review(&id, "lint").exits(0);
    project.answers("status", 0, &line);
    let ran = project.run(&line).exits(4).says("review loop complete ✓");
    has(&ran.out, "  reviewed before: ");
    assert_eq!(project.field(&id, "phase"), "done");

    // A loop that a session drives is left to it.
    let id = start(&project, &["--rounds", "2"]);
    project.fire_as("s1").blocked();
    let before = project.changes(&id);
    let run = format!("run --resume {id}");
    project.answers(&run, 1, "session s1 drives it");
    assert_eq!(project.changes(&id), before);
}
