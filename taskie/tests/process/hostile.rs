//! Hostile content of a plan's directory: a clear problem, the bytes kept, and the turn ends.

use std::os::unix::fs::symlink;
use std::path::Path;

use crate::support::{ID, TABLE, coding};

type Put = fn(&Path);

#[test]
fn unreadable_files_are_named_and_kept() {
    let large: Put = |file| std::fs::write(file, "x".repeat(10 * 1024 * 1024)).unwrap();
    let short: Put =
        |file| std::fs::write(file, format!("{TABLE}| 1 | done | low | a | b |\n")).unwrap();
    let link: Put = |file| {
        std::fs::remove_file(file).unwrap();
        symlink("/etc/hostname", file).unwrap();
    };
    for (name, put, problem) in [
        ("tasks.md", large, "is larger than 1048576 bytes"),
        (
            "tasks.md",
            short,
            "1 tasks are pending or done, and the plan has 3",
        ),
        ("task-1.md", link, "not a regular file"),
    ] {
        let project = coding();
        let file = project.dir(ID).join(name);
        put(&file);
        let kept = std::fs::read(&file).unwrap();
        let before = project.state(ID);
        let block = project.blocks();
        assert!(block.contains(problem) && block.contains(name), "{block}");
        let check = project.person(&["check", ID]).0;
        assert_eq!(check.code, Some(1), "{check:?}");
        assert!(check.out.contains(problem), "{check:?}");
        // The turn ends soon.
        let mut stops = (0..6).map(|_| project.stop().0);
        assert!(stops.any(|decision| decision == "approve"));
        assert!(std::fs::read(file).unwrap() == kept);
        assert_eq!(project.state(ID), before);
    }
}
