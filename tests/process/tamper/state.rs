//! The state file edited or broken by hand.

use crate::support::{Project, has, yaml};

#[test]
fn edited_machine_field_is_set_back_and_told() {
    for (field, from, to) in [
        ("phase", "phase: reviewing", "phase: done"),
        ("phase", "phase: reviewing", "phase: nonsense"),
        ("round", "round: 1", "round: 2"),
        ("failures", "failures: 0", "failures: \"two\""),
        ("revision", "\nrevision: ", "\nrevision: 9"),
    ] {
        let (project, id) = Project::reviewing(&[]);
        let before = project.field(&id, field);
        project.edit(&id, from, to);
        let edited = std::fs::read(project.state_path(&id)).unwrap();

        let stop = project.fire();
        let note = stop.note.clone().unwrap_or_default();
        has(&note, "edited by hand");
        has(&note, field);
        let replaced = project.replaced(&id);
        let [(path, bytes)] = &replaced[..] else {
            panic!("{replaced:?}")
        };
        assert_eq!(bytes, &edited, "its bytes are kept");
        has(&note, path.file_name().unwrap().to_str().unwrap());

        has(&stop.blocked(), "waiting for its review");
        if field != "revision" {
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
fn broken_state_file_is_rebuilt_from_the_journal() {
    for bytes in [&b""[..], b"\0\0", b"phase: [\n", b"{\"phase\": \"done\"}"] {
        let (project, id) = Project::reviewing(&[]);
        let revision = || yaml(&project.state(&id))["revision"].as_u64().unwrap();
        let before = revision();
        std::fs::write(project.state_path(&id), bytes).unwrap();
        let stop = project.fire();
        has(stop.note.as_deref().unwrap_or_default(), "edited by hand");
        stop.blocked();
        assert_eq!(project.replaced(&id)[0].1, bytes);
        assert_eq!(revision(), before + 1, "and it went on");
    }

    let (project, id) = Project::reviewing(&[]);
    std::fs::remove_file(project.state_path(&id)).unwrap();
    project.run("status").exits(0);
    project.run(&format!("resume {id}")).exits(0);
    assert_eq!(project.field(&id, "phase"), "reviewing");
}
