//! What is told at the end of a review if what was reviewed has changed since.

use super::{project, start, write};
use crate::support::Project;

/// Makes a branch with a commit of its own and changes besides, of which lint has nothing to say.
fn branch() -> Project {
    let project = project();
    project.git(&["checkout", "--quiet", "-b", "feature"]);
    write(&project, "notes.md", "notes\nof the branch\n");
    project.git(&["commit", "--quiet", "-am", "second"]);
    write(&project, "notes.md", "notes\nof the branch\nand more\n");
    project
}

/// Does something before the review and something after it; gives the summary.
#[track_caller]
fn summary(before: impl FnOnce(&Project), after: impl FnOnce(&Project)) -> String {
    let project = branch();
    let id = start(&project, &[]);
    before(&project);
    project.review(&id, "lint").exits(0);
    after(&project);
    project.fire().blocked()
}

fn nothing(_: &Project) {}

#[test]
fn a_work_tree_that_is_what_was_reviewed_needs_no_caveat() {
    let summary = summary(nothing, nothing);
    assert!(
        summary.starts_with("### Claudex review loop complete"),
        "{summary}"
    );
    assert!(!summary.contains("**Note:**"), "{summary}");
}

#[test]
fn work_tree_changed_after_review_is_said_once() {
    let summary = summary(nothing, |project| {
        write(project, "src/a b.js", "evil();\n");
        write(project, "new", "evil\n");
    });
    let note = "**Note:** The work tree changed since it was reviewed.";
    assert!(summary.contains(note), "{summary}");
    assert_eq!(summary.matches("**Note:**").count(), 1, "{summary}");
}

#[test]
fn work_tree_put_back_after_review_needs_no_caveat() {
    let summary = summary(nothing, |project| {
        write(project, "src/a b.js", "evil();\n");
        project.git(&["checkout", "--quiet", "--", "src/a b.js"]);
        project.git(&["commit", "--quiet", "-am", "third"]);
    });
    assert!(!summary.contains("**Note:**"), "{summary}");
}

#[test]
fn change_after_summary_is_told_and_noted() {
    let project = branch();
    let id = start(&project, &[]);
    project.review(&id, "lint").exits(0);
    assert!(!project.fire().blocked().contains("**Note:**"));
    write(&project, "src/a b.js", "evil();\n");
    let told = project.fire().approved();
    let sentence = "The work tree changed since it was reviewed.";
    assert!(told.contains(&id) && told.contains(sentence), "{told}");
    assert_eq!(project.field(&id, "phase"), "done");
    project.answers(&["status", &id], 0, sentence);
    project.answers(&["journal", &id], 0, "changed-since-review");
}

#[test]
fn plan_edited_after_summary_is_told_and_noted() {
    let (project, id) = Project::reviewing(&[]);
    project.review(&id, "fake-clean").exits(0);
    assert!(project.fire().blocked().contains("plan loop complete"));
    project.plan("# Plan\n\nSomething else.\n");
    let told = project.fire().approved();
    assert!(
        told.contains("PLAN.md changed since it was reviewed."),
        "{told}"
    );
    project.answers(&["journal", &id], 0, "changed-since-review");

    let (project, id) = Project::reviewing(&[]);
    project.review(&id, "fake-clean").exits(0);
    project.fire().blocked();
    assert_eq!(project.fire().approved(), "");
    let journal = project.run(&["journal", &id]).exits(0);
    assert!(!journal.out.contains("changed-since-review"));
}
