//! Shell helpers that bypass the machine.

use crate::support::Project;

/// Returns the quoted path of the state file for [`Line`](crate::support::Line).
fn state_path_argument(project: &Project, id: &str) -> String {
    format!("{:?}", project.state_path(id))
}

#[test]
fn helper_sets_no_field_of_the_machine() {
    let (project, id) = Project::reviewing(&[]);
    let path = state_path_argument(&project, &id);
    let before = project.state(&id);
    for field in [
        "phase",
        "round",
        "max_rounds",
        "decision_signal",
        "reminders",
        "failures",
        "max_failures",
        "subject",
        "subject_before",
        "revision",
        "machine",
        "graph_hash",
        "review_id",
        "repo_root",
        "session_id",
    ] {
        project.answers(&format!("state set {path} {field} 9"), 1, field);
        assert_eq!(project.state(&id), before, "{field}");
    }
    project
        .run_with_stdin(&format!("state write {path}"), b"phase: done\n")
        .exits(1);
    assert_eq!(project.state(&id), before);
    // The rest is journaled, and is no edit by hand.
    project
        .run(&format!("state set {path} topic another"))
        .exits(0);
    assert_eq!(project.field(&id, "topic"), "another");
    assert_eq!(project.changes(&id).last().unwrap(), "set-field");
    project.fire().blocked();
    assert_eq!(project.replaced(&id), []);

    // With optional evidence it sets the fields that the seeds' scripts set, but never the phase.
    let project = project.with("CLAUDEX_EVIDENCE", "optional");
    project
        .run(&format!("state set {path} phase done"))
        .exits(1);
    let signal = format!("state set {path} decision_signal no-material-findings");
    project.run(&signal).exits(0);
    assert!(project.fire().blocked().contains("plan loop complete"));
}

#[test]
fn helper_moves_a_loop_along_free_edges_only() {
    let (project, id) = Project::reviewing(&[]);
    let path = state_path_argument(&project, &id);
    let before = (project.state(&id), project.changes(&id));
    for way in [
        "reviewing done",
        "reviewing drafting",
        "reviewing summarizing",
        "reviewing errored",
        "reviewing nonsense",
        "drafting reviewing",
        "drafting cancelled",
        "'' ''",
    ] {
        project.run(&format!("state move {path} {way}")).exits(1);
        assert_eq!((project.state(&id), project.changes(&id)), before, "{way}");
    }
    project
        .run(&format!("state move {path} reviewing cancelled"))
        .exits(0);
    assert_eq!(project.field(&id, "phase"), "cancelled");
    assert_eq!(project.changes(&id).last().unwrap(), "cancel");
}
