//! `rollback` and the import: nothing is deleted, and every user is asked first.

use crate::support::{Project, has, lacks, tree, write};

#[test]
fn rollback_archives_every_loop_with_its_bytes() {
    let (project, first) = Project::reviewing(&[]);
    project.review(&first, "fake-findings").exits(0);
    let findings = std::fs::read(project.findings(&first, 1)).unwrap();
    project.run(&format!("cancel {first}")).exits(0);
    let second = project.start(&[]);
    let inner = project.root.join("inner");
    std::fs::create_dir_all(inner.join(".git")).unwrap();
    let ran = project.run_in(&inner, "rollback --yes").exits(0);
    ran.says("No loops to archive.");
    project
        .run("rollback --yes")
        .exits(0)
        .says(&first)
        .says(&second);
    let our_files = [
        "log",
        ".lock",
        ".start.lock",
        ".gitignore",
        "project",
        "archive",
    ];
    for entry in std::fs::read_dir(project.folder()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(our_files.contains(&name.as_str()), "{name}");
    }
    let archived = tree(&project.folder().join("archive"));
    assert!(
        archived
            .iter()
            .any(|(_, bytes)| bytes.as_ref() == Some(&findings))
    );
    assert_eq!(project.fire().approved(), "");
    project.answers("rollback --yes", 0, "No loops to archive.");
    // An ended loop is named, and is restored without an error.
    project.answers("list", 0, "The archive also has 1 finished loop.");
    let resume = format!("resume {first}");
    project.answers(&resume, 0, "It is over, so nothing continues it.");
    project.start(&[]);
}

#[test]
fn rollback_waits_for_a_running_review() {
    let (project, id) = Project::reviewing(&[]);
    let review = project.background_review(&id, "--reviewer fake-hang");
    let before = project.state(&id);
    project.answers("rollback --yes", 1, &id);
    assert_eq!(project.state(&id), before, "nothing was moved");
    drop(review);
    crate::support::wait_for("the end of the review", || {
        project.run("rollback --yes").code == 0
    });
    assert!(!project.state_path(&id).exists());
}

/// Imports a state file of the bash plugin, with the findings of its first round.
#[test]
fn loop_of_the_bash_plugin_is_imported() {
    let project = Project::new();
    project.plan("# Plan\n");
    let id = "20260426-101010-abc123";
    let path = project.state_path(id);
    std::fs::create_dir_all(project.folder().join(id)).unwrap();
    let findings = "# Round 1 findings\n\n## High\n- no way back\n\n## Low\n- a nit\n";
    std::fs::write(project.findings(id, 1), findings).unwrap();
    let old = "mode: plan\nphase: reviewing\ntopic: \"x\"\nround: 2\nmax_rounds: 3\nstarted_at: 2026-04-26T10:10:10Z\n";
    std::fs::write(&path, old).unwrap();

    let named = "an older tool wrote it; to continue it:\n    claudex-loop import ";
    project.answers("status", 0, named);
    has(&project.fire().approved(), named);
    let shown = format!("import {id}.state");
    project.run_in(&project.folder(), "status").says(&shown);
    let start = project.run("start plan y").exits(1);
    has(&start.err, "is already active");
    has(
        &start.err,
        &format!("claudex-loop import .claude/claudex/{id}.state"),
    );
    has(&start.err, &format!("claudex-loop archive {id}"));
    lacks(&start.err, "claudex-loop cancel");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), old);

    let import = ["import", path.to_str().unwrap()];
    let message = format!("Loop {id} continues in phase reviewing.");
    project.answers(&import, 0, &message);
    assert_eq!(project.field(id, "started_at"), "2026-04-26T10:10:10Z");
    assert_eq!(project.field(id, "started_at_epoch"), "1777198210");
    let kept = std::fs::read_to_string(project.findings(id, 1)).unwrap();
    assert_eq!(kept, findings);
    let row = "Round 1 (Senior-engineer review): high=1 medium=0 low=1";
    project.answers(&format!("status {id}"), 0, row);
    project.review(id, "fake-findings").exits(0);
    project.fire().blocked();
    // It is a loop now, and is not imported again.
    project.answers(&import, 1, id);
    assert!(project.findings(id, 1).exists());
}

#[test]
fn rollback_needs_a_yes() {
    let project = Project::new();
    let over = project.start(&[]);
    project.run(&format!("cancel {over}")).exits(0);
    let id = project.start(&[]);
    let before = tree(&project.folder());
    // Without a terminal, the confirmation is a flag.
    let ran = project.run("rollback").exits(1);
    has(&ran.err, "without a terminal you cannot be asked");
    has(&ran.err, "claudex-loop rollback --yes");
    has(&ran.err, "2 loops, 1 of them active");
    project.run_with_stdin("rollback", b"y\n").exits(1);
    for typed in ["\n", "n\n", "yep\n", "\u{4}"] {
        let screen = project.on_terminal(80, "rollback", typed);
        assert_eq!(screen.code, 1, "{screen:#?}");
        for shown in [
            "[y/N]",
            &id,
            "2 loops, 1 of them active.",
            "nothing was changed",
        ] {
            screen.shows(shown);
        }
    }
    assert_eq!(tree(&project.folder()), before);
    assert_eq!(project.on_terminal(80, "rollback", "Y\n").code, 0);
    assert!(!project.state_path(&id).exists() && !project.state_path(&over).exists());
    // The user's slash command is a confirmation, too.
    let id = project.start(&[]);
    project
        .slash("s1", "/claudex:rollback", "rollback")
        .exits(0)
        .says(&id);
    assert!(!project.state_path(&id).exists());
}

#[test]
fn rollback_archives_state_file_made_by_hand() {
    let project = Project::new();
    let file = project.folder().join("by hand.state");
    std::fs::create_dir_all(project.folder()).unwrap();
    for (text, archived) in [
        ("phase: reviewing\n", "by hand"),
        ("phase: x\n", "by hand-2"),
    ] {
        std::fs::write(&file, text).unwrap();
        project.answers("rollback --yes", 0, "archive/by hand");
        let kept = project
            .folder()
            .join(format!("archive/{archived}/by hand.state"));
        assert_eq!(std::fs::read_to_string(kept).unwrap(), text);
        assert!(!file.exists());
    }
}

#[test]
fn finished_foreign_state_file_is_not_named() {
    let project = Project::new();
    let old = project.folder().join("20250101-000000-abcdef.state");
    let text = "mode: plan\nphase: done\ntopic: \"x\"\nround: 3\nmax_rounds: 3\n";
    write(&old, text);
    assert_eq!(project.fire().approved(), "");
    assert_eq!(std::fs::read_to_string(&old).unwrap(), text);
    std::fs::write(&old, text.replace("done", "reviewing")).unwrap();
    let path = old.display().to_string().replace('\'', "’");
    let output = format!(
        "claudex: {path} names no machine, so an older tool wrote it; to continue it:\n    \
         claudex-loop import .claude/claudex/20250101-000000-abcdef.state"
    );
    assert_eq!(project.fire().approved(), output);
}
