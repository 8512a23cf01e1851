//! Shell helpers that would go past the machine.

use crate::support::Project;

#[test]
fn a_field_that_the_machine_owns_is_not_set_by_a_helper() {
    let (project, id) = Project::reviewing(&[]);
    let path = project.state_path(&id);
    let path = path.to_str().unwrap();
    let before = project.state(&id);
    for (field, value) in [
        ("phase", "done"),
        ("round", "2"),
        ("max_rounds", "9"),
        ("decision_signal", "no-material-findings"),
        ("reminders", "0"),
        ("failures", "0"),
        ("max_failures", "9"),
        ("subject", "another.md"),
        ("subject_before", "0"),
        ("revision", "1"),
        ("machine", "other"),
        ("graph_hash", "0"),
        ("review_id", "20261122-010203-0a1b2c"),
        ("repo_root", "/"),
        ("session_id", "s2"),
    ] {
        project.answers(&["state", "set", path, field, value], 1, field);
        assert_eq!(project.state(&id), before, "{field}");
    }
    project
        .run(&["state", "set", path, "topic", "another"])
        .exits(0);
    assert_eq!(project.field(&id, "topic"), "another");
    assert_eq!(
        project.changes(&id).last().unwrap(),
        "set-field",
        "the rest is journaled"
    );
    assert_eq!(project.replaced(&id), []);
    project.fire().blocked();
    assert_eq!(project.replaced(&id), [], "and it is no edit by hand");
}

#[test]
fn with_optional_evidence_a_helper_may_set_what_the_seeds_scripts_set_but_never_the_phase() {
    let (project, id) = Project::reviewing(&[]);
    let path = project.state_path(&id);
    let path = path.to_str().unwrap();
    let project = project.with("CLAUDEX_EVIDENCE", "optional");
    project
        .run(&["state", "set", path, "phase", "done"])
        .exits(1);
    project
        .run(&[
            "state",
            "set",
            path,
            "decision_signal",
            "no-material-findings",
        ])
        .exits(0);
    assert!(project.fire().blocked().contains("plan loop complete"));
}

#[test]
fn a_helper_moves_a_loop_along_declared_edges_that_need_no_evidence() {
    let (project, id) = Project::reviewing(&[]);
    let path = project.state_path(&id);
    let path = path.to_str().unwrap();
    let before = (project.state(&id), project.changes(&id));
    for (from, to) in [
        ("reviewing", "done"),
        ("reviewing", "drafting"),
        ("reviewing", "summarizing"),
        ("reviewing", "errored"),
        ("reviewing", "nonsense"),
        ("drafting", "reviewing"),
        ("drafting", "cancelled"),
        ("", ""),
    ] {
        project.run(&["state", "move", path, from, to]).exits(1);
        assert_eq!(
            (project.state(&id), project.changes(&id)),
            before,
            "{from} -> {to}"
        );
    }
    project
        .run(&["state", "move", path, "reviewing", "cancelled"])
        .exits(0);
    assert_eq!(project.field(&id, "phase"), "cancelled");
    assert_eq!(project.changes(&id).last().unwrap(), "cancel");
}

#[test]
fn a_loop_of_ours_is_not_written_whole() {
    let (project, id) = Project::reviewing(&[]);
    let path = project.state_path(&id);
    let before = project.state(&id);
    project
        .run_with_stdin(
            &["state", "write", path.to_str().unwrap()],
            b"phase: done\n",
        )
        .exits(1);
    assert_eq!(project.state(&id), before);
}

#[test]
fn a_loop_that_is_over_is_not_cancelled_and_no_byte_changes() {
    type Bring = fn(&Project, &str);
    let over: [(&str, Bring); 3] = [
        ("done", |project, id| {
            project.review(id, "fake-clean").exits(0);
            project.fire().blocked();
            project.fire().approved();
        }),
        ("cancelled", |project, id| {
            project.run(&["cancel", id]).exits(0);
        }),
        ("errored", |project, id| {
            for _ in 0..3 {
                project.review(id, "fake-crash").exits(5);
                project.fire();
            }
        }),
    ];
    for (phase, bring_there) in over {
        let (project, id) = Project::reviewing(&[]);
        bring_there(&project, &id);
        assert_eq!(project.field(&id, "phase"), phase);
        let bytes = || {
            let journal = project.folder().join(&id).join("journal.jsonl");
            [
                std::fs::read(project.state_path(&id)).unwrap(),
                std::fs::read(journal).unwrap(),
            ]
        };
        let before = bytes();
        project.run(&["cancel", &id]).exits(1).says("cancel");
        project.run(&["mark-done", &id]).exits(1);
        assert!(bytes() == before, "{phase}");
        project.fire().approved();
        assert!(bytes() == before, "{phase}");
    }
}
