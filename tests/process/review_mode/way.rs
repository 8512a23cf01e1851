//! The way of a review of changes: start, rounds, summary, and what is said on it.

use std::path::Path;

use claudex_testkit::has;

use super::{changed, project, read, start, theirs, write};
use crate::support::{Project, Ran, Stop, id_of, tree, wait_for};

#[test]
fn the_whole_way_from_start_to_summary_touches_nothing_of_the_project() {
    let project = changed();
    let before = theirs(&project);
    let started = project
        .run(&["start", "review"])
        .exits(0)
        .says("Claudex review mode initialized.")
        .says("Max rounds: 1")
        .says("Topic: uncommitted changes of main")
        .says("End your turn");
    let id = id_of(&started);
    assert_eq!(project.field(&id, "mode"), "review");
    assert_eq!(project.field(&id, "phase"), "reviewing");
    assert_eq!(
        project.field(&id, "subject"),
        format!(".claude/claudex/{id}/changes.diff")
    );

    let runner = project.folder().join(format!("{id}-runner.sh"));
    has(
        &started.out,
        &format!("{}", runner.display()).replace('\'', r"'\''"),
    );
    let reviewed = Ran::of(
        project
            .shell("sh", &[runner.to_str().unwrap(), "--reviewer", "lint"])
            .output()
            .unwrap(),
    )
    .exits(0)
    .says("claudex: high=2 medium=0 low=0.")
    .says("- `src/a b.js:2`: a breakpoint is left in the code (remove it)")
    .says("markers of an unfinished merge")
    .says(&format!("claudex: report: reviews/review-{id}.md"));
    assert_eq!(reviewed.err, "");

    let copy = read(&project, &format!(".claude/claudex/{id}/changes.diff"));
    assert!(
        copy.starts_with("# uncommitted changes of main\n# compared with: commit "),
        "{copy}"
    );
    assert!(copy.contains("+debugger;\n") && copy.contains("+<<<<<<< HEAD\n"));
    let report = read(&project, &format!("reviews/review-{id}.md"));
    for part in [
        "## Round 1: Senior-engineer review",
        "Reviewer: `lint`. Findings: high=2 medium=0 low=0.",
        "- F2, `src/a b.js:2`: a breakpoint is left in the code (remove it)\n",
        "- F1, `it's \"new\".py:2`: markers of an unfinished merge are in the file",
        "- uncommitted changes of main\n",
    ] {
        assert!(report.contains(part), "{part}\n{report}");
    }
    let summary = project.fire().blocked();
    assert!(
        summary.starts_with("### Claudex review loop complete ✓\n"),
        "{summary}"
    );
    assert!(!summary.contains("AskUserQuestion"), "{summary}");
    for part in [
        "- Round 1 (Senior-engineer review): high=2 medium=0 low=0\n",
        &format!("Report: `reviews/review-{id}.md`"),
        "Reviewed by: lint.",
    ] {
        assert!(summary.contains(part), "{part}\n{summary}");
    }
    assert!(
        !summary.contains("PLAN") && !summary.contains("plan loop"),
        "{summary}"
    );
    project.fire().approved();
    assert_eq!(project.field(&id, "phase"), "done");
    assert_eq!(theirs(&project), before);

    // What the review itself left is no change to review.
    project.git(&["stash", "--quiet", "--include-untracked"]);
    project.git(&["checkout", "--quiet", "stash@{0}^3", "--", "reviews"]);
    project.answers(&["start", "review"], 2, "there is nothing to review");
}

#[test]
fn proposed_patch_is_tried_and_never_applied() {
    let project = changed();
    let patch = "--- a/src/a b.js\n+++ b/src/a b.js\n@@ -1,4 +1,3 @@\n one();\n-debugger;\n two();\n three();\n";
    let finding = serde_json::json!({
        "severity": "high", "file": "src/a b.js", "line": 2, "what": "x", "patch": patch
    });
    let answer = serde_json::json!({ "verdict": "findings", "findings": [finding] }).to_string();
    let file = project.home.join("answer");
    std::fs::write(&file, answer).unwrap();
    let project = project.configured(format!(
        "[reviewers.mine]\nkind = \"command\"\nprogram = \"/bin/cat\"\narguments = [\"{}\"]\n",
        file.display()
    ));
    let before = theirs(&project);
    let id = start(&project, &["--rounds", "2"]);
    let path = format!("reviews/proposed-fixes-{id}.md");
    let reviewed = project.review(&id, "mine").exits(0);
    has(&reviewed.out, &format!("{path} (1 of 1 would apply)"));
    let fixes = read(&project, &path);
    has(&fixes, "1 of 1 apply");
    has(&fixes, "## 1. src/a b.js:2: applies\n");
    has(&fixes, &format!("```diff\n{patch}"));
    assert_eq!(theirs(&project), before);
    project.fire().blocked();

    write(&project, "src/a b.js", "one();\ntwo();\nthree(); // TODO\n");
    project.review(&id, "mine").exits(0);
    let fixes = read(&project, &path);
    has(&fixes, "It does not apply: patch failed: src/a b.js:1");
    let summary = project.fire().blocked();
    has(&summary, &format!("`{path}`. None was applied"));
}

#[test]
fn clean_changes_end_the_loop_and_leave_no_patches() {
    let project = project();
    write(&project, "notes.md", "notes\nand more\n");
    let id = start(&project, &["--rounds", "3"]);
    project
        .review(&id, "lint")
        .exits(0)
        .says("no substantive findings");
    let report = read(&project, &format!("reviews/review-{id}.md"));
    has(&report, "No substantive findings.");
    assert!(
        !project
            .root
            .join(format!("reviews/proposed-fixes-{id}.md"))
            .exists()
    );
    let summary = project.fire().blocked();
    assert!(
        summary.starts_with("### Claudex review loop complete"),
        "{summary}"
    );
    has(&summary, "Ended after 1 of 3 rounds");
    assert!(!summary.contains("proposed-fixes"), "{summary}");
    project.fire().approved();
    assert_eq!(project.field(&id, "phase"), "done");
}

#[test]
fn a_refused_start_says_why_and_leaves_nothing() {
    let clean = project();
    let unborn = Project::new();
    let outside = Project::without_git();
    for (project, why) in [
        (
            &clean,
            "there is nothing to review: no uncommitted changes of main",
        ),
        (&unborn, "which has no commit yet"),
        (&outside, "is not the work tree of a git repository"),
    ] {
        let before = tree(&project.root);
        let ran = project.run(&["start", "review"]).exits(2).says(why);
        assert_eq!(ran.out, "");
        assert_eq!(tree(&project.root), before);
    }
    let changed = changed();
    let before = tree(&changed.root);
    for flag in [
        &["--from-draft"][..],
        &["--interviewed"],
        &["--skip-interview"],
        &["--plan", "X.md"],
        &["--continue", "20261122-005333-0a1b2c"],
    ] {
        changed
            .run(&[&["start", "review"], flag].concat())
            .exits(2)
            .says("only applies to plan mode");
    }
    changed.answers(&["start", "review", "--rounds", "0"], 2, "positive integer");
    assert_eq!(tree(&changed.root), before);
    // One loop at a time, whichever mode.
    let id = start(&changed, &[]);
    changed.answers(&["start", "plan", "x"], 1, "already active");
    changed
        .run(&["start", "review"])
        .exits(1)
        .says("already active");
    changed.run(&["cancel", &id]).exits(0);
}

#[test]
fn topic_and_rounds_are_what_was_asked_for() {
    let project = changed();
    project.git(&["checkout", "--quiet", "-b", "feature-x"]);
    let id = start(&project, &[]);
    assert_eq!(
        project.field(&id, "topic"),
        "changes of feature-x against main"
    );
    project.run(&["cancel", &id]).exits(0);
    let id = start(&project, &["--rounds=2", "it's \"new\"; $(x)", "& more"]);
    assert_eq!(project.field(&id, "topic"), "it's \"new\"; $(x) & more");
    assert_eq!(project.field(&id, "max_rounds"), "2");
    project.run(&["cancel", &id]).exits(0);
    let project = project.with("CLAUDEX_MAX_REVIEW_ROUNDS", "4");
    let id = start(&project, &[]);
    assert_eq!(project.field(&id, "max_rounds"), "4");
}

#[test]
fn each_round_has_the_next_persona() {
    let project = changed();
    let id = start(&project, &["--rounds", "3"]);
    project.review(&id, "lint").exits(0);
    let block = project.fire().blocked();
    assert!(
        block.starts_with("### Claudex round 2 of 3, Security and data-integrity review\n"),
        "{block}"
    );
    has(&block, "**Previous round:** high=2 medium=0 low=0");
    has(&block, "Change no file");
    assert!(!block.contains("Changelog"), "{block}");
    project
        .review(&id, "lint")
        .exits(0)
        .says("high=2 medium=0 low=0");
    let block = project.fire().blocked();
    assert!(
        block.starts_with("### Claudex round 3 of 3, Ops and SRE review\n"),
        "{block}"
    );

    // Somebody went on working: what is reviewed is what is there now.
    write(&project, "src/a b.js", "one();\ntwo();\nthree(); // TODO\n");
    project
        .review(&id, "lint")
        .exits(0)
        .says("high=1 medium=0 low=1");
    let report = read(&project, &format!("reviews/review-{id}.md"));
    let headings: Vec<&str> = report
        .lines()
        .filter(|line| line.starts_with("## "))
        .collect();
    assert_eq!(
        headings,
        [
            "## Round 1: Senior-engineer review",
            "## Round 2: Security and data-integrity review",
            "## Round 3: Ops and SRE review"
        ]
    );
    let summary = project.fire().blocked();
    assert!(
        summary.starts_with("### Claudex review loop complete"),
        "{summary}"
    );
    project.fire().approved();
    assert_eq!(project.field(&id, "phase"), "done");
}

#[test]
fn a_stop_without_a_review_is_reminded_once_and_a_failed_one_is_tried_again() {
    let project = changed();
    let id = start(&project, &["--rounds", "2"]);
    let block = project.fire().blocked();
    assert!(
        block.starts_with("### Claudex round 1 of 2 is waiting for its review"),
        "{block}"
    );
    assert!(!block.contains("PLAN"), "{block}");
    assert!(
        project
            .fire()
            .approved()
            .contains("waits for the review of round 1")
    );
    project.review(&id, "fake-could-not-run").exits(5);
    assert!(
        !project.root.join("reviews").exists(),
        "no verdict, no report"
    );
    let block = project.fire().blocked();
    has(&block, "the reviewer gave no verdict");
    project.review(&id, "fake-findings").exits(0);
    let fired = project.fire().blocked();
    assert!(fired.starts_with("### Claudex round 2 of 2"), "{fired}");
}

#[test]
fn changes_that_are_gone_before_the_review_are_an_answer() {
    let project = changed();
    let id = start(&project, &[]);
    project.git(&["stash", "--quiet", "--include-untracked"]);
    project
        .review(&id, "lint")
        .exits(1)
        .says("there is nothing to review");
    assert_eq!(project.runs(&id), 0);
    project.git(&["stash", "pop", "--quiet"]);
    project.review(&id, "lint").exits(0).says("high=2");
}

#[test]
fn it_works_in_a_linked_work_tree_and_from_a_subfolder() {
    let project = changed();
    let linked = project.home.join("linked tree");
    project.git(&[
        "worktree",
        "add",
        "--quiet",
        "-b",
        "side",
        linked.to_str().unwrap(),
    ]);
    let below = linked.join("below");
    std::fs::create_dir(&below).unwrap();
    std::fs::write(below.join("x.js"), "debugger;\n").unwrap();
    let run = |arguments: &[&str]| {
        let mut command = project.command(arguments);
        command.current_dir(&below);
        Ran::of(command.output().unwrap())
    };
    let started = run(&["start", "review"])
        .exits(0)
        .says("Topic: changes of side against main");
    let id = id_of(&started);
    run(&["review", &id, "--reviewer", "lint"])
        .exits(0)
        .says("below/x.js:1: a breakpoint");
    assert!(linked.join(format!("reviews/review-{id}.md")).is_file());
    let summary = fire_in(&project, &below).blocked();
    assert!(
        summary.starts_with("### Claudex review loop complete"),
        "{summary}"
    );
}

fn fire_in(project: &Project, folder: &Path) -> Stop {
    project.fire_from(folder, serde_json::json!({ "session_id": "s1" }))
}

/// The base of a stacked branch, its files in what the reviewer was shown last, and the loop's field.
fn files(project: &Project, id: &str) -> (bool, bool, String) {
    let copy = read(project, &format!(".claude/claudex/{id}/changes.diff"));
    let has = |file: &str| copy.contains(&format!("+++ b/{file}\n"));
    (has("one"), has("two"), project.field(id, "base"))
}

#[test]
fn given_base_is_remembered_by_the_loop() {
    let project = project();
    let first = read(&project, ".git/refs/heads/main").trim().to_owned();
    for name in ["one", "two"] {
        project.git(&["checkout", "--quiet", "-b", name]);
        write(&project, name, "x\n");
        project.git(&["add", "-A"]);
        project.git(&["commit", "--quiet", "-m", name]);
    }
    let usual = start(&project, &[]);
    project.review(&usual, "fake-findings").exits(0);
    assert_eq!(files(&project, &usual), (false, true, String::new()));
    project.run(&["cancel", &usual]).exits(0);

    let id = start(&project, &["--base", "main", "--rounds", "2"]);
    project.git(&["branch", "--quiet", "--force", "main", "two"]);
    project.review(&id, "fake-findings").exits(0);
    assert_eq!(files(&project, &id), (true, true, first.clone()));
    project.fire().blocked();
    project.review(&id, "fake-findings").exits(0);
    assert_eq!(files(&project, &id), (true, true, first));
    project.run(&["cancel", &id]).exits(0);

    let base = [
        "review",
        "--changes",
        "--reviewer",
        "fake-clean",
        "--base",
        "HEAD~1",
    ];
    project.run(&base).exits(0).says("against HEAD~1");
    let wrong = |arguments: &[&str], why: &str| {
        project.run(arguments).exits(2).says(why);
    };
    wrong(
        &["start", "review", "--base", "nowhere"],
        "no commit ‘nowhere’",
    );
    wrong(
        &["start", "plan", "--base", "main", "x"],
        "--base only applies to review mode",
    );
    wrong(&["review", "--base", "main"], "--changes");
}

#[test]
fn a_person_can_grant_further_rounds() {
    let project = changed();
    let id = start(&project, &[]);
    project.review(&id, "lint").exits(0);
    project.fire().blocked();
    let more = project.run(&["more", &id, "--rounds", "1"]).exits(0);
    has(&more.out, "round 2 of 2 (Security");
    has(&more.out, "Run the review of round 2");
    assert!(!more.out.contains("revise"), "{}", more.out);
    project.review(&id, "lint").exits(0);
    let block = project.fire().blocked();
    assert!(
        block.starts_with("### Claudex review loop complete"),
        "{block}"
    );
}

#[test]
fn status_says_what_a_review_waits_for() {
    let project = changed();
    let id = start(&project, &[]);
    project
        .run(&["status"])
        .exits(0)
        .says("mode:      review")
        .says("waits for: its review, or a session that takes it up");
    project.fire_as("s1").blocked();
    project
        .run(&["status"])
        .exits(0)
        .says(&format!("run the review:\n    claudex-loop review {id}"));
    project.review(&id, "lint").exits(0);
    project
        .run(&["status"])
        .exits(0)
        .says("next:      read the findings and end the turn")
        .says(&format!("subject:   .claude/claudex/{id}/changes.diff"));
    wait_for("the report", || {
        project
            .root
            .join(format!("reviews/review-{id}.md"))
            .exists()
    });
}

#[test]
fn a_loop_that_ends_without_a_verdict_does_not_say_that_it_reviewed_anything() {
    let project = changed();
    let id = start(&project, &[]);
    project.review(&id, "fake-could-not-run").exits(5);
    project.fire().blocked();
    let reminder = project.fire().blocked();
    has(&reminder, "the next stop ends this last round");
    assert!(!reminder.contains("the loop waits"), "{reminder}");
    let summary = project.fire().blocked();
    assert!(
        summary.starts_with("### Claudex review loop stopped without a verdict (round 1 of 1)\n"),
        "{summary}"
    );
    has(&summary, "Round 1 was not reviewed: ");
    has(&summary, "the fake reviewer was told to fail");
    has(&summary, "neither as clean nor as findings");
    for wrong in ["complete", "has reviewed", "findings-round-1", "reviews/"] {
        assert!(!summary.contains(wrong), "{wrong}: {summary}");
    }
    has(&summary, "**Print this summary to the user");
    project.fire().approved();
    assert_eq!(project.field(&id, "phase"), "done");
}

#[test]
fn a_last_round_without_a_review_is_named_though_an_earlier_one_has_its_report() {
    let project = changed();
    let id = start(&project, &["--rounds", "2"]);
    project.review(&id, "lint").exits(0);
    project.fire().blocked();
    project.fire().blocked();
    let summary = project.fire().blocked();
    has(&summary, "Round 2 was not reviewed.");
    has(&summary, "reviews/review-");
}

#[test]
fn a_block_of_review_mode_names_the_line_that_works_before_that_of_the_seeds() {
    let project = changed();
    let id = start(&project, &["--rounds", "2"]);
    project.review(&id, "lint").exits(0);
    let block = project.fire().blocked();
    let ours = block.find(&format!("claudex-loop mark-done {id}"));
    let seeds = block.find(&format!(
        "bash ${{CLAUDE_PLUGIN_ROOT}}/scripts/mark-done.sh {id}"
    ));
    assert!(ours.is_some() && ours < seeds, "{block}");
    assert!(
        block.contains("600000 ms"),
        "or it goes to the background: {block}"
    );
}
