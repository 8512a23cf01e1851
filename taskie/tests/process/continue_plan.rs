//! `continue-plan` names each row of the table, before a write and after an interrupted one.

use std::fs;

use crate::support::{ID, Project, start_plan};

struct Walk {
    project: Project,
    row: &'static str,
}

impl Walk {
    fn document(&self) -> Vec<u8> {
        fs::read(self.project.dir(ID).join("state.json")).unwrap()
    }

    fn says(&self, row: &str) {
        let message = self.project.person(&["continue-plan", ID]).done();
        assert!(message.contains(&format!("({row}: ")), "{row}: {message}");
    }

    /// Takes a step that writes. A kill before it changes nothing. After a kill between journal and
    /// document, the row is that of the journal, and naming it writes nothing.
    fn step(&mut self, row: &'static str, step: impl FnOnce(&Project)) {
        let before = self.document();
        self.says(self.row);
        assert_eq!(self.document(), before, "{row}");
        step(&self.project);
        let after = self.document();
        assert_ne!(after, before, "{row}");
        // The step may make several changes. A kill leaves the document one behind.
        let mut cut: serde_json::Value = serde_json::from_slice(&before).unwrap();
        let newest: serde_json::Value = serde_json::from_slice(&after).unwrap();
        cut["revision"] = (newest["revision"].as_u64().unwrap() - 1).into();
        let file = self.project.dir(ID).join("state.json");
        fs::write(&file, cut.to_string()).unwrap();
        self.says(row);
        assert_eq!(self.document(), cut.to_string().as_bytes(), "{row}");
        fs::write(file, after).unwrap();
        self.row = row;
    }

    /// Runs a cycle with a FAIL and two PASS.
    fn cycle(&mut self, review: &str, [post, answered, target]: [&'static str; 3]) {
        for (at, severity) in [(1, Some("High")), (2, None)] {
            self.step(post, |project| {
                project.review(severity).done();
                project.blocks();
            });
            self.step(answered, |project| {
                project.write(ID, &format!("{review}-post-review-{at}.md"), "Fixed.\n");
                project.blocks();
            });
        }
        self.step(target, |project| {
            project.review(None).done();
            project.ends();
        });
    }
}

#[test]
fn rows_are_named_before_and_after_writes() {
    let project = start_plan();
    let mut walk = Walk {
        project,
        row: "C18",
    };
    walk.step("C6", |project| {
        project.write(ID, "plan.md", "## Overview\n");
        project.blocks();
    });
    walk.cycle("plan", ["C1", "C5", "C19"]);
    walk.step("C9", |project| {
        project.tasks(ID, 1, 0);
        project.blocks();
    });
    walk.cycle("tasks", ["C2", "C8", "C20"]);
    walk.step("C13", |project| {
        project.tasks(ID, 1, 1);
        project.blocks();
    });
    walk.cycle("task-1-code", ["C3", "C11", "C16"]);
    walk.cycle("all-code", ["C4", "C15", "C21"]);
}

#[test]
fn rows_of_standalone_are_named() {
    let project = start_plan();
    project.write(ID, "plan.md", "## Overview\n");
    project.tasks(ID, 2, 0);
    let mut walk = Walk {
        project,
        row: "C18",
    };
    walk.step("C23", |project| {
        project.person(&["pause", ID]).done();
    });
    walk.step("C22", |project| {
        project.slash("next-task", "").done();
    });
    walk.step("C20", |project| {
        project.person(&["complete-task-tdd", ID]).done();
    });
}
