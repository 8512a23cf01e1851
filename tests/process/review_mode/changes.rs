//! `review --changes`: a review of changes from its start to its end, in a terminal.

use super::{changed, read, start, theirs};
use serde_json::Value;

#[test]
fn changes_are_reviewed_from_start_to_end_in_one_command() {
    let project = changed();
    let before = theirs(&project);
    let ran = project
        .run(&[
            "review",
            "--changes",
            "--reviewer",
            "lint",
            "--rounds",
            "1",
            "tidy",
            "it",
            "up",
        ])
        .exits(4)
        .says("Round 1 of 1, Senior-engineer review")
        .says("### Claudex review loop complete ✓")
        .says("topic \"tidy it up\"");
    let report = ran
        .out
        .lines()
        .find_map(|line| line.strip_prefix("  report: "));
    let report = read(&project, report.unwrap_or_else(|| panic!("{ran:?}")));
    assert!(report.contains("it's \"new\".py"), "{report}");
    assert!(
        ran.out.contains("    high    `it's \"new\".py:2`: "),
        "{ran:?}"
    );
    assert_eq!(theirs(&project), before);
    let list: Value = serde_json::from_str(&project.run(&["list", "--json"]).out).unwrap();
    assert_eq!(
        (&list[0]["phase"], &list[0]["mode"]),
        (&"done".into(), &"review".into())
    );
}

#[test]
fn its_exit_codes_are_those_of_run() {
    let project = changed();
    let job = |arguments: &[&str], code: i32| {
        let ran = project
            .run(&[&["review", "--changes", "--json"], arguments].concat())
            .exits(code);
        let outcome: Value = serde_json::from_str(&ran.out).unwrap_or_default();
        (
            outcome["ending"].as_str().unwrap_or_default().to_owned(),
            ran,
        )
    };
    let (ending, ran) = job(&["--reviewer", "fake-clean"], 0);
    assert_eq!(ending, "complete");
    assert!(
        !ran.out.contains("\"plan\"") && ran.out.contains("\"report\""),
        "{ran:?}"
    );
    let (ending, _) = job(&["--reviewer", "fake-findings.clean", "--rounds", "2"], 4);
    assert_eq!(ending, "stopped-at-max-rounds");
    let (ending, _) = job(&["--reviewer", "fake-could-not-run"], 5);
    assert_eq!(ending, "reviewer-failed");
    project.run(&["cancel"]).exits(0);
    job(&["--rounds", "0"], 2).1.says("positive integer");
    job(&["--reviewer", "nobody"], 2)
        .1
        .says("`nobody` is no reviewer");
    project.answers(&["review", "--rounds", "2"], 2, "--changes");
    project.answers(&["review", "an", "id"], 2, "--changes");
    let id = start(&project, &[]);
    job(&["--reviewer", "fake-clean"], 6).1.says(&id);
    let project = super::project();
    project.answers(&["review", "--changes"], 2, "nothing to review");
    assert!(!project.folder().exists());
}

#[test]
fn a_review_that_was_started_in_a_terminal_ends_there() {
    let project = changed();
    let id = start(&project, &[]);
    let line = format!("claudex-loop run --resume {id}");
    project.run(&["status"]).exits(0).says(&line);
    project.review(&id, "lint").exits(0);
    project.run(&["status"]).exits(0).says(&line);
    let ran = project
        .run(&["run", "--resume", &id])
        .exits(4)
        .says("review loop complete ✓");
    assert!(
        ran.out.contains("  reviewed before: "),
        "it is not reviewed twice: {ran:?}"
    );
    assert_eq!(project.field(&id, "phase"), "done");
}

#[test]
fn a_review_of_a_session_is_left_to_it() {
    let project = changed();
    let id = start(&project, &[]);
    project.review(&id, "fake-findings").exits(0);
    project.run_in_session("s1", &["status"]).exits(0);
    project.run(&["adopt", &id]).exits(0);
    project.fire_as("s1");
    let before = project.changes(&id);
    project
        .run(&["run", "--resume", &id])
        .exits(1)
        .says("session s1 drives it");
    assert_eq!(project.changes(&id), before);
}
