//! Another Stop hook that blocks, too: the client hands both reasons to the agent, and stops again after each turn that the
//! other holds. `stop_hook_active` says that some hook held the turn; which one, nobody says.

use crate::support::{Project, Stop};
use serde_json::json;

/// A stop of a turn that some Stop hook has kept going.
#[track_caller]
fn held_on(project: &Project) -> Stop {
    project.fire_with(json!({"session_id": "s1", "stop_hook_active": true}))
}

#[test]
fn a_whole_loop_goes_through_turns_that_are_held_on_and_on() {
    let project = Project::new();
    let id = project.start(&["--rounds", "2"]);
    project.plan("# Plan\n");
    held_on(&project).blocked();
    for round in 1..=2 {
        project.review(&id, "fake-findings").exits(0);
        project.plan(format!("# Plan\n\n## Changelog\n\n- round {round}\n"));
        held_on(&project).blocked();
    }
    assert_eq!(project.field(&id, "phase"), "summarizing");
    assert!(held_on(&project).approved().contains("is done"));
    for _ in 0..10 {
        assert_eq!(held_on(&project).approved(), "");
    }
    assert_eq!(
        project.changes(&id),
        ["start", "bind", "begin", "revise", "revise", "finish"],
        "what the other held after the end is not ours"
    );
}

#[test]
fn blocks_of_another_hook_use_up_one_reminder_and_end_no_loop_that_waits() {
    let project = Project::new();
    let id = project.start(&[]);
    held_on(&project).blocked();
    for _ in 0..20 {
        assert!(held_on(&project).approved().contains("waits for PLAN.md"));
    }
    assert_eq!(project.changes(&id), ["start", "bind", "remind"]);
    // What the agent does meanwhile counts.
    project.plan("# Plan\n");
    held_on(&project).blocked();
    assert_eq!(project.field(&id, "phase"), "reviewing");
}

#[test]
fn a_turn_that_was_let_end_after_a_failed_review_is_not_driven_on_by_another_hooks_blocks() {
    // In the last round it would be summed up without a review.
    for rounds in ["1", "3"] {
        let (project, id) = Project::reviewing(&["--rounds", rounds]);
        for _ in 0..2 {
            project.review(&id, "fake-could-not-run").exits(5);
            held_on(&project);
        }
        let before = project.changes(&id);
        assert_eq!(before.last().unwrap(), "note");
        for _ in 0..10 {
            assert_eq!(
                held_on(&project).approved(),
                "",
                "it was said when the turn was let end"
            );
        }
        assert_eq!(project.changes(&id), before);
        let log = std::fs::read_to_string(project.folder().join("log")).unwrap();
        assert!(log.contains("another hook held it"), "{log}");

        // A review that the agent ran all the same is news.
        project.review(&id, "fake-findings").exits(0);
        held_on(&project).blocked();
        assert_ne!(project.changes(&id), before);
    }
}

#[test]
fn the_persons_next_prompt_drives_the_loop_again() {
    let (project, id) = Project::reviewing(&[]);
    for _ in 0..2 {
        project.review(&id, "fake-could-not-run").exits(5);
        project.fire();
    }
    held_on(&project).approved();
    let reason = project
        .fire_with(json!({"session_id": "s1", "stop_hook_active": false}))
        .blocked();
    assert!(reason.contains("is waiting for its review"), "{reason}");
    assert_eq!(project.changes(&id).last().unwrap(), "remind");
}
