//! Whose loop it is, how a session takes one over, and which commands only a person may give.

use crate::support::{Project, Ran, Stop, id_of, tree};
use claudex_testkit::has;
use serde_json::json;

#[test]
fn another_session_of_the_project_is_not_blocked() {
    let project = Project::new();
    let id = id_of(
        &project
            .run_in_session("s1", &["start", "plan", "topic"])
            .exits(0),
    );
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
    for blank in [
        json!({"session_id": ""}),
        json!({"session_id": "  "}),
        json!({}),
    ] {
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
    project
        .fire_with(json!({"session_id": "unknown"}))
        .approved();
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
    let ours = id_of(
        &project
            .run_in_session("s1", &["start", "plan", "ours"])
            .exits(0),
    );
    let inner = project.root.join("inner");
    std::fs::create_dir(&inner).unwrap();
    project.git(&["init", "--quiet", "inner"]);
    let mut start = project.command(&["start", "plan", "theirs"]);
    let theirs = id_of(&Ran::of(start.current_dir(&inner).output().unwrap()).exits(0));
    assert!(
        inner
            .join(format!(".claude/claudex/{theirs}.state"))
            .exists()
    );

    let reason = project
        .fire_from(&inner, json!({"session_id": "s1"}))
        .blocked();
    has(&reason, &ours);
    let reason = project
        .fire_from(&inner, json!({"session_id": "s2"}))
        .blocked();
    has(&reason, &theirs);
}

// --- adopt, resume and who may -----------------------------------------------------------------------------------

#[test]
fn a_person_adopts_a_loop_for_whichever_session_comes_next() {
    let project = Project::new();
    let id = project.start(&[]);
    project.fire_as("crashed").blocked();
    crate::support::age(
        &project.state_path(&id),
        std::time::Duration::from_secs(16 * 60),
    );
    project.answers(&["adopt", &id], 0, "belongs to no session now");
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
        has(&ran.err, &again);
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
    has(&said.out, "The stops of session s1 drive it.");
    has(
        &said.out,
        &format!("\n    claudex-loop resume {id} --adopt\n"),
    );
    assert_eq!(project.field(&id, "session_id"), "s1");
    project
        .run(&["resume", &id, "--adopt", "--yes"])
        .exits(0)
        .says("goes on in phase reviewing, round 1 of 3.")
        .says("belongs to no session now");
    assert_eq!(project.field(&id, "session_id"), "unknown");
    project
        .run(&["resume", &id])
        .exits(0)
        .says("It belongs to no session: the next one that ends a turn");
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
    project.answers_in(
        "s2",
        &["resume", &id, "--adopt"],
        1,
        "an agent may not run ‘",
    );
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
        project.answers_in("fresh", &["resume", "--from-prompt"], 0, title);
        // From a terminal there is no agent that could print it.
        let ran = project.run(&["resume"]).exits(0);
        assert!(!ran.out.contains(title), "{}", ran.out);
        // Where the person was asked and did not answer, a line says that it is over.
        assert_eq!(
            project.fire_as("fresh").approved().is_empty(),
            rounds == "3"
        );
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
        (
            project.field(&id, "failures"),
            project.field(&id, "reminders")
        ),
        ("1".into(), "1".into())
    );
    project.run(&["resume", &id]).exits(0).says("round 1 of 3");
    assert_eq!(
        (
            project.field(&id, "failures"),
            project.field(&id, "reminders")
        ),
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
        project.answers_in("s1", command, 1, "an agent may not run ‘");
    }
    assert_eq!(files(), before);
}

#[test]
fn an_agent_may_mark_done_and_cancel() {
    let (project, id) = Project::reviewing(&[]);
    project.review(&id, "fake-clean").exits(0);
    project.run_in_session("s1", &["mark-done", &id]).exits(0);
    assert_eq!(project.journal(&id).last().unwrap()["by"], "agent");
    project
        .run_in_session("s1", &["mark-done", &id])
        .exits(1)
        .says("already marked as done; end the turn");
    project.run_in_session("s1", &["cancel", &id]).exits(0);
    assert_eq!(project.field(&id, "phase"), "cancelled");
}

#[test]
fn agent_changes_no_loop_of_another_session() {
    let (project, id) = Project::reviewing(&[]);
    project.review(&id, "fake-clean").exits(0);
    let file = project.state_path(&id);
    let file = file.to_str().unwrap();
    let before = (project.state(&id), project.changes(&id));
    for command in [
        &["mark-done", &id][..],
        &["cancel", &id],
        &["cancel"],
        &["state", "move", file, "reviewing", "cancelled"],
    ] {
        project.answers_in("s2", command, 1, "belongs to another session");
        let mut command = project.command(command);
        let nameless = command.env("CLAUDECODE", "1").output().unwrap();
        Ran::of(nameless)
            .exits(1)
            .says(&format!("loop {id} belongs to another session"));
    }
    assert_eq!((project.state(&id), project.changes(&id)), before);
    project.run(&["cancel", &id]).exits(0);
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
