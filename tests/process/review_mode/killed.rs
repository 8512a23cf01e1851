//! A review of changes that is killed or interrupted leaves nothing outside of the project, and nothing that a later review shows.

use std::path::Path;
use std::process::Stdio;
use std::time::Instant;

use super::{changed, start, write};
use crate::support::{Background, PATIENCE, Project, tree};

/// Makes a project whose changes take a while to read.
fn large() -> Project {
    let project = changed();
    for at in 0..1500 {
        write(
            &project,
            &format!("many/{at}"),
            &format!("{at}\n").repeat(200),
        );
    }
    project
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// Begins a start and ends it by a signal once it has written this many of its scratch files, as far as it gets there.
fn ended_in_the_middle(project: &Project, signal: &str, files: usize) {
    let mut command = project.command(&["start", "review"]);
    let mut child = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    let scratch = project.folder().join("scratch");
    while tree(&scratch).len() < files
        && child.try_wait().unwrap().is_none()
        && begun.elapsed() < PATIENCE
    {
        std::thread::yield_now();
    }
    if child.try_wait().unwrap().is_none() {
        let background = Background::of(child);
        background.signal(signal);
        background.end();
    }
}

/// Lists what lies in the person's home, which is the folder for temporary files too, but for their
/// configuration and the record of their loops.
fn outside(project: &Project) -> Vec<String> {
    let all = names(&project.home).into_iter();
    all.filter(|name| !["config", "state"].contains(&name.as_str()))
        .collect()
}

#[test]
fn a_start_that_is_interrupted_leaves_no_scratch_data() {
    let project = large();
    let before = outside(&project);
    for (signal, files) in [("INT", 1), ("TERM", 4), ("HUP", 40), ("TERM", 400)] {
        ended_in_the_middle(&project, signal, files);
        assert_eq!(outside(&project), before, "{signal}");
        assert_eq!(
            names(&project.folder().join("scratch")),
            [""; 0],
            "{signal}"
        );
        project.run(&["rollback", "--yes"]).exits(0);
    }
}

#[test]
fn what_a_killed_start_left_is_in_the_state_folder_and_goes_with_the_next() {
    let project = large();
    let before = outside(&project);
    let mut left = 0;
    for files in [1, 2, 5, 20, 100, 500] {
        ended_in_the_middle(&project, "KILL", files);
        assert_eq!(outside(&project), before);
        left += names(&project.folder().join("scratch")).len();
        let status = project
            .shell("git", &["status", "--porcelain", "-uall"])
            .output()
            .unwrap();
        let status = String::from_utf8_lossy(&status.stdout).into_owned();
        let shown: Vec<&str> = status
            .lines()
            .filter(|line| line.contains("scratch/"))
            // An empty one, where the kill came right there.
            .filter(|line| !line.ends_with("/.gitignore"))
            .collect();
        assert_eq!(shown, [""; 0], "nobody commits it");
        project.run(&["rollback", "--yes"]).exits(0);
    }
    assert!(left > 0, "at least one was killed in the middle");
    let id = start(&project, &[]);
    assert_eq!(names(&project.folder().join("scratch")), [""; 0]);

    // A review has no scratch data while its reviewer runs.
    let review = project.background_review(&id, &["--reviewer", "fake-hang"]);
    assert_eq!(names(&project.folder().join("scratch")), [""; 0]);
    review.signal("TERM");
    review.end().exits(130);
    assert_eq!(names(&project.folder().join("scratch")), [""; 0]);
    assert_eq!(outside(&project), before);
}
