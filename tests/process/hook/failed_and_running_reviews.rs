//! Failed and running reviews.

use serde_json::{Value, json};

use crate::support::{Project, Stop, begins, has};

/// Stops while the client lists this background task.
fn fire_beside(project: &Project, task: &Value) -> Stop {
    project.fire_with(json!({"session_id": "s1", "background_tasks": [task]}))
}

#[test]
fn failed_review_is_retried_noted_then_final() {
    for failure in ["fake-could-not-run", "fake-unreadable"] {
        let (project, id) = Project::reviewing(&[]);
        let fields = || ["failures", "phase"].map(|field| project.field(&id, field));
        project.review(&id, failure).exits(5);
        project.answers(&format!("mark-done {id}"), 1, "gave no verdict");
        assert!(!project.findings(&id, 1).exists());
        let reason = project.fire().blocked();
        begins(
            &reason,
            "### Claudex round 1 of 3: the reviewer gave no verdict\n",
        );
        has(&reason, &format!("{id}-runner.sh"));
        assert_eq!(fields(), ["1", "reviewing"]);

        project.review(&id, failure).exits(5);
        let note = project.fire().approved();
        for part in [&id, "gave no verdict", "resume"] {
            has(&note, part);
        }
        assert_eq!(fields(), ["2", "reviewing"]);

        project.review(&id, failure).exits(5);
        let note = project.fire().approved();
        for part in [&id, "errored", "The last review gave no verdict: "] {
            has(&note, part);
        }
        assert_eq!(fields(), ["3", "errored"]);
        assert!(!project.runner(&id).exists());
        project.start(&[]);
    }
}

#[test]
fn failed_run_is_counted_once_and_then_reset() {
    let (project, id) = Project::reviewing(&[]);
    project.review(&id, "fake-could-not-run").exits(5);
    project.fire().blocked();
    project.fire().blocked();
    project.fire().approved();
    assert_eq!(project.field(&id, "failures"), "1");
    let changes = project.changes(&id);
    assert_eq!(changes.iter().filter(|what| *what == "retry").count(), 1);
    project.review(&id, "fake-findings").exits(0);
    project.plan("# Plan, revised\n");
    has(&project.fire().blocked(), "round 2 of 3");
    assert_eq!(project.field(&id, "failures"), "0", "an advance resets it");
}

#[test]
fn stop_during_review_says_how_to_follow_it() {
    let (project, id) = Project::reviewing(&[]);
    let review = project.background_review(&id, "--reviewer fake-hang");
    // The client itself watches the runner.
    let before = project.state(&id);
    for command in [
        format!("bash '/x y/{id}-runner.sh'"),
        format!("claudex-loop review {id}"),
    ] {
        let task = json!({"id": "b1", "status": "running", "command": command});
        fire_beside(&project, &task).approved();
    }
    assert_eq!(project.state(&id), before, "no reminder was used up");
    let other = json!({"id": "b2", "type": "shell", "status": "running", "command": "npm run dev"});
    let reason = fire_beside(&project, &other).blocked();
    begins(
        &reason,
        "### Claudex round 1 of 3: the review is still running\n",
    );
    has(&reason, &format!("{id}-runner.sh"));
    has(&project.fire().approved(), "waits for the review");
    project.answers(&format!("mark-done {id}"), 1, "still running");
    drop(review);
}

#[test]
fn listed_runner_that_has_ended_holds_nothing_up() {
    let (project, id) = Project::reviewing(&[]);
    project.review(&id, "fake-clean").exits(0);
    let task = json!({"command": format!("bash {id}-runner.sh")});
    fire_beside(&project, &task).blocked();
    assert_eq!(project.field(&id, "phase"), "summarizing");
}

#[test]
fn background_helper_holds_the_loop_where_it_is() {
    for is_drafted in [false, true] {
        let project = Project::new();
        let id = project.start(&[]);
        if is_drafted {
            project.plan("# Plan\n");
            project.fire().blocked();
            project.review(&id, "fake-findings").exits(0);
        } else {
            fire_beside(&project, &json!({"type": "subagent"})).approved();
        }
        let changes = project.changes(&id);
        let helper = |status: &str| json!({"id": "a9", "type": "subagent", "status": status});
        fire_beside(&project, &helper("running")).approved();
        assert_eq!(
            project.changes(&id),
            changes,
            "no round and no reminder was used up"
        );
        fire_beside(&project, &helper("completed")).blocked();
        assert_eq!(project.changes(&id).len(), changes.len() + 1);
    }
}

#[test]
fn fourth_stop_for_the_same_task_goes_on() {
    let (project, id) = Project::reviewing(&[]);
    project.review(&id, "fake-findings").exits(0);
    let stop = |task: &str| {
        let task = json!({"id": task, "type": "workflow", "status": "running", "name": "audit"});
        fire_beside(&project, &task)
    };
    stop("w1").approved();
    for _ in 0..3 {
        stop("w2").approved();
    }
    let ended = stop("w2");
    let note = format!(
        "claudex: three stops have waited for the same background task, so loop {id} continues while that runs"
    );
    assert_eq!(ended.note, Some(note));
    begins(&ended.blocked(), "### Claudex round 2 of 3");
}
