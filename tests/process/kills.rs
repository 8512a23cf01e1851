//! Commands that change a loop, each killed before every change of a file that it makes. The kit kills the start, the stops and
//! the verbs.

use std::os::unix::process::ExitStatusExt as _;

use claudex_testkit::has;

use crate::support::{Project, Ran};

/// A project, the loop in it, and the command that is killed.
type Prepared = (Project, String, Vec<String>);

/// Prepares a project each time, kills the command before its first, second, … change, and checks what is left.
fn kill_everywhere(prepare: impl Fn() -> Prepared, check: impl Fn(&Project, &str, &[&str])) {
    for number in 1.. {
        let (project, id, command) = prepare();
        let arguments: Vec<&str> = command.iter().map(String::as_str).collect();
        let mut killed = project.command(&arguments);
        killed.env("CLAUDEX_KILL_AT", number.to_string());
        let output = killed.output().unwrap();
        if output.status.signal().is_none() {
            assert!(number > 1, "{arguments:?} has no kill point");
            Ran::of(output).exits(0);
            return;
        }
        check(&project, &id, &arguments);
    }
}

fn command(arguments: &[&str]) -> Vec<String> {
    arguments
        .iter()
        .map(|&argument| argument.to_owned())
        .collect()
}

/// Checks that a stop drives the loop, and that no file counts as edited by hand.
fn check_driven(project: &Project, id: &str) {
    let reason = project.fire().blocked();
    has(&reason, "is waiting for its review");
    assert!(project.replaced(id).is_empty(), "{id}");
}

#[test]
fn killed_pause_and_resume_are_done_by_the_next_call() {
    for before in [None, Some("pause"), Some("rollback --yes")] {
        let prepare = || {
            let (project, id) = Project::reviewing(&[]);
            if let Some(before) = before {
                let mut words: Vec<&str> = before.split(' ').collect();
                words.extend((before == "pause").then_some(&*id));
                project.run(&words).exits(0);
            }
            let word = if before.is_some() { "resume" } else { "pause" };
            let command = command(&[word, &id]);
            (project, id, command)
        };
        kill_everywhere(prepare, |project, id, arguments| {
            project.run(arguments);
            match before {
                Some(_) => check_driven(project, id),
                None => drop(project.fire().approved()),
            }
        });
    }
}

#[test]
fn killed_state_set_leaves_the_old_value_or_the_new_one() {
    let prepare = || {
        let (project, id) = Project::reviewing(&[]);
        let path = project.state_path(&id).to_str().unwrap().to_owned();
        let command = command(&["state", "set", &path, "note", "new"]);
        (project, id, command)
    };
    kill_everywhere(prepare, |project, id, arguments| {
        check_driven(project, id);
        project.run(arguments).exits(0);
        assert_eq!(project.field(id, "note"), "new");
    });
}

#[test]
fn killed_adopt_leaves_a_loop_to_adopt() {
    let prepare = || {
        let (project, id) = Project::reviewing(&[]);
        std::fs::remove_file(project.state_home().join("key")).unwrap();
        let command = command(&["adopt", &id]);
        (project, id, command)
    };
    kill_everywhere(prepare, |project, id, arguments| {
        project.run(arguments);
        let reason = project.fire().blocked();
        has(&reason, "is waiting for its review");
        assert_eq!(project.field(id, "phase"), "reviewing");
    });
}

#[test]
fn killed_import_leaves_a_document_to_import_or_a_loop() {
    let prepare = || {
        let project = Project::new();
        project.plan("# Plan\n");
        let id = "20260426-101010-abc123";
        let path = project.state_path(id);
        std::fs::create_dir_all(project.folder()).unwrap();
        let old = "mode: plan\nphase: reviewing\ntopic: \"x\"\nround: 2\nmax_rounds: 3\n";
        std::fs::write(&path, old).unwrap();
        let command = command(&["import", path.to_str().unwrap()]);
        (project, id.to_owned(), command)
    };
    kill_everywhere(prepare, |project, id, arguments| {
        project.run(arguments);
        has(&project.fire().blocked(), "is waiting for its review");
        assert_eq!(project.field(id, "round"), "2");
    });
}

#[test]
fn killed_rollback_loses_no_loop() {
    let prepare = || {
        let (project, id) = Project::reviewing(&[]);
        let command = command(&["rollback", "--yes"]);
        (project, id, command)
    };
    kill_everywhere(prepare, |project, id, arguments| {
        project.run(arguments).exits(0);
        project.run(&["resume", id]).exits(0);
        check_driven(project, id);
    });
}
