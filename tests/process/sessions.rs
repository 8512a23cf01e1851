//! Which loop a stop drives, whose it is, and which commands only a person may give.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::support::{Project, Ran, Stop, feed, id_of, tree};
use serde_json::{Value, json};

// --- whose loop it is --------------------------------------------------------------------------------------------

#[test]
fn another_session_of_the_project_is_not_blocked() {
    let project = Project::new();
    let id = id_of(&project.run_in_session("s1", &["start", "plan", "topic"]).exits(0));
    assert_eq!(project.field(&id, "session_id"), "s1");
    let before = tree(&project.root);
    for _ in 0..3 {
        assert_eq!(project.fire_as("s2").approved(), "");
    }
    assert_eq!(tree(&project.root), before, "and it changes nothing");
    project.fire_as("s1").blocked();
}

#[test]
fn a_loop_from_a_terminal_belongs_to_the_first_session_whose_stop_meets_it() {
    let project = Project::new();
    let id = project.start(&[]);
    assert_eq!(project.field(&id, "session_id"), "unknown");
    project.fire_as("s7").blocked();
    assert_eq!(project.field(&id, "session_id"), "s7");
    assert_eq!(project.changes(&id), ["start", "bind", "remind"]);
    assert_eq!(project.fire_as("s8").approved(), "");
    assert_eq!(project.field(&id, "session_id"), "s7");
}

#[test]
fn input_without_a_session_drives_a_loop_of_nobody_and_binds_nothing() {
    let project = Project::new();
    let id = project.start(&[]);
    Stop::read(&project.run_with_stdin(&["hook", "stop"], b"{}")).blocked();
    assert_eq!(project.field(&id, "session_id"), "unknown");
    for blank in [json!({"session_id": ""}), json!({"session_id": "  "}), json!({})] {
        project.fire_with(blank).approved();
        assert_eq!(project.field(&id, "session_id"), "unknown");
    }
}

#[test]
fn input_without_a_session_never_drives_a_bound_loop() {
    let project = Project::new();
    let id = project.start(&[]);
    project.fire_as("s1").blocked();
    project.plan("# Plan\n");
    let before = tree(&project.root);
    Stop::read(&project.run_with_stdin(&["hook", "stop"], b"{}")).approved();
    project.fire_with(json!({"session_id": ""})).approved();
    project.fire_with(json!({"session_id": "unknown"})).approved();
    assert_eq!(tree(&project.root), before);
    assert_eq!(project.field(&id, "phase"), "drafting");
}

#[test]
fn a_session_named_unknown_cannot_take_every_loop() {
    let project = Project::new();
    project.start(&[]);
    project.fire_as("unknown");
    // Whatever it was told, the loop must still be free for a real session.
    project.plan("# Plan\n");
    project.fire_as("s1").blocked();
}

#[test]
fn a_hostile_session_id_is_kept_as_data() {
    let project = Project::new();
    let id = project.start(&[]);
    let session = "a\"b: |&/\\ $(x)\nphase: done\nü";
    project.fire_as(session).blocked();
    assert_eq!(project.field(&id, "session_id"), session);
    assert_eq!(project.field(&id, "phase"), "drafting");
    project.plan("# Plan\n");
    project.fire_as(session).blocked();
    assert_eq!(project.field(&id, "phase"), "reviewing");
}

#[test]
fn a_sessions_own_loop_goes_before_one_of_nobody() {
    let project = Project::new();
    let ours = id_of(&project.run_in_session("s1", &["start", "plan", "ours"]).exits(0));
    let inner = project.root.join("inner");
    std::fs::create_dir(&inner).unwrap();
    project.git(&["init", "--quiet", "inner"]);
    let mut start = project.command(&["start", "plan", "theirs"]);
    let theirs = id_of(&Ran::of(start.current_dir(&inner).output().unwrap()).exits(0));
    assert!(inner.join(format!(".claude/claudex/{theirs}.state")).exists());

    let reason = project.fire_from(&inner, json!({"session_id": "s1"})).blocked();
    assert!(reason.contains(&ours), "{reason}");
    let reason = project.fire_from(&inner, json!({"session_id": "s2"})).blocked();
    assert!(reason.contains(&theirs), "{reason}");
}

// --- where it is found -------------------------------------------------------------------------------------------

#[test]
fn a_stop_in_a_subdirectory_drives_the_loop_and_makes_nothing_there() {
    let project = Project::new();
    let id = project.start(&[]);
    let deep = project.root.join("src/ä b");
    std::fs::create_dir_all(&deep).unwrap();
    let reason = project.fire_from(&deep, json!({"session_id": "s1"})).blocked();
    assert!(reason.contains(&id), "{reason}");
    assert_eq!(tree(&deep), []);
}

#[test]
fn a_start_in_a_subdirectory_belongs_to_the_repositorys_top() {
    let project = Project::new();
    let deep = project.root.join("a/b");
    std::fs::create_dir_all(&deep).unwrap();
    let mut start = project.command(&["start", "plan", "topic"]);
    let id = id_of(&Ran::of(start.current_dir(&deep).output().unwrap()).exits(0));
    assert_eq!(project.field(&id, "repo_root"), project.root.to_str().unwrap());
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
        project.fire_from(&home, json!({"session_id": "s1"})).approved(),
        ""
    );
    let project = project.with("CLAUDE_PROJECT_DIR", &root);
    let reason = project.fire_from(&home, json!({"session_id": "s1"})).blocked();
    assert!(reason.contains(&id), "{reason}");
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
    assert!(tree_root.join(format!(".claude/claudex/{id}.state")).exists());
    assert!(!project.root.join(".claude").exists());

    let deep = tree_root.join("sub");
    std::fs::create_dir(&deep).unwrap();
    project.fire_from(&deep, json!({"session_id": "s1"})).blocked();
    assert_eq!(project.fire_as("s1").approved(), "", "the main tree has no loop");
    project.start(&[]);
}

#[test]
fn nothing_is_made_in_a_project_without_a_loop() {
    let project = Project::new();
    let before = tree(&project.root);
    for _ in 0..2 {
        assert_eq!(project.fire().approved(), "");
        Stop::read(&project.run_with_stdin(&["hook", "stop"], b"{}")).approved();
        Stop::read(&project.run_with_stdin(&["hook", "stop"], b"not json at all")).approved();
    }
    for look in [&["status"][..], &["list"], &["personas"], &["sweep"], &["doctor"]] {
        project.run(look).exits(0);
    }
    project.run(&["status"]).exits(0).says("no loops");
    assert_eq!(tree(&project.root), before);
    assert_eq!(tree(&project.home), []);
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
    assert!(reason.contains(&active), "{reason}");
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
    let reason = project.fire_from(&deep, json!({"session_id": "s1"})).blocked();
    assert!(
        reason.contains("round 1 of 3") && reason.contains(&id),
        "{reason}"
    );
    assert!(
        std::fs::read_to_string(&state)
            .unwrap()
            .contains("phase: reviewing")
    );

    // The runner finds it without the variable: the agent's shell may not have it.
    let runner = project.root.join(format!("var/my loops/{id}-runner.sh"));
    let mut shell = project.shell("sh", &[runner.to_str().unwrap(), "--reviewer", "fake-clean"]);
    shell.current_dir(&project.home).env_remove("CLAUDEX_STATE_DIR");
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
    let reason = first.fire_from(&deep, json!({"session_id": "s1"})).blocked();
    assert!(reason.contains(&id), "{reason}");
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
    project
        .run_in_session("mine", &["resume", "--from-prompt"])
        .exits(0)
        .says(&mine);
    assert_eq!(project.field(&mine, "phase"), "drafting");
}

#[test]
fn a_swept_loops_session_is_told_at_its_next_stop() {
    let project = Project::new();
    let id = project.start(&[]);
    project.fire().blocked();
    crate::support::age(&project.state_path(&id), std::time::Duration::from_secs(16 * 60));
    project.run(&["sweep"]).exits(0).says(&id);
    let note = project.fire().approved();
    assert!(
        note.contains(&id) && note.contains(&format!("claudex-loop resume {id}")),
        "{note}"
    );
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
    crate::support::age(&project.state_path(&id), std::time::Duration::from_secs(16 * 60));
    project.fire().approved();
    project.run(&["sweep"]).exits(0).says("Nothing to sweep");
    assert!(project.state_path(&id).exists());
}

// --- adopt, resume and who may -----------------------------------------------------------------------------------

#[test]
fn a_person_adopts_a_loop_for_whichever_session_comes_next() {
    let project = Project::new();
    let id = project.start(&[]);
    project.fire_as("crashed").blocked();
    crate::support::age(&project.state_path(&id), std::time::Duration::from_secs(16 * 60));
    project
        .run(&["adopt", &id])
        .exits(0)
        .says("belongs to nobody now");
    assert_eq!(project.field(&id, "session_id"), "unknown");
    project.plan("# Plan\n");
    project.fire_as("fresh").blocked();
    assert_eq!(project.field(&id, "session_id"), "fresh");
    assert_eq!(project.fire_as("crashed").approved(), "");
    assert!(
        project.changes(&id).contains(&"adopt".to_owned()),
        "it is journaled"
    );
}

#[test]
fn a_loop_is_taken_from_a_session_that_may_be_at_work_by_who_says_so_alone() {
    let (project, id) = Project::reviewing(&[]);
    let before = project.state(&id);
    for command in [&["adopt"][..], &["adopt", &id], &["resume", &id, "--adopt"]] {
        let ran = project
            .run(command)
            .exits(1)
            .says("session s1 may be at work on loop");
        let again = match command[0] {
            "adopt" => format!("    claudex-loop adopt {id} --yes\n"),
            _ => format!("    claudex-loop resume {id} --adopt --yes\n"),
        };
        assert!(ran.err.contains(&again), "{}", ran.err);
        project.run_with_stdin(command, b"y\n").exits(1);
        for typed in ["\n", "n\n", "\u{4}"] {
            let screen = project.on_terminal(80, command, typed);
            assert_eq!(screen.code, 1, "{screen:#?}");
            screen.shows("Session s1 may be at work on loop");
            screen.shows("Take the loop over? [y/N]");
            screen.shows("Nothing was changed.");
        }
    }
    assert_eq!(project.state(&id), before);
    assert_eq!(project.on_terminal(80, &["adopt"], "y\n").code, 0);
    assert_eq!(project.field(&id, "session_id"), "unknown");
    // Nobody's: there is nobody to ask for.
    project.run(&["adopt"]).exits(0);

    project.fire_as("s2").blocked();
    project.run(&["adopt", &id, "--yes"]).exits(0);
    project.fire_as("s2");
    assert_eq!(project.field(&id, "session_id"), "s2");
    // The slash command is the person's word, and a session takes its own.
    project.type_line("s3", "/claudex:adopt");
    project
        .run_in_session("s3", &["adopt", "--from-prompt"])
        .exits(0)
        .says("belongs to this session now");
}

#[test]
fn a_person_who_resumes_in_a_terminal_is_told_whose_stops_drive_the_loop() {
    let (project, id) = Project::reviewing(&[]);
    let said = project.run(&["resume", &id]).exits(0);
    assert!(
        said.out.contains("The stops of session s1 drive it.")
            && said
                .out
                .contains(&format!("\n    claudex-loop resume {id} --adopt\n")),
        "{}",
        said.out
    );
    assert_eq!(project.field(&id, "session_id"), "s1");
    project
        .run(&["resume", &id, "--adopt", "--yes"])
        .exits(0)
        .says("goes on in phase reviewing, round 1 of 3.")
        .says("belongs to nobody now");
    assert_eq!(project.field(&id, "session_id"), "unknown");
    project
        .run(&["resume", &id])
        .exits(0)
        .says("It belongs to nobody: the next session that ends a turn");
    project.fire_as("fresh").blocked();
    assert_eq!(project.field(&id, "session_id"), "fresh");
    assert_eq!(project.fire_as("s1").approved(), "");
    // Inside a session it is that one which takes it.
    project.type_line("s1", &format!("/claudex:resume {id} --adopt"));
    project
        .run_in_session("s1", &["resume", "--from-prompt"])
        .exits(0)
        .says("belongs to this session now");
    assert_eq!(project.field(&id, "session_id"), "s1");
    // An agent takes over nothing.
    let before = project.state(&id);
    project
        .run_in_session("s2", &["resume", &id, "--adopt"])
        .exits(1)
        .says("is a person’s decision");
    assert_eq!(project.state(&id), before);
}

#[test]
fn a_session_that_takes_a_loop_up_as_it_sums_up_is_handed_the_summary() {
    for (rounds, reviewer, title) in [
        ("3", "fake-clean", "### Claudex plan loop complete ✓"),
        (
            "1",
            "fake-findings",
            "### Claudex plan loop stopped at max rounds (round 1 of 1)",
        ),
    ] {
        let project = Project::new();
        let id = project.start(&["--rounds", rounds]);
        project.plan("# Plan\n");
        project.fire_as("crashed").blocked();
        project.review(&id, reviewer).exits(0);
        let handed_out = project.fire_as("crashed").blocked();
        assert!(handed_out.starts_with(title), "{handed_out}");

        project.type_line("fresh", "/claudex:adopt");
        project
            .run_in_session("fresh", &["adopt", "--from-prompt"])
            .exits(0)
            .says(&format!("belongs to this session now.\n\n{title}"))
            .says("**Findings by round:**")
            .says("Print this summary to the user");
        project.type_line("fresh", "/claudex:resume");
        project
            .run_in_session("fresh", &["resume", "--from-prompt"])
            .exits(0)
            .says(title);
        // From a terminal there is no agent that could print it.
        let ran = project.run(&["resume"]).exits(0);
        assert!(!ran.out.contains(title), "{}", ran.out);
        // Where the person was asked and did not answer, a line says that it is over.
        assert_eq!(project.fire_as("fresh").approved().is_empty(), rounds == "3");
        assert_eq!(project.field(&id, "phase"), "done");
    }
}

#[test]
fn a_loop_that_is_over_is_neither_adopted_nor_resumed() {
    let project = Project::new();
    let id = project.start(&[]);
    project.run(&["cancel", &id]).exits(0);
    let before = std::fs::read(project.state_path(&id)).unwrap();
    project.run(&["adopt", &id]).exits(1).says("is over");
    project.run(&["resume", &id]).exits(1);
    assert_eq!(std::fs::read(project.state_path(&id)).unwrap(), before);
}

#[test]
fn resume_begins_the_counters_anew() {
    let (project, id) = Project::reviewing(&[]);
    project.review(&id, "fake-could-not-run").exits(5);
    project.fire().blocked();
    project.fire().blocked();
    assert_eq!(
        (project.field(&id, "failures"), project.field(&id, "reminders")),
        ("1".into(), "1".into())
    );
    project.run(&["resume", &id]).exits(0).says("round 1 of 3");
    assert_eq!(
        (project.field(&id, "failures"), project.field(&id, "reminders")),
        ("0".into(), "0".into())
    );
}

#[test]
fn what_is_a_persons_decision_is_refused_to_an_agent() {
    let (project, id) = Project::reviewing(&[]);
    // That it was tried is noted in the journal and in the log; nothing else may differ.
    let files = || {
        let mut files = tree(&project.folder());
        files.retain(|(path, _)| !path.ends_with("journal.jsonl") && !path.ends_with("log"));
        (files, project.changes(&id))
    };
    let before = files();
    for command in [
        &["resume", &id][..],
        &["adopt", &id],
        &["rollback", "--yes"],
        &["resume"],
    ] {
        project
            .run_in_session("s1", command)
            .exits(1)
            .says("is a person’s decision");
    }
    assert_eq!(files(), before);
}

#[test]
fn an_agent_may_mark_done_and_cancel() {
    let (project, id) = Project::reviewing(&[]);
    project.review(&id, "fake-clean").exits(0);
    project.run_in_session("s1", &["mark-done", &id]).exits(0);
    assert_eq!(project.journal(&id).last().unwrap()["by"], "agent");
    project.run_in_session("s1", &["cancel", &id]).exits(0);
    assert_eq!(project.field(&id, "phase"), "cancelled");
}

#[test]
fn inside_a_client_without_a_session_id_nothing_is_started() {
    let project = Project::new();
    let before = tree(&project.root);
    let mut start = project.command(&["start", "plan", "topic"]);
    Ran::of(start.env("CLAUDECODE", "1").output().unwrap())
        .exits(2)
        .says("CLAUDE_CODE_SESSION_ID");
    assert_eq!(tree(&project.root), before);
}

// --- what a person typed after a command -------------------------------------------------------------------------

#[test]
fn a_typed_command_starts_a_loop_without_a_shell_in_between() {
    let project = Project::new();
    let topic = "fix `it` $(touch pwned) \"q\" 'q' | & / \\ ü\n--rounds 9; EOF";
    project.type_line("s1", &format!("/claudex:plan --rounds 2 {topic}"));
    let started = project
        .run_in_session("s1", &["start", "plan", "--from-prompt"])
        .exits(0);
    let id = id_of(&started);
    assert_eq!(project.field(&id, "topic"), topic);
    assert_eq!(project.field(&id, "max_rounds"), "2");
    assert_eq!(project.field(&id, "session_id"), "s1");
    assert!(!project.root.join("pwned").exists());
}

#[test]
fn what_was_typed_is_taken_once_and_by_its_own_session_alone() {
    let project = Project::new();
    project.type_line("s1", "/claudex:plan a topic");
    let from_prompt = ["start", "plan", "--from-prompt"];
    project
        .run_in_session("s2", &from_prompt)
        .exits(2)
        .says("no arguments of this command");
    project.run(&from_prompt).exits(2);
    assert!(!project.folder().exists(), "a refused start leaves nothing");
    let id = id_of(&project.run_in_session("s1", &from_prompt).exits(0));
    project.run(&["cancel", &id]).exits(0);
    project
        .run_in_session("s1", &from_prompt)
        .exits(2)
        .says("no arguments of this command");
}

#[test]
fn a_ticket_stands_for_the_person_once_and_for_its_own_command() {
    let project = Project::new();
    let id = project.start(&[]);
    project.fire_as("old").blocked();

    project.type_line("s1", &format!("/claudex:adopt {id}"));
    project
        .run_in_session("s1", &["adopt", &id])
        .exits(1)
        .says("is a person’s decision");
    project
        .run_in_session("s1", &["resume", "--from-prompt"])
        .exits(2);
    project.run_in_session("s2", &["adopt", "--from-prompt"]).exits(2);
    project.run_in_session("s1", &["adopt", "--from-prompt"]).exits(0);
    assert_eq!(project.field(&id, "session_id"), "s1");
    project.run_in_session("s1", &["adopt", "--from-prompt"]).exits(2);

    project.type_line("s1", "/claudex:resume");
    project
        .run_in_session("s1", &["resume", "--from-prompt"])
        .exits(0);
    assert_eq!(project.changes(&id).last().unwrap(), "resume");
}

#[test]
fn what_an_agent_or_another_plugin_says_leaves_no_ticket() {
    let project = Project::new();
    let id = project.start(&[]);
    let events: [Value; 6] = [
        // A client without prompt ids sends it when the command has run.
        json!({"hook_event_name": "UserPromptSubmit", "session_id": "s1", "prompt": "/claudex:adopt"}),
        json!({"hook_event_name": "UserPromptSubmit", "prompt_id": "p1", "session_id": "s1", "agent_id": "a", "prompt": "/claudex:adopt"}),
        json!({"hook_event_name": "UserPromptSubmit", "prompt_id": "p1", "session_id": "s1", "prompt": "please type /claudex:adopt"}),
        json!({"hook_event_name": "UserPromptSubmit", "prompt_id": "p1", "session_id": "s1", "prompt": "/other:adopt"}),
        json!({"hook_event_name": "Stop", "session_id": "s1", "prompt": "/claudex:adopt"}),
        json!({"hook_event_name": "UserPromptSubmit", "prompt_id": "p1", "prompt": "/claudex:adopt"}),
    ];
    for event in events {
        feed(project.command(&["hook", "prompt"]), event.to_string().as_bytes()).exits(0);
        project.run_in_session("s1", &["adopt", "--from-prompt"]).exits(2);
    }
    feed(project.command(&["hook", "prompt"]), b"not json").exits(0);
    assert_eq!(project.field(&id, "session_id"), "unknown");
}

#[test]
fn what_was_typed_is_readable_by_its_owner_alone() {
    let project = Project::new();
    project.type_line("s1", "/claudex:plan a secret topic");
    let files: Vec<_> = tree(&project.home)
        .into_iter()
        .filter(|(_, bytes)| {
            bytes
                .as_deref()
                .is_some_and(|bytes| String::from_utf8_lossy(bytes).contains("secret"))
        })
        .collect();
    assert_eq!(files.len(), 1);
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&files[0].0), 0o600);
    assert_eq!(mode(files[0].0.parent().unwrap()), 0o700);
}
