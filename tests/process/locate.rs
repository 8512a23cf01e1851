//! The loop that a stop or command finds, by its folder.

use std::time::Duration;

use serde_json::json;

use crate::support::{Project, Stop, age, has, id_of, lacks, tree};

/// Stops session `s1` in this folder.
#[track_caller]
fn fire_in(project: &Project, folder: &std::path::Path) -> Stop {
    project.fire_from(folder, json!({"session_id": "s1"}))
}

#[test]
fn loop_of_a_subdirectory_belongs_to_the_top() {
    let project = Project::new();
    let deep = project.root.join("src/ä b");
    std::fs::create_dir_all(&deep).unwrap();
    let id = id_of(&project.run_in(&deep, "start plan topic").exits(0));
    assert_eq!(
        project.field(&id, "repo_root"),
        project.root.to_str().unwrap()
    );
    has(&fire_in(&project, &deep).blocked(), &id);
    assert_eq!(tree(&deep), []);
    // The plan is in the folder of the start: a client that runs there may not write elsewhere.
    assert_eq!(project.field(&id, "subject"), "src/ä b/PLAN.md");
    std::fs::write(deep.join("PLAN.md"), "# Plan\n").unwrap();
    project.fire().blocked();
    assert_eq!(project.field(&id, "phase"), "reviewing");
}

#[test]
fn stop_without_repository_or_cwd_finds_its_loop() {
    let project = Project::without_git();
    let id = project.start(&[]);
    let input = b"{\"session_id\":\"s1\"}";
    Stop::read(&project.run_with_stdin("hook stop", input)).blocked();
    // The project's folder finds it from any shell folder.
    project.run(&format!("resume {id}")).exits(0);
    assert_eq!(fire_in(&project, &project.home).approved(), "");
    let root = project.root.to_str().unwrap().to_owned();
    let project = project.with("CLAUDE_PROJECT_DIR", &root);
    has(&fire_in(&project, &project.home).blocked(), &id);
}

#[test]
fn loop_above_a_repository_is_not_taken_there() {
    let project = Project::without_git();
    project.start(&[]);
    let below = project.root.join("repository");
    std::fs::create_dir_all(below.join(".git")).unwrap();
    assert_eq!(fire_in(&project, &below).approved(), "");
}

#[test]
fn worktree_has_its_own_loop() {
    let project = Project::new();
    project.git(&["commit", "--quiet", "--allow-empty", "-m", "first"]);
    project.git(&["worktree", "add", "--quiet", "-b", "other", "../other tree"]);
    let other = project.root.with_file_name("other tree");
    let id = id_of(&project.run_in(&other, "start plan topic").exits(0));
    assert!(other.join(format!(".claude/claudex/{id}.state")).exists());
    assert!(!project.root.join(".claude").exists());

    let deep = other.join("sub");
    std::fs::create_dir(&deep).unwrap();
    fire_in(&project, &deep).blocked();
    assert_eq!(project.fire().approved(), "", "the main tree has no loop");
    project.start(&[]);
}

#[test]
fn stop_drives_the_active_loop_not_the_newest() {
    let project = Project::new();
    let over = project.start(&[]);
    project.run(&format!("cancel {over}")).exits(0);
    let active = project.start(&[]);
    age(&project.state_path(&active), Duration::from_mins(1));
    has(&project.fire().blocked(), &active);
    age(&project.state_path(&active), Duration::from_mins(1));
    project.answers("state find", 0, &over);
}

#[test]
fn relative_state_dir_is_found_in_folders_above() {
    let project = Project::new().with("CLAUDEX_STATE_DIR", "var/my loops");
    let id = project.start(&[]);
    let folder = project.root.join("var/my loops");
    assert!(!project.root.join(".claude").exists());
    let deep = project.root.join("x/y");
    std::fs::create_dir_all(&deep).unwrap();
    project.plan("# Plan\n");
    let reason = fire_in(&project, &deep).blocked();
    has(&reason, "round 1 of 3");
    has(&reason, &id);
    let state = std::fs::read_to_string(folder.join(format!("{id}.state"))).unwrap();
    has(&state, "phase: reviewing");

    // The runner finds it without the variable, which the agent's shell may lack.
    let runner = folder.join(format!("{id}-runner.sh"));
    let runner = [runner.to_str().unwrap(), "--reviewer", "fake-clean"];
    let mut shell = project.shell("sh", &runner);
    shell
        .current_dir(&project.home)
        .env_remove("CLAUDEX_STATE_DIR");
    assert!(shell.output().unwrap().status.success());
    has(&project.fire().blocked(), "plan loop complete");
}

#[test]
fn project_as_state_folder_is_not_ignored() {
    let project = Project::new().with("CLAUDEX_STATE_DIR", ".");
    project.start(&[]);
    assert!(!project.root.join(".gitignore").exists());
}

#[test]
fn shared_state_folder_keeps_projects_apart() {
    let first = Project::new().with("CLAUDEX_STATE_DIR", "~/all loops");
    let shared = first.home.join("all loops");
    let second = Project::new().with("CLAUDEX_STATE_DIR", shared.to_str().unwrap());
    let loop_id = first.start(&[]);
    assert_eq!(second.fire().approved(), "", "it is another project's");
    let two = second.start(&[]);
    for (project, id) in [(&second, &two), (&first, &loop_id)] {
        project.answers("start plan topic", 1, id);
        assert!(!project.root.join(".claude").exists());
    }
    let deep = first.root.join("deep");
    std::fs::create_dir(&deep).unwrap();
    has(&fire_in(&first, &deep).blocked(), &loop_id);
    let status = second.run("status").exits(0).says(&two).out;
    lacks(&status, &loop_id);
    first.answers("rollback --yes", 0, &loop_id);
    assert!(!shared.join(format!("{loop_id}.state")).exists());
    second.answers("cancel", 0, &two);
}

#[test]
fn resume_without_id_means_the_sessions_own_loop() {
    let project = Project::new();
    let started = project.run_in_session("mine", "start plan topic").exits(0);
    let mine = id_of(&started);
    age(&project.state_path(&mine), Duration::from_mins(16));
    // The start archives it with a message.
    let started = project
        .run_in_session("theirs", "start plan topic")
        .exits(0);
    let theirs = id_of(&started.says(&mine));
    let before = project.state(&theirs);
    let resume = || project.slash("mine", "/claudex:resume", "resume");
    has(&resume().exits(1).err, &theirs);
    assert_eq!(
        project.state(&theirs),
        before,
        "its counters are not ours to reset"
    );

    project.run(&format!("cancel {theirs}")).exits(0);
    resume().exits(0).says(&mine);
    assert_eq!(project.field(&mine, "phase"), "drafting");
}

#[test]
fn archived_loop_is_told_to_its_session() {
    let project = Project::new();
    let id = project.start(&[]);
    project.fire().blocked();
    age(&project.state_path(&id), Duration::from_mins(16));
    // A stop is a sign of life, even if it changes nothing.
    project.fire().approved();
    project.answers("sweep", 0, "Nothing to archive");

    project.sweep(&id);
    let note = project.fire().approved();
    has(&note, &format!("claudex-loop resume {id}"));
    assert_eq!(project.fire().approved(), "", "it is told once");
    assert_eq!(project.fire_as("s2").approved(), "", "nobody else is told");
    project.answers(&format!("resume {id}"), 0, "brought back");
    project.plan("# Plan\n");
    project.fire().blocked();
}

#[test]
fn vanished_state_folder_is_named_once() {
    let (project, _) = Project::reviewing(&[]);
    let away = project.home.join("away");
    std::fs::rename(project.folder(), &away).unwrap();
    let line = format!(
        "claudex: the state folder {} is gone with its loops (removed, moved, or on another branch); put it back to continue them",
        project.folder().display().to_string().replace('\'', "’")
    );
    project.answers("list", 0, &line);
    project.answers("status", 0, "is gone with its loops");
    assert_eq!(project.fire().approved(), line);
    assert_eq!(project.fire().approved(), "", "a stop says it once");
    for is_said in [true, false] {
        let event =
            json!({"session_id": "s2", "source": "startup", "hook_event_name": "SessionStart"});
        let ran = project.hook("session-start", event);
        assert_eq!(
            ran.out.contains("is gone with its loops"),
            is_said,
            "{ran:?}"
        );
    }
    project.answers("list", 0, &line);
    assert!(!project.folder().exists());

    std::fs::rename(&away, project.folder()).unwrap();
    project.fire().blocked();
}
