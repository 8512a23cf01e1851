//! An agent that wants to end early, and a repository that brings programs of its own.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::support::{ID, Project, standalone};

/// Writes a program that notes in a file that it ran.
fn program(file: &Path, says: &str) {
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, format!("#!/bin/sh\n{says}\n")).unwrap();
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// Begins a task as the user, with folders before the user's PATH.
fn begin_task(project: &Project, folders: &str) {
    let path = format!("{folders}:{}", std::env::var("PATH").unwrap());
    let mut command = project.folder.command(&["complete-task", ID]);
    let output = command.env("PATH", path).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(project.state(ID)["next_phase"], "complete-task");
}

#[test]
fn beginning_a_task_runs_no_git_of_repository() {
    let project = standalone();
    let ran = project.folder.home().join("ran");
    let bin = project.root.join("node_modules/.bin");
    let says = format!("touch {:?}", ran.to_str().unwrap());
    program(&bin.join("git"), &says);
    program(&project.root.join("git"), &says);
    begin_task(&project, &format!(".:node_modules/.bin:{}", bin.display()));
    assert!(!ran.exists());
}

#[test]
fn beginning_a_task_fetches_no_missing_commit() {
    let project = standalone();
    let ran = project.folder.home().join("ran");
    let config = format!(
        "[core]\nrepositoryformatversion = 1\n[extensions]\npartialClone = o\n\
         [remote \"o\"]\nurl = /nowhere\npromisor = true\nuploadpack = \"touch {};false\"\n",
        ran.display()
    );
    project.folder.write(".git/config", &config).unwrap();
    project
        .folder
        .write(".git/HEAD", &format!("{}\n", "1".repeat(40)))
        .unwrap();
    begin_task(&project, "/nowhere");
    assert!(!ran.exists());
}

#[test]
fn beginning_a_task_waits_for_no_pipe() {
    let project = standalone();
    let head = project.root.join(".git/HEAD");
    std::fs::remove_file(&head).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, &head, rustix::fs::Mode::RWXU).unwrap();
    let begun = Instant::now();
    begin_task(&project, "/nowhere");
    assert!(begun.elapsed() < Duration::from_secs(10));
}
