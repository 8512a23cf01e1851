//! The owner of a loop, its takeover by a session, and the commands only for users.

use serde_json::json;

use crate::support::{Project, Ran, Stop, has, id_of, lacks, tree};

#[test]
fn loop_from_a_terminal_belongs_to_first_session() {
    let project = Project::new();
    let id = project.start(&[]);
    // Stops without a session, or of session `unknown`, do not take it.
    Stop::read(&project.run_with_stdin("hook stop", b"{}")).blocked();
    for nobody in [
        json!({"session_id": "  "}),
        json!({}),
        json!({"session_id": "unknown"}),
    ] {
        project.fire_with(nobody).approved();
        assert_eq!(project.field(&id, "session_id"), "unknown");
    }
    let session = "a\"b: |&/\\ $(x)\nphase: done\nü";
    project.fire_as(session).approved();
    assert_eq!(project.field(&id, "session_id"), session, "any text");
    assert_eq!(project.changes(&id), ["start", "remind", "bind"]);

    // Now only this session drives it.
    project.plan("# Plan\n");
    let before = tree(&project.root);
    Stop::read(&project.run_with_stdin("hook stop", b"{}")).approved();
    for other in ["", "unknown", "s8"] {
        assert_eq!(project.fire_as(other).approved(), "");
    }
    assert_eq!(tree(&project.root), before);
    project.fire_as(session).blocked();
    assert_eq!(project.field(&id, "phase"), "reviewing");
}

#[test]
fn own_loop_of_session_goes_before_unowned_one() {
    let project = Project::new();
    let ours = id_of(&project.run_in_session("s1", "start plan ours").exits(0));
    let inner = project.root.join("inner");
    std::fs::create_dir(&inner).unwrap();
    project.git(&["init", "--quiet", "inner"]);
    let theirs = id_of(&project.run_in(&inner, "start plan theirs").exits(0));
    for (session, id) in [("s1", &ours), ("s2", &theirs)] {
        let stop = project.fire_from(&inner, json!({ "session_id": session }));
        has(&stop.blocked(), id);
    }
}

// --- adopt, resume and permissions ---------------------------------------------------------------

#[test]
fn adopt_of_another_sessions_loop_needs_a_yes() {
    let (project, id) = Project::reviewing(&[]);
    let before = project.state(&id);
    let ran = project.run("adopt").exits(1);
    has(&ran.err, "session s1 may be working on loop");
    has(
        &ran.err,
        &format!("    claudex-loop adopt {id} --yes (in Claude Code"),
    );
    project.run_with_stdin("adopt", b"y\n").exits(1);
    let screen = project.on_terminal(80, "adopt", "n\n");
    assert_eq!(screen.code, 1, "{screen:#?}");
    screen.shows("Take the loop over? [y/N]");
    screen.shows("nothing was changed");
    assert_eq!(project.state(&id), before);
    assert_eq!(project.on_terminal(80, "adopt", "y\n").code, 0);
    assert_eq!(project.field(&id, "session_id"), "unknown");
    // If the loop belongs to nobody, no confirmation is necessary.
    project.answers("adopt", 0, "belongs to no session now");

    project.fire_as("s2").blocked();
    project.run(&format!("adopt {id} --yes")).exits(0);
    project.fire_as("fresh");
    assert_eq!(project.field(&id, "session_id"), "fresh");
    assert_eq!(project.fire_as("s2").approved(), "");
    // The slash command is the user's consent, and a session takes its own.
    let ran = project.slash("s3", "/claudex:adopt", "adopt").exits(0);
    ran.says("belongs to this session now");
}

#[test]
fn resume_in_terminal_names_whose_stops_drive() {
    let (project, id) = Project::reviewing(&[]);
    let resume = format!("resume {id}");
    let message = project.run(&resume).exits(0);
    has(&message.out, "The stops of session s1 drive it.");
    has(&message.out, &format!("\n    claudex-loop adopt {id}\n"));
    assert_eq!(project.field(&id, "session_id"), "s1");
    has(
        &message.out,
        "continues in phase reviewing and waits for the review of round 1\n",
    );
    project.run(&format!("adopt {id} --yes")).exits(0);
    let nobody = "belongs to no session now: the next session that ends a turn";
    project.answers(&resume, 0, nobody);
    project.fire_as("fresh").blocked();
    assert_eq!(project.field(&id, "session_id"), "fresh");
    // Inside a session, that session takes it.
    let prompt = format!("/claudex:resume {id}");
    let ran = project.slash("s1", &prompt, "resume").exits(0);
    ran.says("belongs to this session now");
    assert_eq!(project.field(&id, "session_id"), "s1");
}

#[test]
fn session_that_adopts_summing_up_gets_the_summary() {
    for (rounds, reviewer, title) in [
        ("3", "fake-clean", "### Claudex plan loop complete ✓"),
        (
            "1",
            "fake-findings",
            "### Claudex plan loop stopped at max rounds (round 1 of 1)",
        ),
    ] {
        let (project, id) = Project::reviewing(&["--rounds", rounds]);
        project.review(&id, reviewer).exits(0);
        project.fire().blocked();

        let ran = project.slash("fresh", "/claudex:adopt", "adopt").exits(0);
        has(
            &ran.out,
            &format!("belongs to this session now.\n\n{title}"),
        );
        has(&ran.out, "**Findings by round:**");
        has(&ran.out, "Print this summary to the user");
        let ran = project.slash("fresh", "/claudex:resume", "resume").exits(0);
        has(&ran.out, title);
        // In a terminal, no agent can print it.
        lacks(&project.run("resume").exits(0).out, title);
        // If the user did not answer the question, a line reports the end.
        let last = project.fire_as("fresh").approved();
        assert_eq!(last.is_empty(), rounds == "3");
        assert_eq!(project.field(&id, "phase"), "done");
    }
}

#[test]
fn users_commands_are_refused_to_agents_and_journaled() {
    let (project, id) = Project::reviewing(&["--rounds", "1"]);
    project.review(&id, "fake-findings").exits(0);
    project.fire().blocked();
    // The journal and the log note the attempt. No other file may differ.
    let files = || {
        let mut files = tree(&project.folder());
        files.retain(|(path, _)| !path.ends_with("journal.jsonl") && !path.ends_with("log"));
        (files, project.changes(&id))
    };
    let before = files();
    let commands = [
        "resume",
        "adopt",
        "rollback --yes",
        "pause",
        "more",
        "archive",
    ];
    for command in commands {
        let ran = project.run_in_session("s1", command).exits(1);
        let verb = command.split(' ').next().unwrap();
        has(&ran.err, &format!("an agent may not run ‘{verb}"));
        has(&ran.err, &format!("claudex-loop {command}"));
    }
    assert_eq!(files(), before);
    let journal = project.journal(&id);
    let refused = journal.iter().filter(|entry| entry["note"] == "refused");
    let tried: Vec<_> = refused.map(|entry| &entry["data"]["tried"]).collect();
    assert_eq!(
        tried,
        commands.map(|command| command.split(' ').next().unwrap())
    );
    let ran = project.run_in_session("s1", "more --rounds 1").exits(1);
    let refusal = "  × an agent may not run ‘more’\n  help: ask the user to:\n            \
         /claudex:more --rounds 1 (in a terminal: claudex-loop more --rounds 1)\n";
    assert_eq!(ran.err, refusal);
}

#[test]
fn agent_may_mark_done_and_cancel() {
    let (project, id) = Project::reviewing(&[]);
    project.review(&id, "fake-clean").exits(0);
    let mark_done = format!("mark-done {id}");
    project.run_in_session("s1", &mark_done).exits(0);
    assert_eq!(project.journal(&id).last().unwrap()["by"], "agent");
    let again = "already marked as done; end the turn";
    project.answers_in("s1", &mark_done, 1, again);
    project.answers_in("s1", &format!("cancel {id}"), 0, "");
    assert_eq!(project.field(&id, "phase"), "cancelled");
}

#[test]
fn agent_changes_no_loop_of_another_session() {
    let (project, id) = Project::reviewing(&[]);
    project.review(&id, "fake-clean").exits(0);
    let file = project.state_path(&id);
    let before = (project.state(&id), project.changes(&id));
    for command in [
        &["mark-done", &id][..],
        &["cancel", &id],
        &["cancel"],
        &[
            "state",
            "move",
            file.to_str().unwrap(),
            "reviewing",
            "cancelled",
        ],
    ] {
        project.answers_in("s2", command, 1, "belongs to another session");
        let mut nameless = project.command(command);
        let ran = Ran::new(nameless.env("CLAUDECODE", "1").output().unwrap()).exits(1);
        ran.says(&format!("loop {id} belongs to another session"));
    }
    assert_eq!((project.state(&id), project.changes(&id)), before);
    project.run(&format!("cancel {id}")).exits(0);
}
