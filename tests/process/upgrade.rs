//! Loops, journals and archives as earlier programs wrote them go on, migrate, or are refused with a way out.
//!
//! `upgrade/<date>/` is what a program of that day left: `claudex/` is its state folder, `records/` what made the loops its user's,
//! with `@ROOT@` for the project. A format that changes gets a folder of its own; the old ones stay as they are.

use std::path::Path;

use crate::ownership::record_file;
use crate::support::{Project, write};

/// Makes a project of what was left.
fn left(day: &Path) -> Project {
    let project = Project::new();
    let root = project.root.to_str().unwrap().to_owned();
    let copy = |from: &Path, to: &Path| {
        let text = std::fs::read_to_string(from).unwrap();
        write(to, text.replace("@ROOT@", &root));
    };
    copy(&day.join("PLAN.md"), &project.root.join("PLAN.md"));
    for entry in walk(&day.join("claudex")) {
        let below = entry.strip_prefix(day.join("claudex")).unwrap();
        copy(&entry, &project.folder().join(below));
    }
    for entry in walk(&day.join("records")) {
        let id = entry.file_stem().unwrap().to_str().unwrap();
        copy(&entry, &record_file(&project, "plan", id));
    }
    project
}

fn walk(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| match path.is_dir() {
            true => walk(&path),
            false => vec![path],
        })
        .collect()
}

fn days() -> Vec<std::path::PathBuf> {
    let all = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/process/upgrade");
    let days = std::fs::read_dir(all)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    days.collect()
}

/// A loop of that day, by its phase; nothing where the program says instead what may be done with it.
fn of_phase(project: &Project, phase: &str) -> String {
    let listed = project.run(&["list", "--json"]).exits(0).out;
    let rows: serde_json::Value = serde_json::from_str(&listed).unwrap();
    let is_it = |row: &&serde_json::Value| row["phase"] == phase && row["problem"].is_null();
    let found = rows.as_array().unwrap().iter().find(is_it);
    found.unwrap_or_else(|| panic!("no loop is {phase}: {listed}"))["id"]
        .as_str()
        .unwrap()
        .to_owned()
}

#[test]
fn what_was_over_is_told_as_it_was() {
    for day in days() {
        let project = left(&day);
        for phase in ["done", "cancelled"] {
            let id = of_phase(&project, phase);
            let before = std::fs::read(project.state_path(&id)).unwrap();
            project.run(&["journal", &id, "--verify"]).exits(0);
            assert!(project.run(&["status", &id]).exits(0).out.contains(phase));
            assert_eq!(
                std::fs::read(project.state_path(&id)).unwrap(),
                before,
                "{phase}"
            );
        }
    }
}

#[test]
fn what_was_under_way_goes_on_and_counts_what_was_reviewed() {
    for day in days() {
        let project = left(&day);
        let id = of_phase(&project, "reviewing");
        project.run(&["journal", &id, "--verify"]).exits(0);
        let said = project.fire_as("s1").blocked();
        assert!(
            said.contains(&id) && said.contains("round 2 of 3"),
            "{said}"
        );
        project.run(&["review", &id, "--reviewer", "lint"]).exits(0);
        let said = project.fire_as("s1").blocked();
        assert!(said.contains("Previous round"), "{said}");
        assert_eq!(
            project.field(&id, "round"),
            "3",
            "the round was reviewed, so the loop goes on"
        );
        project.run(&["journal", &id, "--verify"]).exits(0);
        project.run(&["cancel", &id]).exits(0);
    }
}

#[test]
fn what_was_put_aside_comes_back() {
    for day in days() {
        let project = left(&day);
        let id = of_phase(&project, "reviewing");
        project.run(&["cancel", &id]).exits(0);
        let swept = project.folder().join("swept");
        let swept = std::fs::read_dir(swept)
            .unwrap()
            .next()
            .unwrap()
            .unwrap()
            .file_name();
        let swept = swept.to_str().unwrap();
        project.run(&["resume", swept]).exits(0);
        assert_eq!(project.field(swept, "phase"), "drafting");
    }
}
