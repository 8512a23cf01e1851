//! The caveats of a review of changes: later changes and omitted files.

use super::{project, start, write};
use crate::support::{Project, begins, has, lacks};

const CHANGED: &str = "The work tree changed since it was reviewed.";

/// Reviews a branch with a commit and uncommitted changes in which lint finds nothing.
fn reviewed() -> (Project, String) {
    let project = project();
    project.git(&["checkout", "--quiet", "-b", "feature"]);
    write(&project, "notes.md", "notes\nof the branch\n");
    project.git(&["commit", "--quiet", "-am", "second"]);
    write(&project, "notes.md", "notes\nof the branch\nand more\n");
    let id = start(&project, &[]);
    project.review(&id, "lint").exits(0);
    (project, id)
}

#[test]
fn work_tree_changed_after_review_is_said_once() {
    let (project, _) = reviewed();
    write(&project, "src/a b.js", "evil();\n");
    write(&project, "new", "evil\n");
    let summary = project.fire().blocked();
    has(&summary, &format!("**Note:** {CHANGED}"));
    assert_eq!(summary.matches("**Note:**").count(), 1, "{summary}");
}

#[test]
fn work_tree_put_back_needs_no_caveat() {
    let (project, _) = reviewed();
    write(&project, "src/a b.js", "evil();\n");
    project.git(&["checkout", "--quiet", "--", "src/a b.js"]);
    project.git(&["commit", "--quiet", "-am", "third"]);
    let summary = project.fire().blocked();
    begins(&summary, "### Claudex review loop complete");
    lacks(&summary, "**Note:**");
}

#[test]
fn change_after_summary_is_told_and_noted() {
    let (project, id) = reviewed();
    lacks(&project.fire().blocked(), "**Note:**");
    write(&project, "src/a b.js", "evil();\n");
    let output = project.fire().approved();
    has(&output, &id);
    has(&output, CHANGED);
    assert_eq!(project.field(&id, "phase"), "done");
    project.answers(&format!("status {id}"), 0, CHANGED);
    project.answers(&format!("journal {id}"), 0, "changed-since-review");
}

#[test]
fn plan_edited_after_summary_is_told_and_noted() {
    for edited in [true, false] {
        let (project, id) = Project::reviewing(&[]);
        project.review(&id, "fake-clean").exits(0);
        has(&project.fire().blocked(), "plan loop complete");
        if edited {
            project.plan("# Plan\n\nSomething else.\n");
        }
        let output = project.fire().approved();
        assert_eq!(
            output.contains("PLAN.md changed since it was reviewed."),
            edited
        );
        let journal = project.run(&format!("journal {id}")).exits(0).out;
        assert_eq!(journal.contains("changed-since-review"), edited);
    }
}

#[test]
fn files_left_out_are_in_the_summary() {
    let project = project();
    write(&project, "a.txt", "A line.\n");
    for number in 0..70 {
        let listing = "x\n".repeat(120_000);
        write(&project, &format!("b-{number:02}.txt"), &listing);
    }
    let id = start(&project, &[]);
    project.review(&id, "fake-clean").exits(0);
    let note = "**Note:** The review left out b-00.txt (+120000 -0 lines) and 69 more.";
    has(&project.fire().blocked(), note);
}
