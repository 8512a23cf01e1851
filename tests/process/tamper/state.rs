//! The state file edited or broken by hand.

use claudex_testkit::has;

use crate::support::Project;

#[test]
fn a_field_of_the_machine_edited_by_hand_is_set_back_and_the_person_is_told() {
    for (field, from, to) in [
        ("phase", "phase: reviewing", "phase: done"),
        ("phase", "phase: reviewing", "phase: summarizing"),
        ("phase", "phase: reviewing", "phase: nonsense"),
        ("round", "round: 1", "round: 2"),
        ("max_rounds", "max_rounds: 3", "max_rounds: 99"),
        (
            "decision_signal",
            "decision_signal: none",
            "decision_signal: no-material-findings",
        ),
        ("reminders", "reminders: 0", "reminders: -1"),
        ("failures", "failures: 0", "failures: \"two\""),
        ("revision", "\nrevision: ", "\nrevision: 9"),
    ] {
        let (project, id) = Project::reviewing(&[]);
        let before = project.field(&id, field);
        project.edit(&id, from, to);
        let edited = std::fs::read(project.state_path(&id)).unwrap();

        let stop = project.fire();
        let note = stop.note.clone().unwrap_or_default();
        assert!(
            note.contains("edited by hand") && note.contains(field),
            "the person reads which field: {note}"
        );
        let quarantine = project.quarantine();
        assert_eq!(quarantine.len(), 1, "{quarantine:?}");
        let (path, bytes) = &quarantine[0];
        assert_eq!(bytes, &edited, "its bytes are kept");
        assert!(
            note.contains(path.file_name().unwrap().to_str().unwrap()),
            "and where: {note}"
        );

        assert!(
            stop.blocked().contains("waiting for its review"),
            "{field}: the journal's state goes on"
        );
        if field != "reminders" && field != "revision" {
            assert_eq!(project.field(&id, field), before);
        }
        assert_eq!(project.field(&id, "phase"), "reviewing");
        project.fire().approved();
        assert_eq!(project.quarantine().len(), 1, "it is told once");
    }
}

#[test]
fn verbs_and_status_find_an_edit_out_as_well() {
    let (project, id) = Project::reviewing(&[]);
    project.edit(
        &id,
        "decision_signal: none",
        "decision_signal: no-material-findings",
    );
    project
        .run(&["mark-done", &id])
        .exits(1)
        .says("edited by hand");
    assert_eq!(project.field(&id, "decision_signal"), "none");

    project.edit(&id, "phase: reviewing", "phase: cancelled");
    project.run(&["status"]).exits(0).says("edited by hand");
    assert_eq!(project.field(&id, "phase"), "reviewing");

    project.edit(&id, "phase: reviewing", "phase: done");
    project.answers(&["start", "plan", "x"], 1, "already active");
    assert_eq!(project.field(&id, "phase"), "reviewing");
}

#[test]
fn what_the_machine_does_not_own_may_be_edited() {
    let project = Project::new();
    let id = project.start(&[]);
    project.edit(
        &id,
        "topic: \"Move the queue\"",
        "topic: \"Move both queues\"",
    );
    let text = format!("# a comment\n{}my_note: keep me\n", project.state(&id));
    std::fs::write(project.state_path(&id), text).unwrap();
    project.fire().blocked();
    let text = project.state(&id);
    assert!(text.starts_with("# a comment\n"), "{text}");
    has(&text, "\nmy_note: keep me\n");
    has(&text, "\ntopic: \"Move both queues\"\n");
    assert_eq!(project.quarantine(), []);
}

#[test]
fn a_state_file_that_is_broken_or_gone_is_rebuilt_from_the_journal() {
    let broken: [&[u8]; 5] = [
        b"",
        b"\0\0\0\0",
        b"phase: [\n",
        b"\xff\xfe\xfd",
        b"{\"phase\": \"done\"}",
    ];
    for bytes in broken {
        let (project, id) = Project::reviewing(&[]);
        let whole = project.state(&id);
        std::fs::write(project.state_path(&id), bytes).unwrap();
        let stop = project.fire();
        let note = stop.note.clone().unwrap_or_default();
        assert!(note.contains("rebuilt"), "{bytes:?}: {note}");
        stop.blocked();
        // A crash leaves an empty file, or zeros: there is nothing to keep.
        let kept: Vec<_> = project
            .quarantine()
            .into_iter()
            .map(|kept| kept.1)
            .collect();
        let edited = bytes.iter().any(|byte| *byte != 0);
        assert_eq!(kept, if edited { vec![bytes.to_vec()] } else { vec![] });
        let revision = |text: &str| crate::support::yaml(text)["revision"].as_u64().unwrap();
        assert_eq!(
            revision(&project.state(&id)),
            revision(&whole) + 1,
            "and it went on"
        );
    }

    let (project, id) = Project::reviewing(&[]);
    std::fs::remove_file(project.state_path(&id)).unwrap();
    project.run(&["status"]).exits(0);
    project.run(&["resume", &id]).exits(0);
    assert_eq!(project.field(&id, "phase"), "reviewing");
}

#[test]
fn a_broken_state_file_that_nobody_started_is_left_and_a_start_sets_it_aside() {
    let project = Project::new();
    let id = "20261122-010203-0a1b2c";
    std::fs::create_dir_all(project.folder()).unwrap();
    std::fs::write(project.state_path(id), b"\0 no state at all").unwrap();
    let note = project.fire().approved();
    assert!(
        note.contains(id) && note.contains("has no journal, so no start made it here"),
        "which loop: {note}"
    );
    assert_eq!(
        std::fs::read(project.state_path(id)).unwrap(),
        b"\0 no state at all"
    );
    project.start(&[]);
    let quarantine = project.quarantine();
    assert_eq!(quarantine.len(), 1);
    assert_eq!(quarantine[0].1, b"\0 no state at all");
    assert!(!project.state_path(id).exists());
}

#[test]
fn what_is_put_right_beside_ones_own_loop_is_told_as_well() {
    let project = Project::new();
    let other = project.start(&[]);
    project.run(&["cancel", &other]).exits(0);
    let id = project.start(&[]);
    project.plan("# Plan\n\nMove the queue.\n");
    project.fire().blocked();
    let other = other.as_str();
    std::fs::write(project.state_path(other), b"\0").unwrap();
    std::fs::remove_file(project.folder().join(other).join("journal.jsonl")).unwrap();
    // Else nobody looks at what is over.
    std::fs::remove_dir_all(project.home.join("state/claudex-loop/active")).unwrap();
    let stop = project.fire();
    let note = stop.note.clone().unwrap_or_default();
    has(&note, &format!("{other}.state"));
    has(&note, "quarantine");
    assert!(stop.blocked().contains(&id), "and the own loop goes on");
    assert_eq!(
        project
            .fire()
            .note
            .unwrap_or_default()
            .matches(other)
            .count(),
        0,
        "once"
    );

    std::fs::write(project.state_path(&id), b"\0").unwrap();
    assert_eq!(
        project.fire_as("another session").approved(),
        "",
        "it is not theirs"
    );
    let note = project.fire().note.unwrap_or_default();
    assert!(note.contains("rebuilt"), "its own session is told: {note}");
}

#[test]
fn a_start_that_sets_a_broken_state_aside_says_so() {
    let project = Project::new();
    let id = "20261122-010203-0a1b2c";
    std::fs::create_dir_all(project.folder()).unwrap();
    std::fs::write(project.state_path(id), b"\0").unwrap();
    project
        .run(&["start", "plan", "x"])
        .exits(0)
        .says(&format!("{id}.state"))
        .says("quarantine");
}

#[test]
fn a_state_file_of_ours_without_its_journal_is_never_driven() {
    let (project, id) = Project::reviewing(&[]);
    std::fs::remove_file(project.folder().join(&id).join("journal.jsonl")).unwrap();
    let before = project.state(&id);
    for _ in 0..2 {
        let note = project.fire().approved();
        has(&note, "journal");
    }
    project.run(&["mark-done", &id]).exits(3).says("journal");
    project
        .run(&["review", &id, "--reviewer", "fake-clean"])
        .exits(3);
    assert_eq!(project.state(&id), before);

    // It does not keep the next loop from being started, and it is not lost.
    project.start(&[]);
    assert!(
        project
            .quarantine()
            .iter()
            .any(|(_, bytes)| bytes == before.as_bytes()),
        "{:?}",
        project.quarantine()
    );
}

#[test]
fn a_state_that_git_tracks_drives_nobody() {
    let (project, id) = Project::reviewing(&[]);
    project.git(&["add", "--force", ".claude"]);
    let before = project.state(&id);
    let note = project.fire().approved();
    has(&note, "git tracks it");
    assert_eq!(project.state(&id), before);
}

#[test]
fn a_state_that_is_a_symlink_drives_nobody() {
    let (project, id) = Project::reviewing(&[]);
    let elsewhere = project.home.join("elsewhere");
    std::fs::rename(project.state_path(&id), &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, project.state_path(&id)).unwrap();
    let before = std::fs::read(&elsewhere).unwrap();
    let note = project.fire().approved();
    has(&note, "symlink");
    assert_eq!(std::fs::read(&elsewhere).unwrap(), before);
}
