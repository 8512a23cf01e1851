//! Looking at loops: status, list, journal, personas. A look changes nothing.

use crate::support::{Project, tree};
use claudex_testkit::has;
use serde_json::Value;

#[test]
fn status_shows_the_active_loop_before_a_newer_one_that_is_over_and_the_newest_where_none_is() {
    let project = Project::new();
    let over = project.start(&[]);
    project.run(&["cancel", &over]).exits(0);
    project
        .run(&["status"])
        .exits(0)
        .says(&over)
        .says("cancelled");
    let active = project.start(&[]);
    let file = std::fs::File::options()
        .append(true)
        .open(project.state_path(&over))
        .unwrap();
    file.set_modified(std::time::SystemTime::now() + std::time::Duration::from_secs(60))
        .unwrap();
    let ran = project.run(&["status"]).exits(0).says(&active);
    assert!(!ran.out.contains(&over), "{}", ran.out);
}

#[test]
fn status_exits_with_0_whatever_lies_in_the_state_folder() {
    let project = Project::new();
    std::fs::create_dir_all(project.folder()).unwrap();
    for (name, bytes) in [
        ("20261122-010203-0a1b2c.state", &b"\0"[..]),
        ("by hand.state", b"phase: drafting\n"),
        (
            "20261122-010203-0a1b2d.state",
            b"phase: done\nmachine: plan\n",
        ),
        (
            "20261122-010203-0a1b2e.state",
            b"phase: done\nmachine: another\n",
        ),
    ] {
        std::fs::write(project.folder().join(name), bytes).unwrap();
        project.run(&["status"]).exits(0);
        project.run(&["list"]).exits(0);
    }
}

#[test]
fn list_names_every_loop_and_json_is_all_there_is() {
    let project = Project::new();
    let first = project.start(&[]);
    project.run(&["cancel", &first]).exits(0);
    let second = project.start(&[]);
    crate::support::age(
        &project.state_path(&second),
        std::time::Duration::from_secs(3600),
    );
    let third = project.start(&[]);
    let ran = project.run(&["list"]).exits(0);
    let row = |id: &str| -> Vec<String> {
        let line = ran.out.lines().find(|line| line.starts_with(id));
        let line = line.unwrap_or_else(|| panic!("{id}: {}", ran.out));
        line.split_whitespace().map(str::to_owned).collect()
    };
    assert_eq!(row(&first)[1..5], ["plan", "cancelled", "1/3", "-"]);
    assert_eq!(row(&third)[1..5], ["plan", "drafting", "1/3", "-"]);
    assert_eq!(row(&second)[2], "archived");
    assert_eq!(row(&third)[6..], ["Move", "the", "queue"]);
    let rows: Value = serde_json::from_str(&project.run(&["list", "--json"]).exits(0).out).unwrap();
    let rows = rows.as_array().unwrap();
    assert_eq!(rows.len(), 3);
    let swept: Vec<_> = rows.iter().filter(|row| row["archived"] == true).collect();
    assert_eq!(swept[0]["id"], second);
}

#[test]
fn the_journal_without_an_id_lists_the_loops_also_after_the_slash_command() {
    let (project, id) = Project::reviewing(&[]);
    project
        .run(&["journal"])
        .exits(0)
        .says(&id)
        .says("claudex-loop journal LOOP");
    project.answers_in("s1", &["journal", "--from-prompt"], 0, &id);
    project.type_line("s1", "/claudex:history");
    project.answers_in("s1", &["journal", "--from-prompt"], 0, "TOPIC");
    project.type_line("s1", &format!("/claudex:history {id}"));
    let ran = project
        .run_in_session("s1", &["journal", "--from-prompt"])
        .exits(0);
    has(&ran.out, "begin by the hook");
    let rows: Value =
        serde_json::from_str(&project.run(&["journal", "--json"]).exits(0).out).unwrap();
    assert_eq!(rows[0]["id"], id);
}

#[test]
fn status_last_stop_changed_nothing_says_why() {
    let project = Project::new();
    let id = project.start(&[]);
    project.fire().blocked();
    project.fire().approved();
    let before = tree(&project.folder());
    let ran = project.run(&["status", &id]).exits(0);
    has(&ran.out, "\nlast stop: 20");
    has(
        &ran.out,
        " ago: let the turn end: it waits for PLAN.md to be written\n",
    );
    assert_eq!(tree(&project.folder()), before, "a look changes nothing");
    project.run(&["resume", &id]).exits(0);
    project.plan("# Plan\n");
    project.fire().blocked();
    let ran = project.run(&["status", &id]).exits(0);
    has(&ran.out, " ago: begin by the hook drafting -> reviewing");
    assert!(!ran.out.contains("last stop:"), "{}", ran.out);
}

#[test]
fn status_change_after_last_stop_shows_both() {
    let (project, id) = Project::reviewing(&[]);
    project.run(&["cancel", &id]).exits(0);
    let ran = project.run(&["status"]).exits(0);
    has(&ran.out, " ago: cancel by the user reviewing -> cancelled");
    has(&ran.out, " ago: begin by the hook drafting -> reviewing");
}

#[test]
fn status_loop_of_run_names_run_and_no_stop() {
    let project = Project::new();
    project.plan("# Move the queue\n");
    let run = [
        "run",
        "PLAN.md",
        "--reviewer",
        "lint",
        "--rounds",
        "1",
        "--json",
    ];
    let run: Value = serde_json::from_str(&project.run(&run).exits(4).out).unwrap();
    project
        .run(&["journal", run["id"].as_str().unwrap()])
        .exits(0)
        .says("begin by `run` drafting -> reviewing, round 1 of 1");
    let ran = project.run(&["status"]).exits(0);
    has(&ran.out, " ago: finish by `run` summarizing -> done");
    assert!(!ran.out.contains("last stop:"), "{}", ran.out);
}

#[test]
fn a_loop_that_was_marked_waits_for_the_end_of_the_turn_and_names_no_verb_that_is_closed() {
    let (project, id) = Project::reviewing(&["--rounds", "2"]);
    project.review(&id, "fake-findings").exits(0);
    project
        .run(&["status"])
        .exits(0)
        .says(&format!("claudex-loop mark-done {id}"));
    project.mark_done(&id, Some("out of scope"));
    let shown = status(&project);
    assert_eq!(shown["waits_for"], "the agent, to end its turn");
    assert_eq!(
        shown["next"],
        "end the turn: the loop goes on to summarizing"
    );
    let ran = project.run(&["status"]).exits(0).says("end the turn");
    assert!(!ran.out.contains("claudex-loop mark-done"), "{}", ran.out);
    project.fire().blocked();
    assert_eq!(project.field(&id, "phase"), "summarizing");
}

#[test]
fn a_rejection_does_not_outlive_the_rounds_that_reopen_the_loop() {
    let (project, id) = Project::reviewing(&["--rounds", "3"]);
    project.review(&id, "fake-findings").exits(0);
    project.mark_done(&id, Some("out of scope"));
    project.fire().blocked();
    let notes = || status(&project)["notes"].to_string();
    assert!(
        notes().contains("were rejected: out of scope"),
        "{}",
        notes()
    );
    project.run(&["more", &id, "--rounds", "1"]).exits(0);
    project.plan("# Plan, revised\n");
    assert_eq!(notes(), "[]");
    project.review(&id, "fake-findings").exits(0);
    project.fire().blocked();
    assert!(
        !notes().contains("out of scope") && !notes().contains("changed since it was reviewed"),
        "{}",
        notes()
    );
    assert!(
        notes().contains("The plan was not settled. Round 2 found high=1"),
        "{}",
        notes()
    );
}

#[test]
fn a_failure_that_no_stop_has_counted_yet_is_not_counted() {
    let (project, id) = Project::reviewing(&[]);
    project.review(&id, "fake-could-not-run").exits(5);
    let ran = project
        .run(&["status"])
        .exits(0)
        .says("the last review gave no verdict: ");
    assert!(!ran.out.contains("failure 0"), "{}", ran.out);
}

#[test]
fn a_swept_loop_is_named_with_the_line_that_brings_it_back() {
    let (project, id) = Project::reviewing(&[]);
    project.review(&id, "fake-findings").exits(0);
    let journal = project.run(&["journal", &id]).exits(0).out;
    crate::support::age(
        &project.state_path(&id),
        std::time::Duration::from_secs(3600),
    );
    project.run(&["sweep"]).exits(0);
    let before = tree(&project.folder());
    let line = format!("    claudex-loop resume {id}\n");
    for call in [
        &["mark-done", &id][..],
        &["review", &id],
        &["review", &id, "--follow"],
        &["cancel", &id],
        &["resume"],
    ] {
        let ran = project.run(call).exits(1);
        assert!(
            ran.err.contains("is in the archive"),
            "{call:?}: {}",
            ran.err
        );
        assert!(ran.err.contains(&line), "{call:?}: {}", ran.err);
    }
    assert_eq!(project.run(&["journal", &id]).exits(0).out, journal);
    project
        .run(&["journal", &id, "--verify"])
        .exits(0)
        .says("each with your seal");
    assert_eq!(tree(&project.folder()), before, "nothing was changed");
    project.run(&["resume", &id]).exits(0);
    let back = project.run(&["journal", &id]).exits(0).out;
    assert!(back.starts_with(&journal), "{back}");
}

// --- what is decided, and what is waited for ---------------------------------------------------------------------

fn status(project: &Project) -> Value {
    let answer: Value =
        serde_json::from_str(&project.run(&["status", "--json"]).exits(0).out).unwrap();
    assert_eq!(answer["problems"], serde_json::json!([]));
    answer["loops"][0].clone()
}

#[test]
fn status_says_what_was_decided_last_by_whom_and_why() {
    let (project, id) = Project::reviewing(&["--rounds", "2"]);
    let last = status(&project)["last_change"].clone();
    assert_eq!(
        (&last["what"], &last["by"]),
        (&"begin".into(), &"hook".into())
    );
    assert_eq!(
        (&last["from"], &last["to"]),
        (&"drafting".into(), &"reviewing".into())
    );

    project.review(&id, "fake-findings").exits(0);
    project.plan("# Plan, revised\n");
    project.fire().blocked();
    let last = status(&project)["last_change"].clone();
    assert_eq!(last["what"], "revise");
    let run = last["run"].as_str().unwrap().to_owned();
    assert_eq!(last["why"], format!("for run {run}: high=1 medium=1 low=1"));
    let ran = project.run(&["status"]).exits(0);
    let line = ran
        .out
        .lines()
        .find(|line| line.starts_with("last:"))
        .unwrap();
    has(line, " ago: revise by the hook in reviewing, round 2");
    assert!(
        line.ends_with(&format!(", for run {run}: high=1 medium=1 low=1")),
        "{line}"
    );

    // A failure, with its cause.
    project.review(&id, "fake-could-not-run").exits(5);
    project.fire().blocked();
    let shown = status(&project);
    assert_eq!(shown["last_change"]["what"], "retry");
    let why = shown["last_change"]["why"].as_str().unwrap();
    has(why, "could not run: the reviewer failed with exit status 1");
    assert_eq!(
        (
            &shown["fields"]["failures"],
            &shown["fields"]["max_failures"]
        ),
        (&1.into(), &3.into())
    );

    // A rejection, by the agent and with its text, made plain.
    project.review(&id, "fake-findings").exits(0);
    project
        .run_in_session(
            "s1",
            &[
                "mark-done",
                &id,
                "--rejecting",
                "out of \u{1b}[31mscope\u{202e}",
            ],
        )
        .exits(0);
    let last = status(&project)["last_change"].clone();
    assert_eq!(
        (&last["what"], &last["by"]),
        (&"mark_done".into(), &"agent".into())
    );
    let why = last["why"].as_str().unwrap();
    has(
        why,
        "high=1 medium=1 low=1; rejecting what is open: out of [31mscope",
    );
}

#[test]
fn status_says_what_is_waited_for_in_every_phase() {
    let project = Project::new();
    let id = project.start(&["--rounds", "1"]);
    let waits = |text: &str, next: &str| {
        let shown = status(&project);
        let (waits, todo) = (
            shown["waits_for"].as_str().unwrap(),
            shown["next"].as_str().unwrap(),
        );
        has(waits, text);
        has(todo, next);
        assert!(!shown["state"].as_str().unwrap().is_empty());
    };
    waits("the agent, to write PLAN.md", "write PLAN.md");
    assert_eq!(
        status(&project)["review"]["reviewer"],
        "lint",
        "who would be asked"
    );
    project.fire().blocked();
    assert_eq!(status(&project)["fields"]["reminders"], 1);
    project.answers(&["status"], 0, &format!("/claudex:resume {id}"));
    project.plan("# Plan\n");
    waits(
        "the agent, to end its turn",
        "end the turn: PLAN.md is written",
    );
    project.fire().blocked();
    waits(
        "the review of round 1",
        &format!("claudex-loop review {id}"),
    );
    let review = project.background_review(&id, &["--reviewer", "fake-hang"]);
    waits("which is running", "--follow");
    drop(review);
    crate::support::wait_for("the end of the review", || {
        status(&project)["review"]["running"] == false
    });
    waits("the review of round 1", "claudex-loop review");
    project.review(&id, "fake-findings").exits(0);
    waits("deal with the findings of round 1", "revise PLAN.md");
    project.fire().blocked();
    waits(
        "an answer to: The plan is not settled after round 1 of 1.",
        &format!("claudex-loop answer {id} LABEL"),
    );
    project.fire().approved();
    waits("nothing", "the loop is over");
}

#[test]
fn status_of_an_id_is_about_that_loop_alone() {
    let project = Project::new();
    let over = project.start(&[]);
    project.run(&["cancel", &over]).exits(0);
    let active = project.start(&[]);
    let ran = project.run(&["status", &over]).exits(0).says("cancelled");
    assert!(!ran.out.contains(&active), "{}", ran.out);
    project.type_line("s1", &format!("/claudex:status {over}"));
    project.answers_in("s1", &["status", "--from-prompt"], 0, &over);
    project.answers_in("s1", &["status", "--from-prompt"], 0, &active);
    for (unknown, code) in [("20250101-000000-abcdef", 1), ("../x", 2), ("", 2)] {
        project.run(&["status", unknown]).exits(code);
    }
    crate::support::age(
        &project.state_path(&active),
        std::time::Duration::from_secs(3600),
    );
    project.run(&["sweep"]).exits(0);
    project.run(&["rollback", "--yes"]).exits(0);
    let active = project.start(&[]);
    crate::support::age(
        &project.state_path(&active),
        std::time::Duration::from_secs(3600),
    );
    project.run(&["sweep"]).exits(0);
    project
        .run(&["status"])
        .exits(0)
        .says("no loops")
        .says("claudex-loop list");
    project.answers(
        &["status", &active],
        0,
        &format!("claudex-loop resume {active}"),
    );
}

#[test]
fn the_names_that_are_documented_are_those_of_the_json() {
    let (project, id) = Project::reviewing(&[]);
    project.review(&id, "fake-findings").exits(0);
    let documented =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/status.md")).unwrap();
    let named = |section: &str| -> Vec<String> {
        let (_, after) = documented.split_once(&format!("## {section}\n")).unwrap();
        let table = after.split("\n## ").next().unwrap();
        table
            .lines()
            .filter_map(|line| line.strip_prefix("| `")?.split_once('`'))
            .map(|(name, _)| name.to_owned())
            .collect()
    };
    let names =
        |value: &Value| -> Vec<String> { value.as_object().unwrap().keys().cloned().collect() };
    let shown = status(&project);
    assert_eq!(named("A loop"), names(&shown));
    assert_eq!(named("The last change"), names(&shown["last_change"]));
    assert_eq!(named("Its review"), names(&shown["review"]));
    let rows: Value = serde_json::from_str(&project.run(&["list", "--json"]).exits(0).out).unwrap();
    assert_eq!(named("A row of the list"), names(&rows[0]));
    let checks: Value = serde_json::from_str(&project.run(&["doctor", "--json"]).out).unwrap();
    let of_doctor = named("A check of the doctor");
    for check in checks.as_array().unwrap() {
        assert!(
            names(check).iter().all(|name| of_doctor.contains(name)),
            "{check}"
        );
    }
}

// --- on a terminal -----------------------------------------------------------------------------------------------

#[test]
fn the_name_of_the_slash_command_works_in_a_terminal_too() {
    let (project, id) = Project::reviewing(&[]);
    let told = |verb: &str| project.run(&[verb, &id]).exits(0).out;
    assert_eq!(told("history"), told("journal"));
}

#[test]
fn the_status_line_is_of_the_sessions_own_loop_and_never_fails() {
    let project = Project::new();
    let line = |session: &str| {
        let input =
            serde_json::json!({ "session_id": session, "cwd": project.root, "workspace": {} });
        let ran = project.run_with_stdin(&["statusline"], input.to_string().as_bytes());
        ran.exits(0).out
    };
    assert_eq!(line("s1"), "");
    project
        .run_in_session("s1", &["start", "plan", "a topic"])
        .exits(0);
    assert!(
        line("s1").starts_with("claudex: drafting, round 1 of 3, "),
        "{}",
        line("s1")
    );
    assert_eq!(line("s2"), "");
    for input in ["", "{", "[]", "{\"session_id\": 7}"] {
        let ran = project
            .run_with_stdin(&["statusline"], input.as_bytes())
            .exits(0);
        assert_eq!((ran.out.as_str(), ran.err.as_str()), ("", ""), "{input}");
    }
}
