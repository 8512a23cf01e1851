//! The smoke tests: whole loops, on our own program and on the one that is built outside of the
//! workspace (`tests/reuse/packed_plan_loop.rs`).

use crate::support::{Project, has};

#[test]
fn plan_goes_from_start_to_summary() {
    let (project, id) = Project::reviewing(&["--rounds", "2"]);
    project.review(&id, "fake-findings").exits(0).says("high=1");
    project.plan("# Plan, revised\n");
    has(&project.fire().blocked(), "### Claudex round 2 of 2");
    project.review(&id, "fake-clean").exits(0);
    let summary = project.fire().blocked();
    has(&summary, "### Claudex plan loop complete ✓");
    has(&summary, "- Round 1 (Senior-engineer review): high=1");
    assert_eq!(project.fire().approved(), "");
    assert_eq!(project.field(&id, "phase"), "done");
    project.run("status").exits(0).says(&id).says("done");
}

#[test]
fn typed_slash_command_arrives_byte_for_byte() {
    let project = Project::new();
    let topic = "fix `it`; $(x) --rounds 9\n\"quoted\"";
    let ran = project
        .slash(
            "s1",
            &format!("/claudex:plan --rounds 2 {topic}"),
            "start plan",
        )
        .exits(0);
    let id = crate::support::id_of(&ran);
    assert_eq!(project.field(&id, "topic"), topic);
    assert_eq!(project.field(&id, "max_rounds"), "2");
    project.type_line("s1", &format!("/claudex:cancel {id}"));
    project.answers_in("s1", "cancel --from-prompt", 0, "");
    assert_eq!(project.field(&id, "phase"), "cancelled");
}

#[test]
fn plan_is_run_without_a_client() {
    let project = Project::new();
    project.plan("# Move the queue\n\nSomehow.\n");
    project.answers("run PLAN.md --reviewer lint", 4, "Findings by round");
}
