//! A review of changes: start, rounds, summary and messages.

use std::path::Path;

use serde_json::json;

use super::{answering, changed_project, project, read, start, theirs, write};
use crate::support::{Project, Ran, begins, has, id_of, lacks, tree};

#[test]
fn review_from_start_to_summary_touches_no_file() {
    let project = changed_project();
    let before = theirs(&project);
    let started = project.run("start review").exits(0);
    let id = id_of(&started);
    for part in [
        "Claudex review mode initialized.",
        "Max rounds: 1",
        "Topic: uncommitted changes of main",
        "End your turn",
        &project.runner(&id).display().to_string(),
    ] {
        has(&started.out, part);
    }
    let copy = format!(".claude/claudex/{id}/changes.diff");
    for (field, value) in [
        ("mode", "review"),
        ("phase", "reviewing"),
        ("subject", &copy),
    ] {
        assert_eq!(project.field(&id, field), value);
    }
    project.answers(
        "status",
        0,
        "waits for: its review, or a session that takes it",
    );
    project.fire().blocked();
    let next = format!("run the review:\n    claudex-loop review {id}");
    project.answers("status", 0, &next);

    let runner = project.runner(&id);
    let runner = [runner.to_str().unwrap(), "--reviewer", "lint"];
    let reviewed = Ran::new(project.shell("sh", &runner).output().unwrap()).exits(0);
    for part in [
        "claudex: high=2 medium=0 low=0 (",
        "- `src/a b.js:2`: a breakpoint is left in the code (remove it)",
        "markers of an unfinished merge",
        &format!("claudex: report: reviews/review-{id}.md"),
    ] {
        has(&reviewed.out, part);
    }
    project.answers("status", 0, "next:      read the findings and end the turn");

    let copy = read(&project, &copy);
    begins(
        &copy,
        "# uncommitted changes of main\n# compared with: commit ",
    );
    has(&copy, "+debugger;\n");
    has(&copy, "+<<<<<<< HEAD\n");
    let report = read(&project, &format!("reviews/review-{id}.md"));
    for part in [
        "## Round 1: Senior-engineer review",
        "Reviewer: `lint`. Findings: high=2 medium=0 low=0.",
        "- `src/a b.js:2`: a breakpoint is left in the code (remove it)\n",
        "- `it's \"new\".py:2`: markers of an unfinished merge are in the file",
        "- uncommitted changes of main\n",
    ] {
        has(&report, part);
    }
    let summary = project.fire().blocked();
    begins(&summary, "### Claudex review loop complete ✓\n");
    has(
        &summary,
        "- Round 1 (Senior-engineer review): high=2 medium=0 low=0\n",
    );
    has(&summary, &format!("Report: `reviews/review-{id}.md`"));
    has(&summary, "Reviewed by: lint.");
    for part in ["AskUserQuestion", "PLAN", "plan loop"] {
        lacks(&summary, part);
    }
    project.fire().approved();
    assert_eq!(project.field(&id, "phase"), "done");
    assert_eq!(theirs(&project), before);

    // The files that the review left do not count as changes.
    project.git(&["stash", "--quiet", "--include-untracked"]);
    project.git(&["checkout", "--quiet", "stash@{0}^3", "--", "reviews"]);
    project.answers("start review", 2, "there is nothing to review");
}

#[test]
fn proposed_patch_is_tried_and_never_applied() {
    let patch = "--- a/src/a b.js\n+++ b/src/a b.js\n@@ -1,4 +1,3 @@\n one();\n-debugger;\n two();\n three();\n";
    let finding =
        json!({"severity": "high", "file": "src/a b.js", "line": 2, "what": "x", "patch": patch});
    let project = answering(changed_project(), &finding);
    let before = theirs(&project);
    let id = start(&project, &["--rounds", "2"]);
    let path = format!("reviews/proposed-fixes-{id}.md");
    project.reviews(&id, "mine", 0, &format!("{path} (1 of 1 would apply)"));
    let fixes = read(&project, &path);
    has(&fixes, "1 of 1 apply");
    has(&fixes, "## 1. applies\n\nRound 1: 'src/a b.js:2': x\n");
    has(&fixes, &format!("```diff\n{patch}"));
    assert_eq!(theirs(&project), before);
    project.fire().blocked();

    write(&project, "src/a b.js", "one();\ntwo();\nthree(); // TODO\n");
    project.review(&id, "mine").exits(0);
    has(
        &read(&project, &path),
        "It does not apply: patch failed: src/a b.js:1",
    );
    let summary = project.fire().blocked();
    has(&summary, &format!("`{path}`. None was applied"));
}

#[test]
fn clean_changes_end_the_loop_without_patches() {
    let project = project();
    write(&project, "notes.md", "notes\nand more\n");
    let id = start(&project, &["--rounds", "3"]);
    project.reviews(&id, "lint", 0, "no substantive findings");
    let report = read(&project, &format!("reviews/review-{id}.md"));
    has(&report, "No substantive findings.");
    let fixes = project.root.join(format!("reviews/proposed-fixes-{id}.md"));
    assert!(!fixes.exists());
    let summary = project.fire().blocked();
    begins(&summary, "### Claudex review loop complete");
    has(&summary, "Ended after 1 of 3 rounds");
    lacks(&summary, "proposed-fixes");
}

#[test]
fn refused_start_says_why_and_leaves_nothing() {
    for (project, why) in [
        (
            project(),
            "there is nothing to review: no uncommitted changes of main",
        ),
        (Project::new(), "which has no commit yet"),
        (
            Project::without_git(),
            "is not the work tree of a git repository",
        ),
    ] {
        let before = tree(&project.root);
        assert_eq!(project.run("start review").exits(2).says(why).out, "");
        assert_eq!(tree(&project.root), before);
    }
    let changed = changed_project();
    let before = tree(&changed.root);
    let plan_only = "only applies to plan mode";
    for (line, why) in [
        ("review --interviewed", plan_only),
        ("review --skip-interview", plan_only),
        ("review --plan X.md", plan_only),
        ("review --continue 20261122-005333-0a1b2c", plan_only),
        ("review --base nowhere", "no commit ‘nowhere’"),
        ("plan --base main x", "--base only applies to review mode"),
    ] {
        changed.answers(&format!("start {line}"), 2, why);
    }
    assert_eq!(tree(&changed.root), before);
    // Only one loop at a time, in any mode.
    start(&changed, &[]);
    changed.answers("start plan x", 1, "already active");
    changed.answers("start review", 1, "already active");
}

#[test]
fn topic_rounds_and_base_are_recorded() {
    let project = changed_project();
    let check = |project: &Project, flags: &[&str], expected: [&str; 3]| {
        let id = start(project, flags);
        let fields = ["topic", "base", "max_rounds"].map(|field| project.field(&id, field));
        assert_eq!(fields, expected, "{flags:?}");
        project.run("cancel").exits(0);
    };
    let first = project.git(&["rev-parse", "main"]).trim().to_owned();
    project.git(&["checkout", "--quiet", "-b", "feature-x"]);
    let topic = "changes of feature-x against main";
    check(&project, &[], [topic, "", "1"]);
    check(&project, &["--base", "main"], [topic, &first, "1"]);
    let flags = ["--rounds=2", "it's \"new\"; $(x)", "& more"];
    check(&project, &flags, ["it's \"new\"; $(x) & more", "", "2"]);
    let project = project.with("CLAUDEX_MAX_REVIEW_ROUNDS", "4");
    check(&project, &[], [topic, "", "4"]);
}

#[test]
fn each_round_has_the_next_persona() {
    let project = changed_project();
    let id = start(&project, &["--rounds", "2"]);
    project.review(&id, "lint").exits(0);
    let block = project.fire().blocked();
    begins(
        &block,
        "### Claudex round 2 of 2, Security and data-integrity review\n",
    );
    has(&block, "**Previous round:** high=2 medium=0 low=0");
    has(&block, "Change no file");
    has(&block, "600000 ms");
    lacks(&block, "Changelog");
    let ours = block.find(&format!("claudex-loop mark-done {id}"));
    let seeds = format!("bash ${{CLAUDE_PLUGIN_ROOT}}/scripts/mark-done.sh {id}");
    assert!(
        ours.is_some() && ours < block.find(&seeds),
        "ours works anywhere: {block}"
    );
    project.reviews(&id, "lint", 0, "high=2 medium=0 low=0");
    begins(
        &project.fire().blocked(),
        "### Claudex review loop complete",
    );

    // The user grants a further round, which reviews the current changes.
    let more = project.run(&format!("more {id} --rounds 1")).exits(0).out;
    has(&more, "round 3 of 3 (Ops");
    has(&more, "Run the review of round 3");
    lacks(&more, "revise");
    write(&project, "src/a b.js", "one();\ntwo();\nthree(); // TODO\n");
    project.reviews(&id, "lint", 0, "high=1 medium=0 low=1");
    let report = read(&project, &format!("reviews/review-{id}.md"));
    let headings: Vec<&str> = report
        .lines()
        .filter(|line| line.starts_with("## "))
        .collect();
    let expected = [
        "## Round 1: Senior-engineer review",
        "## Round 2: Security and data-integrity review",
        "## Round 3: Ops and SRE review",
    ];
    assert_eq!(headings, expected);
    begins(
        &project.fire().blocked(),
        "### Claudex review loop complete",
    );
}

#[test]
fn changes_that_are_gone_are_not_reviewed() {
    let project = changed_project();
    let id = start(&project, &[]);
    project.git(&["stash", "--quiet", "--include-untracked"]);
    project.reviews(&id, "lint", 1, "there is nothing to review");
    assert_eq!(project.runs(&id), 0);
    project.git(&["stash", "pop", "--quiet"]);
    project.reviews(&id, "lint", 0, "high=2");
}

#[test]
fn linked_work_tree_is_reviewed_from_a_subfolder() {
    let project = changed_project();
    let linked = project.home.join("linked tree");
    let path = linked.to_str().unwrap();
    project.git(&["worktree", "add", "--quiet", "-b", "side", path]);
    let below = linked.join("below");
    std::fs::create_dir(&below).unwrap();
    std::fs::write(below.join("x.js"), "debugger;\n").unwrap();
    let started = project.run_in(&below, "start review").exits(0);
    let id = id_of(&started.says("Topic: changes of side against main"));
    let review = format!("review {id} --reviewer lint");
    let ran = project.run_in(&below, &review).exits(0);
    ran.says("below/x.js:1: a breakpoint");
    assert!(linked.join(format!("reviews/review-{id}.md")).is_file());
    let stop = project.fire_from(Path::new(&below), json!({"session_id": "s1"}));
    begins(&stop.blocked(), "### Claudex review loop complete");
}

#[test]
fn given_base_is_kept_when_its_branch_moves() {
    let project = project();
    for name in ["one", "two"] {
        project.git(&["checkout", "--quiet", "-b", name]);
        write(&project, name, "x\n");
        project.git(&["add", "-A"]);
        project.git(&["commit", "--quiet", "-m", name]);
    }
    // The files of the stacked branch in the reviewer's last prompt.
    let status_of = |id: &str| {
        let copy = read(&project, &format!(".claude/claudex/{id}/changes.diff"));
        ["one", "two"].map(|file| copy.contains(&format!("+++ b/{file}\n")))
    };
    let usual = start(&project, &[]);
    project.review(&usual, "fake-findings").exits(0);
    assert_eq!(status_of(&usual), [false, true]);
    project.run("cancel").exits(0);

    let id = start(&project, &["--base", "main", "--rounds", "2"]);
    project.git(&["branch", "--quiet", "--force", "main", "two"]);
    for _ in 0..2 {
        project.review(&id, "fake-findings").exits(0);
        assert_eq!(status_of(&id), [true, true]);
        project.fire().blocked();
    }
    project.run("cancel").exits(0);
    let review = "review --changes --reviewer fake-clean --base HEAD~1";
    project.answers(review, 0, "against HEAD~1");
    project.answers("review --base main", 2, "--changes");
}

#[test]
fn loop_without_a_verdict_claims_no_review() {
    let project = changed_project();
    let id = start(&project, &[]);
    project.review(&id, "fake-could-not-run").exits(5);
    project.fire().blocked();
    project.fire().blocked();
    let summary = project.fire().blocked();
    let title = "### Claudex review loop stopped without a verdict (round 1 of 1)\n";
    begins(&summary, title);
    has(&summary, "Round 1 was not reviewed: ");
    has(&summary, "the fake reviewer was told to fail");
    has(&summary, "neither as clean nor as findings");
    for wrong in ["complete", "has reviewed", "findings-round-1", "reviews/"] {
        lacks(&summary, wrong);
    }
    has(&summary, "**Print this summary to the user");

    let project = changed_project();
    start(&project, &[]);
    project.fire().blocked();
    let why = "Round 1 was not reviewed: no review ran to its end.";
    has(&project.fire().blocked(), why);
}
