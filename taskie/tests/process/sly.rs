//! An agent that wants to end early, and a repository that brings programs of its own.

use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Stdio;

use claudex_testkit::{SESSION, as_agent};

use crate::support::{ID, Project, coding, standalone};

/// Writes a program that notes in a file that it ran.
fn program(file: &Path, says: &str) {
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, format!("#!/bin/sh\n{says}\n")).unwrap();
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// Begins a task as the user, with folders before the user's PATH.
fn begin_task(project: &Project, folders: &str) {
    let path = format!("{folders}:{}", std::env::var("PATH").unwrap());
    let mut command = project.folder.command(&["complete-task", ID]);
    let output = command.env("PATH", path).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(project.state(ID)["next_phase"], "complete-task");
}

#[test]
fn beginning_a_task_runs_no_git_of_repository() {
    let project = standalone();
    let ran = project.folder.home().join("ran");
    let bin = project.root.join("node_modules/.bin");
    let says = format!("touch {:?}", ran.to_str().unwrap());
    program(&bin.join("git"), &says);
    program(&project.root.join("git"), &says);
    begin_task(&project, &format!(".:node_modules/.bin:{}", bin.display()));
    assert!(!ran.exists());
}

#[test]
fn must_run_commands_use_users_path() {
    let project = coding();
    project.allow("mytest --all");
    let (users, agents) = ("user", "agent");
    for (folder, status) in [(users, 1), (agents, 0)] {
        let file = project.folder.home().join(folder).join("mytest");
        program(&file, &format!("echo {folder}; exit {status}"));
    }
    let path = |folder: &str| {
        let folder = project.folder.home().join(folder);
        format!("{}:{}", folder.display(), std::env::var("PATH").unwrap())
    };
    project.tasks(ID, 3, 2);
    project.write(
        ID,
        "task-2.md",
        "# Task 2\n\n### Subtask 2.1: all of it\n\n- **Status**: completed\n- **Must-run commands**: `mytest --all`\n",
    );
    let stop =
        serde_json::json!({"session_id": SESSION, "hook_event_name": "Stop", "cwd": project.root});
    let mut hook = project.folder.command(&["hook", "stop"]);
    hook.env("PATH", path(users))
        .stdin(Stdio::piped())
        .stdout(Stdio::null());
    let mut hook = hook.spawn().unwrap();
    hook.stdin
        .take()
        .unwrap()
        .write_all(stop.to_string().as_bytes())
        .unwrap();
    assert!(hook.wait().unwrap().success());
    assert_eq!(project.state(ID)["next_phase"], "code-review");
    let mut verify = project.folder.command(&["verify", ID]);
    let verify = as_agent(verify.env("PATH", path(agents))).output().unwrap();
    let said = String::from_utf8(verify.stdout).unwrap();
    assert!(said.contains("\nuser\n"), "{said}");
}

#[test]
fn plan_of_another_session_stays_as_it_is() {
    let project = Project::new();
    project.slash("new-plan", ID).done();
    project.write(ID, "plan.md", "## Overview\n");
    let before = project.state(ID);
    for command in [
        &["advance", "plan-review", ID][..],
        &["cancel", ID],
        &["cancel"],
        &["plan-review", ID],
        &["verify", ID],
    ] {
        let said = project.folder.agent_of("other", command).unwrap();
        assert_eq!(said.code, Some(1), "{said:?}");
        assert!(said.err.contains("belongs to another session"), "{said:?}");
    }
    assert_eq!(project.state(ID), before);
    project.agent(&["advance", "plan-review", ID]).done();
    project.person(&["cancel", ID]).done();
}
