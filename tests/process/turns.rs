//! Turns that do not change the loop: it is paused, or belongs to another session.

use crate::support::{Project, has, lacks};

#[test]
fn paused_loop_is_driven_by_no_stop() {
    let (project, id) = Project::reviewing(&[]);
    project.review(&id, "fake-findings").exits(0);
    project.run("pause").exits(0).says("is paused");
    let before = project.changes(&id);
    for _ in 0..2 {
        assert_eq!(
            project.fire().approved(),
            format!(
                "claudex: loop {id} is paused. To continue it:\n    claudex-loop resume {id} (in Claude Code: /claudex:resume {id})"
            )
        );
    }
    assert_eq!(project.changes(&id), before);
    let status = project.run("status").exits(0);
    assert!(status.out.contains("the user, who paused it"), "{status:?}");

    project.run("resume").exits(0).says("continues in phase");
    let reason = project.fire().blocked();
    assert!(reason.starts_with("### Claudex round 2 of 3"), "{reason}");
}

#[test]
fn status_in_another_session_names_adopt() {
    let (project, id) = Project::reviewing(&[]);
    let status = project.run_in_session("s1", "status").exits(0);
    assert!(status.out.contains("claudex-loop review"), "{status:?}");
    let other = project.run_in_session("s2", "status").exits(0);
    has(
        &other.out,
        "another session has this loop; to take it over into this one:",
    );
    has(&other.out, &format!("/claudex:adopt {id}"));
    lacks(&other.out, "run the review");
}
