//! Which loop a stop or a command finds, by the folder that it comes from.

use crate::support::{Project, Ran, Stop, id_of, tree};
use claudex_testkit::has;
use serde_json::json;

#[test]
fn a_stop_in_a_subdirectory_drives_the_loop_and_makes_nothing_there() {
    let project = Project::new();
    let id = project.start(&[]);
    let deep = project.root.join("src/ä b");
    std::fs::create_dir_all(&deep).unwrap();
    let reason = project
        .fire_from(&deep, json!({"session_id": "s1"}))
        .blocked();
    has(&reason, &id);
    assert_eq!(tree(&deep), []);
}

#[test]
fn a_start_in_a_subdirectory_belongs_to_the_repositorys_top() {
    let project = Project::new();
    let deep = project.root.join("a/b");
    std::fs::create_dir_all(&deep).unwrap();
    let mut start = project.command(&["start", "plan", "topic"]);
    let id = id_of(&Ran::of(start.current_dir(&deep).output().unwrap()).exits(0));
    assert_eq!(
        project.field(&id, "repo_root"),
        project.root.to_str().unwrap()
    );
    assert_eq!(tree(&deep), []);
    // The plan lies where the start ran: a client that was opened there may not write anywhere else.
    assert_eq!(project.field(&id, "subject"), "a/b/PLAN.md");
    std::fs::write(deep.join("PLAN.md"), "# Plan\n").unwrap();
    project.fire().blocked();
    assert_eq!(project.field(&id, "phase"), "reviewing");
}

#[test]
fn without_a_repository_the_loop_belongs_where_it_was_started() {
    let project = Project::without_git();
    let id = project.start(&[]);
    assert!(project.state_path(&id).exists());
    project.fire().blocked();
}

#[test]
fn the_project_dir_finds_the_loop_wherever_the_shell_went() {
    let project = Project::new();
    let id = project.start(&[]);
    let home = project.home.clone();
    let root = project.root.to_str().unwrap().to_owned();
    assert_eq!(
        project
            .fire_from(&home, json!({"session_id": "s1"}))
            .approved(),
        ""
    );
    let project = project.with("CLAUDE_PROJECT_DIR", &root);
    let reason = project
        .fire_from(&home, json!({"session_id": "s1"}))
        .blocked();
    has(&reason, &id);
}

#[test]
fn input_without_a_cwd_is_taken_to_come_from_where_the_hook_runs() {
    let project = Project::new();
    project.start(&[]);
    Stop::read(&project.run_with_stdin(&["hook", "stop"], b"{\"session_id\":\"s1\"}")).blocked();
}

#[test]
fn a_worktree_has_its_own_loop() {
    let project = Project::new();
    project.git(&["commit", "--quiet", "--allow-empty", "-m", "first"]);
    project.git(&["worktree", "add", "--quiet", "-b", "other", "../other tree"]);
    let tree_root = project.root.parent().unwrap().join("other tree");
    let mut start = project.command(&["start", "plan", "topic"]);
    let id = id_of(&Ran::of(start.current_dir(&tree_root).output().unwrap()).exits(0));
    assert!(
        tree_root
            .join(format!(".claude/claudex/{id}.state"))
            .exists()
    );
    assert!(!project.root.join(".claude").exists());

    let deep = tree_root.join("sub");
    std::fs::create_dir(&deep).unwrap();
    project
        .fire_from(&deep, json!({"session_id": "s1"}))
        .blocked();
    assert_eq!(
        project.fire_as("s1").approved(),
        "",
        "the main tree has no loop"
    );
    project.start(&[]);
}

#[test]
fn an_older_loop_that_runs_is_found_beside_a_newer_one_that_is_over() {
    let project = Project::new();
    let over = project.start(&[]);
    project.run(&["cancel", &over]).exits(0);
    let active = project.start(&[]);
    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(60);
    let file = std::fs::File::options()
        .append(true)
        .open(project.state_path(&over))
        .unwrap();
    file.set_modified(later).unwrap();
    let reason = project.fire().blocked();
    has(&reason, &active);
    project.run(&["state", "find"]).exits(0).says(&over);
}

#[test]
fn a_relative_state_dir_is_looked_for_in_each_folder_above() {
    let project = Project::new().with("CLAUDEX_STATE_DIR", "var/my loops");
    let id = project.start(&[]);
    let state = project.root.join(format!("var/my loops/{id}.state"));
    assert!(state.exists() && !project.root.join(".claude").exists());
    let deep = project.root.join("x/y");
    std::fs::create_dir_all(&deep).unwrap();
    project.plan("# Plan\n");
    let reason = project
        .fire_from(&deep, json!({"session_id": "s1"}))
        .blocked();
    has(&reason, "round 1 of 3");
    has(&reason, &id);
    assert!(
        std::fs::read_to_string(&state)
            .unwrap()
            .contains("phase: reviewing")
    );

    // The runner finds it without the variable: the agent's shell may not have it.
    let runner = project.root.join(format!("var/my loops/{id}-runner.sh"));
    let mut shell = project.shell(
        "sh",
        &[runner.to_str().unwrap(), "--reviewer", "fake-clean"],
    );
    shell
        .current_dir(&project.home)
        .env_remove("CLAUDEX_STATE_DIR");
    Ran::of(shell.output().unwrap()).exits(0);
    assert!(project.fire().blocked().contains("plan loop complete"));
}

#[test]
fn an_absolute_state_dir_drives_a_loop_only_from_its_own_project() {
    let first = Project::new();
    let shared = first.home.join("all loops");
    let first = first.with("CLAUDEX_STATE_DIR", shared.to_str().unwrap());
    let id = first.start(&[]);
    assert!(shared.join(format!("{id}.state")).exists());

    let second = Project::new().with("CLAUDEX_STATE_DIR", shared.to_str().unwrap());
    assert_eq!(second.fire().approved(), "", "it is another project's");
    let deep = first.root.join("deep");
    std::fs::create_dir(&deep).unwrap();
    let reason = first
        .fire_from(&deep, json!({"session_id": "s1"}))
        .blocked();
    has(&reason, &id);
    assert!(!first.root.join(".claude").exists() && !second.root.join(".claude").exists());
}

#[test]
fn projects_that_share_a_state_folder_do_not_stand_in_each_others_way() {
    let first = Project::new();
    let shared = first.home.join("all loops");
    let first = first.with("CLAUDEX_STATE_DIR", shared.to_str().unwrap());
    let one = first.start(&[]);
    let second = Project::new().with("CLAUDEX_STATE_DIR", shared.to_str().unwrap());
    let two = second.start(&[]);
    second.run(&["start", "plan", "topic"]).exits(1).says(&two);
    first.run(&["start", "plan", "topic"]).exits(1).says(&one);
    let status = second.run(&["status"]).exits(0).out;
    assert!(status.contains(&two) && !status.contains(&one), "{status}");
    first.run(&["cancel"]).exits(0).says(&one);
}

#[test]
fn resume_without_an_id_means_ones_own_loop_even_when_it_was_swept() {
    let project = Project::new();
    let started = project
        .run_in_session("mine", &["start", "plan", "topic"])
        .exits(0);
    let mine = id_of(&started);
    crate::support::age(
        &project.state_path(&mine),
        std::time::Duration::from_secs(16 * 60),
    );
    let other = project
        .run_in_session("theirs", &["start", "plan", "topic"])
        .exits(0);
    assert!(
        other.out.contains(&mine),
        "what was put aside is told: {}",
        other.out
    );
    let theirs = id_of(&other);
    let before = project.state(&theirs);

    project.type_line("mine", "/claudex:resume");
    let refused = project
        .run_in_session("mine", &["resume", "--from-prompt"])
        .exits(1);
    assert!(
        refused.err.contains(&theirs),
        "the other one is in the way: {}",
        refused.err
    );
    assert_eq!(
        project.state(&theirs),
        before,
        "its counters are not ours to reset"
    );

    project.run(&["cancel", &theirs]).exits(0);
    project.type_line("mine", "/claudex:resume");
    project.answers_in("mine", &["resume", "--from-prompt"], 0, &mine);
    assert_eq!(project.field(&mine, "phase"), "drafting");
}

#[test]
fn a_swept_loops_session_is_told_at_its_next_stop() {
    let project = Project::new();
    let id = project.start(&[]);
    project.fire().blocked();
    crate::support::age(
        &project.state_path(&id),
        std::time::Duration::from_secs(16 * 60),
    );
    project.run(&["sweep"]).exits(0).says(&id);
    let note = project.fire().approved();
    has(&note, &id);
    has(&note, &format!("claudex-loop resume {id}"));
    assert_eq!(project.fire_as("s2").approved(), "", "nobody else is told");

    project.run(&["resume", &id]).exits(0).says("brought back");
    assert_eq!(project.field(&id, "phase"), "drafting");
    project.plan("# Plan\n");
    project.fire().blocked();
}

#[test]
fn a_stop_and_not_only_a_change_is_a_sign_of_life() {
    let project = Project::new();
    let id = project.start(&[]);
    project.fire().blocked();
    crate::support::age(
        &project.state_path(&id),
        std::time::Duration::from_secs(16 * 60),
    );
    project.fire().approved();
    project.run(&["sweep"]).exits(0).says("Nothing to archive");
    assert!(project.state_path(&id).exists());
}
