//! When drafting ends, and how often an agent is reminded.

use super::assert_has_mark_done_lines;
use crate::support::Project;
use serde_json::json;
use std::time::{Duration, SystemTime};

#[test]
fn drafting_goes_on_while_the_old_plan_is_untouched() {
    let project = Project::new();
    project.plan("# The old plan\n");
    crate::support::age(&project.root.join("PLAN.md"), Duration::from_secs(60));
    let id = id_with_note(&project);
    let reason = project.fire().blocked();
    assert!(reason.contains("waiting for `PLAN.md`"), "{reason}");
    assert_eq!(project.field(&id, "phase"), "drafting");
}

fn id_with_note(project: &Project) -> String {
    let ran = project
        .run(&["start", "plan", "topic"])
        .exits(0)
        .says("existing PLAN.md");
    crate::support::id_of(&ran)
}

#[test]
fn drafting_ends_with_a_plan_of_other_content() {
    let project = Project::new();
    project.plan("# The old plan\n");
    let id = id_with_note(&project);
    project.plan("# A new plan\n");
    // As a checkout or an editor may leave it: older than the loop.
    crate::support::age(&project.root.join("PLAN.md"), Duration::from_secs(3600));
    project.fire().blocked();
    assert_eq!(project.field(&id, "phase"), "reviewing");
}

#[test]
fn drafting_ends_with_the_old_plan_saved_once_more() {
    let project = Project::new();
    project.plan("# The old plan\n");
    let id = id_with_note(&project);
    let file = std::fs::File::options()
        .append(true)
        .open(project.root.join("PLAN.md"))
        .unwrap();
    file.set_modified(SystemTime::now() + Duration::from_secs(5))
        .unwrap();
    project.fire().blocked();
    assert_eq!(project.field(&id, "phase"), "reviewing");
}

#[test]
fn drafting_ends_at_once_from_a_draft() {
    let project = Project::new();
    project.plan("# The draft\n");
    crate::support::age(&project.root.join("PLAN.md"), Duration::from_secs(3600));
    let id = project.start(&["--from-draft"]);
    project.fire().blocked();
    assert_eq!(project.field(&id, "phase"), "reviewing");
    assert_eq!(project.field(&id, "from_draft"), "true");
}

#[test]
fn an_empty_file_is_no_plan() {
    for empty in ["", "\n \t\r\n"] {
        let project = Project::new();
        let id = project.start(&[]);
        project.plan(empty);
        project.fire().blocked();
        assert_eq!(project.field(&id, "phase"), "drafting");
    }
}

#[test]
fn a_reminder_comes_once_whichever_turn_it_is() {
    for (first, second) in [(false, true), (true, false), (false, false), (true, true)] {
        let project = Project::new();
        let id = project.start(&[]);
        let stop = |active: bool| {
            project.fire_with(json!({"session_id": "s1", "stop_hook_active": active}))
        };
        stop(first).blocked();
        assert_eq!(project.field(&id, "reminders"), "1");
        let line = stop(second).approved();
        assert!(
            line.contains(&id)
                && line.contains("PLAN.md")
                && line.contains(&format!("claudex-loop resume {id}"))
                && line.contains(&format!("claudex-loop cancel {id}")),
            "what the loop waits for, and the ways on: {line}"
        );
    }
}

#[test]
fn a_round_without_a_review_is_reminded_of_once_and_then_waits() {
    let (project, id) = Project::reviewing(&["--rounds", "2"]);
    let stop = project.fire();
    let note = format!("claudex: reminded the agent: loop {id} waits for the review of round 1");
    assert_eq!(stop.note, Some(note));
    let reason = stop.reminded();
    assert!(
        reason.starts_with("### Claudex round 1 of 2 is waiting for its review\n"),
        "{reason}"
    );
    assert_has_mark_done_lines(&reason, &id);
    let before = project.state(&id);
    for _ in 0..3 {
        let line = project.fire().approved();
        assert!(
            line.contains("waits for the review of round 1 of 2"),
            "{line}"
        );
    }
    assert_eq!(project.state(&id), before, "bare stops advance nothing");
}

#[test]
fn an_edited_plan_does_not_buy_another_reminder_and_an_advance_does() {
    let (project, id) = Project::reviewing(&["--rounds", "2"]);
    project.fire().blocked();
    project.plan("# Plan, edited without a review\n");
    project.fire().approved();
    project.review(&id, "fake-findings").exits(0);
    project.plan("# Plan, revised\n");
    project.fire().blocked();
    assert_eq!(project.field(&id, "round"), "2");
    assert_eq!(project.field(&id, "reminders"), "0");
}

#[test]
fn a_loop_that_was_resumed_is_reminded_once_more() {
    let project = Project::new();
    let id = project.start(&[]);
    project.fire().blocked();
    project.fire().approved();
    project.run(&["resume", &id]).exits(0);
    project.fire().blocked();
    project.fire().approved();
}

#[test]
fn a_plan_is_asked_to_be_saved_once_more_only_where_there_is_one() {
    let once_more = "save it once more";
    let project = Project::new();
    project.start(&[]);
    let reason = project.fire().blocked();
    assert!(!reason.contains(once_more), "there is no plan: {reason}");

    let project = Project::new();
    project.plan("# An old plan\n");
    project.start(&[]);
    let reason = project.fire().blocked();
    assert!(reason.contains(once_more), "{reason}");
}
