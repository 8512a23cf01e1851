//! Agents that run programs or commands of their own choice.

use std::os::unix::fs::PermissionsExt as _;

use claudex_testkit::{SESSION, as_agent, has};
use serde_json::json;

use crate::support::{ID, coding, start_plan, task_file};

#[test]
fn must_run_commands_use_users_path() {
    let project = coding();
    project.allow("mytest --all");
    for (folder, status) in [("user", 1), ("agent", 0)] {
        let bin = project.folder.home().join(folder);
        let script = format!("#!/bin/sh\necho {folder}; exit {status}\n");
        std::fs::create_dir(&bin).unwrap();
        std::fs::write(bin.join("mytest"), script).unwrap();
        let executable = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(bin.join("mytest"), executable).unwrap();
    }
    let path = |folder: &str| {
        let folder = project.folder.home().join(folder);
        format!("{}:{}", folder.display(), std::env::var("PATH").unwrap())
    };
    project.tasks(ID, 3, 2);
    let task = task_file(2, "completed").replace("test -e README.md", "mytest --all");
    project.write(ID, "task-2.md", &task);
    let stop = project.folder.home().join("stop.json");
    std::fs::write(&stop, json!({ "session_id": SESSION }).to_string()).unwrap();
    let mut hook = project.folder.command(&["hook", "stop"]);
    hook.env("PATH", path("user"));
    hook.stdin(std::fs::File::open(stop).unwrap());
    assert!(hook.output().unwrap().status.success());
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
