//! Going on after the last round: `more` while the loop still sums up, `--continue` once it is over.

use claudex_testkit::has;
use serde_json::json;

use crate::support::{Project, Ran, id_of};

/// A loop that has used up its one round, with findings, and sums up.
fn at_max_rounds() -> (Project, String) {
    let (project, id) = Project::reviewing(&["--rounds", "1"]);
    project.review(&id, "fake-findings").exits(0);
    let reason = project.fire().blocked();
    has(&reason, "stopped at max rounds (round 1 of 1)");
    assert_eq!(project.field(&id, "phase"), "summarizing");
    (project, id)
}

/// A loop of one round that is over, with findings.
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

#[test]
fn a_loop_that_sums_up_may_still_be_given_up() {
    let (project, id) = at_max_rounds();
    project.run(&["cancel", &id]).exits(0).says("cancelled");
    assert_eq!(project.field(&id, "phase"), "cancelled");
    project.fire().approved();
    let said = project.run(&["more", &id, "--rounds", "1"]).exits(1);
    has(&said.err, "cancelled");
}

fn runner(project: &Project, id: &str) -> String {
    std::fs::read_to_string(project.folder().join(format!("{id}-runner.sh"))).unwrap()
}

// --- more --------------------------------------------------------------------------------------------------------

#[test]
fn more_begins_the_next_round() {
    let (project, id) = at_max_rounds();
    let granted = project
        .run(&["more", "--rounds", "2"])
        .exits(0)
        .says("round 2 of 3 (Security and data-integrity review)");
    has(&granted.out, "The findings of round 1 stand");
    for (field, value) in [
        ("phase", "reviewing"),
        ("round", "2"),
        ("max_rounds", "3"),
        ("decision_signal", "none"),
    ] {
        assert_eq!(project.field(&id, field), value, "{field}");
    }
    assert!(
        runner(&project, &id).contains("round 2 of 3"),
        "the runner is written anew: {}",
        runner(&project, &id)
    );

    project.plan("# Plan, revised\n");
    project.review(&id, "fake-findings").exits(0);
    project.plan("# Plan, revised again\n");
    let reason = project.fire().blocked();
    has(&reason, "### Claudex round 3 of 3, Ops and SRE review");
    has(&reason, "**Previous round:** high=1 medium=1 low=1");

    // At the second limit the same is open again.
    project.review(&id, "fake-findings").exits(0);
    let reason = project.fire().blocked();
    has(&reason, "stopped at max rounds (round 3 of 3)");
    project.run(&["more", &id]).exits(0).says("round 4 of 4");
    project.plan("# Plan, at last\n");
    project.review(&id, "fake-clean").exits(0);
    let reason = project.fire().blocked();
    has(&reason, "### Claudex plan loop complete ✓");
    has(&reason, "Ended after 4 of 4 rounds.");
    project.fire().approved();
    assert_eq!(project.field(&id, "phase"), "done");
    let more = project
        .changes(&id)
        .iter()
        .filter(|what| *what == "more")
        .count();
    assert_eq!(more, 2);
}

#[test]
fn who_has_not_looked_where_a_loop_ended_early_looks_after_all() {
    let (project, id) = Project::reviewing(&[]);
    project.review(&id, "fake-findings").exits(0);
    project.plan("# Plan, revised\n");
    project.fire().blocked();
    project.review(&id, "fake-clean").exits(0);
    let summary = project.fire().blocked();
    let head = "### Claudex plan loop complete ✓\n\nEnded after 2 of 3 rounds. Not reviewed by: Ops and SRE. To have them review it: `/claudex:more`\nLoop `";
    assert!(summary.starts_with(head), "{summary}");
    let left = format!(
        "**High findings that no later round reviewed again:**\n\n\
         - Round 1: The plan has no way back when the migration fails half way (`{}`)\n\n",
        project.findings(&id, 1).display()
    );
    has(&summary, &left);

    project.type_line("s1", "/claudex:more 1");
    let granted = project
        .run_in_session("s1", &["more", "--from-prompt"])
        .exits(0);
    has(&granted.out, "round 3 of 3 (Ops and SRE review)");
    assert!(
        !granted.out.contains("findings of round"),
        "there were none: {}",
        granted.out
    );
    project.review(&id, "fake-clean").exits(0);
    let summary = project.fire().blocked();
    has(&summary, "\n\nEnded after 3 of 3 rounds.\nLoop `");
    assert!(!summary.contains("/claudex:more"), "{summary}");
    project
        .run(&["more", &id])
        .exits(1)
        .says("in its last round");

    // As many as were asked for, whatever was left.
    let (project, id) = Project::reviewing(&["--rounds", "9"]);
    project.review(&id, "fake-clean").exits(0);
    project.fire().blocked();
    project.answers(&["more", &id, "--rounds", "2"], 0, "round 2 of 3");
}

#[test]
fn more_after_a_round_that_nobody_reviewed_asks_for_the_next_ones_review() {
    let (project, id) = Project::reviewing(&["--rounds", "1"]);
    project.fire().blocked();
    let reason = project.fire().blocked();
    has(&reason, "stopped at max rounds");
    project
        .run(&["more"])
        .exits(0)
        .says("Round 1 was not reviewed")
        .says(&format!("claudex-loop review {id}"));
    let reason = project.fire().blocked();
    has(&reason, "round 2 of 2 is waiting for its review");
    project.review(&id, "fake-clean").exits(0);
    let reason = project.fire().blocked();
    has(&reason, "### Claudex plan loop complete");
}

#[test]
fn the_slash_command_takes_a_number_of_rounds_and_an_id_in_either_order() {
    for (typed, most) in [
        ("/claudex:more 2", "3"),
        ("/claudex:more", "2"),
        ("/claudex:more   ID  4 ", "5"),
        ("/claudex:more 4 ID", "5"),
        ("/claudex:more --rounds 3", "4"),
    ] {
        let (project, id) = at_max_rounds();
        project.type_line("s1", &typed.replace("ID", &id));
        project.answers_in("s1", &["more", "--from-prompt"], 0, &id);
        assert_eq!(project.field(&id, "max_rounds"), most, "{typed}");
    }
    let (project, id) = at_max_rounds();
    for typed in ["two", "0", "-1", "2 3", "1001", "2; rm -rf /", "\u{202e}2"] {
        project.type_line("s1", &format!("/claudex:more {typed}"));
        let ran = project
            .run_in_session("s1", &["more", "--from-prompt"])
            .exits(2);
        has(&ran.err, "positive integer");
    }
    project
        .run_in_session("s1", &["more", "--from-prompt"])
        .exits(2)
        .says("claudex::prompt::none")
        // Which is also what a client says whose hooks are switched off.
        .says("the client does not run this plugin’s hooks: claudex-loop doctor says why");
    assert_eq!(project.field(&id, "max_rounds"), "1");
}

#[test]
fn more_is_not_the_agents_and_the_refusal_says_whom_to_ask() {
    let (project, id) = at_max_rounds();
    let before = project.state(&id);
    let ran = project
        .run_in_session("s1", &["more", "--rounds", "1"])
        .exits(1);
    let refusal = format!(
        "claudex::verb\n\n  × loop {id}: an agent may not run ‘more’\n  help: nothing was changed; ask the user to:\n            \
         /claudex:more {id} --rounds <rounds>\n            claudex-loop more {id} --rounds <rounds>\n"
    );
    assert_eq!(ran.err, refusal);
    assert_eq!(project.state(&id), before);
}

#[test]
fn more_is_refused_with_the_reason_and_the_way_on() {
    // While rounds are left.
    let (project, id) = Project::reviewing(&["--rounds", "2"]);
    let ran = project.run(&["more"]).exits(1);
    has(&ran.err, "phase reviewing, round 1 of 2");
    assert_eq!(project.field(&id, "max_rounds"), "2");
    // When the plan was settled in the last round.
    project.review(&id, "fake-findings").exits(0);
    project.fire().blocked();
    project.plan("# Plan, revised\n");
    project.review(&id, "fake-clean").exits(0);
    project.fire().blocked();
    let ran = project.run(&["more"]).exits(1);
    has(&ran.err, "settled (no-material-findings)");
    project.fire().approved();
    assert_eq!(project.field(&id, "phase"), "done");
    for wrong in ["0", "-1", "x", "1001", "99999999999999999999"] {
        project.run(&["more", &id, "--rounds", wrong]).exits(2);
    }
    let ran = project.run(&["more", "20250101-000000-abcdef"]).exits(1);
    has(&ran.err, "there is no loop 20250101-000000-abcdef");
    let ran = project.run(&["resume", &id]).exits(1);
    has(&ran.err, &format!("--continue {id}"));
    // Where there is no loop at all.
    Project::new()
        .run(&["more"])
        .exits(1)
        .says("claudex::locate::none");
}

// --- --continue --------------------------------------------------------------------------------------------------

/// By id, without one, and after the slash command.
#[test]
fn more_on_a_finished_loop_starts_a_new_one() {
    for (typed, arguments) in [
        (false, &["more", "--rounds", "2"][..]),
        (false, &["more", "ID", "--rounds", "2"]),
        (true, &["more", "--from-prompt"]),
    ] {
        let project = Project::new();
        let first = over(&project, &[]);
        let arguments = arguments.iter().map(|one| one.replace("ID", &first));
        let arguments: Vec<String> = arguments.collect();
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let started = match typed {
            true => {
                project.type_line("s1", "/claudex:more 2");
                project.run_in_session("s1", &arguments)
            }
            false => project.run(&arguments),
        };
        let started = started.exits(0).says(&format!("continues {first}"));
        let second = id_of(&started);
        assert_eq!(project.field(&second, "continues"), first);
        assert_eq!(project.field(&second, "max_rounds"), "2");
        assert_eq!(project.field(&second, "phase"), "drafting");
    }
}

#[test]
fn more_on_a_finished_loop_is_not_the_agents() {
    let project = Project::new();
    let first = over(&project, &[]);
    let ran = project.run_in_session("s1", &["more", &first]).exits(1);
    has(&ran.err, &format!("--continue {first} --rounds N"));
}

#[test]
fn a_loop_that_goes_on_has_the_topic_the_plan_and_the_findings_of_the_one_before() {
    let project = Project::new();
    let first = over(&project, &[]);
    let plan = std::fs::read(project.root.join("PLAN.md")).unwrap();
    let started = project
        .run(&["start", "plan", "--continue", &first, "--rounds", "2"])
        .exits(0)
        .says(&format!("continues {first}"))
        .says("plan mode initialized");
    let second = id_of(&started);
    for (field, value) in [
        ("topic", "Move the queue"),
        ("continues", &first),
        ("from_draft", "true"),
        ("max_rounds", "2"),
        ("round", "1"),
        ("subject", "PLAN.md"),
    ] {
        assert_eq!(project.field(&second, field), value, "{field}");
    }
    assert_eq!(
        std::fs::read(project.root.join("PLAN.md")).unwrap(),
        plan,
        "the draft is kept"
    );

    // The plan that is there counts as written, and the reviewer is shown what was found before.
    let reason = project.fire().blocked();
    has(&reason, "### Claudex round 1 of 2, Senior-engineer review");
    project.review(&second, "fake-clean").exits(0);
    let prompt =
        std::fs::read_to_string(project.folder().join(format!("{second}-prompt.txt"))).unwrap();
    has(
        &prompt,
        "The plan has no way back when the migration fails half way",
    );
    project.answers(&["status"], 0, &format!("continues: {first}"));
    assert_eq!(
        project.field(&first, "phase"),
        "done",
        "the one before is left as it was"
    );
    assert!(project.findings(&first, 1).exists());
}

#[test]
fn a_topic_that_is_given_wins_over_the_one_before() {
    let project = Project::new();
    let first = over(&project, &[]);
    let started = project
        .run(&[
            "start",
            "plan",
            "--continue",
            &first,
            "--rounds=1",
            "The same, for the mail queue",
        ])
        .exits(0);
    assert_eq!(
        project.field(&id_of(&started), "topic"),
        "The same, for the mail queue"
    );
    project.run(&["cancel"]).exits(0);
    project.type_line(
        "s2",
        &format!("/claudex:plan --continue {first} --rounds 4"),
    );
    let started = project
        .run_in_session("s2", &["start", "plan", "--from-prompt"])
        .exits(0);
    let id = id_of(&started);
    assert_eq!(project.field(&id, "topic"), "Move the queue");
    assert_eq!(project.field(&id, "max_rounds"), "4");
    assert_eq!(project.field(&id, "session_id"), "s2");
}

#[test]
fn a_chain_of_three_carries_all_of_its_findings_oldest_first() {
    let project = Project::new();
    let first = over(&project, &[]);
    let second = over(&project, &["--continue", &first]);
    std::fs::write(
        project.findings(&first, 1),
        "# Round 1 findings\n\n## High\n\n- of the first\n",
    )
    .unwrap();
    std::fs::write(
        project.findings(&second, 1),
        "# Round 1 findings\n\n## Low\n\n- of the second\n",
    )
    .unwrap();
    let third = id_of(
        &project
            .run(&["start", "plan", "--continue", &second])
            .exits(0),
    );
    assert_eq!(project.field(&third, "topic"), "Move the queue");
    project.fire().blocked();
    project.review(&third, "fake-clean").exits(0);
    let prompt =
        std::fs::read_to_string(project.folder().join(format!("{third}-prompt.txt"))).unwrap();
    let at = |text: &str| {
        prompt
            .find(text)
            .unwrap_or_else(|| panic!("{text}: {prompt}"))
    };
    assert!(at("of the first") < at("of the second"), "{prompt}");
}

#[test]
fn what_cannot_be_gone_on_from_is_refused_with_the_reason_and_leaves_nothing() {
    let refused = |project: &Project, given: &str| -> Ran {
        let before = crate::support::tree(&project.folder());
        let ran = project
            .run(&["start", "plan", "--continue", given])
            .exits(2);
        assert_eq!(crate::support::tree(&project.folder()), before);
        ran
    };
    let project = Project::new();
    let first = over(&project, &[]);
    let ran = refused(&project, "20250101-000000-abcdef");
    has(&ran.err, "there is no loop 20250101-000000-abcdef");
    for given in ["../x", "", "what"] {
        let ran = refused(&project, given);
        has(&ran.err, "not the id of a loop");
    }
    // A beginning, an end, a slip: the loop that was probably meant is named.
    for given in [&first[..15], &first[16..], &format!("{}0", &first[..21])] {
        if given != first {
            let ran = refused(&project, given);
            assert!(
                ran.err.contains(&format!("did you mean `{first}`?")),
                "{given}: {}",
                ran.err
            );
        }
    }
    project
        .run(&["start", "plan", "--continue"])
        .exits(2)
        .says("a value is required for ‘--continue <LOOP>’");
    project
        .run(&["start", "review", "--continue", &first])
        .exits(2)
        .says("--continue only applies to plan mode");

    // One that is running, and one that was put aside.
    let running = project.start(&[]);
    let ran = refused(&project, &running);
    has(&ran.err, "not over yet (phase drafting)");
    crate::support::age(
        &project.state_path(&running),
        std::time::Duration::from_secs(3600),
    );
    project.run(&["sweep"]).exits(0);
    let ran = refused(&project, &running);
    has(&ran.err, &format!("claudex-loop resume {running}"));

    // One that reviewed changes: as its own journal would have it.
    project.rewrite(&first, |text| {
        let text = text.replacen("mode: plan", "mode: review", 1);
        text.replace("\"mode\":\"plan\"", "\"mode\":\"review\"")
    });
    let ran = refused(&project, &first);
    has(&ran.err, "it reviewed changes, not a plan");
}

#[test]
fn going_on_without_the_plan_that_was_reviewed_is_refused() {
    let project = Project::new();
    let first = over(&project, &[]);
    std::fs::remove_file(project.root.join("PLAN.md")).unwrap();
    project.answers(&["start", "plan", "--continue", &first], 2, "PLAN.md");
    project.plan("# Another\n");
    project
        .run(&["start", "plan", "--continue", &first])
        .exits(0);
}

// --- the question -------------------------------------------------------------------------------------------------

const QUESTION: &str = "The plan is not settled after round 1 of 1. What now?";

/// Has the person choose this in the client's dialog.
fn choose(project: &Project, label: &str) -> Ran {
    let option = |label: &str, what: &str| json!({"label": label, "description": what});
    let options = [
        option(
            "Revise manually",
            "You work through the findings and edit the plan; the loop ends.",
        ),
        option(
            "More rounds",
            "Two more rounds; /claudex:more N gives any other number.",
        ),
        option(
            "Accept it incomplete",
            "The open findings stay on record; the loop ends.",
        ),
    ];
    let questions =
        json!([{"question": QUESTION, "header": "Plan", "multiSelect": false, "options": options}]);
    let answers = json!({ QUESTION: label });
    let event = json!({
        "session_id": "s1", "hook_event_name": "PostToolUse", "tool_name": "AskUserQuestion", "cwd": project.root,
        "tool_input": {"questions": questions}, "tool_response": {"questions": questions, "answers": answers},
    });
    project.run_with_stdin(&["hook", "answer"], event.to_string().as_bytes())
}

#[test]
fn the_options_at_the_last_round_are_a_question_whose_answers_are_transitions() {
    for (label, phase, change) in [
        ("Revise manually", "done", "revise_manually"),
        ("Accept it incomplete", "done", "accept_incomplete"),
        ("More rounds", "reviewing", "more"),
    ] {
        for in_terminal in [false, true] {
            let (project, id) = at_max_rounds();
            match in_terminal {
                true => project.run(&["answer", &id, label]).exits(0),
                false => choose(&project, label).exits(0),
            };
            assert_eq!(project.field(&id, "phase"), phase, "{label}");
            assert_eq!(project.changes(&id).last().unwrap(), change);
            if phase == "reviewing" {
                assert_eq!(project.field(&id, "max_rounds"), "3");
                assert!(project.fire().blocked().contains("round 2 of 3"));
            }
        }
    }
}

#[test]
fn the_question_is_asked_once_and_unanswered_the_next_stop_ends_the_loop() {
    let (project, id) = Project::reviewing(&["--rounds", "1"]);
    project.review(&id, "fake-findings").exits(0);
    let block = project.fire().blocked();
    let call = block
        .split("```json\n")
        .nth(1)
        .and_then(|call| call.split("\n```").next());
    let call: serde_json::Value = serde_json::from_str(call.unwrap()).unwrap();
    let question = &call["questions"][0];
    assert_eq!(
        (&question["question"], &question["header"]),
        (&json!(QUESTION), &json!("Plan"))
    );
    let labels: Vec<_> = question["options"]
        .as_array()
        .unwrap()
        .iter()
        .map(|option| &option["label"])
        .collect();
    assert_eq!(
        labels,
        ["Revise manually", "More rounds", "Accept it incomplete"]
    );
    // Neither an agent's word nor another text is an answer.
    project
        .run_in_session("s1", &["answer", &id, "More rounds"])
        .exits(1);
    choose(&project, "more, please").exits(0);
    assert_eq!(project.field(&id, "phase"), "summarizing");
    let over = project.fire().approved();
    assert!(over.ends_with("is done"), "{over}");
    assert_eq!(project.field(&id, "phase"), "done");
    // An answer that comes too late changes nothing.
    choose(&project, "More rounds").exits(0);
    let late = project.run(&["answer", &id, "More rounds"]).exits(1);
    has(&late.err, "--continue");
    assert_eq!(project.field(&id, "phase"), "done");
}

#[test]
fn a_loop_that_is_settled_asks_nothing() {
    let (project, id) = Project::reviewing(&["--rounds", "1"]);
    project.review(&id, "fake-clean").exits(0);
    assert!(!project.fire().blocked().contains("AskUserQuestion"));
    assert_eq!(project.field(&id, "phase"), "summarizing");
    project.answers(&["status"], 0, "the agent, to end its turn");
    project.answers(
        &["answer", &id, "Accept it incomplete"],
        1,
        "it asks nothing now",
    );
    choose(&project, "More rounds").exits(0);
    assert_eq!(project.field(&id, "phase"), "summarizing");
    assert_eq!(project.fire().approved(), "");
}
