//! What a wrong configuration says, and that it traps nobody, changes nothing and steers no terminal.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use claudex_testkit::has;

use crate::support::{Project, tree, write};

#[test]
fn check_names_the_first_problem_with_help() {
    let project = Project::new().configured("[limits]\ntimeuot = \"5m\"\n");
    let user = project.user_file();
    let ran = project.run(&["config", "check"]).exits(2);
    assert_eq!(
        plain(&ran.err),
        plain(&format!(
            "claudex::config × {}:2:1: unknown field `timeuot` help: did you mean `timeout`?\n",
            user.display()
        ))
    );
}

#[test]
fn setting_without_effect_and_misspelt_reviewer_are_refused() {
    let project = Project::new().configured("[reviewers.lint]\nmodel = \"x\"\n");
    project
        .run(&["start", "plan", "x"])
        .exits(2)
        .says(":2:1: `model` has no effect on a reviewer of kind `lint`");
    let project = Project::new().with("CLAUDEX_REVIEWER", "lnit");
    project
        .run(&["start", "plan", "x"])
        .exits(2)
        .says("CLAUDEX_REVIEWER: `lnit` is not a reviewer")
        .says("did you mean `lint`?");
}

#[test]
fn project_file_ignores_reviewer_and_commands_with_one_line() {
    let project = Project::new().configured("reviewer = \"codex\"\nallow_commands = [\"make\"]\n");
    write(
        &project.project_file(),
        "reviewer = \"lint\"\nallow_commands = [\"make all\"]\n",
    );
    let line = format!(
        "{}:1:1: ignored `reviewer` and `allow_commands`: a project's file may set only `rounds` and `limits`\n",
        project.project_file().display()
    );
    let shown = project.run(&["config", "show"]).exits(0);
    has(&shown.out, "reviewer = \"codex\"");
    has(&shown.out, "allow_commands = [\"make\"]");
    for arguments in [
        &["config", "show"][..],
        &["config", "check"],
        &["start", "plan", "x"],
    ] {
        let ran = project.run(arguments).exits(0);
        assert_eq!(plain(&ran.err), plain(&line), "{arguments:?}");
    }
    project.answers(&["status"], 0, "ignored `reviewer`");
    has(&project.run(&["doctor"]).out, "ignored `reviewer`");
}

/// Puts something at a path.
type Put = fn(&Path);

/// What nobody can use as a configuration, as the user's or the project's: a part of its message, and how it gets there.
fn unusable(is_project: bool) -> Vec<(&'static str, Put)> {
    let folder = match is_project {
        true => "not a regular file",
        false => "is a directory",
    };
    let mut all: Vec<(&str, Put)> = vec![
        (":1:1: invalid type: string", |path| {
            write(path, "limits = \"3\"\n");
        }),
        (":1:12: string values must be quoted", |path| {
            write(path, "reviewer = lint\n");
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
        all.push(("is larger than ", |path| {
            write(path, "# a comment\n".repeat(30_000));
        }));
    }
    all
}

fn remove(path: &Path) {
    if path.is_dir() {
        std::fs::remove_dir(path).unwrap();
    } else {
        std::fs::remove_file(path).unwrap();
    }
}

#[test]
fn a_wrong_configuration_traps_nobody_and_changes_nothing() {
    for is_project in [false, true] {
        let (project, id) = Project::reviewing(&[]);
        let path = if is_project {
            project.project_file()
        } else {
            project.user_file()
        };
        for (problem, put) in unusable(is_project) {
            put(&path);
            let state = (project.state(&id), project.journal(&id));
            let note = project.fire().approved();
            let shown = path.to_str().unwrap().replace('\'', "’");
            assert!(note.contains(&shown), "{problem}: {note}");
            assert!(note.contains(problem), "{problem}: {note}");
            assert_eq!(note.lines().count(), 1, "{note}");
            let unchanged = |project: &Project, what: &str| {
                let now = project.state(&id);
                let kept = |text: &str| {
                    let lines = text
                        .lines()
                        .filter(|line| !line.starts_with("last_updated_at"));
                    lines.map(str::to_owned).collect::<Vec<_>>()
                };
                assert_eq!(kept(&now), kept(&state.0), "{problem}: {what}");
                assert_eq!(project.journal(&id), state.1, "{problem}: {what}");
            };
            unchanged(&project, "a stop");

            let before = tree(&project.folder());
            for arguments in [
                &["review", &id][..],
                &["run", "PLAN.md"],
                &["start", "plan", "another"],
                &["mark-done", &id],
                &["resume", &id],
                &["config", "show"],
                &["config", "check"],
                &["personas"],
            ] {
                let ran = project.run(arguments).exits(2);
                assert!(ran.err.contains(problem), "{arguments:?}: {}", ran.err);
                assert!(
                    ran.err.contains("claudex::config"),
                    "{arguments:?}: {}",
                    ran.err
                );
            }
            assert_eq!(tree(&project.folder()), before, "{problem}");
            let status = project.run(&["status"]).exits(0);
            let line = status.out.lines().find(|line| line.starts_with("problem:"));
            assert!(
                line.is_some_and(|line| line.contains(problem)),
                "{}",
                status.out
            );
            let doctor = project.run(&["doctor"]).exits(1);
            assert!(
                doctor.out.replace('\'', "’").contains(&shown),
                "{}",
                doctor.out
            );
            remove(&path);
        }
        project.fire().blocked();
        write(&path, "limits = 1\n");
        project.run(&["cancel", &id]).exits(0);
    }
}

#[test]
fn a_start_that_is_refused_for_the_configuration_leaves_no_loop() {
    let project = Project::new().configured("[programs.claudex-loop.rounds]\nplan = 0\n");
    project
        .run(&["start", "plan", "a topic"])
        .exits(2)
        .says(":2:1: expected a positive integer up to 1000, found `0`");
    assert!(
        !project.folder().exists()
            || !tree(&project.folder())
                .iter()
                .any(|(path, _)| path.extension().is_some_and(|end| end == "state"))
    );
    project.plan("# Plan\n");
    project.answers(
        &["run", "PLAN.md"],
        2,
        ":2:1: expected a positive integer up to 1000, found `0`",
    );
    project.run(&["list"]).exits(0).says("There are no loops");
}

#[test]
fn a_project_file_that_is_a_link_is_refused_with_one_line() {
    let project = Project::new();
    let own = project.project_file();
    write(&project.home.join("other.toml"), "reviewer = \"lint\"\n");
    write(
        &project.root.join("shared/team.toml"),
        "reviewer = \"claude\"\n",
    );
    let refused = |path: &Path| {
        let ran = project.run(&["config", "check"]).exits(2);
        let said = format!("{} is not trusted: it is a symlink", path.display());
        assert!(plain(&ran.err).contains(&plain(&said)), "{}", ran.err);
        ran.says("claudex::config");
    };
    std::fs::create_dir_all(own.parent().unwrap()).unwrap();
    // Out of the project, to nowhere, and to another file of the project.
    for target in [
        "/dev/zero",
        "../../home/other.toml",
        "nowhere",
        "../shared/team.toml",
    ] {
        symlink(target, &own).unwrap();
        refused(&own);
        remove(&own);
    }
    // The folder may be the link, too.
    let folder = own.parent().unwrap();
    for target in [project.home.join("claude"), project.root.join("shared")] {
        std::fs::remove_dir_all(folder)
            .or_else(|_| std::fs::remove_file(folder))
            .unwrap();
        write(&target.join("claudex.toml"), "reviewer = \"lint\"\n");
        symlink(&target, folder).unwrap();
        refused(folder);
    }
}

/// Without what a terminal's width breaks, and with an error's apostrophes.
fn plain(text: &str) -> String {
    text.replace(['\n', '│', ' '], "").replace('\'', "’")
}
