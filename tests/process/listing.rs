//! `list` after many loops: a long past costs no screen, and the oldest loops move to the archive.

use crate::support::{Project, tree};

#[test]
fn start_archives_finished_loops_beyond_twenty() {
    let project = Project::new();
    for _ in 0..21 {
        let id = project.start(&[]);
        project.run(&["cancel", &id]).exits(0);
    }
    let said = project.run(&["list"]).exits(0).out;
    assert_eq!(said.matches("cancelled").count(), 21, "{said}");
    let all = || {
        let json = project.run(&["list", "--json"]).exits(0).out;
        let all: serde_json::Value = serde_json::from_str(&json).unwrap();
        all.as_array().unwrap().len()
    };
    assert_eq!(all(), 21);

    let id = project.start(&[]);
    let said = project.run(&["list"]).exits(0).out;
    assert_eq!(said.matches("cancelled").count(), 20, "{said}");
    assert!(said.contains(&id), "{said}");
    assert_eq!(all(), 21, "one was archived");
    let archived = tree(&project.folder().join("archive"));
    let is_journal = |path: &std::path::Path| path.ends_with("journal.jsonl");
    assert_eq!(
        archived.iter().filter(|(path, _)| is_journal(path)).count(),
        1
    );
}

#[test]
fn vanished_state_folder_is_named_once() {
    let (project, _) = Project::reviewing(&[]);
    std::fs::rename(project.folder(), project.home.join("away")).unwrap();
    let line = format!(
        "claudex: the state folder {} is gone with its loops (removed, moved, or on another branch); put it back to continue them",
        project.folder().display().to_string().replace('\'', "’")
    );
    project.run(&["list"]).exits(0).says(&line);
    project.run(&["status"]).exits(0);
    assert_eq!(project.fire().approved(), line);
    assert_eq!(project.fire().approved(), "", "a stop says it once");
    let session = r#"{"session_id": "s2", "source": "startup", "hook_event_name": "SessionStart"}"#;
    for is_said in [true, false] {
        let ran = project.run_with_stdin(&["hook", "session-start"], session.as_bytes());
        assert_eq!(
            ran.out.contains("is gone with its loops"),
            is_said,
            "{ran:?}"
        );
    }
    project.run(&["list"]).exits(0).says(&line);
    assert!(!project.folder().exists());

    std::fs::rename(project.home.join("away"), project.folder()).unwrap();
    project.fire().blocked();
}
