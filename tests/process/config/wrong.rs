//! Errors of a wrong configuration, which blocks nobody, changes nothing and controls no terminal.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use crate::support::{Project, has, tree, write};

#[test]
fn wrong_setting_is_named_with_help() {
    let project = Project::new().configured("[limits]\ntimeuot = \"5m\"\n");
    let ran = project.run("config show").exits(2);
    let user = project.user_file();
    let message = format!(
        "× {}:2:1: unknown field `timeuot`, expected one of `timeout`, `idle-timeout`, `max-failures`, `stale-minutes` help: compare it with docs/configuration.md\n",
        user.display()
    );
    assert_eq!(unwrap_lines(&ran.err), unwrap_lines(&message));

    let project = Project::new().with("CLAUDEX_REVIEWER", "lnit");
    let ran = project.run("start plan x").exits(2);
    ran.says("CLAUDEX_REVIEWER: `lnit` is not a reviewer")
        .says("choose `auto`, `claude`, `codex`, `lint`");

    let project = Project::new().configured("[programs.claudex-loop.rounds]\nplan = 0\n");
    project.plan("# Plan\n");
    for line in ["start plan topic", "run PLAN.md"] {
        let why = ":2:1: expected a positive integer up to 1000, found `0`";
        project.answers(line, 2, why);
    }
    project.answers("list", 0, "This project has no loops");
}

#[test]
fn project_file_ignores_reviewer_and_commands() {
    let project = Project::new().configured("reviewer = \"codex\"\nallow_commands = [\"make\"]\n");
    let settings = "reviewer = \"lint\"\nallow_commands = [\"make all\"]\n";
    write(&project.project_file(), settings);
    let line = format!(
        "{}:1:1: ignored `reviewer`, `allow_commands`: a project's file may set only `rounds` and `limits`\n",
        project.project_file().display()
    );
    let printed = project.run("config show").exits(0);
    has(&printed.out, "reviewer = \"codex\"");
    has(&printed.out, "allow_commands = [\"make\"]");
    for arguments in ["config show", "start plan x"] {
        let ran = project.run(arguments).exits(0);
        assert_eq!(unwrap_lines(&ran.err), unwrap_lines(&line), "{arguments}");
    }
    project.answers("status", 0, "ignored `reviewer`");
    has(&project.run("doctor").out, "ignored `reviewer`");
}

/// Creates something at a path.
type Put = fn(&Path);

/// Returns unusable configurations: a part of the message, and a function that creates one.
fn unusable(is_project: bool) -> Vec<(&'static str, Put)> {
    let folder = if is_project {
        "not a regular file"
    } else {
        "is a directory"
    };
    let mut all: Vec<(&str, Put)> = vec![
        (":1:1: invalid type: string", |path| {
            write(path, "limits = \"3\"\n")
        }),
        (":1:12: string values must be quoted", |path| {
            write(path, "reviewer = lint\n")
        }),
        ("invalid utf-8", |path| {
            write(path, b"# a\nreviewer = \"\xff\"\n")
        }),
        (folder, |path| std::fs::create_dir_all(path).unwrap()),
        ("not a regular file", |path| {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
        }),
    ];
    if is_project {
        let many = |path: &Path| write(path, "# a comment\n".repeat(30_000));
        all.push(("is larger than ", many));
        all.push(("it is a symlink", |path| {
            symlink("/dev/zero", path).unwrap()
        }));
    }
    all
}

fn remove(path: &Path) {
    if path.is_dir() && !path.is_symlink() {
        std::fs::remove_dir_all(path).unwrap()
    } else {
        std::fs::remove_file(path).unwrap()
    }
}

#[test]
fn wrong_configuration_traps_nobody_and_changes_nothing() {
    for is_project in [false, true] {
        let (project, id) = Project::reviewing(&[]);
        let path = if is_project {
            project.project_file()
        } else {
            project.user_file()
        };
        let quoted_path = path.to_str().unwrap().replace('\'', "’");
        let stored = || {
            let state = project.state(&id);
            let lines = state
                .lines()
                .filter(|line| !line.starts_with("last_updated_at"));
            (
                lines.map(str::to_owned).collect::<Vec<_>>(),
                project.journal(&id),
            )
        };
        for (problem, put) in unusable(is_project) {
            put(&path);
            let before = stored();
            let note = project.fire().approved();
            has(&note, &quoted_path);
            has(&note, problem);
            assert_eq!(note.lines().count(), 1, "{note}");
            assert_eq!(stored(), before, "{problem}: a stop");

            let before = tree(&project.folder());
            for line in [
                "review ID",
                "run PLAN.md",
                "start plan another",
                "mark-done ID",
                "resume ID",
                "config show",
                "personas",
            ] {
                let ran = project.run(&line.replace("ID", &id)).exits(2);
                has(&ran.err, problem);
            }
            assert_eq!(tree(&project.folder()), before, "{problem}");
            let status = project.run("status").exits(0).out;
            let line = status.lines().find(|line| line.starts_with("problem:"));
            has(line.unwrap_or_default(), problem);
            let doctor = project.run("doctor").exits(1).out;
            has(&doctor.replace('\'', "’"), &quoted_path);
            remove(&path);
        }
        project.fire().blocked();
        write(&path, "limits = 1\n");
        project.run(&format!("cancel {id}")).exits(0);
    }
}

/// Returns a text without a terminal's line breaks, with the apostrophes of an error.
fn unwrap_lines(text: &str) -> String {
    text.replace(['\n', '│', ' '], "").replace('\'', "’")
}
