//! Putting loops away: rollback and sweep. Nothing is deleted, and whoever has a loop is asked first.

use std::time::Duration;

use claudex_testkit::has;

use crate::support::{Project, age, tree};

#[test]
fn rollback_takes_everything_of_every_loop_and_keeps_the_log_and_the_bytes() {
    let (project, first) = Project::reviewing(&[]);
    project.review(&first, "fake-findings").exits(0);
    let findings = std::fs::read(project.findings(&first, 1)).unwrap();
    project.run(&["cancel", &first]).exits(0);
    let second = project.start(&[]);
    project
        .run(&["rollback", "--yes"])
        .exits(0)
        .says(&first)
        .says(&second);
    for entry in std::fs::read_dir(project.folder()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(
            [
                "log",
                ".lock",
                ".start.lock",
                ".gitignore",
                "project",
                "archive"
            ]
            .contains(&name.as_str()),
            "{name}"
        );
    }
    let moved = tree(&project.folder().join("archive"));
    assert!(
        moved
            .iter()
            .any(|(_, bytes)| bytes.as_ref() == Some(&findings))
    );
    assert_eq!(project.fire().approved(), "");
    project
        .run(&["rollback", "--yes"])
        .exits(0)
        .says("no loops");
    project.start(&[]);
}

#[test]
fn rollback_waits_for_a_review_that_is_running() {
    let (project, id) = Project::reviewing(&[]);
    let review = project.background_review(&id, &["--reviewer", "fake-hang"]);
    let before = project.state(&id);
    project.run(&["rollback", "--yes"]).exits(1).says(&id);
    assert_eq!(project.state(&id), before, "nothing was moved");
    drop(review);
    crate::support::wait_for("the end of the review", || {
        project.run(&["rollback", "--yes"]).code == 0
    });
    assert!(!project.state_path(&id).exists());
}

/// A state file of the bash plugin, with the findings of its first round.
#[test]
fn loop_of_the_bash_plugin_is_imported_with_what_it_has() {
    let project = Project::new();
    project.plan("# Plan\n");
    let id = "20260426-101010-abc123";
    let path = project.state_path(id);
    std::fs::create_dir_all(project.folder().join(id)).unwrap();
    let findings = "# Round 1 findings\n\n## High\n- no way back\n\n## Low\n- a nit\n";
    std::fs::write(project.findings(id, 1), findings).unwrap();
    let old = "mode: plan\nphase: reviewing\ntopic: \"x\"\nround: 2\nmax_rounds: 3\nstarted_at: 2026-04-26T10:10:10Z\n";
    std::fs::write(&path, old).unwrap();

    let named = "a user takes it up with the command import and its path";
    project.run(&["status"]).exits(0).says(named);
    has(
        &project.fire().approved(),
        "To continue it:\n    claudex-loop import ",
    );
    let start = project.run(&["start", "plan", "y"]).exits(1);
    has(&start.err, "is already active");
    has(&start.err, "claudex-loop import FILE");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), old);

    project
        .run(&["import", path.to_str().unwrap()])
        .exits(0)
        .says(&format!("Loop {id} continues in phase reviewing."));
    assert_eq!(project.field(id, "started_at"), "2026-04-26T10:10:10Z");
    assert_eq!(project.field(id, "started_at_epoch"), "1777198210");
    assert_eq!(
        std::fs::read_to_string(project.findings(id, 1)).unwrap(),
        findings
    );
    project
        .run(&["status", id])
        .exits(0)
        .says("Round 1 (Senior-engineer review): high=1 medium=0 low=1");
    project.review(id, "fake-findings").exits(0);
    project.fire().blocked();
    // It is a loop now, and is not imported over.
    let again = project.run(&["import", path.to_str().unwrap()]).exits(1);
    has(&again.err, id);
    assert!(project.findings(id, 1).exists());
}

#[test]
fn a_start_in_the_way_of_a_loop_that_cannot_be_driven_names_a_way_that_works() {
    let project = Project::new();
    std::fs::create_dir_all(project.folder()).unwrap();
    let foreign = project.folder().join("20250101-000000-abcdef.state");
    std::fs::write(
        &foreign,
        "mode: plan\nphase: reviewing\ntopic: \"x\"\nround: 1\nmax_rounds: 3\n",
    )
    .unwrap();
    let refused = project.run(&["start", "plan", "topic"]).exits(1);
    has(&refused.err, "already active");
    assert!(
        refused.err.contains("claudex-loop rollback")
            && !refused.err.contains("claudex-loop cancel"),
        "cancel could not open it: {}",
        refused.err
    );
    project.run(&["rollback", "--yes"]).exits(0);
    project.run(&["start", "plan", "topic"]).exits(0);
}

#[test]
fn rollback_without_a_terminal_asks_for_a_yes_beforehand_and_changes_nothing() {
    let project = Project::new();
    let id = project.start(&[]);
    let before = tree(&project.folder());
    let ran = project
        .run(&["rollback"])
        .exits(1)
        .says("no terminal to ask on");
    has(&ran.err, "claudex-loop rollback --yes");
    has(&ran.err, "1 loop, 1 of them active");
    project.run_with_stdin(&["rollback"], b"y\n").exits(1);
    assert_eq!(tree(&project.folder()), before);
    // The script of the plugin is the consent, and the person's slash command too.
    project.type_line("s1", "/claudex:rollback");
    project.answers_in("s1", &["rollback", "--from-prompt"], 0, &id);
    assert!(!project.state_path(&id).exists());
}

#[test]
fn rollback_asks_on_a_terminal_and_only_a_yes_is_one() {
    let project = Project::new();
    let over = project.start(&[]);
    project.run(&["cancel", &over]).exits(0);
    let id = project.start(&[]);
    for typed in ["\n", "n\n", "yep\n", "\u{4}"] {
        let screen = project.on_terminal(80, &["rollback"], typed);
        assert_eq!(screen.code, 1, "{screen:#?}");
        screen.shows("[y/N]");
        screen.shows(&id);
        screen.shows("2 loops, 1 of them active.");
        screen.shows("Nothing was changed.");
        assert!(project.state_path(&id).exists(), "{typed:?}");
    }
    let screen = project.on_terminal(80, &["rollback"], "Y\n");
    assert_eq!(screen.code, 0, "{screen:#?}");
    assert!(!project.state_path(&id).exists() && !project.state_path(&over).exists());
}

#[test]
fn rollback_archives_state_file_made_by_hand() {
    let project = Project::new();
    std::fs::create_dir_all(project.folder()).unwrap();
    for (text, archived) in [
        ("phase: reviewing\n", "by hand"),
        ("phase: x\n", "by hand-2"),
    ] {
        std::fs::write(project.folder().join("by hand.state"), text).unwrap();
        project.answers(&["rollback", "--yes"], 0, "archive/by hand");
        let kept = project.folder().join("archive").join(archived);
        let kept = std::fs::read_to_string(kept.join("by hand.state")).unwrap();
        assert_eq!(kept, text);
        assert!(!project.folder().join("by hand.state").exists());
    }
}

#[test]
fn rollback_and_its_kin_are_not_the_agents() {
    let project = Project::new();
    let id = project.start(&[]);
    for command in [&["rollback", "--yes"][..], &["resume"], &["adopt"]] {
        let ran = project.run_in_session("s1", command).exits(1);
        has(&ran.err, "an agent may not run ‘");
        has(&ran.err, &format!("/claudex:{}", command[0]));
    }
    assert_eq!(project.changes(&id), ["start"]);
}

#[test]
fn sweep_archives_inactive_loop_for_resume() {
    let project = Project::new();
    let id = project.start(&[]);
    project.answers(&["sweep"], 0, "Nothing to archive.");
    age(&project.state_path(&id), Duration::from_secs(3600));
    let ran = project.run(&["sweep"]).exits(0);
    ran.says(&format!("Loop {id} was moved"))
        .says(&format!("claudex-loop resume {id}"));
    project.run(&["sweep"]).exits(0).says("Nothing to archive.");
    assert!(!project.state_path(&id).exists());
    project.run(&["resume", &id]).exits(0).says("brought back");
    assert!(project.state_path(&id).exists());
}
