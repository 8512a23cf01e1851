//! An agent that wants to end early, and a repository with its own programs.

use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Stdio;

use claudex_testkit::{SESSION, as_agent, has};
use serde_json::json;

use crate::support::{ID, coding, standalone, start_plan, task_file};

/// Writes a program that notes its runs in a file.
fn program(file: &Path, says: &str) {
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, format!("#!/bin/sh\n{says}\n")).unwrap();
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn beginning_a_task_runs_no_git_of_repository() {
    let project = standalone();
    let ran = project.folder.home().join("ran");
    let bin = project.root.join("node_modules/.bin");
    let says = format!("touch {:?}", ran.to_str().unwrap());
    program(&bin.join("git"), &says);
    program(&project.root.join("git"), &says);
    let path = std::env::var("PATH").unwrap();
    let path = format!(".:node_modules/.bin:{}:{path}", bin.display());
    let mut command = project.folder.command(&["complete-task", ID]);
    assert!(command.env("PATH", path).status().unwrap().success());
    assert_eq!(project.state(ID)["next_phase"], "complete-task");
    assert!(!ran.exists());
}

#[test]
fn must_run_commands_use_users_path() {
    let project = coding();
    project.allow("mytest --all");
    for (folder, status) in [("user", 1), ("agent", 0)] {
        let file = project.folder.home().join(folder).join("mytest");
        program(&file, &format!("echo {folder}; exit {status}"));
    }
    let path = |folder: &str| {
        let folder = project.folder.home().join(folder);
        format!("{}:{}", folder.display(), std::env::var("PATH").unwrap())
    };
    project.tasks(ID, 3, 2);
    let task = task_file(2, "completed").replace("test -e README.md", "mytest --all");
    project.write(ID, "task-2.md", &task);
    let stop = json!({ "session_id": SESSION, "hook_event_name": "Stop", "cwd": project.root });
    let mut hook = project.folder.command(&["hook", "stop"]);
    hook.env("PATH", path("user")).stdin(Stdio::piped());
    let mut hook = hook.stdout(Stdio::null()).spawn().unwrap();
    let mut input = hook.stdin.take().unwrap();
    input.write_all(stop.to_string().as_bytes()).unwrap();
    drop(input);
    assert!(hook.wait().unwrap().success());
    assert_eq!(project.state(ID)["next_phase"], "code-review");
    let mut verify = project.folder.command(&["verify", ID]);
    let verify = as_agent(verify.env("PATH", path("agent")))
        .output()
        .unwrap();
    has(&String::from_utf8(verify.stdout).unwrap(), "\nuser\n");
}

#[test]
fn plan_of_another_session_stays_as_it_is() {
    let project = start_plan();
    project.write(ID, "plan.md", "## Overview\n");
    let before = project.state(ID);
    for command in [
        &["advance", "plan-review", ID][..],
        &["cancel", ID],
        &["cancel"],
        &["plan-review", ID],
        &["verify", ID],
    ] {
        let refusal = project.folder.agent_of("other", command).unwrap();
        assert_eq!(refusal.code, Some(1), "{refusal:?}");
        has(&refusal.err, "belongs to another session");
    }
    assert_eq!(project.state(ID), before);
    project.agent(&["advance", "plan-review", ID]).done();
    project.person(&["cancel", ID]).done();
}
