//! Hostile content of a plan's directory: a clear problem, the bytes kept, and the turn ends.

use crate::support::{ID, Project, TABLE, coding};

/// Stops until the turn ends, soon.
fn stop_to_the_end(project: &Project) {
    let mut stops = (0..6).map(|_| project.stop().0);
    assert!(stops.any(|decision| decision == "approve"));
}

#[test]
fn unreadable_files_are_named_and_kept() {
    let large = "x".repeat(10 * 1024 * 1024);
    let short = format!("{TABLE}| 1 | done | low | a | b |\n");
    for (name, text, problem) in [
        (
            "tasks.md",
            &large,
            "tasks.md: it is larger than 1048576 bytes",
        ),
        (
            "tasks.md",
            &short,
            "1 tasks are pending or done, and the plan has 3",
        ),
    ] {
        let project = coding();
        project.write(ID, name, text);
        let before = project.state(ID);
        let block = project.blocks();
        assert!(block.contains(problem), "{block}");
        let check = project.person(&["check", ID]).0;
        assert!(
            check.code == Some(1) && check.out.contains(problem),
            "{check:?}"
        );
        stop_to_the_end(&project);
        let kept = project.read(name);
        assert_eq!(&kept, text);
        assert_eq!(project.state(ID), before);
    }
}

#[test]
fn link_in_a_plan_is_not_read() {
    let project = coding();
    let file = project.dir(ID).join("task-1.md");
    std::fs::remove_file(&file).unwrap();
    std::os::unix::fs::symlink("/etc/hostname", file).unwrap();
    let block = project.blocks();
    assert!(block.contains("task-1.md: not a regular file"), "{block}");
    stop_to_the_end(&project);
}
