//! `review --follow` shows a review to anyone, and never starts one.

use std::os::unix::fs::PermissionsExt as _;

use crate::support::{Project, has};

#[test]
fn follow_without_a_review_starts_none() {
    let (project, id) = Project::reviewing(&[]);
    let follow = format!("review {id} --follow");
    project.answers(&follow, 0, "no review of loop");
    assert_eq!(project.runs(&id), 0);
    project.review(&id, "fake-could-not-run").exits(5);
    let cause = "could not run: the reviewer failed with exit status 1";
    project.answers(&follow, 0, cause);
    project.review(&id, "fake-findings").exits(0);
    let message = project.run(&follow).exits(0).out;
    has(&message, "no review is running; this was the last one");
    has(&message, "looking for a way back");
    has(&message, "high=1 medium=1 low=1");
    has(&message, "of round 1 by fake-findings");
    assert_eq!(project.runs(&id), 2);
    project.run(&format!("{follow} --reviewer lint")).exits(2);
    // The same holds for an ended loop.
    project.run(&format!("cancel {id}")).exits(0);
    project.answers(&follow, 0, "this was the last one");
}

#[test]
fn follow_shows_the_last_lines_of_a_run() {
    let (project, id) = Project::reviewing(&[]);
    let follow = format!("review {id} --follow");
    project.review(&id, "fake-clean").exits(0);
    let log = project.folder().join(&id).join("progress.log");
    let lines: String = (1..=200).map(|line| format!("line {line}\n")).collect();
    std::fs::write(&log, lines + "half").unwrap();
    let message = project.run(&follow).exits(0).out;
    let lines: Vec<&str> = message
        .lines()
        .filter(|line| line.contains("line "))
        .collect();
    assert_eq!(lines.first(), Some(&"claudex: line 181"), "{message}");
    assert_eq!(lines.len(), 20, "without the half one: {message}");
    std::fs::remove_file(&log).unwrap();
    project.answers(&follow, 0, "this was the last one");
}

#[test]
fn reviewers_words_are_readable_by_the_user_alone() {
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
