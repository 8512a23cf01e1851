//! What is told at the end of a review of changes: everything that was not shown, and everything that is another way by then.

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

fn append(project: &Project, path: &str, text: &str) {
    let file = project.root.join(path);
    let before = std::fs::read_to_string(&file).unwrap_or_default();
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, before + text).unwrap();
}

fn head(project: &Project) -> String {
    std::fs::read_to_string(project.root.join(".git/refs/heads/feature")).unwrap()
}

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
fn every_difference_and_everything_not_shown_is_in_the_summary() {
    let hide = |project: &Project| {
        append(project, ".git/info/exclude", "hidden.sh\n");
        write(project, "hidden.sh", "rm -rf /\n");
    };
    let shallow = |project: &Project| write(project, ".git/shallow", &head(project));
    let mark = |flag: &'static str| {
        move |project: &Project| {
            write(project, "src/a b.js", "evil();\n");
            project.git(&["update-index", flag, "src/a b.js"]);
        }
    };
    let marked = "1 tracked file is marked in git’s index so that changes are not seen (assume-unchanged, skip-worktree): src/a b.js.";
    let hidden = "1 untracked file is hidden from git, and so from the review, by .git/info/exclude or core.excludesFile: hidden.sh.";
    let edited =
        "**Note:** Files were changed after the review, and nobody reviewed that: src/a b.js.";
    let cases = [
        (
            "an edit",
            summary(nothing, |p| write(p, "src/a b.js", "evil();\n")),
            vec![edited],
        ),
        (
            "a new file",
            summary(nothing, |p| write(p, "new", "evil\n")),
            vec!["nobody reviewed that: new."],
        ),
        (
            "a stash around the review",
            summary(
                |p| {
                    write(p, "src/a b.js", "evil();\n");
                    p.git(&["stash", "push", "--quiet", "--", "src/a b.js"]);
                },
                |p| p.git(&["stash", "pop", "--quiet"]),
            ),
            vec![edited],
        ),
        (
            "assume-unchanged",
            summary(nothing, mark("--assume-unchanged")),
            vec![marked],
        ),
        (
            "skip-worktree",
            summary(mark("--skip-worktree"), nothing),
            vec![marked],
        ),
        ("info/exclude before", summary(hide, nothing), vec![hidden]),
        ("info/exclude after", summary(nothing, hide), vec![hidden]),
        (
            "a NUL byte",
            summary(|p| append(p, "src/a b.js", "evil();\0\n"), nothing),
            vec![
                "Binary files (one NUL byte makes a file binary), of which nobody was shown the content: src/a b.js (",
                "The work tree was changed between the start of the loop and the review.",
            ],
        ),
        (
            "a base that was moved before",
            summary(
                |p| p.git(&["branch", "--force", "main", "feature"]),
                nothing,
            ),
            vec!["when the loop started, and with commit"],
        ),
        (
            "a base that was moved after",
            summary(nothing, |p| {
                p.git(&["branch", "--force", "main", "feature"])
            }),
            vec!["by now it would be commit"],
        ),
        (
            "a history that was cut before",
            summary(shallow, nothing),
            vec![
                "history of this repository is cut short",
                "when the loop started, and with",
            ],
        ),
        (
            "a history that was cut after",
            summary(nothing, shallow),
            vec!["history of this repository is cut short"],
        ),
    ];
    for (what, summary, wanted) in cases {
        assert!(summary.contains("**Note:** "), "{what}: {summary}");
        for part in wanted {
            assert!(summary.contains(part), "{what}: {part}\n{summary}");
        }
    }
}

#[test]
fn a_great_many_changes_after_the_review_are_one_short_line() {
    let summary = summary(nothing, |p| {
        (0..500).for_each(|number| write(p, &format!("new/{number}"), "x\n"));
    });
    assert!(summary.contains("new/0, new/1,"), "{summary}");
    assert!(summary.contains("and 490 more."), "{summary}");
    assert_eq!(summary.matches("**Note:**").count(), 1, "{summary}");
}

#[test]
fn what_was_changed_after_the_summary_is_told_to_the_person_and_noted() {
    let project = branch();
    let id = start(&project, &[]);
    project.review(&id, "lint").exits(0);
    assert!(!project.fire().blocked().contains("**Note:**"));
    write(&project, "src/a b.js", "evil();\n");
    let told = project.fire().approved();
    assert!(
        told.contains(&id) && told.contains("nobody reviewed that: src/a b.js."),
        "{told}"
    );
    assert_eq!(project.field(&id, "phase"), "done");
    assert_eq!(
        project.journal(&id).last().unwrap()["note"],
        "ended-otherwise"
    );
    project.answers(&["status", &id], 0, "nobody reviewed that: src/a b.js.");
    project.answers(&["journal", &id], 0, "ended-otherwise: Files");
}

#[test]
fn a_plan_that_was_edited_after_its_summary_is_told_and_noted() {
    let (project, id) = Project::reviewing(&[]);
    project.review(&id, "fake-clean").exits(0);
    assert!(project.fire().blocked().contains("plan loop complete"));
    project.plan("# Plan\n\nSomething else.\n");
    let told = project.fire().approved();
    assert!(
        told.contains(
            "PLAN.md was changed after the summary was made; that change was not reviewed."
        ),
        "{told}"
    );
    assert_eq!(
        project.journal(&id).last().unwrap()["note"],
        "ended-otherwise"
    );

    let (project, id) = Project::reviewing(&[]);
    project.review(&id, "fake-clean").exits(0);
    project.fire().blocked();
    assert_eq!(project.fire().approved(), "");
    assert_ne!(
        project.journal(&id).last().unwrap()["note"],
        "ended-otherwise"
    );
}
