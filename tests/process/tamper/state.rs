//! The state file edited by hand.

use crate::support::{Project, has};

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
