//! The end of drafting, and the limit of reminders.

use std::time::{Duration, SystemTime};

use serde_json::json;

use crate::support::{Project, age, begins, has, lacks};

/// An edit of the plan after the start of the loop.
type Edit = fn(&Project);

#[test]
fn drafting_ends_with_a_plan_that_was_written() {
    let plan = |project: &Project| project.root.join("PLAN.md");
    let saved_again: Edit = |project| {
        let file = std::fs::File::options()
            .append(true)
            .open(project.root.join("PLAN.md"));
        file.unwrap()
            .set_modified(SystemTime::now() + Duration::from_secs(5))
            .unwrap();
    };
    // A checkout or an editor may leave a file older than the loop.
    let other_text: Edit = |project| {
        project.plan("# A new plan\n");
        age(&project.root.join("PLAN.md"), Duration::from_hours(1));
    };
    let cases: [(&str, &[&str], Edit, &str); 6] = [
        ("# Old\n", &[], |_| {}, "drafting"),
        ("# Old\n", &[], other_text, "reviewing"),
        ("# Old\n", &[], saved_again, "reviewing"),
        ("# Draft\n", &["--from-draft"], |_| {}, "reviewing"),
        ("", &[], |project| project.plan(""), "drafting"),
        ("", &[], |project| project.plan("\n \t\r\n"), "drafting"),
    ];
    for (at, (before, flags, edit, phase)) in cases.into_iter().enumerate() {
        let project = Project::new();
        if !before.is_empty() {
            project.plan(before);
            age(&plan(&project), Duration::from_mins(1));
        }
        let id = project.start(flags);
        edit(&project);
        let reason = project.fire().blocked();
        assert_eq!(project.field(&id, "phase"), phase, "case {at}: {reason}");
        let once_more = reason.contains("save it once more");
        let text = std::fs::read_to_string(plan(&project)).unwrap_or_default();
        let has_text = !text.trim().is_empty();
        assert_eq!(once_more, phase == "drafting" && has_text, "{reason}");
    }
}

#[test]
fn reminder_comes_once_whichever_turn_it_is() {
    for (first, second) in [(false, true), (true, false), (false, false), (true, true)] {
        let project = Project::new();
        let id = project.start(&[]);
        let stop = |is_active: bool| {
            project.fire_with(json!({"session_id": "s1", "stop_hook_active": is_active}))
        };
        lacks(&stop(first).blocked(), "save it once more");
        let line = stop(second).approved();
        for part in [
            "PLAN.md",
            "claudex-loop resume ID",
            "claudex-loop cancel ID",
        ] {
            has(&line, &part.replace("ID", &id));
        }
        // The user's `resume` adds one.
        project.run(&format!("resume {id}")).exits(0);
        project.fire().blocked();
        project.fire().approved();
    }
}

#[test]
fn emptied_plan_is_not_reviewed() {
    let (project, id) = Project::reviewing(&[]);
    project.plan(" \n");
    project.reviews(&id, "fake-clean", 1, "PLAN.md is empty");
    has(
        &project.fire().blocked(),
        "First: PLAN.md is empty; write it",
    );
    project.plan("# Plan\n");
    project.review(&id, "fake-clean").exits(0);
}

#[test]
fn unreviewed_round_is_reminded_of_once() {
    let (project, id) = Project::reviewing(&["--rounds", "2"]);
    let stop = project.fire();
    let note = format!("claudex: reminded the agent: loop {id} waits for the review of round 1");
    assert_eq!(stop.note, Some(note));
    begins(
        &stop.reminded(),
        "### Claudex round 1 of 2 is waiting for its review\n",
    );
    let before = project.state(&id);
    for _ in 0..3 {
        let line = project.fire().approved();
        has(&line, "waits for the review of round 1.");
        lacks(&line, "mark-done");
        // An edit without a review causes no further block.
        project.plan("# Plan, edited without a review\n");
    }
    assert_eq!(project.state(&id), before, "bare stops advance nothing");
    project.review(&id, "fake-findings").exits(0);
    project.plan("# Plan, revised\n");
    project.fire().blocked();
    assert_eq!(
        ["round", "reminders"].map(|field| project.field(&id, field)),
        ["2", "0"]
    );
}
