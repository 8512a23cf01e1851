//! Another Stop hook that also blocks. The client gives both reasons to the agent, and stops again
//! after each turn that the other hook kept going. `stop_hook_active` does not name the hook.

use serde_json::json;

use crate::support::{Project, Stop, has};

/// Stops in a turn that some Stop hook has kept going.
#[track_caller]
fn held_on(project: &Project) -> Stop {
    project.fire_with(json!({"session_id": "s1", "stop_hook_active": true}))
}

#[test]
fn loop_goes_through_turns_held_on() {
    let project = Project::new();
    let id = project.start(&["--rounds", "2"]);
    // The other hook's blocks use up one reminder, and end no waiting loop.
    held_on(&project).blocked();
    for _ in 0..20 {
        has(
            &held_on(&project).approved(),
            "waits for the agent, to write PLAN.md",
        );
    }
    project.plan("# Plan\n");
    held_on(&project).blocked();
    for round in 1..=2 {
        project.review(&id, "fake-findings").exits(0);
        project.plan(format!("# Plan\n\n## Changelog\n\n- round {round}\n"));
        held_on(&project).blocked();
    }
    assert_eq!(project.field(&id, "phase"), "summarizing");
    has(&held_on(&project).approved(), "is done");
    for _ in 0..10 {
        assert_eq!(held_on(&project).approved(), "");
    }
    // A block of the other hook after the end is not ours.
    let changes = project.changes(&id).join(" ");
    assert_eq!(changes, "start bind remind begin revise revise finish");
}

#[test]
fn failed_review_is_not_driven_by_other_hooks() {
    // In the last round, another stop would begin the summary without a review.
    for rounds in ["1", "3"] {
        let (project, id) = Project::reviewing(&["--rounds", rounds]);
        for _ in 0..2 {
            project.review(&id, "fake-could-not-run").exits(5);
            held_on(&project);
        }
        let before = project.changes(&id);
        assert_eq!(before.last().unwrap(), "note");
        for _ in 0..10 {
            let note = held_on(&project).approved();
            assert_eq!(note, "", "it was said when the turn was let end");
        }
        assert_eq!(project.changes(&id), before);
        let log = std::fs::read_to_string(project.folder().join("log")).unwrap();
        has(&log, "another hook held it");

        // A review that the agent runs anyway counts.
        project.review(&id, "fake-findings").exits(0);
        held_on(&project).blocked();
        assert_ne!(project.changes(&id), before);
    }
}

#[test]
fn next_prompt_drives_the_loop_again() {
    let (project, id) = Project::reviewing(&[]);
    for _ in 0..2 {
        project.review(&id, "fake-could-not-run").exits(5);
        project.fire();
    }
    held_on(&project).approved();
    let next = project.fire_with(json!({"session_id": "s1", "stop_hook_active": false}));
    has(&next.blocked(), "is waiting for its review");
    assert_eq!(project.changes(&id).last().unwrap(), "remind");
}
