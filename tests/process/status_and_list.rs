//! `status`, `list`, `journal` and `personas`, which change nothing.

use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use crate::support::{Project, ends, has, lacks, tree, wait_for};

/// Returns the loop that `status --json` shows.
fn status(project: &Project) -> Value {
    let mut answer = project.json("status --json");
    assert_eq!(answer["problems"], json!([]));
    answer["loops"][0].take()
}

#[test]
fn slash_status_shows_the_named_loop() {
    let project = Project::new();
    let first = project.start(&[]);
    project.run(&format!("cancel {first}")).exits(0);
    let second = project.start(&[]);
    for id in [&first, &second] {
        let ran = project.slash("s1", &format!("/claudex:status {id}"), "status");
        has(&ran.exits(0).out, &format!("loop:      {id}"));
    }
    let command = include_str!("../../plugin/commands/status.md");
    has(command, "!`claudex-loop status --from-prompt ");
}

#[test]
fn status_shows_the_active_loop_or_the_newest() {
    let project = Project::new();
    let over = project.start(&[]);
    project.run(&format!("cancel {over}")).exits(0);
    project.run("status").exits(0).says(&over).says("cancelled");
    let active = project.start(&[]);
    let file = std::fs::File::options()
        .append(true)
        .open(project.state_path(&over));
    file.unwrap()
        .set_modified(SystemTime::now() + Duration::from_secs(60))
        .unwrap();
    let status = project.run("status").exits(0).says(&active).out;
    lacks(&status, &over);

    // With an id, only that loop.
    let status = project
        .run(&format!("status {over}"))
        .exits(0)
        .says("cancelled")
        .out;
    lacks(&status, &active);
    let line = format!("/claudex:status {over}");
    project.slash("s1", &line, "status").exits(0).says(&over);
    project.answers_in("s1", "status --from-prompt", 0, &active);
    for (unknown, code) in [("20250101-000000-abcdef", 1), ("../x", 2), ("''", 2)] {
        project.run(&format!("status {unknown}")).exits(code);
    }
    project.sweep(&active);
    project.run("rollback --yes").exits(0);
    project
        .run("status")
        .exits(0)
        .says("no loops")
        .says("claudex-loop list");
    let command = format!("claudex-loop resume {active}");
    project.answers(&format!("status {active}"), 0, &command);
}

#[test]
fn status_exits_with_0_whatever_is_there() {
    let project = Project::new();
    std::fs::create_dir_all(project.folder()).unwrap();
    for (name, bytes) in [
        ("20261122-010203-0a1b2c.state", "\0"),
        ("by hand.state", "phase: drafting\n"),
        (
            "20261122-010203-0a1b2d.state",
            "phase: done\nmachine: plan\n",
        ),
        (
            "20261122-010203-0a1b2e.state",
            "phase: done\nmachine: another\n",
        ),
    ] {
        std::fs::write(project.folder().join(name), bytes).unwrap();
        project.run("status").exits(0);
        project.run("list").exits(0);
    }
}

#[test]
fn list_has_a_row_for_every_loop() {
    let project = Project::new();
    let first = project.start(&[]);
    project.run(&format!("cancel {first}")).exits(0);
    let second = project.start(&[]);
    project.sweep(&second);
    let third = project.start(&[]);
    let list = project.json("list --json");
    let rows = list.as_array().unwrap().iter();
    let mut states: Vec<_> = rows.map(|row| (&row["id"], &row["archived"])).collect();
    states.sort_by_key(|(id, _)| id.as_str());
    let mut expected = [(first, false), (second, true), (third, false)];
    expected.sort();
    let expected = expected.map(|(id, is_archived)| (json!(id), json!(is_archived)));
    assert!(
        states
            .into_iter()
            .eq(expected.iter().map(|(id, is_archived)| (id, is_archived)))
    );
}

#[test]
fn journal_without_id_lists_the_loops() {
    let (project, id) = Project::reviewing(&[]);
    project.run("journal").exits(0).says(&id);
    project
        .slash("s1", "/claudex:history", "journal")
        .exits(0)
        .says("TOPIC");
    let line = format!("/claudex:history {id}");
    project
        .slash("s1", &line, "journal")
        .exits(0)
        .says("begin by the hook");
    assert_eq!(project.json("journal --json")[0]["id"], id);
    let printed = |verb: &str| project.run(&[verb, &id]).exits(0).out;
    assert_eq!(printed("history"), printed("journal"));
}

#[test]
fn status_says_what_the_last_stop_did() {
    let project = Project::new();
    let id = project.start(&[]);
    project.fire().blocked();
    project.fire().approved();
    let before = tree(&project.folder());
    let status_of_loop = || project.run(&format!("status {id}")).exits(0).out;
    has(&status_of_loop(), "\nlast stop: 20");
    let why = " ago: let the turn end: it waits for the agent, to write PLAN.md\n";
    has(&status_of_loop(), why);
    assert_eq!(tree(&project.folder()), before, "a look changes nothing");
    project.run(&format!("resume {id}")).exits(0);
    project.plan("# Plan\n");
    project.fire().blocked();
    has(
        &status_of_loop(),
        " ago: begin by the hook drafting -> reviewing",
    );
    lacks(&status_of_loop(), "last stop:");
    // After a change that follows the stop, both are `status_of_loop`.
    project.run(&format!("cancel {id}")).exits(0);
    let cancel = " ago: cancel by the user reviewing -> cancelled";
    has(&status_of_loop(), cancel);
    has(&status_of_loop(), " ago: begin: drafting -> reviewing\n");
}

#[test]
fn status_of_run_names_run_and_no_stop() {
    let project = Project::new();
    project.plan("# Move the queue\n");
    let outcome = project.json("run PLAN.md --reviewer lint --rounds 1 --json");
    let id = outcome["id"].as_str().unwrap();
    let begin = "begin by the run command drafting -> reviewing: The plan was written";
    project.answers(&format!("journal {id}"), 0, begin);
    let printed = project.run("status").exits(0).out;
    has(
        &printed,
        " ago: finish by the run command summarizing -> done",
    );
    lacks(&printed, "last stop:");
}

#[test]
fn rejection_ends_with_the_rounds_that_reopen() {
    let (project, id) = Project::reviewing(&["--rounds", "3"]);
    project.review(&id, "fake-findings").exits(0);
    project.answers("status", 0, &format!("claudex-loop mark-done {id}"));
    project.mark_done(&id, Some("out of scope"));
    let facts = status(&project);
    assert_eq!(facts["waits_for"], "the agent, to end its turn");
    assert_eq!(
        facts["next"],
        "end the turn: the loop continues with summarizing"
    );
    lacks(
        &project.run("status").exits(0).out,
        "claudex-loop mark-done",
    );
    project.fire().blocked();
    let notes = || status(&project)["notes"].to_string();
    has(&notes(), "were rejected: out of scope");
    project.run(&format!("more {id} --rounds 1")).exits(0);
    project.plan("# Plan, revised\n");
    assert_eq!(notes(), "[]");
    project.review(&id, "fake-findings").exits(0);
    project.fire().blocked();
    lacks(&notes(), "out of scope");
    lacks(&notes(), "changed since it was reviewed");
    has(&notes(), "The plan was not settled.");
}

#[test]
fn archived_loop_is_named_with_its_resume_line() {
    let (project, id) = Project::reviewing(&[]);
    project.review(&id, "fake-findings").exits(0);
    let show = format!("journal {id}");
    let journal = project.run(&show).exits(0).out;
    project.sweep(&id);
    let before = tree(&project.folder());
    let line = format!("    claudex-loop resume {id} (in Claude Code");
    for call in [
        "mark-done ID",
        "review ID",
        "review ID --follow",
        "cancel ID",
        "resume",
    ] {
        let ran = project.run(&call.replace("ID", &id)).exits(1);
        has(&ran.err, "is in the archive");
        has(&ran.err, &line);
    }
    assert_eq!(project.run(&show).exits(0).out, journal);
    assert_eq!(tree(&project.folder()), before, "nothing was changed");
    project.run(&format!("resume {id}")).exits(0);
    let back = project.run(&show).exits(0).out;
    assert!(back.starts_with(&journal), "{back}");
}

#[test]
fn status_says_last_change_by_whom_and_why() {
    let (project, id) = Project::reviewing(&["--rounds", "2"]);
    let last = || status(&project)["last_change"].clone();
    let is = |change: &Value, expected: [(&str, &str); 2]| {
        for (key, value) in expected {
            assert_eq!(change[key], value, "{change}");
        }
    };
    is(&last(), [("what", "begin"), ("by", "hook")]);
    is(&last(), [("from", "drafting"), ("to", "reviewing")]);

    project.review(&id, "fake-findings").exits(0);
    project.plan("# Plan, revised\n");
    project.fire().blocked();
    let why = format!(
        "for run {}: high=1 medium=1 low=1",
        last()["run"].as_str().unwrap()
    );
    is(&last(), [("what", "revise"), ("why", &why)]);
    let printed = project.run("status").exits(0).out;
    let line = printed
        .lines()
        .find(|line| line.starts_with("last:"))
        .unwrap();
    has(line, " ago: revise by the hook in reviewing");
    ends(line, &format!(", {why}"));

    // A failure has its cause after a stop has counted it.
    project.review(&id, "fake-could-not-run").exits(5);
    let printed = project.run("status").exits(0).out;
    has(&printed, "the last review gave no verdict: ");
    lacks(&printed, "failure 0");
    project.fire().blocked();
    let facts = status(&project);
    let why = facts["last_change"]["why"].as_str().unwrap();
    has(why, "could not run: the reviewer failed with exit status 1");
    let fields = ["failures", "max_failures"].map(|field| &facts["fields"][field]);
    assert_eq!(fields, [&json!(1), &json!(3)]);

    // A rejection shows the agent and its text, without control characters.
    project.review(&id, "fake-findings").exits(0);
    let text = "out of \u{1b}[31mscope\u{202e}";
    project.answers_in("s1", &["mark-done", &id, "--rejecting", text], 0, "");
    is(&last(), [("what", "mark_done"), ("by", "agent")]);
    let why = "high=1 medium=1 low=1; rejecting what is open: out of [31mscope";
    has(last()["why"].as_str().unwrap(), why);
}

#[test]
fn status_says_what_each_phase_waits_for() {
    let project = Project::new();
    let id = project.start(&["--rounds", "1"]);
    let waits = |text: &str, next: &str| {
        let facts = status(&project);
        has(facts["waits_for"].as_str().unwrap(), text);
        has(facts["next"].as_str().unwrap(), next);
    };
    waits("the agent, to write PLAN.md", "write PLAN.md");
    let reviewer = &status(&project)["review"]["reviewer"];
    assert_eq!(reviewer, "lint", "who would be asked");
    project.fire().blocked();
    project.answers("status", 0, &format!("/claudex:resume {id}"));
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
    let review = project.background_review(&id, "--reviewer fake-hang");
    waits("which is running", "--follow");
    drop(review);
    wait_for("the end of the review", || {
        status(&project)["review"]["running"] == false
    });
    project.review(&id, "fake-findings").exits(0);
    waits("deal with the findings of round 1", "revise PLAN.md");
    project.fire().blocked();
    let question = "an answer to: The plan is not settled after round 1 of 1.";
    waits(question, &format!("claudex-loop answer {id} \"LABEL\""));
    project.fire().approved();
    waits("nothing", "the loop is over");
}

#[test]
fn documented_names_are_those_of_the_json() {
    let (project, id) = Project::reviewing(&[]);
    project.review(&id, "fake-findings").exits(0);
    let documented = include_str!("../../docs/status.md");
    let named = |section: &str| -> Vec<&str> {
        let (_, after) = documented.split_once(&format!("## {section}\n")).unwrap();
        let table = after.split("\n## ").next().unwrap().lines();
        let rows = table.filter_map(|line| line.strip_prefix("| `")?.split_once('`'));
        rows.map(|(name, _)| name).collect()
    };
    let names =
        |value: &Value| -> Vec<String> { value.as_object().unwrap().keys().cloned().collect() };
    let facts = status(&project);
    assert_eq!(named("`status`: a loop"), names(&facts));
    assert_eq!(named("The last change"), names(&facts["last_change"]));
    assert_eq!(named("The review of a loop"), names(&facts["review"]));
    let rows = project.json("list --json");
    assert_eq!(named("`list`: a row"), names(&rows[0]));
    let of_doctor = named("`doctor`: a check");
    for check in project.json("doctor --json").as_array().unwrap() {
        let known = names(check).iter().all(|name| of_doctor.contains(&&**name));
        assert!(known, "{check}");
    }
}

#[test]
fn status_line_shows_own_loop_and_never_fails() {
    let project = Project::new();
    let line = |session: &str| {
        let input = json!({ "session_id": session, "cwd": project.root, "workspace": {} });
        let ran = project.run_with_stdin("statusline", input.to_string().as_bytes());
        ran.exits(0).out
    };
    assert_eq!(line("s1"), "");
    project.run_in_session("s1", "start plan topic").exits(0);
    has(&line("s1"), "claudex: drafting, round 1 of 3, ");
    assert_eq!(line("s2"), "");
    for input in ["", "{", "[]", "{\"session_id\": 7}"] {
        let ran = project
            .run_with_stdin("statusline", input.as_bytes())
            .exits(0);
        assert_eq!(ran.out + &ran.err, "", "{input}");
    }
}
