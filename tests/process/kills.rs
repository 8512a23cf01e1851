//! Commands that change a loop, each killed before every change of a file that it makes. The kit kills the start, the stops and
//! the verbs.

use std::os::unix::process::ExitStatusExt as _;

use crate::support::{Project, Ran, has};

/// Prepares a project each time, kills the command before its first, second, … change, and checks the state after it.
fn kill_everywhere(
    prepare: impl Fn() -> (Project, String, String),
    check: impl Fn(&Project, &str, &str),
) {
    for number in 1.. {
        let (project, id, line) = prepare();
        let mut killed = project.command(&line);
        killed.env("CLAUDEX_KILL_AT", number.to_string());
        let output = killed.output().unwrap();
        if output.status.signal().is_none() {
            assert!(number > 1, "{line} has no kill point");
            Ran::new(output).exits(0);
            return;
        }
        check(&project, &id, &line);
    }
}

/// A loop that is reviewed, and a command on it. `ID` and `FILE` stand for the loop's.
fn reviewing(before: &str, line: &str) -> (Project, String, String) {
    let (project, id) = Project::reviewing(&[]);
    let file = format!("{:?}", project.state_path(&id));
    let whole = |line: &str| line.replace("ID", &id).replace("FILE", &file);
    if !before.is_empty() {
        project.run(&whole(before)).exits(0);
    }
    let line = whole(line);
    (project, id, line)
}

/// Checks that a stop drives the loop, and that no file counts as edited by hand.
fn check_driven(project: &Project, id: &str) {
    has(&project.fire().blocked(), "is waiting for its review");
    assert!(project.replaced(id).is_empty(), "{id}");
}

#[test]
fn killed_pause_and_resume_are_done_again() {
    let pause = || reviewing("", "pause ID");
    kill_everywhere(pause, |project, _, line| {
        project.run(line);
        project.fire().approved();
    });
    for before in ["pause ID", "rollback --yes"] {
        let resume = || reviewing(before, "resume ID");
        kill_everywhere(resume, |project, id, line| {
            project.run(line);
            check_driven(project, id);
        });
    }
}

#[test]
fn killed_state_set_leaves_old_or_new_value() {
    let set = || reviewing("", "state set FILE note new");
    kill_everywhere(set, |project, id, line| {
        check_driven(project, id);
        project.run(line).exits(0);
        assert_eq!(project.field(id, "note"), "new");
    });
}

#[test]
fn killed_adopt_leaves_a_loop_to_adopt() {
    let adopt = || {
        let prepared = reviewing("", "adopt ID");
        std::fs::remove_file(prepared.0.state_home().join("key")).unwrap();
        prepared
    };
    kill_everywhere(adopt, |project, id, line| {
        project.run(line);
        has(&project.fire().blocked(), "is waiting for its review");
        assert_eq!(project.field(id, "phase"), "reviewing");
    });
}

#[test]
fn killed_import_leaves_document_or_loop() {
    let import = || {
        let project = Project::new();
        project.plan("# Plan\n");
        let id = "20260426-101010-abc123";
        let path = project.state_path(id);
        let old = "mode: plan\nphase: reviewing\ntopic: \"x\"\nround: 2\nmax_rounds: 3\n";
        crate::support::write(&path, old);
        (project, id.to_owned(), format!("import {path:?}"))
    };
    kill_everywhere(import, |project, id, line| {
        project.run(line);
        has(&project.fire().blocked(), "is waiting for its review");
        assert_eq!(project.field(id, "round"), "2");
    });
}

#[test]
fn killed_rollback_loses_no_loop() {
    let rollback = || reviewing("", "rollback --yes");
    kill_everywhere(rollback, |project, id, line| {
        project.run(line).exits(0);
        project.run(&format!("resume {id}")).exits(0);
        check_driven(project, id);
    });
}
