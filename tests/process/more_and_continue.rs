//! More rounds after the last one: `more` during the summary, `--continue` after the end.

use serde_json::{Value, json};

use crate::support::{Project, Ran, begins, has, id_of, lacks, tree};

/// Returns a loop that has used its only round, with findings, and is in its summary.
fn project_at_max_rounds() -> (Project, String) {
    let (project, id) = Project::reviewing(&["--rounds", "1"]);
    project.review(&id, "fake-findings").exits(0);
    let reason = project.fire().blocked();
    has(&reason, "stopped at max rounds (round 1 of 1)");
    assert_eq!(project.field(&id, "phase"), "summarizing");
    (project, id)
}

/// Returns an ended loop of one round, with findings.
fn over(project: &Project, flags: &[&str]) -> String {
    let id = project.start(&[flags, &["--rounds", "1"]].concat());
    project.plan(format!("# Plan\n\nMove the queue, as {id} has it.\n"));
    project.fire().blocked();
    project.review(&id, "fake-findings").exits(0);
    project.fire().blocked();
    project.fire().approved();
    assert_eq!(project.field(&id, "phase"), "done");
    id
}

#[track_caller]
fn check_fields(project: &Project, id: &str, fields: &[(&str, &str)]) {
    for (field, value) in fields {
        assert_eq!(project.field(id, field), *value, "{field}");
    }
}

// --- more ----------------------------------------------------------------------------------------

#[test]
fn more_begins_the_next_round_repeatedly() {
    let (project, id) = project_at_max_rounds();
    let granted = project.run("more --rounds 2").exits(0).out;
    has(
        &granted,
        "round 2 of 3 (Security and data-integrity review)",
    );
    has(&granted, "The findings of round 1 are still open");
    let expected = [
        ("phase", "reviewing"),
        ("round", "2"),
        ("max_rounds", "3"),
        ("decision_signal", "none"),
    ];
    check_fields(&project, &id, &expected);
    let runner = std::fs::read_to_string(project.runner(&id)).unwrap();
    has(
        &runner,
        "# claudex: mode plan, round 2 of 3, persona Security and data-integrity review\n",
    );

    project.plan("# Plan, revised\n");
    project.review(&id, "fake-findings").exits(0);
    project.plan("# Plan, revised again\n");
    let reason = project.fire().blocked();
    begins(&reason, "### Claudex round 3 of 3, Ops and SRE review");

    // At the second limit, the user can do the same again.
    project.review(&id, "fake-findings").exits(0);
    let reason = project.fire().blocked();
    has(&reason, "stopped at max rounds (round 3 of 3)");
    project.answers(&format!("more {id}"), 0, "round 4 of 4");
    project.plan("# Plan, at last\n");
    project.review(&id, "fake-clean").exits(0);
    let reason = project.fire().blocked();
    has(&reason, "### Claudex plan loop complete ✓");
    has(&reason, "Ended after 4 of 4 rounds.");
}

#[test]
fn more_after_an_early_end_reviews_the_rest() {
    let (project, id) = Project::reviewing(&[]);
    project.review(&id, "fake-findings").exits(0);
    project.plan("# Plan, revised\n");
    project.fire().blocked();
    project.review(&id, "fake-clean").exits(0);
    project.fire().blocked();

    let granted = project.slash("s1", "/claudex:more 1", "more").exits(0).out;
    has(&granted, "round 3 of 3 (Ops and SRE review)");
    lacks(&granted, "findings of round");
    project.review(&id, "fake-clean").exits(0);
    let summary = project.fire().blocked();
    has(&summary, "\n\nEnded after 3 of 3 rounds.\nLoop `");
    lacks(&summary, "/claudex:more");
    project.answers(&format!("more {id}"), 1, "in its last round");

    // The user gets as many rounds as requested, regardless of those left.
    let (project, id) = Project::reviewing(&["--rounds", "9"]);
    project.review(&id, "fake-clean").exits(0);
    project.fire().blocked();
    project.answers(&format!("more {id} --rounds 2"), 0, "round 2 of 3");
}

#[test]
fn more_after_unreviewed_round_asks_for_the_next() {
    let (project, id) = Project::reviewing(&["--rounds", "1"]);
    project.fire().blocked();
    has(&project.fire().blocked(), "stopped at max rounds");
    let granted = project
        .run("more")
        .exits(0)
        .says("Round 1 was not reviewed");
    granted.says(&format!("claudex-loop review {id}"));
    has(
        &project.fire().blocked(),
        "round 2 of 2 is waiting for its review",
    );
}

#[test]
fn slash_more_takes_its_arguments_in_any_order() {
    for (typed, most) in [
        ("ID  4 ", "5"),
        ("4 ID", "5"),
        ("--rounds 3", "4"),
        ("", "2"),
    ] {
        let (project, id) = project_at_max_rounds();
        let line = format!("/claudex:more {}", typed.replace("ID", &id));
        project.slash("s1", &line, "more").exits(0).says(&id);
        assert_eq!(project.field(&id, "max_rounds"), most, "{typed}");
    }
    let (project, id) = project_at_max_rounds();
    for typed in ["two", "0", "2 3", "1001", "2; rm -rf /", "\u{202e}2"] {
        let ran = project.slash("s1", &format!("/claudex:more {typed}"), "more");
        ran.exits(2).says("positive integer");
    }
    let ran = project.run_in_session("s1", "more --from-prompt").exits(2);
    // A client without hooks leaves no ticket either.
    let why = "the client does not run this plugin’s hooks: claudex-loop doctor says why";
    ran.says(why);
    assert_eq!(project.field(&id, "max_rounds"), "1");
}

#[test]
fn more_is_refused_with_reason_and_way_on() {
    // While rounds are left.
    let (project, id) = Project::reviewing(&["--rounds", "2"]);
    project.answers("more", 1, "phase reviewing, round 1 of 2");
    assert_eq!(project.field(&id, "max_rounds"), "2");
    // If the plan was settled in the last round.
    project.review(&id, "fake-findings").exits(0);
    project.fire().blocked();
    project.plan("# Plan, revised\n");
    project.review(&id, "fake-clean").exits(0);
    project.fire().blocked();
    project.answers("more", 1, "settled (no-material-findings)");
    project.fire().approved();
    project.answers(&format!("adopt {id}"), 1, "is over");
    for wrong in ["0", "x", "+3", "1001", "99999999999999999999"] {
        project.run(&format!("more {id} --rounds {wrong}")).exits(2);
    }
    let unknown = "20250101-000000-abcdef";
    let why = format!("loop {unknown} not found in");
    project.answers(&format!("more {unknown}"), 1, &why);
    let flag = format!("--continue {id}");
    project.answers(&format!("resume {id}"), 1, &flag);
    // A cancelled loop, and a missing one.
    let (project, id) = project_at_max_rounds();
    project.answers(&format!("cancel {id}"), 0, "cancelled");
    let again = format!("start plan --continue {id} --rounds N");
    project.answers(&format!("more {id} --rounds 1"), 1, &again);
    Project::new().answers("more", 1, "no loop is active in");
}

// --- --continue ----------------------------------------------------------------------------------

#[test]
fn more_on_finished_loop_starts_a_new_one() {
    for line in ["more --rounds 2", "more ID --rounds 2", "/claudex:more 2"] {
        let project = Project::new();
        let first = over(&project, &[]);
        let started = if line.starts_with('/') {
            project.slash("s1", line, "more")
        } else {
            project.run(&line.replace("ID", &first))
        };
        let started = started.exits(0).says(&format!("continues {first}"));
        let expected = [
            ("continues", &*first),
            ("max_rounds", "2"),
            ("phase", "drafting"),
        ];
        check_fields(&project, &id_of(&started), &expected);
    }
}

#[test]
fn continued_loop_keeps_topic_plan_and_findings() {
    let project = Project::new();
    let first = over(&project, &[]);
    let plan = std::fs::read(project.root.join("PLAN.md")).unwrap();
    let start = format!("start plan --continue {first} --rounds 2");
    let started = project
        .run(&start)
        .exits(0)
        .says(&format!("continues {first}"));
    let second = id_of(&started);
    let expected = [
        ("topic", "Move the queue"),
        ("continues", &first),
        ("from_draft", "true"),
        ("max_rounds", "2"),
        ("round", "1"),
        ("subject", "PLAN.md"),
    ];
    check_fields(&project, &second, &expected);
    let kept = std::fs::read(project.root.join("PLAN.md")).unwrap();
    assert_eq!(kept, plan, "the draft is kept");

    // The existing plan counts as written, and the reviewer gets the earlier findings.
    let reason = project.fire().blocked();
    begins(&reason, "### Claudex round 1 of 2, Senior-engineer review");
    project.review(&second, "fake-findings").exits(0);
    let finding = "The plan has no way back when the migration fails half way";
    has(&project.prompt(&second), finding);
    project.answers("status", 0, &format!("continues: {first}"));
    assert_eq!(
        project.field(&first, "phase"),
        "done",
        "it is left as it was"
    );

    // A chain of loops keeps all findings, oldest first.
    for (id, text) in [(&first, "of the first"), (&second, "of the second")] {
        let findings = format!("# Round 1 findings\n\n## High\n\n- {text}\n");
        std::fs::write(project.findings(id, 1), findings).unwrap();
    }
    project.run(&format!("cancel {second}")).exits(0);
    let start = format!("/claudex:plan --continue {second} --rounds 4 The mail queue");
    let third = id_of(&project.slash("s1", &start, "start plan").exits(0));
    let expected = [
        ("topic", "The mail queue"),
        ("max_rounds", "4"),
        ("session_id", "s1"),
    ];
    check_fields(&project, &third, &expected);
    project.fire().blocked();
    project.review(&third, "fake-clean").exits(0);
    let prompt = project.prompt(&third);
    assert!(
        prompt.find("of the first") < prompt.find("of the second"),
        "{prompt}"
    );
    has(&prompt, "of the first");
}

#[test]
fn continue_is_refused_with_reason_and_leaves_nothing() {
    let refused = |project: &Project, given: &str, why: &str| {
        let before = tree(&project.folder());
        let ran = project
            .run(&["start", "plan", "--continue", given])
            .exits(2);
        ran.says(why);
        assert_eq!(tree(&project.folder()), before);
    };
    let project = Project::new();
    let first = over(&project, &[]);
    refused(
        &project,
        "20250101-000000-abcdef",
        "loop 20250101-000000-abcdef not found in",
    );
    refused(&project, "../x", "not the id of a loop");
    let missing = "a value is required for ‘--continue <LOOP>’";
    project.answers("start plan --continue", 2, missing);
    let review = format!("start review --continue {first}");
    project.answers(&review, 2, "--continue only applies to plan mode");

    // A running loop and an archived one.
    let running = project.start(&[]);
    refused(&project, &running, "not over yet (phase drafting)");
    project.sweep(&running);
    refused(
        &project,
        &running,
        &format!("claudex-loop resume {running}"),
    );

    // The reviewed plan is missing.
    std::fs::remove_file(project.root.join("PLAN.md")).unwrap();
    project.answers(&format!("start plan --continue {first}"), 2, "PLAN.md");
    project.plan("# Another\n");
    // A loop that reviewed changes, according to its journal.
    project.rewrite(&first, |text| {
        let text = text.replacen("mode: plan", "mode: review", 1);
        text.replace("\"mode\":\"plan\"", "\"mode\":\"review\"")
    });
    refused(&project, &first, "it reviewed changes, not a plan");
}

// --- the question --------------------------------------------------------------------------------

/// Chooses this in the client's dialog, as the block asked.
fn choose(project: &Project, block: &str, label: &str) -> Ran {
    let (_, call) = block.split_once("```json\n").unwrap();
    let (call, _) = call.split_once("\n```").unwrap();
    let mut response: Value = serde_json::from_str(call).unwrap();
    let question = response["questions"][0]["question"]
        .as_str()
        .unwrap()
        .to_owned();
    response["answers"] = json!({ question: label });
    let event = json!({
        "session_id": "s1", "hook_event_name": "PostToolUse", "tool_name": "AskUserQuestion", "tool_response": response,
    });
    project.hook("answer", event).exits(0)
}

#[test]
fn answer_at_the_last_round_takes_its_transition() {
    for (label, phase, change) in [
        ("Revise manually", "done", "revise_manually"),
        ("Accept it incomplete", "done", "accept_incomplete"),
        ("More rounds", "reviewing", "more"),
    ] {
        for in_terminal in [false, true] {
            let (project, id) = Project::reviewing(&["--rounds", "1"]);
            project.review(&id, "fake-findings").exits(0);
            let block = project.fire().blocked();
            if in_terminal {
                project.run(&["answer", &id, label]).exits(0)
            } else {
                choose(&project, &block, label)
            };
            assert_eq!(project.field(&id, "phase"), phase, "{label}");
            assert_eq!(project.changes(&id).last().unwrap(), change);
            if phase == "reviewing" {
                has(&project.fire().blocked(), "round 2 of 3");
            }
        }
    }
}

#[test]
fn question_unanswered_ends_with_the_next_stop() {
    let (project, id) = Project::reviewing(&["--rounds", "1"]);
    project.review(&id, "fake-findings").exits(0);
    let block = project.fire().blocked();
    // Only the user's choice of an option is an answer.
    let answer = format!("answer {id} 'More rounds'");
    project.answers_in("s1", &answer, 1, "");
    choose(&project, &block, "more, please");
    assert_eq!(project.field(&id, "phase"), "summarizing");
    let over = project.fire().approved();
    assert!(over.ends_with("is done"), "{over}");
    // A late answer changes nothing.
    choose(&project, &block, "More rounds");
    project.answers(&answer, 1, "--continue");
    assert_eq!(project.field(&id, "phase"), "done");
}

#[test]
fn settled_loop_asks_nothing() {
    let (project, id) = Project::reviewing(&["--rounds", "1"]);
    project.review(&id, "fake-clean").exits(0);
    lacks(&project.fire().blocked(), "AskUserQuestion");
    project.answers("status", 0, "the agent, to end its turn");
    let answer = format!("answer {id} 'Accept it incomplete'");
    project.answers(&answer, 1, "it asks nothing now");
    assert_eq!(project.fire().approved(), "");
}
