//! A review of changes that is killed or interrupted leaves no files in the project.

use std::path::Path;
use std::process::Stdio;
use std::time::Instant;

use super::{changed_project, start, write};
use crate::support::{Background, Project, WAIT_TIMEOUT, tree};

/// Returns a project with changes that take a while to read.
fn large() -> Project {
    let project = changed_project();
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

/// Returns the scratch folders of processes in the project. The home is the temporary folder.
fn scratch(project: &Project) -> Vec<String> {
    let all = names(&project.home).into_iter();
    all.filter(|name| name.starts_with("claudex-")).collect()
}

/// Starts a review, and ends it by a signal after it has written so many scratch files.
fn ended_in_the_middle(project: &Project, signal: &str, files: usize) {
    let mut command = project.command("start review");
    let mut child = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    let written = || {
        let folders = scratch(project).into_iter();
        let files = folders.map(|name| tree(&project.home.join(name)).len());
        files.sum::<usize>()
    };
    while written() < files && child.try_wait().unwrap().is_none() && begun.elapsed() < WAIT_TIMEOUT
    {
        std::thread::yield_now();
    }
    if child.try_wait().unwrap().is_none() {
        let background = Background::new(child);
        background.signal(signal);
        background.end();
    }
}

#[test]
fn start_interrupted_leaves_no_scratch_data() {
    let project = large();
    for (signal, files) in [("INT", 1), ("TERM", 4), ("HUP", 40), ("TERM", 400)] {
        ended_in_the_middle(&project, signal, files);
        assert_eq!(scratch(&project), [""; 0], "{signal}");
        project.run("rollback --yes").exits(0);
    }
}

#[test]
fn start_killed_leaves_nothing_in_the_project() {
    let project = large();
    for files in [1, 20, 500] {
        ended_in_the_middle(&project, "KILL", files);
        let status = project.git(&["status", "--porcelain", "-uall"]);
        assert!(!status.contains("claudex-"), "{status}");
        project.run("rollback --yes").exits(0);
    }
}

#[test]
fn reviewer_runs_without_scratch_data() {
    let project = changed_project();
    let id = start(&project, &[]);
    let review = project.background_review(&id, "--reviewer fake-hang");
    assert_eq!(scratch(&project), [""; 0]);
    review.signal("TERM");
    review.end().exits(130);
    assert_eq!(scratch(&project), [""; 0]);
}
