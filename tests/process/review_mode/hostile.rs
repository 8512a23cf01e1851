//! Harmless attacks on a review of changes, by a repository, a reviewer or sixteen callers.

use serde_json::json;

use super::{answering, changed_project, read, start, write};
use crate::support::{Background, Project, Ran, executable, has, lacks, tree};

#[test]
fn reports_folder_that_is_none_is_refused() {
    for is_link in [true, false] {
        let project = changed_project();
        let elsewhere = project.home.join("elsewhere");
        std::fs::create_dir(&elsewhere).unwrap();
        let reviews = project.root.join("reviews");
        if is_link {
            std::os::unix::fs::symlink(&elsewhere, &reviews).unwrap();
        } else {
            std::fs::write(&reviews, "mine\n").unwrap();
        }
        let id = start(&project, &[]);
        let ran = project.review(&id, "lint").exits(0);
        has(&ran.out, "no report was written: ");
        has(&ran.out, if is_link { "symlink" } else { "folder" });
        has(&ran.out, "The review counts all the same.");
        assert!(tree(&elsewhere).is_empty());
        has(
            &project.fire().blocked(),
            "There is no report in the project",
        );
        assert!(is_link || std::fs::read(&reviews).unwrap() == b"mine\n");
    }
}

#[test]
fn report_that_is_a_link_is_replaced() {
    let project = changed_project();
    let id = start(&project, &[]);
    let report = format!("reviews/review-{id}.md");
    let target = project.home.join("target");
    std::fs::write(&target, "theirs").unwrap();
    std::fs::create_dir(project.root.join("reviews")).unwrap();
    std::os::unix::fs::symlink(&target, project.root.join(&report)).unwrap();
    project.review(&id, "lint").exits(0);
    assert_eq!(std::fs::read(&target).unwrap(), b"theirs");
    has(&read(&project, &report), "## Round 1");
}

#[test]
fn program_named_by_repository_is_not_run() {
    let project = changed_project();
    let trace = project.home.join("trace");
    let program = project.home.join("program");
    executable(
        &program,
        &format!("echo \"$0 $*\" >> '{}'\ncat", trace.display()),
    );
    for key in [
        "core.fsmonitor",
        "filter.x.clean",
        "diff.external",
        "diff.x.textconv",
    ] {
        project.git(&["config", key, program.to_str().unwrap()]);
    }
    write(&project, ".gitattributes", "* filter=x diff=x\n");
    let id = start(&project, &[]);
    project.review(&id, "fake-findings").exits(0);
    let ran = std::fs::read_to_string(&trace).unwrap_or_default();
    assert_eq!(ran, "");
}

/// Changes files during a slow review, and returns its output.
fn changed_meanwhile(project: &Project, id: &str) -> Ran {
    let review = project.background_review(id, "--reviewer fake-slow-2");
    write(project, "sneaked in.txt", "written by somebody\n");
    review.end().exits(0)
}

#[test]
fn work_tree_changed_during_review_is_said_everywhere() {
    let (plan, plan_id) = Project::reviewing(&[]);
    let review = changed_project();
    let review_id = start(&review, &[]);
    let caveat = "the work tree changed while the reviewer ran";
    for (project, id) in [(plan, plan_id), (review, review_id)] {
        changed_meanwhile(&project, &id).says(caveat);
        let noted = "; the work tree changed meanwhile";
        project.answers(&format!("journal {id}"), 0, noted);
        has(
            &project.fire().blocked(),
            &format!("**Note:** Round 1: {caveat}."),
        );
    }
    // Outside of git no change is detected, and without a change no caveat is printed.
    let outside = Project::without_git();
    let id = outside.start(&[]);
    outside.plan("# Plan\n");
    outside.fire().blocked();
    lacks(&changed_meanwhile(&outside, &id).out, caveat);
    let project = changed_project();
    let id = start(&project, &[]);
    lacks(
        &project.review(&id, "fake-findings").exits(0).out,
        "work tree changed",
    );
    lacks(&project.fire().blocked(), "changed while");
}

#[test]
fn sixteen_at_once_share_one_review() {
    let project = changed_project();
    let id = start(&project, &[]);
    let review = format!("review {id} --reviewer lint");
    let children: Vec<Background> = (0..16).map(|_| project.spawn(&review)).collect();
    for child in children {
        child.end().exits(0).says("high=2");
    }
    assert_eq!(project.runs(&id), 1);
    has(
        &read(&project, &format!("reviews/review-{id}.md")),
        "Findings: high=2",
    );
    assert_eq!(tree(&project.root.join("reviews")).len(), 1);
    let scratch: Vec<_> = tree(&project.home)
        .into_iter()
        .map(|(path, _)| path)
        .filter(|path| path.to_str().unwrap().contains("/claudex-"))
        .collect();
    assert!(
        !scratch
            .iter()
            .any(|path| path.parent() == Some(&project.home)),
        "{scratch:?}"
    );
}

#[test]
fn unreadable_repository_stops_no_review_of_a_plan() {
    let project = changed_project();
    std::fs::write(project.root.join(".git/HEAD"), "no head\n").unwrap();
    project.answers("start review", 2, "git rev-parse failed: ");
    let id = project.start(&[]);
    project.plan("# Plan\n");
    project.fire().blocked();
    project.reviews(&id, "fake-clean", 0, "no substantive findings");
}

#[test]
fn hidden_characters_of_a_patch_are_spelled_out() {
    let patch = "--- a/notes.md\n+++ b/notes.md\n@@ -1 +1,2 @@\n notes\n+if (a /*\u{202e} x */) {\u{1b}[8m\n";
    let finding = json!({ "severity": "high", "what": "x", "patch": patch });
    let project = answering(changed_project(), &finding);
    let id = start(&project, &[]);
    project.reviews(&id, "mine", 0, "(1 of 1 would apply)");
    let fixes = read(&project, &format!("reviews/proposed-fixes-{id}.md"));
    has(&fixes, "+if (a /*<U+202E> x */) {<U+001B>[8m\n");
    has(&fixes, "This is not the exact patch");
    has(&fixes, &format!("claudex/{id}/findings-round-<N>.json`"));
    let twin = project.findings(&id, 1).with_extension("json");
    has(&std::fs::read_to_string(twin).unwrap(), "\u{202e}");
}
