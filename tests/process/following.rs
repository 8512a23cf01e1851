//! `review --follow`: whoever wants to see a review sees it, and never starts one.

use crate::support::{Background, Project, wait_for};
use std::process::Stdio;

#[test]
fn where_no_review_ran_that_is_said_and_none_is_started() {
    let (project, id) = Project::reviewing(&[]);
    project.answers(&["review", &id, "--follow"], 0, "no review of loop");
    assert_eq!(project.runs(&id), 0);
    project.review(&id, "fake-findings").exits(0);
    let ran = project
        .run(&["review", &id, "--follow"])
        .exits(0)
        .says("no review is running; this was the last one")
        .says("looking for a way back")
        .says("high=1 medium=1 low=1");
    assert!(
        ran.out.contains("of round 1 by fake-findings"),
        "{}",
        ran.out
    );
    assert_eq!(project.runs(&id), 1);
    // Also when the loop is over, and whatever round it is in.
    project.run(&["cancel", &id]).exits(0);
    project.answers(&["review", &id, "--follow"], 0, "this was the last one");
}

#[test]
fn a_run_that_failed_is_told_with_its_cause() {
    let (project, id) = Project::reviewing(&[]);
    project.review(&id, "fake-could-not-run").exits(5);
    project
        .run(&["review", &id, "--follow"])
        .exits(0)
        .says("could not run: the reviewer failed with exit status 1");
}

#[test]
fn only_the_last_lines_of_a_long_run_are_shown() {
    let (project, id) = Project::reviewing(&[]);
    project.review(&id, "fake-clean").exits(0);
    let log = project.folder().join(&id).join("progress.log");
    let lines: String = (1..=200).map(|line| format!("line {line}\n")).collect();
    std::fs::write(&log, lines + "half").unwrap();
    let ran = project.run(&["review", &id, "--follow"]).exits(0);
    let shown: Vec<&str> = ran
        .out
        .lines()
        .filter(|line| line.contains("line "))
        .collect();
    assert_eq!(shown.first(), Some(&"claudex: line 181"), "{}", ran.out);
    assert_eq!(shown.len(), 20, "without the half one: {}", ran.out);
    std::fs::remove_file(&log).unwrap();
    project.answers(&["review", &id, "--follow"], 0, "it left no lines");
}

#[test]
fn a_review_that_is_running_is_followed_to_its_end() {
    let (project, id) = Project::reviewing(&[]);
    let review = project.background_review(&id, &["--reviewer", "fake-slow-1"]);
    let ran = project
        .run(&["review", &id, "--follow"])
        .exits(0)
        .says("following the review that is running")
        .says("no substantive findings");
    assert!(
        ran.out.contains("to go"),
        "the reviewer's lines: {}",
        ran.out
    );
    assert_eq!(review.end().code, 0);
    assert_eq!(project.runs(&id), 1);
}

#[test]
fn who_stops_following_leaves_the_review_alone() {
    let (project, id) = Project::reviewing(&[]);
    let review = project.background_review(&id, &["--reviewer", "fake-hang"]);
    let mut command = project.command(&["review", &id, "--follow"]);
    let log = project.home.join("followed");
    command
        .stdout(std::fs::File::create(&log).unwrap())
        .stderr(Stdio::piped());
    let follower = Background::of(command.spawn().unwrap());
    wait_for("a follower that follows", || {
        std::fs::read_to_string(&log).unwrap().contains("following")
    });
    follower.signal("TERM");
    let ran = follower.end();
    assert_eq!(ran.code, 130, "{ran:?}");
    assert!(ran.err.contains("the review itself goes on"), "{ran:?}");
    project
        .run(&["status"])
        .exits(0)
        .says("(running)")
        .says("--follow");
    drop(review);
}

#[test]
fn follow_takes_no_reviewer() {
    let (project, id) = Project::reviewing(&[]);
    project
        .run(&["review", &id, "--follow", "--reviewer", "lint"])
        .exits(2);
    project
        .run(&["review", &id, "--folow"])
        .exits(2)
        .says("--follow");
}

#[test]
fn what_a_reviewer_says_is_kept_for_the_person_alone() {
    use std::os::unix::fs::PermissionsExt as _;

    let (project, id) = Project::reviewing(&[]);
    project.review(&id, "fake-could-not-run").exits(5);
    let mut kept = 0;
    for entry in std::fs::read_dir(project.folder().join(&id))
        .unwrap()
        .flatten()
    {
        let name = entry.file_name().into_string().unwrap();
        if name == "progress.log" || name.starts_with("output-") {
            kept += 1;
            let mode = entry.metadata().unwrap().permissions().mode();
            assert_eq!(mode & 0o077, 0, "{name}: {mode:o}");
        }
    }
    assert_eq!(kept, 2, "the lines of the run, and what its program wrote");
}
