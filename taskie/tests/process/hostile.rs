//! Whatever lies in a plan's directory: a clear error, the bytes kept, and the turn ends.

use crate::support::{ID, Project, task_file};

/// Returns a project in complete-task.
fn coding() -> Project {
    let project = Project::new();
    project.slash("new-plan", ID).done();
    project.write(ID, "plan.md", "## Overview\n");
    project.tasks(ID, 2, 0);
    project.person(&["pause", ID]).done();
    project.person(&["complete-task", ID]).done();
    project
}

/// Stops until the turn ends, which it does soon.
fn to_the_end(project: &Project) -> String {
    for _ in 0..6 {
        let (decision, said) = project.stop();
        if decision == "approve" {
            return said;
        }
    }
    panic!("the turn does not end");
}

#[test]
fn windows_lines_and_byte_order_marks_are_nothing_to_mend() {
    let project = coding();
    for (name, text) in [
        (
            "tasks.md",
            std::fs::read_to_string(project.dir(ID).join("tasks.md")).unwrap(),
        ),
        ("task-1.md", task_file(1, "pending")),
    ] {
        project.write(ID, name, &format!("\u{feff}{}", text.replace('\n', "\r\n")));
    }
    assert_eq!(
        project.person(&["check", ID]).done(),
        "The files of plan billing are in order.\n"
    );
    let state = std::fs::read_to_string(project.dir(ID).join("state.json")).unwrap();
    let good = project.state(ID);
    project.write(
        ID,
        "state.json",
        &format!("\u{feff}{}", state.replace('\n', "\r\n")),
    );
    to_the_end(&project);
    let now = std::fs::read_to_string(project.dir(ID).join("state.json")).unwrap();
    let now: serde_json::Value = serde_json::from_str(now.trim_start_matches('\u{feff}')).unwrap();
    assert_eq!(now["next_phase"], good["next_phase"]);
}

#[test]
fn what_cannot_be_read_is_named_with_its_file_and_kept() {
    let large = "x".repeat(10 * 1024 * 1024);
    let unknown = task_file(1, "finished");
    let marks = "<<<<<<< HEAD\n=======\n>>>>>>> theirs\n";
    for (name, bytes, says) in [
        (
            "tasks.md",
            large.as_str(),
            "tasks.md: it is larger than 1048576 bytes",
        ),
        ("tasks.md", marks, "tasks.md:1: a merge left its mark here"),
        (
            "task-1.md",
            unknown.as_str(),
            "the status of subtask 1.1 is “finished”",
        ),
        // A row that is gone.
        (
            "tasks.md",
            "| Id | Status | Priority | Description | Test strategy |\n|---|---|---|---|---|\n| 1 | pending | low | a | b |\n",
            "1 tasks are pending or done, and the plan has 2",
        ),
    ] {
        let project = coding();
        project.write(ID, name, bytes);
        let before = project.state(ID);
        let said = project.blocks();
        assert!(said.contains(says), "{said}");
        let said = project.person(&["check", ID]);
        assert!(
            said.0.code == Some(1) && said.0.out.contains(says),
            "{said:?}"
        );
        to_the_end(&project);
        assert_eq!(
            std::fs::read_to_string(project.dir(ID).join(name)).unwrap(),
            bytes
        );
        assert_eq!(project.state(ID), before);
    }
}

#[test]
fn a_state_that_is_lost_comes_back_from_the_journal() {
    let large = "x".repeat(10 * 1024 * 1024);
    for bytes in [large.as_str(), "", "{\"next_phase\": \"complete\"}"] {
        let project = coding();
        let before = project.state(ID);
        project.write(ID, "state.json", bytes);
        to_the_end(&project);
        assert_eq!(
            project.state(ID),
            before,
            "{}",
            &bytes[..bytes.len().min(40)]
        );
        // The file that was there is kept.
        let folder = project.root.join(".taskie/engine").join(ID);
        let kept = crate::support::names(&folder).into_iter();
        let kept: Vec<Vec<u8>> = kept
            .filter(|name| name.starts_with("replaced-"))
            .map(|name| std::fs::read(folder.join(name)).unwrap())
            .collect();
        assert!(
            kept.iter().any(|one| one == bytes.as_bytes()),
            "{}",
            &bytes[..bytes.len().min(40)]
        );
    }
}

#[test]
fn links_and_pipes_are_nobodys_plan() {
    let project = coding();
    std::fs::remove_file(project.dir(ID).join("task-1.md")).unwrap();
    std::os::unix::fs::symlink("/etc/hostname", project.dir(ID).join("task-1.md")).unwrap();
    let said = project.blocks();
    assert!(said.contains("task-1.md: not a regular file"), "{said}");
    to_the_end(&project);
}
