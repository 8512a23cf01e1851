//! Commands that change a loop, killed before every file change. The kit kills the start, the stops
//! and the verbs.

use std::os::unix::process::ExitStatusExt as _;
use std::time::Duration;

use crate::support::{Project, Ran, has, thorough_plan};

/// A project, its loop, and a command on the loop.
type KillCase = (Project, String, String);

/// Kills the command before its first, second, … file change, and checks each state. Restores the
/// project in between.
fn kill_everywhere((project, id, line): KillCase, check: impl Fn(&Project, &str, &str)) {
    let copy = project.copy();
    for number in 1.. {
        project.restore(&copy);
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

/// Returns a loop in review and a command on it, with `ID` and `FILE` replaced.
fn reviewing(before: &str, line: &str) -> KillCase {
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
    kill_everywhere(reviewing("", "pause ID"), |project, _, line| {
        project.run(line);
        project.fire().approved();
    });
    for before in ["pause ID", "rollback --yes"] {
        kill_everywhere(reviewing(before, "resume ID"), |project, id, line| {
            project.run(line);
            check_driven(project, id);
        });
    }
}

#[test]
fn killed_state_set_leaves_old_or_new_value() {
    let set = reviewing("", "state set FILE note new");
    kill_everywhere(set, |project, id, line| {
        check_driven(project, id);
        project.run(line).exits(0);
        assert_eq!(project.field(id, "note"), "new");
    });
}

#[test]
fn killed_adopt_leaves_a_loop_to_adopt() {
    let adopt = reviewing("", "adopt ID");
    std::fs::remove_file(adopt.0.state_home().join("key")).unwrap();
    kill_everywhere(adopt, |project, id, line| {
        project.run(line);
        has(&project.fire().blocked(), "is waiting for its review");
        assert_eq!(project.field(id, "phase"), "reviewing");
    });
}

#[test]
fn killed_import_leaves_document_or_loop() {
    let project = Project::new();
    project.plan("# Plan\n");
    let id = "20260426-101010-abc123";
    let path = project.state_path(id);
    let old = "mode: plan\nphase: reviewing\ntopic: \"x\"\nround: 2\nmax_rounds: 3\n";
    crate::support::write(&path, old);
    let import = (project, id.to_owned(), format!("import {path:?}"));
    kill_everywhere(import, |project, id, line| {
        project.run(line);
        has(&project.fire().blocked(), "is waiting for its review");
        assert_eq!(project.field(id, "round"), "2");
    });
}

#[test]
fn killed_rollback_loses_no_loop() {
    kill_everywhere(reviewing("", "rollback --yes"), |project, id, line| {
        project.run(line).exits(0);
        project.run(&format!("resume {id}")).exits(0);
        check_driven(project, id);
    });
}

#[test]
fn killed_review_is_followed_by_a_whole_one() {
    let review = reviewing("", "review ID --reviewer fake-findings");
    kill_everywhere(review, |project, id, line| {
        project.run(line).exits(0);
        has(&project.fire().blocked(), "round 2 of 3");
        assert_eq!(project.field(id, "round"), "2");
        assert!(project.findings(id, 1).exists());
    });
}

#[test]
fn killed_more_grants_its_rounds_once() {
    let (project, id) = Project::reviewing(&["--rounds", "1"]);
    project.review(&id, "fake-findings").exits(0);
    project.fire().blocked();
    let more = (project, id, "more --rounds 1".to_owned());
    kill_everywhere(more, |project, id, line| {
        project.run(line);
        has(&project.fire().blocked(), "is waiting for its review");
        assert_eq!(project.field(id, "max_rounds"), "2");
    });
}

#[test]
fn killed_archive_and_sweep_lose_no_loop() {
    for line in ["archive ID", "sweep"] {
        let (project, id, line) = reviewing("", line);
        crate::support::age(&project.state_path(&id), Duration::from_hours(24));
        kill_everywhere((project, id, line), |project, id, line| {
            project.run(line);
            project.run(&format!("resume {id}"));
            check_driven(project, id);
        });
    }
}

#[test]
fn killed_run_is_resumed() {
    let project = Project::new();
    project.plan(thorough_plan());
    let run = (project, String::new(), "run PLAN.md --rounds 1".to_owned());
    kill_everywhere(run, |project, _, line| {
        let listed = project.json("list --json");
        match listed[0]["id"].as_str() {
            None => project.run(line).exits(0),
            Some(_) if listed[0]["terminal"] == true => return,
            Some(id) => project.run(&format!("run --resume {id}")).exits(0),
        };
    });
}
