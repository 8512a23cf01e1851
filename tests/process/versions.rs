//! Loops from another version of the machine.

use crate::support::Project;

/// Makes a loop look as if another version of the machine had begun it.
fn age(project: &Project, id: &str, edit: impl Fn(&str) -> String) {
    let ours = project.field(id, "graph_hash");
    project.rewrite(id, |text| edit(&text.replace(&ours, "0123456789abcdef")));
}

#[test]
fn loop_of_other_version_goes_on_by_names() {
    let (project, id) = Project::reviewing(&[]);
    let ours = project.field(&id, "graph_hash");
    age(&project, &id, |text| {
        let text = text.replace("\nstalls: 0\n", "\nveteran: 7\n");
        text.replace("\"stalls\":0", "\"veteran\":7")
    });
    assert!(project.state(&id).contains("\nveteran: 7\n"));

    assert!(project.fire().blocked().contains("waiting for its review"));
    project.review(&id, "fake-findings").exits(0);
    project.fire().blocked();

    assert_eq!(project.field(&id, "round"), "2");
    assert_eq!(project.field(&id, "graph_hash"), ours);
    assert!(project.state(&id).contains("\nveteran: 7\n"));
}

#[test]
fn loop_in_unknown_phase_can_be_cancelled() {
    let (project, id) = Project::reviewing(&[]);
    age(&project, &id, |text| text.replace("reviewing", "waiting"));
    let before = project.state(&id);

    let note = project.fire().approved();
    project.run(&format!("status {id}")).says("phase `waiting`");
    project.answers(&format!("mark-done {id}"), 3, "phase `waiting`");
    project.answers("start plan another", 1, "already active");

    assert!(note.contains("plan has no phase `waiting`"), "{note}");
    let help = format!("cancel it (its files are kept):\n    claudex-loop cancel {id}");
    assert!(note.contains(&help), "{note}");
    assert_eq!(project.state(&id), before);
    project.answers_in("s1", &format!("cancel {id}"), 0, "was cancelled");
    assert!(!project.state_path(&id).exists());
    project.start(&[]);
}
