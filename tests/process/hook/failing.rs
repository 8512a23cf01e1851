//! Reviews that fail, and reviews that are still running.

use crate::support::{Project, feed};
use serde_json::{Value, json};

#[test]
fn a_reviewer_that_fails_is_retried_once_then_noted_then_ends_the_loop() {
    for (failure, exit) in [("fake-could-not-run", 5), ("fake-unreadable", 5)] {
        let (project, id) = Project::reviewing(&[]);
        project.review(&id, failure).exits(exit);
        let reason = project.fire().blocked();
        assert!(
            reason.starts_with("### Claudex round 1 of 3: the reviewer gave no verdict\n"),
            "{reason}"
        );
        assert!(reason.contains(&format!("{id}-runner.sh")), "{reason}");
        assert_eq!(project.field(&id, "failures"), "1");

        project.review(&id, failure).exits(exit);
        let note = project.fire().approved();
        assert!(
            note.contains(&id) && note.contains("gave no verdict") && note.contains("resume"),
            "the turn ends, and says why: {note}"
        );
        assert_eq!(project.field(&id, "failures"), "2");
        assert_eq!(project.field(&id, "phase"), "reviewing");

        project.review(&id, failure).exits(exit);
        let note = project.fire().approved();
        assert!(note.contains("errored") && note.contains(&id), "{note}");
        assert_eq!(project.field(&id, "phase"), "errored");
        assert_eq!(project.field(&id, "failures"), "3");
        assert!(!project.folder().join(format!("{id}-runner.sh")).exists());
        project.start(&[]);
    }
}

#[test]
fn a_failed_run_is_counted_once() {
    let (project, id) = Project::reviewing(&[]);
    project.review(&id, "fake-could-not-run").exits(5);
    project.fire().blocked();
    project.fire().blocked();
    project.fire().approved();
    project.fire().approved();
    assert_eq!(
        project.field(&id, "failures"),
        "1",
        "further stops count no failure"
    );
    assert_eq!(
        project
            .changes(&id)
            .iter()
            .filter(|what| *what == "retry")
            .count(),
        1
    );
}

#[test]
fn a_failure_is_neither_clean_nor_findings() {
    let (project, id) = Project::reviewing(&[]);
    project.review(&id, "fake-unreadable").exits(5);
    project
        .run(&["mark-done", &id])
        .exits(1)
        .says("gave no verdict");
    assert!(!project.findings(&id, 1).exists());
    project.fire().blocked();
    assert_eq!(project.field(&id, "round"), "1");
}

#[test]
fn a_review_that_works_after_a_failure_counts() {
    let (project, id) = Project::reviewing(&[]);
    project.review(&id, "fake-could-not-run").exits(5);
    project.fire().blocked();
    project.review(&id, "fake-findings").exits(0);
    project.plan("# Plan, revised\n");
    let reason = project.fire().blocked();
    assert!(reason.contains("round 2 of 3"), "{reason}");
    assert_eq!(
        project.field(&id, "failures"),
        "0",
        "an advance resets the counter"
    );
}

#[test]
fn a_stop_while_the_review_runs_says_once_how_to_follow_it() {
    let (project, id) = Project::reviewing(&[]);
    let review = project.background_review(&id, &["--reviewer", "fake-hang"]);
    let reason = project.fire().blocked();
    assert!(
        reason.starts_with("### Claudex round 1 of 3: the review is still running\n"),
        "{reason}"
    );
    assert!(reason.contains(&format!("{id}-runner.sh")), "{reason}");
    assert!(project.fire().approved().contains("waits for the review"));
    project
        .run(&["mark-done", &id])
        .exits(1)
        .says("still running");
    drop(review);
}

#[test]
fn a_stop_is_approved_while_the_client_itself_watches_the_runner() {
    let (project, id) = Project::reviewing(&[]);
    let review = project.background_review(&id, &["--reviewer", "fake-hang"]);
    let before = project.state(&id);
    for command in [
        format!("bash '/somewhere else/{id}-runner.sh'"),
        format!("claudex-loop review {id}"),
    ] {
        let task = json!({"id": "b1", "status": "running", "command": command});
        project
            .fire_with(json!({"session_id": "s1", "background_tasks": [task]}))
            .approved();
    }
    assert_eq!(project.state(&id), before, "no reminder was used up");

    let other = json!({"id": "b2", "type": "shell", "status": "running", "command": "npm run dev"});
    project
        .fire_with(json!({"session_id": "s1", "background_tasks": [other]}))
        .blocked();
    drop(review);
}

#[test]
fn a_plan_in_the_hands_of_a_background_helper_is_not_driven() {
    for drafted in [false, true] {
        let project = Project::new();
        let id = project.start(&[]);
        if drafted {
            project.plan("# Plan\n");
            project.fire().blocked();
            project.review(&id, "fake-findings").exits(0);
        } else {
            project
                .fire_with(json!({"session_id": "s1", "background_tasks": [{"type": "subagent"}]}))
                .approved();
        }
        let changes = project.changes(&id);
        let helper = json!({"id": "a9", "type": "subagent", "status": "running", "description": "revises PLAN.md"});
        project
            .fire_with(json!({"session_id": "s1", "background_tasks": [helper]}))
            .approved();
        assert_eq!(
            project.changes(&id),
            changes,
            "no round and no reminder was used up"
        );
        let done = json!({"id": "a9", "type": "subagent", "status": "completed"});
        project
            .fire_with(json!({"session_id": "s1", "background_tasks": [done]}))
            .blocked();
        assert_eq!(project.changes(&id).len(), changes.len() + 1);
    }
}

#[test]
fn fourth_stop_for_the_same_task_goes_on_and_says_so() {
    let (project, id) = Project::reviewing(&[]);
    project.review(&id, "fake-findings").exits(0);
    let task =
        |id: &str| json!({"id": id, "type": "workflow", "status": "running", "name": "audit"});
    let stop =
        |task: &Value| project.fire_with(json!({"session_id": "s1", "background_tasks": [task]}));
    stop(&task("w1")).approved();
    for _ in 0..3 {
        stop(&task("w2")).approved();
    }
    let changes = project.changes(&id);
    let ended = stop(&task("w2"));
    assert_eq!(
        ended.note,
        Some(format!(
            "claudex: three stops have waited for the same background task, so loop {id} goes on while that runs"
        ))
    );
    assert!(ended.blocked().starts_with("### Claudex round 2 of 3"));
    assert_eq!(project.changes(&id).len(), changes.len() + 1);
}

#[test]
fn a_stop_needs_no_other_program() {
    let (project, id) = Project::reviewing(&[]);
    project.review(&id, "fake-findings").exits(0);
    let mut stop = project.command(&["hook", "stop"]);
    stop.env("PATH", "/nowhere");
    let ran = feed(stop, br#"{"session_id":"s1"}"#).exits(0);
    assert!(ran.out.contains("### Claudex round 2 of 3"), "{}", ran.out);
}

#[test]
fn a_reason_for_rejecting_nothing_is_no_admission() {
    let (project, id) = Project::reviewing(&[]);
    project.review(&id, "fake-clean").exits(0);
    project.mark_done(&id, Some("nothing was there"));
    let summary = project.fire().blocked();
    assert!(summary.contains("plan loop complete"), "{summary}");
    assert!(!summary.contains("were rejected"), "{summary}");
}

#[test]
fn a_listed_runner_that_does_not_run_any_more_holds_nothing_up() {
    let (project, id) = Project::reviewing(&[]);
    project.review(&id, "fake-clean").exits(0);
    let task = json!({"command": format!("bash {id}-runner.sh")});
    project
        .fire_with(json!({"session_id": "s1", "background_tasks": [task]}))
        .blocked();
    assert_eq!(project.field(&id, "phase"), "summarizing");
}
