//! The demo goes from `new-plan` to complete in one new folder, and keeps it.

use claudex_testkit::has;

use crate::support::{Project, names};

#[test]
fn demo_takes_plan_to_complete() {
    let project = Project::new();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/demo.sh");
    let mut demo = project.folder.tool("sh");
    demo.arg(script).env("TASKIE", env!("CARGO_BIN_EXE_taskie"));
    let output = demo.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let message = String::from_utf8(output.stdout).unwrap();
    let phases: Vec<&str> = message
        .lines()
        .filter_map(|line| line.trim().strip_prefix("next_phase: "))
        .collect();
    assert_eq!(phases.last(), Some(&"complete"), "{message}");
    let reviews = message
        .lines()
        .filter(|line| line.starts_with("reviewer: "));
    let verdicts: Vec<&str> = reviews.map(|line| &line[line.len() - 4..]).collect();
    assert_eq!(verdicts, ["FAIL", "PASS", "PASS"].repeat(5));
    // Only its folder has changed.
    assert_eq!(names(&project.root), [".git", "README.md", "taskie-demo"]);

    let (_, look) = message.split_once("To look at it:\n").unwrap();
    let taskie = format!("'{}' status", env!("CARGO_BIN_EXE_taskie"));
    let look = look.replace("taskie status", &taskie);
    let seen = project.folder.tool("sh").args(["-euc", &look]).output();
    let seen = String::from_utf8(seen.unwrap().stdout).unwrap();
    has(&seen, "phase:     complete");

    // An existing folder stays as it is.
    assert!(!demo.status().unwrap().success());
}
