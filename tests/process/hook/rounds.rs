//! A plan from the first block to the summary. `plan_messages` has the texts.

use crate::support::{Project, begins, has, lacks, tree};

#[test]
fn finished_loop_leaves_its_log_and_stays_silent() {
    let (project, id) = Project::reviewing(&[]);
    project.review(&id, "fake-clean").exits(0);
    project.fire().blocked();
    let signal = project.field(&id, "decision_signal");
    assert_eq!(signal, "no-material-findings");
    assert_eq!(project.changes(&id).last().unwrap(), "accept");
    project.fire().approved();
    for gone in ["-runner.sh", "-prompt.txt", ".lock"] {
        assert!(
            !project.folder().join(format!("{id}{gone}")).exists(),
            "{gone}"
        );
    }
    let log = std::fs::read_to_string(project.folder().join("log")).unwrap();
    has(&log, &format!("{id} finish: summarizing -> done"));
    let before = tree(&project.root);
    assert_eq!(project.fire().approved(), "", "a loop that is over is over");
    assert_eq!(tree(&project.root), before);
}

#[test]
fn mark_done_sets_only_the_signal() {
    let (project, id) = Project::reviewing(&["--rounds", "3"]);
    project.review(&id, "fake-low").exits(0);
    let message =
        format!("Loop {id} marked as done. Stop hook will deliver the summary on next fire.");
    project.answers(&format!("mark-done {id}"), 0, &message);
    assert_eq!(project.field(&id, "phase"), "reviewing");
    let signal = project.field(&id, "decision_signal");
    assert_eq!(signal, "no-material-findings");

    let summary = project.fire().blocked();
    has(&summary, "plan loop complete");
    has(&summary, "high=0 medium=0 low=1");
    let line = "\n\nEnded after 1 of 3 rounds. Not reviewed by: Security and data-integrity, Ops and SRE. \
                To have them review it: `/claudex:more 2`\n";
    has(&summary, line);
    lacks(&summary, "**Note:**");
    assert_eq!(project.field(&id, "phase"), "summarizing");
}

#[test]
fn missing_findings_file_is_said_in_the_table() {
    let (project, id) = Project::reviewing(&["--rounds", "2"]);
    project.review(&id, "fake-findings").exits(0);
    std::fs::remove_file(project.findings(&id, 1)).unwrap();
    project.review(&id, "lint").says("# Round 1 findings");
    project.plan("# Plan, revised\n");
    project.fire().blocked();
    project.review(&id, "fake-low").exits(0);
    project.plan("# Plan, revised again\n");
    let table = "\n\n- Round 1 (Senior-engineer review): no findings file\n\
                 - Round 2 (Security and data-integrity review): high=0 medium=0 low=1\n\n";
    has(&project.fire().blocked(), table);
}

#[test]
fn loop_that_repeats_its_findings_stalls() {
    let (project, id) = Project::reviewing(&["--rounds", "9"]);
    let mut summary = String::new();
    for round in 1..=5 {
        project.review(&id, "fake-findings").exits(0);
        project.plan(format!("# Plan, revised {round} times\n"));
        summary = project.fire().blocked();
    }
    // The persona of round 3 found the same in rounds 4 and 5.
    begins(&summary, "### Claudex plan loop stalled (round 5 of 9)\n");
    has(&summary, "**Findings across rounds:** 3 carried\n");
    assert_eq!(project.field(&id, "decision_signal"), "stalled");
    let file = std::fs::read_to_string(project.findings(&id, 5)).unwrap();
    has(&file, "  - F1, found since round 1\n");
    // The next stall does not end rounds that the user grants in spite of one.
    project.answers(&format!("more {id} --rounds 2"), 0, "round 6 of 7");
    project.review(&id, "fake-findings").exits(0);
    project.plan("# Plan, revised once more\n");
    begins(&project.fire().blocked(), "### Claudex round 7 of 7, ");
}

#[test]
fn last_round_without_review_names_no_findings() {
    let (project, id) = Project::reviewing(&["--rounds", "1"]);
    let reminder = project.fire().blocked();
    has(&reminder, "the next stop ends this last round");
    lacks(&reminder, "the loop waits");
    let summary = project.fire().blocked();
    assert!(!project.findings(&id, 1).exists());
    has(
        &summary,
        "\nThe final round has no review that counts (its findings would be in `",
    );
    lacks(&summary, "\n\n\n");
    has(&summary, "1. Revise manually: edit `PLAN.md`.");
}
