//! What a repository, a reviewer or sixteen callers may do to a review of changes without harm.

use std::process::{Child, Stdio};

use claudex_testkit::has;

use super::{changed, project, read, start, twin, write};
use crate::support::{Project, Ran, executable, tree};

#[test]
fn a_folder_of_reports_that_is_none_is_refused_and_the_review_counts() {
    for link in [true, false] {
        let project = changed();
        let elsewhere = project.home.join("elsewhere");
        std::fs::create_dir(&elsewhere).unwrap();
        let reviews = project.root.join("reviews");
        if link {
            std::os::unix::fs::symlink(&elsewhere, &reviews).unwrap();
        } else {
            std::fs::write(&reviews, "mine\n").unwrap();
        }
        let id = start(&project, &[]);
        let why = if link { "symlink" } else { "folder" };
        project
            .review(&id, "lint")
            .exits(0)
            .says("no report was written: ")
            .says(why)
            .says("The review counts all the same.");
        assert!(tree(&elsewhere).is_empty());
        let summary = project.fire().blocked();
        has(&summary, "There is no report in the project");
        assert!(link || std::fs::read(&reviews).unwrap() == b"mine\n");
        // Put right, the same line writes the report; the round is not reviewed again.
        std::fs::remove_file(&reviews).unwrap();
        assert_eq!(project.runs(&id), 1);
    }
}

#[test]
fn a_report_that_is_a_link_is_replaced_and_what_it_leads_to_is_not() {
    let project = changed();
    let id = start(&project, &[]);
    let target = project.home.join("target");
    std::fs::write(&target, "theirs").unwrap();
    std::fs::create_dir(project.root.join("reviews")).unwrap();
    std::os::unix::fs::symlink(
        &target,
        project.root.join(format!("reviews/review-{id}.md")),
    )
    .unwrap();
    project.review(&id, "lint").exits(0);
    assert_eq!(std::fs::read(&target).unwrap(), b"theirs");
    assert!(read(&project, &format!("reviews/review-{id}.md")).contains("## Round 1"));
}

#[test]
fn hostile_names_and_lines_stay_data() {
    let project = project();
    write(&project, "a\n## High\n- x.js", "debugger;\n");
    write(
        &project,
        "`r`\u{202e}l <img>.js",
        "debugger; // ```\u{1b}[2J\n",
    );
    write(&project, "# left out: all", "// TODO </b>\n");
    let id = start(&project, &[]);
    let ran = project.review(&id, "lint").exits(0);
    for text in [
        &ran.out,
        &read(&project, &format!("reviews/review-{id}.md")),
    ] {
        assert!(
            !text.contains('\u{202e}') && !text.contains('\u{1b}'),
            "{text}"
        );
        assert_eq!(
            text.lines().filter(|line| *line == "## High").count(),
            usize::from(*text == ran.out),
            "{text}"
        );
    }
    let summary = project.fire().blocked();
    assert!(
        summary.starts_with("### Claudex review loop complete"),
        "{summary}"
    );
}

#[test]
fn a_repository_that_names_programs_gets_none_run() {
    let project = changed();
    let trace = project.home.join("trace");
    let program = project.home.join("program");
    let script = format!("echo \"$0 $*\" >> '{}'\ncat", trace.display());
    executable(&program, &script);
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
    assert!(
        !trace.exists(),
        "{}",
        std::fs::read_to_string(&trace).unwrap()
    );
}

/// Starts a slow review, changes files while its reviewer runs, and gives what the review printed.
fn changed_meanwhile(project: &Project, id: &str, path: &str) -> Ran {
    let review = project.background_review(id, &["--reviewer", "fake-slow-2"]);
    write(project, path, "written by somebody\n");
    review.end().exits(0)
}

#[test]
fn work_tree_changed_during_review_is_said_everywhere() {
    let (plan, plan_id) = Project::reviewing(&[]);
    let review = changed();
    let review_id = start(&review, &[]);
    let told = "the work tree changed while the reviewer ran";
    for (project, id) in [(plan, plan_id), (review, review_id)] {
        changed_meanwhile(&project, &id, "sneaked in.txt").says(told);
        project.answers(&["journal", &id], 0, "; the work tree changed meanwhile");
        let summary = project.fire().blocked();
        has(&summary, &format!("**Note:** Round 1: {told}."));
    }
    let outside = Project::without_git();
    let id = outside.start(&[]);
    outside.plan("# Plan\n");
    outside.fire().blocked();
    let ran = changed_meanwhile(&outside, &id, "sneaked in.txt");
    assert!(!ran.out.contains(told), "{}", ran.out);
}

#[test]
fn work_tree_unchanged_during_review_is_not_mentioned() {
    let project = changed();
    let id = start(&project, &[]);
    let ran = project.review(&id, "fake-findings").exits(0);
    assert!(!ran.out.contains("work tree changed"), "{}", ran.out);
    let summary = project.fire().blocked();
    assert!(!summary.contains("changed while"), "{summary}");
}

#[test]
fn sixteen_at_once_share_one_review_and_one_whole_report() {
    let project = changed();
    let id = start(&project, &[]);
    let children: Vec<Child> = (0..16)
        .map(|_| {
            let mut command = project.command(&["review", &id, "--reviewer", "lint"]);
            command
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    for child in children {
        Ran::of(child.wait_with_output().unwrap())
            .exits(0)
            .says("high=2");
    }
    assert_eq!(project.runs(&id), 1);
    assert!(read(&project, &format!("reviews/review-{id}.md")).contains("Findings: high=2"));
    let reports = std::fs::read_dir(project.root.join("reviews"))
        .unwrap()
        .count();
    assert_eq!(reports, 1);
    let scratch: Vec<_> = std::fs::read_dir(&project.home)
        .unwrap()
        .filter(|entry| {
            entry
                .as_ref()
                .unwrap()
                .file_name()
                .to_string_lossy()
                .starts_with("claudex-")
        })
        .collect();
    assert!(scratch.is_empty(), "{scratch:?}");
}

#[test]
fn a_repository_that_git_cannot_read_stops_a_review_of_changes_and_no_review_of_a_plan() {
    let project = changed();
    std::fs::write(project.root.join(".git/HEAD"), "no head\n").unwrap();
    project.answers(&["start", "review"], 2, "git rev-parse failed: ");
    let id = project.start(&[]);
    project.plan("# Plan\n");
    project.fire().blocked();
    project
        .review(&id, "fake-clean")
        .exits(0)
        .says("no substantive findings");
}

#[test]
fn what_a_patch_hides_is_spelled_out_where_it_is_shown() {
    let project = changed();
    let patch = "--- a/notes.md\n+++ b/notes.md\n@@ -1 +1,2 @@\n notes\n+if (a /*\u{202e} x */) {\u{1b}[8m\n";
    let finding = serde_json::json!({ "severity": "high", "what": "x", "patch": patch });
    let answer = serde_json::json!({ "verdict": "findings", "findings": [finding] }).to_string();
    let file = project.home.join("answer");
    std::fs::write(&file, &answer).unwrap();
    let project = project.configured(format!(
        "[reviewers.mine]\nkind = \"command\"\nprogram = \"/bin/cat\"\narguments = [\"{}\"]\n",
        file.display()
    ));
    let id = start(&project, &[]);
    project
        .review(&id, "mine")
        .exits(0)
        .says("(1 of 1 would apply)");
    let fixes = read(&project, &format!("reviews/proposed-fixes-{id}.md"));
    has(&fixes, "+if (a /*<U+202E> x */) {<U+001B>[8m\n");
    has(&fixes, "This is not the exact patch");
    has(&fixes, &format!("claudex/{id}/findings-round-<N>.json`"));
    assert!(twin(&project, &id, 1).to_string().contains("\u{202e}"));
}
