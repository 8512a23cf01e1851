//! The state file edited or broken by hand.

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
        let replaced = project.replaced(&id);
        assert_eq!(replaced.len(), 1, "{replaced:?}");
        let (path, bytes) = &replaced[0];
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
        assert_eq!(project.replaced(&id).len(), 1, "it is told once");
        let log = std::fs::read_to_string(project.folder().join("log")).unwrap();
        assert_eq!(log.matches("edited by hand").count(), 1, "{log}");
    }
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
        assert!(note.contains("edited by hand"), "{bytes:?}: {note}");
        stop.blocked();
        let kept: Vec<_> = project
            .replaced(&id)
            .into_iter()
            .map(|kept| kept.1)
            .collect();
        assert_eq!(kept, [bytes.to_vec()]);
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
