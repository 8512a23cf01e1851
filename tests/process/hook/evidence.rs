//! Valid evidence of a review, and the effects of missing evidence.

use crate::support::{Project, has};

const UNCHANGED: &str = "**Note:** Round 1 (Senior-engineer review) found high=1 medium=1 low=1; the plan is unchanged since, so they are open.";
const CHANGED: &str = "**Note:** PLAN.md changed since it was reviewed.";

#[test]
fn waived_mark_done_hides_no_later_findings() {
    let (project, id) = Project::reviewing(&[]);
    let mut waived = project.command(&format!("mark-done {id}"));
    waived.env("CLAUDEX_EVIDENCE", "optional");
    assert!(waived.output().unwrap().status.success());
    project.review(&id, "fake-findings").exits(0);
    has(&project.fire().blocked(), UNCHANGED);
}

#[test]
fn mark_done_without_review_is_refused() {
    let (project, id) = Project::reviewing(&[]);
    let before = (project.state(&id), project.changes(&id));
    let mark_done = format!("mark-done {id}");
    project.answers(&mark_done, 1, "round 1 was not reviewed yet");
    project.answers(&format!("{mark_done} --rejecting no"), 1, "");
    assert_eq!((project.state(&id), project.changes(&id)), before);
    for typo in ["Optional", "1", "optional-ish"] {
        let mut command = project.command(&mark_done);
        let output = command.env("CLAUDEX_EVIDENCE", typo).output().unwrap();
        assert!(
            !output.status.success(),
            "only the exact word opens the gate"
        );
    }

    // A review counts for the text that the reviewer read.
    project.review(&id, "fake-findings").exits(0);
    project.plan("# Plan, revised\n");
    project.answers(&mark_done, 1, "PLAN.md was changed");
    assert_eq!(project.field(&id, "decision_signal"), "none");
}

#[test]
fn rejected_findings_need_a_reason_for_the_summary() {
    let (project, id) = Project::reviewing(&[]);
    project.review(&id, "fake-findings").exits(0);
    let before = project.state(&id);
    for without in ["", "--rejecting '  '"] {
        project.answers(&format!("mark-done {id} {without}"), 1, "--rejecting");
    }
    assert_eq!(project.state(&id), before);
    project.mark_done(&id, Some("the table is\nread-only; `x` | \"y\""));
    let summary = project.fire().blocked();
    has(&summary, "plan loop complete");
    has(&summary, "rejected: the table is read-only; `x` | \"y\"");

    // Without a finding, a reason for rejecting has no effect.
    let (project, id) = Project::reviewing(&[]);
    project.review(&id, "fake-clean").exits(0);
    project.mark_done(&id, Some("nothing was there"));
    crate::support::lacks(&project.fire().blocked(), "were rejected");
}

#[test]
fn plan_edited_after_its_review_is_admitted() {
    // After a mark as done, and after a clean last round.
    for (rounds, reviewer) in [("3", "fake-low"), ("1", "fake-clean")] {
        let (project, id) = Project::reviewing(&["--rounds", rounds]);
        project.review(&id, reviewer).exits(0);
        if rounds == "3" {
            project.mark_done(&id, None);
        }
        project.plan("# Plan, changed behind the reviewer's back\n");
        has(&project.fire().blocked(), CHANGED);
    }
    // If rounds are left, the next persona reviews it.
    let (project, id) = Project::reviewing(&["--rounds", "2"]);
    project.review(&id, "fake-clean").exits(0);
    project.plan("# Another plan\n");
    has(&project.fire().blocked(), "round 2 of 2");
}

#[test]
fn untouched_plan_is_not_settled_by_clean_round() {
    let (project, id) = Project::reviewing(&["--rounds", "3"]);
    project.review(&id, "fake-findings").exits(0);
    project.fire().blocked();
    assert_eq!(project.field(&id, "round"), "2");

    // A finding of two rounds counts once.
    project.review(&id, "fake-findings").exits(0);
    let mark_done = format!("mark-done {id}");
    project.answers(&mark_done, 1, "are open (high=1 medium=1 low=1)");
    has(&project.fire().blocked(), "round 3 of 3");
    project.review(&id, "fake-clean").exits(0);
    project.answers(&mark_done, 1, "--rejecting");
    let summary = project.fire().blocked();
    has(&summary, "stopped at max rounds");
    has(&summary, UNCHANGED);
}

#[test]
fn optional_evidence_runs_the_seeds_sequences() {
    let begun = || {
        let project = Project::new().with("CLAUDEX_EVIDENCE", "optional");
        let id = project.start(&["--rounds", "2"]);
        project.plan("# Plan\n");
        project.fire().blocked();
        (project, id)
    };
    let unreviewed = "Not reviewed (you made evidence optional): round 1";
    let (project, id) = begun();
    project.mark_done(&id, None);
    assert_eq!(project.field(&id, "phase"), "reviewing");
    let summary = project.fire().blocked();
    has(&summary, "plan loop complete");
    has(&summary, "Findings by round");
    has(&summary, &format!("{unreviewed}."));
    project.fire().approved();
    assert_eq!(project.field(&id, "phase"), "done");

    // Stops without a review reach the last round.
    let (project, id) = begun();
    has(&project.fire().blocked(), "round 2 of 2");
    let summary = project.fire().blocked();
    has(&summary, "stopped at max rounds (round 2 of 2)");
    has(&summary, &format!("{unreviewed}, 2."));
    assert_eq!(project.field(&id, "decision_signal"), "max-reached");
    project.fire().approved();
    assert_eq!(project.field(&id, "phase"), "done");
}
