//! What counts as a review, and what a loop cannot do without one.

use std::io::Write as _;

use claudex_testkit::has;

use crate::support::Project;

#[test]
fn an_edit_after_findings_is_no_answer_that_the_summary_takes_for_granted() {
    let (project, id) = Project::reviewing(&[]);
    project.review(&id, "fake-findings").exits(0);
    project.plan("# Plan\n\nwith one more line\n");
    project.fire().blocked();
    project.review(&id, "fake-clean").exits(0);
    let summary = project.fire().blocked();
    has(&summary, "plan loop complete");
    has(
        &summary,
        "**Note:** Round 1 (Senior-engineer review) found high=1 medium=1 low=1; the plan was revised since",
    );
}

#[test]
fn a_waived_mark_done_hides_no_findings_of_a_later_review() {
    let (project, id) = Project::reviewing(&[]);
    let mut waived = project.command(&["mark-done", &id]);
    waived.env("CLAUDEX_EVIDENCE", "optional");
    assert!(waived.output().unwrap().status.success());
    project.review(&id, "fake-findings").exits(0);
    let summary = project.fire().blocked();
    has(
        &summary,
        "**Note:** Round 1 (Senior-engineer review) found high=1 medium=1 low=1; the plan is unchanged since, so they are open.",
    );
}

#[test]
fn a_clean_round_needs_no_mark_done() {
    let (project, id) = Project::reviewing(&["--rounds", "3"]);
    project.review(&id, "fake-clean").exits(0);
    let summary = project.fire().blocked();
    has(&summary, "plan loop complete");
    assert_eq!(project.changes(&id).last().unwrap(), "accept");
}

#[test]
fn low_findings_alone_can_be_marked_done_without_a_reason() {
    let (project, id) = Project::reviewing(&[]);
    project.review(&id, "fake-low").exits(0);
    project.mark_done(&id, None);
    assert!(project.fire().blocked().contains("high=0 medium=0 low=1"));
}

#[test]
fn mark_done_without_a_review_is_refused_and_changes_nothing() {
    let (project, id) = Project::reviewing(&[]);
    let before = (project.state(&id), project.changes(&id));
    project.answers(&["mark-done", &id], 1, "round 1 was not reviewed yet");
    project
        .run(&["mark-done", &id, "--rejecting", "no time"])
        .exits(1);
    assert_eq!((project.state(&id), project.changes(&id)), before);
}

#[test]
fn mark_done_over_open_findings_needs_a_reason_that_the_summary_shows() {
    let (project, id) = Project::reviewing(&[]);
    project.review(&id, "fake-findings").exits(0);
    let before = project.state(&id);
    for without in [
        &["mark-done", &id][..],
        &["mark-done", &id, "--rejecting", "  "],
    ] {
        project.run(without).exits(1).says("--rejecting");
    }
    assert_eq!(project.state(&id), before);

    project.mark_done(&id, Some("the table is\nread-only; `x` | \"y\""));
    let summary = project.fire().blocked();
    has(&summary, "plan loop complete");
    has(&summary, "rejected: the table is read-only; `x` | \"y\"");
}

/// A review takes four parts of 256 KiB. What is beyond them was seen by nobody, so there is nothing to reject.
#[test]
fn lines_beyond_four_parts_cannot_be_rejected() {
    let (project, id) = Project::reviewing(&[]);
    project.plan("# Plan\n\nMove the queue.\n".repeat(60_000));
    project.review(&id, "fake-clean").exits(0);
    project
        .run(&["mark-done", &id, "--rejecting", "no time"])
        .exits(1)
        .says("to 180000 of PLAN.md were not reviewed");
}

#[test]
fn a_plan_edited_after_mark_done_is_admitted_in_the_summary() {
    let (project, id) = Project::reviewing(&[]);
    project.review(&id, "fake-low").exits(0);
    project.mark_done(&id, None);
    project.plan("# Plan, changed behind the reviewer's back\n");
    let summary = project.fire().blocked();
    has(&summary, "PLAN.md changed since it was reviewed.");
}

#[test]
fn a_revised_plan_cannot_be_marked_done_before_it_is_reviewed() {
    let (project, id) = Project::reviewing(&[]);
    project.review(&id, "fake-findings").exits(0);
    project.plan("# Plan, revised\n");
    project.answers(&["mark-done", &id], 1, "PLAN.md was changed");
    assert_eq!(project.field(&id, "decision_signal"), "none");
}

#[test]
fn an_untouched_plan_is_not_settled_by_the_next_personas_clean_round() {
    let (project, id) = Project::reviewing(&["--rounds", "3"]);
    project.review(&id, "fake-findings").exits(0);
    // However long ago it was: a stop reads no more of a journal than it needs.
    let journal = project.folder().join(&id).join("journal.jsonl");
    let mut journal = std::fs::OpenOptions::new()
        .append(true)
        .open(journal)
        .unwrap();
    let note =
        "{\"at\":\"2026-11-23T12:00:00Z\",\"note\":\"said\",\"data\":{\"what\":\"nothing new\"}}\n";
    journal.write_all(note.repeat(2000).as_bytes()).unwrap();
    project.fire().blocked();
    assert_eq!(
        project.field(&id, "round"),
        "2",
        "the findings were read, nothing was done"
    );

    project.review(&id, "fake-clean").exits(0);
    project
        .run(&["mark-done", &id])
        .exits(1)
        .says("--rejecting");
    let reason = project.fire().blocked();
    assert!(reason.contains("round 3 of 3"), "not complete: {reason}");

    project.review(&id, "fake-clean").exits(0);
    let summary = project.fire().blocked();
    has(&summary, "stopped at max rounds");
}

#[test]
fn a_clean_round_of_a_plan_that_was_edited_meanwhile_goes_on_to_the_next() {
    let (project, id) = Project::reviewing(&["--rounds", "2"]);
    project.review(&id, "fake-clean").exits(0);
    project.plan("# Another plan\n");
    let reason = project.fire().blocked();
    has(&reason, "round 2 of 2");
    assert_eq!(project.field(&id, "round"), "2");
}

#[test]
fn with_optional_evidence_the_seeds_sequences_run_literally_and_the_summary_says_so() {
    let project = Project::new().with("CLAUDEX_EVIDENCE", "optional");
    let id = project.start(&["--rounds", "3"]);
    project.plan("# Plan\n");
    project.fire().blocked();
    project.mark_done(&id, None);
    assert_eq!(project.field(&id, "phase"), "reviewing");
    let summary = project.fire().blocked();
    has(&summary, "plan loop complete");
    has(&summary, "Findings by round");
    has(
        &summary,
        "Not reviewed (CLAUDEX_EVIDENCE=optional): round 1.",
    );
    project.fire().approved();
    assert_eq!(project.field(&id, "phase"), "done");
    project.start(&[]);
}

#[test]
fn with_optional_evidence_bare_stops_reach_max_rounds() {
    let project = Project::new().with("CLAUDEX_EVIDENCE", "optional");
    let id = project.start(&["--rounds", "2"]);
    project.plan("# Plan\n");
    project.fire().blocked();
    assert!(project.fire().blocked().contains("round 2 of 2"));
    let summary = project.fire().blocked();
    has(&summary, "stopped at max rounds (round 2 of 2)");
    has(
        &summary,
        "Not reviewed (CLAUDEX_EVIDENCE=optional): round 1, 2.",
    );
    assert_eq!(project.field(&id, "decision_signal"), "max-reached");
    project.fire().approved();
    assert_eq!(project.field(&id, "phase"), "done");
}

#[test]
fn only_the_exact_word_opens_the_gate() {
    for typo in ["Optional", "yes", "1", "", "optional-ish"] {
        let (project, id) = Project::reviewing(&[]);
        let project = project.with("CLAUDEX_EVIDENCE", typo);
        project.run(&["mark-done", &id]).exits(1);
    }
}
